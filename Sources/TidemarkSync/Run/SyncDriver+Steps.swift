// SyncDriver+Steps.swift — carries out one step of a run: a write is logged before it is sent, a
// read together with what it brought.

import TidemarkEvents
import TidemarkViews

extension SyncDriver {
    /// Does what a step asks for; false when it was overtaken by an edit, and nothing was done.
    func carryOut(_ step: SyncStep, _ run: inout SyncRun) async throws -> Bool {
        guard let call = step.call else {
            if case .complete(let list) = step {
                let absent = try await log(&run.recorder) { recorder, draft in
                    let absent = try list.absentAtEnd(draft.fold.entity)
                    return try recorder.complete(list, absent, draft)
                }
                run.machine.completed(list, absent)
            }
            if case .cleanUp(let now) = step {
                try await log(&run.recorder) { [moment = run.moment] in
                    try $0.cleanUp(now, moment, $1)
                }
            }
            return true
        }
        if case .push(let items) = step {
            return try await push(items, &run)
        }
        try await read(step, call, &run)
        return true
    }

    /// Writes one commit of the run.
    private func log<R: Sendable>(
        _ recorder: inout SyncRecorder,
        _ body: @escaping @Sendable (inout SyncRecorder, Draft) throws -> R
    ) async throws -> R {
        let before = recorder
        let (result, after) = try await host.commit(journal, at: dependencies.now()) { draft in
            var recorder = before
            return (try body(&recorder, draft), recorder)
        }
        recorder = after
        return result
    }

    // MARK: Writes: logged before they are sent

    private func push(_ items: [PushItem], _ run: inout SyncRun) async throws -> Bool {
        var sendable: [PushItem] = []
        for item in items {
            guard let refusal = item.refusal ?? adapter.refusal(of: item.call) else {
                sendable.append(item)
                continue
            }
            let isRefused = try await log(&run.recorder) {
                try $0.refusedUnsent(item, refusal, $1)
            }
            guard isRefused else { return false }
            run.machine.refused(item)
        }
        let items = sendable
        let step = SyncStep.push(items)
        guard !items.isEmpty, let call = step.call else { return true }
        let request: ServerRequest
        // Of a batch, what each write would be by itself.
        let parts: [ServerRequest]
        do throws(SyncFailure) {
            request = try adapter.request(for: call)
            parts =
                items.count == 1
                ? [request]
                : try items.map { (item) throws(SyncFailure) in
                    try adapter.request(for: item.call)
                }
        } catch {
            run.machine.unsent(error, step)
            return true
        }
        dependencies.reach(.beforeAppend)
        let (sentAt, waited) = (now(in: run), run.waited)
        let sent = try await log(&run.recorder) {
            try $0.sending(items, request, parts, sentAt: sentAt, waited: waited, $1)
        }
        // An edit came in between: what to send is decided anew.
        guard let sent else { return false }
        run.waited = 0
        dependencies.reach(.afterAppend)
        dependencies.reach(.beforeSend)
        let question = SyncQuestion(step: step, call: call, request: request, sent: sent.call)
        var (answer, record) = await host.answer(
            question, asking(in: run, asOf: sent.call), run.proof.credentials, limits)
        if case .batch(let answers) = answer, answers.count != items.count {
            answer = .failure(.malformed("a batch of \(items.count) with \(answers.count) answers"))
        }
        dependencies.reach(.beforeAnswer)
        run.isCut = isCut(answer, record, since: run.moment)
        if case .failure(let failure) = answer {
            // What is refused as a whole, or for the run's time, says nothing of each write.
            let isRefused = items.count > 1 && failure.isOfRequest
            if !failure.stopsRun, !run.isCut, !isRefused { record.concern = .entity }
        }
        let outcome = answer
        let hasAnswer = run.machine.hasAnswer
        try await log(&run.recorder) { [record] in
            try $0.answered(items, sent, record, outcome, hasAnswer: hasAnswer, $1)
        }
        dependencies.reach(.afterAnswer)
        run.machine.took(
            outcome, to: step, seen: record.sighting(begun: run.begun), alert: record.alert)
        if record.isExposing { run.machine.exposes(step) }
        return true
    }

    // MARK: Reads: logged with what they brought

    private func read(
        _ step: SyncStep, _ call: ServerCall, _ run: inout SyncRun
    ) async throws {
        let request: ServerRequest
        do { request = try adapter.request(for: call) } catch {
            run.machine.unsent(error, step)
            return
        }
        run.waited = 0
        let question = SyncQuestion(
            step: step, call: call, request: request, list: run.machine.list)
        let asOf = try journal.read { views in views.last }
        let asking = try host.asking(question, asking(in: run, asOf: asOf))
        let (answer, record) = await host.answer(
            question, asking, run.proof.credentials, limits)
        var exchange = ReadExchange(
            key: nil, collection: call.collection?.name, request: request, sentAt: asking.sentAt,
            sentUptime: asking.sentUptime, asOf: asking.asOf, answer: record, settles: nil)
        let seen = record.sighting(begun: run.begun)
        exchange.isClockNews = run.machine.isClockNews(seen)
        run.isCut = isCut(answer, record, since: run.moment)
        let news = try await note(exchange, step, answer, &run)
        run.machine.took(answer, to: step, news: news, seen: seen, alert: record.alert)
        if record.isExposing { run.machine.exposes(step) }
    }

    func note(
        _ exchange: ReadExchange, _ step: SyncStep, _ answer: ServerAnswer, _ run: inout SyncRun
    ) async throws -> PageResult {
        var recorder = run.recorder
        defer { run.recorder = recorder }
        if !run.isCut, let own = exchange.failed(step, answer, run.machine) {
            try await log(&recorder) { [own] in try $0.failedRead(own, $1) }
            return PageResult()
        }
        var exchange = exchange
        if case .list = step, run.machine.isFailing(exchange.collection) {
            if case .failure = answer {} else { exchange.concern = .list }
        }
        switch (step, answer) {
        case (.list, .page(let page)):
            guard let list = run.machine.list else { return PageResult() }
            return try await log(&recorder) { [exchange] in try $0.page(page, list, exchange, $1) }
        case (.fetch(let collection, let ids), .records(let records)):
            let wanted =
                run.machine.list?.references(ids)
                ?? ids.map { ServerReference(id: $0, revision: nil) }
            return try await log(&recorder) {
                [exchange] in try $0.fetched(records, of: wanted, collection.name, exchange, $1)
            }
        case (.refetch(let collection, let ids, _), .records(let records)):
            return try await log(&recorder) {
                [exchange] in try $0.refetched(records, of: ids, collection.name, exchange, $1)
            }
        case (.readBack(let key, _, let attempt), .record),
            (.readBack(let key, _, let attempt), .deleted),
            (.readBack(let key, _, let attempt), .absent):
            var found: ServerRecord?
            if case .record(let record) = answer { found = record }
            var own = exchange
            own.key = key
            own.settles = attempt?.call
            try await log(&recorder) { [own, found] in try $0.readBack(key, own, found, $1) }
        case (.describe, .description(let list)):
            let own = list.filter { model[$0.name] != nil }
            let missing = model.collections.map(\.name).filter { name in
                !own.contains { $0.name == name }
            }
            try await log(&recorder) {
                [exchange] in try $0.described(own, missing: missing, exchange, $1)
            }
        default:
            guard exchange.concern != nil || exchange.isClockNews else {
                recorder.note(exchange)
                break
            }
            // That it works again is worth an event, and what is new of the clock.
            try await log(&recorder) { [exchange] in try $0.answered(exchange, $1) }
        }
        return PageResult()
    }
}

extension ReadExchange {
    /// The exchange of a call that failed for a reason of its own, with what it concerns; nil of
    /// any other.
    fileprivate func failed(
        _ step: SyncStep, _ answer: ServerAnswer, _ machine: SyncMachine
    ) -> ReadExchange? {
        guard case .failure(let failure) = answer, !failure.stopsRun else { return nil }
        var own = self
        switch step {
        // It is asked for from the beginning, and tells then whether it fails.
        case .list where machine.beginsAnew(after: failure): return nil
        case .list: own.concern = .list
        case .readBack(let key, _, let attempt):
            (own.key, own.settles) = (key, attempt?.call)
            own.concern = attempt == nil && machine.list?.isReadBack == true ? .absent : .entity
        case .fetch(let collection, let ids) where ids.count == 1:
            (own.key, own.concern) = (EntityKey(collection.name, ids[0]), .entity)
        case .fetch, .refetch, .describe, .push, .complete, .cleanUp, .finish: return nil
        }
        return own
    }
}
