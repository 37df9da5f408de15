// SyncDriver+Steps.swift — carries out one step of a run. A write is logged before it is sent, a
// read together with its result.

import TidemarkEvents
import TidemarkViews

extension SyncDriver {
    /// Carries out a step, and hands its result to the machine.
    ///
    /// - Parameter request: what it sends; nil where it asks nobody.
    func carryOut(
        _ step: SyncStep, _ request: ServerRequest?, _ run: inout SyncRun
    ) async throws -> SyncAction {
        switch step {
        case .start:
            if host.logsStart { try await log(&run.recorder) { try $0.beginAlone($1) } }
            return run.machine.started()
        case .complete(let list):
            let absent = try await log(&run.recorder) { recorder, draft in
                let absent = try list.absentAtEnd(draft.fold.entity)
                return try recorder.complete(list, absent, draft)
            }
            let count = absent.isHeld ? 0 : absent.ids.count
            let gone = AppliedPage(collection: list.collection.name, count: count)
            try tellApplied(count > 0 ? [gone] : [], &run)
            return run.machine.completed(absent, withheld: run.recorder.withheld)
        case .cleanUp(let now):
            try await log(&run.recorder) { [moment = run.moment] in
                try $0.cleanUp(now, moment, $1)
            }
            return run.machine.cleanedUp()
        case .remedy(let remedy):
            guard let request else { preconditionFailure("a remedy has a request") }
            return try await carryOut(remedy, request, &run)
        case .readBack, .readBackAll, .compare, .describe, .combine, .list, .feed, .fetch,
            .refetch, .poll, .refill:
            guard let call = step.call, let request else {
                preconditionFailure("a read has a request")
            }
            return try await read(step, call, request, &run)
        case .push, .receive, .renew, .finish:
            preconditionFailure("what has a place of its own is not carried out here")
        }
    }

    /// Writes one commit of the run.
    func log<R: Sendable>(
        _ recorder: inout SyncRecorder,
        _ body: @escaping @Sendable (inout SyncRecorder, Draft) throws -> R
    ) async throws -> R {
        let before = recorder
        let (result, after) = try await host.commit(journal, at: dependencies.now()) {
            [model] draft in
            var recorder = before
            let last = draft.last
            let result = try body(&recorder, draft)
            try draft.keepBoth(model)
            if recorder.decidedAt == last { recorder.decidedAt = draft.last }
            return (result, recorder)
        }
        recorder = after
        return result
    }

    // MARK: Writes: logged before they are sent

    func push(
        _ items: [PushItem], _ run: inout SyncRun,
        _ group: inout ThrowingTaskGroup<Arrival, any Error>
    ) async throws -> SyncAction {
        var sendable: [PushItem] = []
        var made: [ServerRequest] = []
        for item in items {
            let refusal =
                item.refusal
                ?? adapter.refusalBeforeSending(of: item.call) { made.append($0) }
            guard let refusal else {
                sendable.append(item)
                continue
            }
            // What is still refused here is not refused again in every run.
            if item.wasRefused {
                run.machine.passed(item)
                continue
            }
            let isRefused = try await log(&run.recorder) {
                try $0.refusedUnsent(item, refusal, $1)
            }
            guard isRefused else { return run.machine.overtaken() }
            run.machine.refused(item)
        }
        // What named a refused one in the same request can't be sent without it.
        if sendable.count < items.count, adapter.traits.sendsTogether {
            return run.machine.overtaken()
        }
        let items = sendable
        let step = SyncStep.push(items)
        guard !items.isEmpty, let call = step.call else { return run.machine.sentNothing() }
        let request: ServerRequest
        // Of a batch, the request of each write by itself, for the log.
        let parts: [ServerRequest]
        do throws(SyncFailure) {
            // Where one could not be made that may be later, this fails.
            parts = made.count == items.count ? made : try adapter.requests(for: items)
            request = items.count == 1 ? parts[0] : try adapter.request(for: call)
        } catch { return run.machine.unsent(error) }
        dependencies.reach(.beforeAppend)
        let (sentAt, waited) = (run.pace.now(at: run.moment), run.waited)
        let counted = adapter.group(of: call)
        let sent = try await log(&run.recorder) {
            try $0.sending(
                items, request, parts, of: counted, sentAt: sentAt, waited: waited, $1)
        }
        // An edit was committed in between: what to send is decided again.
        guard let sent else { return run.machine.overtaken() }
        run.waited = 0
        dependencies.reach(.afterAppend)
        dependencies.reach(.beforeSend)
        let isAhead = run.machine.mayFly(items)
        let question = question(step, call, request, asOf: sent.call, isAhead: isAhead, in: run)
        let reply = try ask(question, &run)
        if isAhead {
            fly(items, sent, question, reply, at: run.moment, &group)
            return run.machine.sent(sent.call)
        }
        let (answer, record) = await reply.answer()
        let isCut = isCut(answer, record, to: question, since: run.moment)
        return try await took(
            AnsweredWrite(items: items, sent: sent, answer: answer, record: record, isCut: isCut),
            &run)
    }

    /// Logs the answer to a write, and hands it to the machine.
    func took(_ write: AnsweredWrite, _ run: inout SyncRun) async throws -> SyncAction {
        let (items, sent, isCut) = (write.items, write.sent, write.isCut)
        let tried = try await tried(write, &run)
        var (answer, record) = (tried.write.answer.naming(items), tried.write.record)
        answer = counted(answer, for: items.map(\.key), run.recorder)
        try hold(&answer, &record, items, sent)
        dependencies.reach(.beforeAnswer)
        let isLost = if case .failed = record.content { true } else { false }
        let isLostAgain = run.machine.isLostAgain(isLost)
        if case .failure(let failure) = answer {
            // A batch that is refused as a whole, or cut off, proves nothing of each write.
            let isRefused = items.count > 1 && failure.isOfRequest
            // Of an upload that was sent twice the first answer stands in the log.
            let isOpen = tried.second != nil
            if !failure.stopsRun, !isCut, !isRefused, !isOpen, !isLostAgain {
                record.concern = .entity
            }
        }
        let outcome = answer
        let hasAnswer = run.machine.hasAnswer
        try await log(&run.recorder) { [record] in
            try $0.answered(items, sent, record, outcome, hasAnswer: hasAnswer, $1)
            if let second = tried.second { try $0.tried(items[0], second, $1) }
        }
        dependencies.reach(.afterAnswer)
        var result = CallResult(outcome)
        result.isCut = isCut
        (result.sent, result.calls) = (sent.call, sent.calls)
        return answered(result, record, &run)
    }

    /// Has the server do something so that it takes what it did not take.
    private func carryOut(
        _ remedy: Remedy, _ request: ServerRequest, _ run: inout SyncRun
    ) async throws -> SyncAction {
        let (sentAt, waited) = (run.pace.now(at: run.moment), run.waited)
        let group = adapter.group(of: remedy.call)
        let sent = try await log(&run.recorder) {
            try $0.sending(remedy, request, of: group, sentAt: sentAt, waited: waited, $1)
        }
        run.waited = 0
        let question = question(
            .remedy(remedy), remedy.call, request, asOf: sent, in: run)
        let (answer, record) = try await ask(question, &run).answer()
        try await log(&run.recorder) {
            try $0.answered(remedy, sent, record, answer, $1)
        }
        var result = CallResult(answer)
        result.isCut = isCut(answer, record, to: question, since: run.moment)
        return answered(result, record, &run)
    }

    /// Sends a question, which counts for the limits from here on.
    private func ask(_ question: SyncQuestion, _ run: inout SyncRun) throws -> SyncReply {
        run.pace.sent(at: question.sentAt, of: question.group)
        return try host.ask(question, run.proof.credentials, limits)
    }

    /// Hands the result of a call to the machine.
    func answered(
        _ result: CallResult, _ record: AnswerRecord, _ run: inout SyncRun
    ) -> SyncAction {
        var result = result
        result.seen = record.sighting(begun: run.begun)
        result.alert = record.alert
        result.isExposing = record.isExposing
        result.withheld = run.recorder.withheld
        result.exhausted = record.exhausted
        run.hold(record)
        let action = run.machine.answered(result)
        // What is answered first after a renewal was asked with the new ones.
        if let status = record.status, status != 401,
            run.machine.outcome.failure != .unauthorized
        {
            run.proof.accepted()
        }
        return action
    }

    // MARK: Reads: logged with their result

    private func read(
        _ step: SyncStep, _ call: ServerCall, _ request: ServerRequest, _ run: inout SyncRun
    ) async throws -> SyncAction {
        run.waited = 0
        let question = question(step, call, request, asOf: run.asOf, in: run)
        let reply = try ask(question, &run)
        let (answer, record) = await reply.answer()
        let exchange = ReadExchange(question, reply, record)
        let isCut = isCut(answer, record, to: question, since: run.moment)
        return try await took(exchange, step, answer, isCut: isCut, &run)
    }

    /// Logs the answer to a read, and hands its result to the machine.
    func took(
        _ exchange: ReadExchange, _ step: SyncStep, _ answer: ServerAnswer, isCut: Bool,
        _ run: inout SyncRun
    ) async throws -> SyncAction {
        var (exchange, answer) = (exchange, answer)
        if let closed = closed(answer, to: step, &run) {
            answer = closed
            exchange.answer.clearFailure()
        }
        let record = exchange.answer
        exchange.isClockNews = run.machine.isClockNews(record.sighting(begun: run.begun))
        switch step {
        case .readBack(let key, let call, _):
            switch try told(answer, of: key, by: call, &run) {
            case .answer(let told):
                answer = counted(told, for: key, run.recorder)
                // Then it says nothing of a write either.
                if case .failure = answer, case .absent = told { exchange.answer.fail(.client) }
            case .outOfReach:
                answer = .failure(.forbidden)
                exchange.answer.fail(.forbidden)
            case .nothing(let other): return try await ask(other, exchange, isCut: isCut, &run)
            }
        case .compare: (exchange.key, exchange.settles) = (step.key, step.attempt?.call)
        case .fetch:
            guard let key = step.key, answer == .records([]) else { break }
            let absent = counted(.absent, for: key, run.recorder)
            if case .failure = absent {
                answer = absent
                exchange.answer.fail(.client)
            }
        case .poll(let ticket, _):
            // That a promise is lost is none about entities.
            guard case .batch = answer else { break }
            answer = counted(answer, for: ticket.items.map(\.key), run.recorder)
        default: break
        }
        var result = CallResult(answer)
        result.isCut = isCut
        result.page = try await note(exchange, step, answer, isCut: isCut, &run)
        try tellApplied(result.page.applied, &run)
        return answered(result, record, &run)
    }

    /// An answer to writes of entities as it counts, of a batch part by part.
    private func counted(
        _ answer: ServerAnswer, for keys: [EntityKey], _ recorder: SyncRecorder
    ) -> ServerAnswer {
        guard case .batch(let answers) = answer else {
            return keys.count == 1 ? counted(answer, for: keys[0], recorder) : answer
        }
        return .batch(
            zip(answers, keys).map { told, key in
                var part = told
                part.answer = counted(told.answer, for: key, recorder)
                return part
            })
    }

    /// An answer about one entity as it counts: that it is not there may be about its collection.
    private func counted(
        _ answer: ServerAnswer, for key: EntityKey, _ recorder: SyncRecorder
    ) -> ServerAnswer {
        guard adapter.traits.absenceNeedsList, recorder.lists[key.collection] == nil,
            case .absent = answer
        else { return answer }
        return .failure(
            .client(
                status: 404,
                "\(key) is not there, or \(key.collection) is out of reach: the next list tells"))
    }

    /// Logs the answer to a read; one without news waits until something is logged.
    private func note(
        _ exchange: ReadExchange, _ step: SyncStep, _ answer: ServerAnswer, isCut: Bool,
        _ run: inout SyncRun
    ) async throws -> PageResult {
        var recorder = run.recorder
        defer { run.recorder = recorder }
        if !isCut, case .failure(let failure) = answer,
            let concern = run.machine.concern(of: failure, step)
        {
            let own = exchange.failed(step, concern)
            try await log(&recorder) { [own] in try $0.failedRead(own, $1) }
            return PageResult()
        }
        var exchange = exchange
        // Of a list by folders the first one tells that it works again.
        let isFirst = run.machine.list.map { $0.walk == nil || $0.isUnasked } ?? true
        if step.isOfList, isFirst, run.machine.isFailing(exchange.collection) {
            if case .failure = answer {} else { exchange.concern = .list }
        }
        switch (step, answer) {
        case (.list, .page(let page)):
            guard let list = run.machine.list else { return PageResult() }
            return try await note(list.bounded(page), of: list, exchange, &recorder)
        case (.list, .absent):
            guard let list = run.machine.list else { return PageResult() }
            // It was renamed or deleted since its parent was listed: the next walk tells.
            var page = ListPage(records: [], next: nil, cursor: nil)
            (page.isPartial, page.isAbsent) = (true, true)
            return try await note(page, of: list, exchange, &recorder)
        case (.feed, .page(let page)):
            guard let feed = run.machine.feed else { return PageResult() }
            return try await log(&recorder) { [exchange] in try $0.block(page, feed, exchange, $1) }
        case (.fetch(let collection, let ids), .records(let records)):
            let wanted =
                run.machine.list?.references(ids)
                ?? ids.map { ServerReference(id: $0, revision: nil) }
            return try await log(records, of: collection, &recorder) { [exchange] in
                try $0.fetched($1, $2, of: wanted, collection.name, exchange, $3)
            }
        case (.refetch(let collection, let ids, _), .records(let records)):
            return try await log(records, of: collection, &recorder) { [exchange] in
                try $0.refetched($1, $2, of: ids, collection.name, exchange, $3)
            }
        case (.readBack(let key, _, _), .record(let record)):
            return try await readBack(record, of: key, step, exchange, &run, &recorder)
        case (.readBack(let key, _, _), .deleted), (.readBack(let key, _, _), .absent):
            return try await readBack(nil, of: key, step, exchange, &run, &recorder)
        case (.compare(let proof), .record(let comparison)):
            let finding = ContentProof.finding(comparison.document ?? []) ?? .other
            if finding == .untold {
                // It says nothing of the write.
                (exchange.key, exchange.settles) = (nil, nil)
                recorder.note(exchange)
                var result = PageResult()
                result.proof = proof.withoutChecksums
                return result
            }
            try await log(&recorder) { [exchange] in
                try $0.compared(proof, finding, exchange, $1)
            }
        case (.readBackAll(let collection, let items), .records(let records)):
            _ = try await log(records, of: collection, &recorder) { [exchange] in
                try $0.readBack(items, $1, $2, collection.name, exchange, $3)
            }
        case (.combine(.combined(let collections)), .combined(let pages)):
            // In the order of the model, so that what is referred to comes first.
            let own = collections.compactMap { collection in
                pages.first { $0.collection == collection.name }
            }
            return try await log(&recorder) { [exchange] in try $0.combined(own, exchange, $1) }
        case (.poll(let ticket, _), .batch), (.poll(let ticket, _), .deferred),
            (.poll(let ticket, _), .absent):
            return try await log(&recorder) { [exchange] in
                try $0.polled(ticket, answer, exchange, $1)
            }
        case (.refill(let refill), .reserved(let values)):
            let own = try await log(&recorder) { [exchange] in
                try $0.reserved(values, for: refill, exchange, $1)
            }
            var result = PageResult()
            result.refill = own
            return result
        case (.describe, .description(let list, _)):
            let own = list.filter { model[$0.name] != nil }
            try await log(&recorder) { [exchange] in try $0.described(own, exchange, $1) }
        default:
            guard exchange.concern != nil || exchange.isClockNews else {
                recorder.note(exchange)
                break
            }
            // That a list works again is logged, and news of the server's clock.
            try await log(&recorder) { [exchange] in try $0.answered(exchange, $1) }
        }
        return PageResult()
    }
}

extension SyncDriver {
    /// Logs a page of a list.
    private func note(
        _ page: ListPage, of list: Listing, _ exchange: ReadExchange,
        _ recorder: inout SyncRecorder
    ) async throws -> PageResult {
        var page = page
        var walk = list.walk
        if let narrow = walk, narrow.isNarrow, !narrow.knows(page) {
            walk = try host.read(journal) { try narrow.whole(of: list.collection, $0) }
        }
        walk?.place(&page, asOf: list.asOf)
        if list.collection.tree?.content != nil {
            page.records = try host.read(journal) { [records = page.records] in
                try $0.holdingContents(of: records, list.collection)
            }
        }
        if !list.collection.embeds.isEmpty {
            // Where an entity comes again, what stands in it there counts.
            for index in page.records.overtaken.sorted() { page.records[index].children = [] }
        }
        let below = try below(&page.records, list.collection, list.target.parameters)
        return try await log(&recorder) { [page, adapter] in
            var page = page
            page.records = try $1.fold.completed(
                page.records, of: list.collection, in: list.target.parameters, by: adapter)
            return try $0.page(page, below, list, exchange, $1)
        }
    }

    /// Logs records that were asked for by their ids: whole, and without what stands in them.
    private func log<R: Sendable>(
        _ records: [ServerRecord], of collection: CollectionModel, _ recorder: inout SyncRecorder,
        _ body:
            @escaping @Sendable (
                inout SyncRecorder, [ServerRecord], RecordsBelow?, Draft
            ) throws -> R
    ) async throws -> R {
        var records = records
        let below = try below(&records, collection, [:])
        return try await log(&recorder) { [records, adapter] in
            let whole = try $1.fold.completed(records, of: collection, by: adapter)
            return try body(&$0, whole, below, $1)
        }
    }

    /// Takes out of records what stands in them, and looks up what is here of the same entities;
    /// nil where the model embeds nothing in their collection.
    func below(
        _ records: inout [ServerRecord], _ collection: CollectionModel,
        _ parameters: ListParameters
    ) throws -> RecordsBelow? {
        guard let tree = RecordTree(&records, of: collection, in: model) else { return nil }
        return RecordsBelow(
            tree, known: try host.read(journal) { try $0.known(below: tree) },
            parameters: parameters, adapter: adapter)
    }
}

extension ReadExchange {
    init(_ question: SyncQuestion, _ reply: SyncReply, _ record: AnswerRecord) {
        self.init(
            collection: question.call.collection?.name, request: question.request,
            sentAt: reply.sentAt, sentUptime: reply.sentUptime, asOf: question.asOf,
            answer: record)
        group = question.group
    }

    /// The exchange of a failed call, with what the failure concerns.
    fileprivate func failed(_ step: SyncStep, _ concern: FailureConcern) -> ReadExchange {
        var own = self
        own.concern = concern
        (own.key, own.settles) = (step.key, step.attempt?.call)
        if case .refill(let refill) = step { own.place = PoolPlace(refill.key) }
        return own
    }
}
