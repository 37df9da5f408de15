// SyncRecorder+Push.swift — how writes stand in the log: before they are sent, and what their
// answers mean for each entity. A batch has a request of its own, and one of each write in it.

import HTTPTypes
import TidemarkEvents
import TidemarkRules
import TidemarkViews

/// A push that is on its way.
struct SentPush: Sendable {
    /// The `request.sent` that the answer belongs to.
    var call: Position
    /// Of each write in order, its own `request.sent`: the same one unless it is a batch.
    var calls: [Position]
}

extension SyncRecorder {
    /// Logs a write, or a batch of them, before it is sent.
    ///
    /// - Returns: nil when an entity is no longer as it was when the write was decided: then
    ///   nothing is logged, and nothing may be sent.
    mutating func sending(
        _ items: [PushItem], _ request: ServerRequest, _ parts: [ServerRequest],
        of group: RequestGroup?, sentAt: Timestamp, waited: Int64, _ draft: Draft
    ) throws -> SentPush? {
        for item in items {
            let row = try draft.fold.entity(item.key)
            let revision = row.baseState == .live ? row.revision ?? PushWrite.noRevision : nil
            guard row.attempt == nil, row.isPending(item.covers),
                item.call.isAction || item.call.revision == revision
            else { return nil }
        }
        let last = draft.last
        let start = try begin(draft)
        let asOf = asOf(after: last, draft)
        guard items.count > 1 else {
            let call = try appendSent(
                items[0], request, group, sentAt, waited: waited, start, asOf, cause: nil, draft)
            return SentPush(call: call, calls: [call])
        }
        var batch = RequestSent(request, at: sentAt)
        batch.waited = waited
        batch.writes = Int64(items.count)
        batch.group = self.parts(of: group)
        let call = try draft.append(
            Event(
                .requestSent, recordedAt: draft.now, collection: items[0].key.collection,
                sync: start, asOf: asOf, json: batch.encoded))
        var calls: [Position] = []
        for (item, part) in zip(items, parts) {
            calls.append(
                try appendSent(item, part, nil, sentAt, waited: 0, start, asOf, cause: call, draft))
        }
        return SentPush(call: call, calls: calls)
    }

    private func appendSent(
        _ item: PushItem, _ request: ServerRequest, _ group: RequestGroup?, _ sentAt: Timestamp,
        waited: Int64, _ start: Position, _ asOf: Position, cause: Position?, _ draft: Draft
    ) throws -> Position {
        var write = RequestSent(request, at: sentAt)
        write.waited = waited
        write.group = parts(of: group)
        write.covers = item.covers
        write.rule = "push/\(PushWrite.version)"
        write.body = PayloadBody(request.loggedBody)
        return try draft.append(
            Event(
                .requestSent, recordedAt: draft.now, key: item.key, cause: cause, sync: start,
                mutation: item.covers.last, asOf: asOf, json: write.encoded))
    }

    /// Logs the answer to a push, and what it means for each entity.
    ///
    /// - Parameter hasAnswer: whether the server itself answered in this run before.
    mutating func answered(
        _ items: [PushItem], _ sent: SentPush, _ record: AnswerRecord, _ answer: ServerAnswer,
        hasAnswer: Bool, _ draft: Draft
    ) throws {
        let start = try begin(draft)
        let push = LoggedCall(start: start, write: sent.call)
        if items.count > 1 {
            try append(record, key: nil, items[0].key.collection, to: push, draft)
        }
        if case .deferred(let ticket) = answer {
            if items.count == 1 {
                try append(record, key: items[0].key, nil, to: push, draft)
            }
            let promise = PushDeferred(ticket: ticket, writes: items.count > 1 ? items.count : 0)
            return try append(promise, items, to: push, draft)
        }
        var gone: [EntityKey: Position] = [:]
        for (index, item) in items.enumerated() {
            let write = LoggedCall(start: start, write: sent.calls[index])
            var own = (record: record, answer: answer)
            if case .batch(let answers) = answer {
                own.record = AnswerRecord(answers[index], uptime: record.uptime)
                own.answer = answers[index].answer
            } else if items.count > 1 {
                own.record = record.ofEachWrite
            }
            gone[item.key] = try answered(item, own.record, own.answer, to: write, draft)
            if case .deferred(let ticket) = own.answer {
                let promise = PushDeferred(ticket: ticket, writes: 0)
                try append(promise, [item], to: write, draft)
            }
            if hasAnswer, let refusal = try refusal(own.answer, own.record, item, draft) {
                try refused(item, refusal, call: write.call, draft)
            }
        }
        var news = PageResult()
        try append(below: gone, in: start, asOf: sent.call, &news, draft)
    }

    /// Logs the answer to one write, and what it says of its entity.
    ///
    /// - Returns: the event by which the entity is gone, if the answer says so.
    private mutating func answered(
        _ item: PushItem, _ record: AnswerRecord, _ answer: ServerAnswer,
        cause: Position? = nil, to write: LoggedCall, _ draft: Draft
    ) throws -> Position? {
        var record = record
        record.note(answer)
        try append(record, key: item.key, nil, cause: cause, to: write, draft)
        try settle(item, write, answer, draft)
        return try position(of: item, gone: answer, draft)
    }

    /// The event by which an entity is gone on the server, if the answer to its write says so: then
    /// all goes that belongs to it.
    private func position(
        of item: PushItem, gone answer: ServerAnswer, _ draft: Draft
    ) throws -> Position? {
        switch (item.call, answer) {
        case (_, .absent), (.delete, .stored), (.delete, .deleted):
            let isGone = try draft.fold.entity(draft.fold.resolve(item.key)).baseState == .deleted
            return isGone ? draft.last : nil
        default: return nil
        }
    }

    private func append(
        _ promise: PushDeferred, _ items: [PushItem], cause: Position? = nil,
        to push: LoggedCall, _ draft: Draft
    ) throws {
        let key = items.count == 1 && promise.writes == 0 ? items[0].key : nil
        try draft.append(
            Event(
                .pushDeferred, recordedAt: draft.now, key: key,
                collection: key == nil ? items.first?.key.collection : nil, cause: cause,
                sync: push.start, call: push.call, json: promise.encoded))
    }

    /// Logs an answer that was promised, and what it means for each entity whose write has no known
    /// outcome yet; or that it is to be had by another word, or not at all.
    ///
    /// - Returns: of which entities the server told something else since their writes were sent. It
    ///   may have been said before what was taken or after it, and what is pending may have another
    ///   form since: that these were taken says too little, and how they stand is to be asked.
    mutating func polled(
        _ ticket: OpenTicket, _ answer: ServerAnswer, _ exchange: ReadExchange, _ draft: Draft
    ) throws -> PageResult {
        var exchange = exchange
        exchange.settles = ticket.call
        let poll = try log(exchange, draft)
        var promise = PushDeferred()
        var news = PageResult()
        switch answer {
        case .deferred(let name): promise.ticket = name
        case .absent: promise.isLost = true
        case .batch(let answers):
            var gone: [EntityKey: Position] = [:]
            for (index, answered) in answers.enumerated() where index < ticket.items.count {
                let item = ticket.items[index]
                let write = LoggedCall(start: poll.start, write: ticket.calls[index])
                let row = try draft.fold.entity(item.key)
                guard row.attempt?.call == write.call else { continue }
                var record = AnswerRecord(answered, uptime: exchange.answer.uptime)
                if answered.answer.isTaken, !item.call.isAction, row.isTold(since: write.call) {
                    record.leaveOpen()
                    try append(record, key: item.key, nil, cause: poll.call, to: write, draft)
                    news.overtaken.append(item.key)
                    continue
                }
                gone[item.key] = try self.answered(
                    item, record, answered.answer, cause: poll.call, to: write, draft)
            }
            try append(below: gone, in: poll.start, asOf: ticket.call, &news, draft)
            return news
        case .failure, .description, .page, .combined, .unchanged, .cursorExpired, .records,
            .reserved, .record, .stored, .deleted, .conflict, .conflictUnknown, .refused, .ignored,
            .waiting:
            return news
        }
        let push = LoggedCall(start: poll.start, write: ticket.call)
        try append(promise, ticket.items, cause: poll.call, to: push, draft)
        return news
    }

    /// Logs what one write's answer says of its entity.
    private mutating func settle(
        _ item: PushItem, _ write: LoggedCall, _ answer: ServerAnswer, _ draft: Draft
    ) throws {
        switch answer {
        case .record(let record), .deleted(let record):
            try accepted(item, write, record.id, record.revision, item.leftOut, draft)
            try say(
                record.event(
                    item.key.collection, write, mutation: item.covers.last, draft.now), draft)
        case .stored(let id, let revision, let issues):
            try accepted(item, write, id, revision, issues + item.leftOut, draft)
        case .absent:
            try say(
                Event(
                    .serverDeleted, recordedAt: draft.now, key: item.key, sync: write.start,
                    call: write.call, asOf: write.asOf), draft)
        case .conflict(let record):
            try say(
                record.event(item.key.collection, write, mutation: nil, draft.now), draft)
        case .refused(let refusal): try refused(item, refusal, call: write.call, draft)
        // Of a precondition that failed nothing follows: how the entity stands is asked. What was
        // left alone the answer itself says.
        case .conflictUnknown, .ignored: break
        case .failure, .page, .combined, .unchanged, .description, .cursorExpired, .records,
            .batch, .deferred, .waiting, .reserved:
            break
        }
    }

    /// The refusal that a page (4xx) in the place of an answer is; nil of any other answer.
    ///
    /// It comes again and again to one write, while the server answers others: a machine in between
    /// refuses it.
    private func refusal(
        _ answer: ServerAnswer, _ record: AnswerRecord, _ item: PushItem, _ draft: Draft
    ) throws -> ServerRefusal? {
        guard case .failure(.foreign) = answer, let status = record.status,
            (400..<500).contains(status),
            let failing = try draft.fold.failing(draft.fold.resolve(item.key)),
            FailureKind(rawValue: failing.gate.reason) == .foreign, failing.gate.failures >= 2
        else { return nil }
        return .page(status)
    }

    private func accepted(
        _ item: PushItem, _ write: LoggedCall, _ id: String, _ revision: Revision?,
        _ issues: [ServerIssue], _ draft: Draft
    ) throws {
        var push = PushAccepted()
        if ExactString(id) != ExactString(item.key.id) { push.serverID = id }
        push.issues = issues
        if item.call.file != nil {
            push.content = item.call.collection?.tree?.contentName(of: item.key.id, revision)
        }
        let payload = push == PushAccepted() ? nil : push.encoded
        try draft.append(
            Event(
                .pushAccepted, recordedAt: draft.now, key: item.key, sync: write.start,
                mutation: item.covers.last, call: write.call, revision: revision, json: payload))
    }

    /// Logs that a move without an answer was carried out: what it moved is not where it was, and
    /// something of its kind is where it leads.
    ///
    /// Whether that is the same the next list says.
    mutating func moved(
        _ key: EntityKey, _ attempt: EntityRow.Attempt, _ exchange: ReadExchange, _ draft: Draft
    ) throws {
        let read = try log(exchange, draft)
        try draft.append(
            Event(
                .pushAccepted, recordedAt: draft.now, key: key, sync: read.start,
                mutation: attempt.covers, call: attempt.call))
    }

    /// Logs what a server has at the path of a file whose write got no answer: what was sent, a
    /// part of it that a broken upload left, or another content.
    mutating func compared(
        _ proof: ContentProof, _ finding: ContentProof.Finding, _ exchange: ReadExchange,
        _ draft: Draft
    ) throws {
        let (key, record) = (proof.key, proof.record)
        guard let attempt = proof.attempt else {
            return try comparedWithKnown(proof, finding, exchange, draft)
        }
        if finding == .other {
            return proof.isMade
                ? try taken(key, exchange, draft)
                : try readBack(key, exchange, record, nil, draft)
        }
        let read = try log(exchange, draft)
        if finding == .same {
            var push = PushAccepted()
            push.content = proof.call.collection?.tree?.contentName(of: key.id, record.revision)
            try draft.append(
                Event(
                    .pushAccepted, recordedAt: draft.now, key: key, sync: read.start,
                    mutation: attempt.covers, call: attempt.call, revision: record.revision,
                    json: push.encoded))
        }
        // As of our own write: what is pending stays on it.
        try say(
            record.event(key.collection, read, mutation: attempt.covers, draft.now), draft)
    }

    /// Logs how a file stands; before that, where it has the content of before, that this has
    /// another name now.
    private mutating func comparedWithKnown(
        _ proof: ContentProof, _ finding: ContentProof.Finding, _ exchange: ReadExchange,
        _ draft: Draft
    ) throws {
        let (key, record) = (proof.key, proof.record)
        // It may have been removed meanwhile.
        if finding == .same, try draft.fold.content(proof.digest)?.stored != nil,
            let name = proof.call.collection?.tree?.contentName(of: key.id, record.revision)
        {
            let start = try begin(draft)
            let asset = AssetStored(
                digest: proof.digest, bytes: UInt64(clamping: proof.bytes), .download, source: name)
            try draft.append(
                Event(
                    .assetStored, recordedAt: draft.now, key: key, collection: key.collection,
                    sync: start, json: asset.encoded))
        }
        try readBack(key, exchange, record, nil, draft)
    }

    /// Logs that an entity can't be made, as another one lies at its path.
    mutating func taken(_ key: EntityKey, _ exchange: ReadExchange, _ draft: Draft) throws {
        let row = try draft.fold.entity(key)
        let read = try log(exchange, draft)
        let covers = row.attempt?.covers ?? row.next.last?.position
        guard let covers, row.pending.contains(where: { $0.position <= covers }) else { return }
        try append(.taken(), of: key, covers, cause: read.call, read.start, draft)
    }

    /// Logs an upload that was sent once more, and what it says of the server's preconditions.
    mutating func tried(_ item: PushItem, _ second: SecondUpload, _ draft: Draft) throws {
        var own = second.exchange
        (own.key, own.rule) = (item.key, RequestSent.trialRule)
        let read = try log(own, draft)
        guard let found = second.found else { return }
        var told = ServerDescribed()
        told.preconditions = found.areHeeded ? .heeded : .ignored
        told.triedAt = found.triedAt
        try draft.append(
            Event(
                .serverDescribed, recordedAt: draft.now, sync: read.start, call: read.call,
                json: told.encoded))
    }

    /// Logs that a write is refused without being sent.
    ///
    /// - Returns: false when its entity is no longer as it was when the write was decided: then
    ///   nothing is logged.
    mutating func refusedUnsent(
        _ item: PushItem, _ refusal: ServerRefusal, _ draft: Draft
    ) throws -> Bool {
        let row = try draft.fold.entity(item.key)
        // In a tree later edits may have been held back from it.
        let isTree = try draft.fold.known(item.key.collection)?.model.tree != nil
        guard row.attempt == nil,
            isTree ? row.isPending(item.covers) : row.next.map(\.position) == item.covers
        else { return false }
        try refused(item, refusal, call: nil, draft)
        return true
    }

    /// Logs a refusal: the server's answer to a call, or one that needs no call.
    mutating func refused(
        _ item: PushItem, _ refusal: ServerRefusal, call: Position?, _ draft: Draft
    ) throws {
        let start = try begin(draft)
        var refusal = refusal
        if call != nil, let name = remedied[item.key] {
            refusal = refusal.adding("refused again after \(name)")
        }
        try append(refusal, of: item.key, item.covers.last, call: call, start, draft)
    }

    private func append(
        _ refusal: ServerRefusal, of key: EntityKey, _ covers: Position?, cause: Position? = nil,
        call: Position? = nil, _ start: Position, _ draft: Draft
    ) throws {
        let rejected = PushRejected(
            status: UInt32(clamping: refusal.status), message: refusal.message,
            issues: refusal.issues, isTaken: refusal.isTaken)
        try draft.append(
            Event(
                .pushRejected, recordedAt: draft.now, key: key, cause: cause, sync: start,
                mutation: covers, call: call, json: rejected.encoded))
    }
}

extension ServerAnswer {
    /// Whether it says that a write was taken.
    fileprivate var isTaken: Bool {
        switch self {
        case .record, .stored, .deleted: true
        case .description, .page, .combined, .unchanged, .cursorExpired, .records, .absent,
            .conflict, .conflictUnknown, .refused, .ignored, .deferred, .batch, .waiting, .failure,
            .reserved:
            false
        }
    }
}

extension EntityRow {
    /// Whether the server said something of it after a request was sent.
    fileprivate func isTold(since call: Position) -> Bool {
        basePosition.map { $0 > call } ?? false
    }

    /// Whether what a write carries is pending still, as the first of what is.
    fileprivate func isPending(_ covers: [Position]) -> Bool {
        pending.prefix(covers.count).map(\.position) == covers
    }
}
