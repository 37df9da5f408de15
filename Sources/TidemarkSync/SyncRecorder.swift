// SyncRecorder.swift — how a sync run stands in the log: which events each step appends.

import HTTPTypes
package import TidemarkEvents
import TidemarkRules
package import TidemarkViews

/// A read that was sent and answered; logged only together with what it brought.
struct ReadExchange: Sendable {
    var key: EntityKey?
    var collection: CollectionName?
    var request: ServerRequest
    var sentAt: Timestamp
    /// The log's last position when it was sent.
    var asOf: Position
    var answer: AnswerRecord
    /// For a read-back, the attempt that it settles.
    var settles: Position?
}

/// What is kept of an answer's head, and of its body where it failed.
struct AnswerRecord: Sendable {
    var payload: [UInt8]
    /// What the payload names by hash.
    var bodies: [[UInt8]] = []
    /// The server's clock, as it wrote it.
    var date: String?
    /// For how long it asked for no call that is not needed, as it wrote it.
    var backoff: String?
    var isFailure = false
}

/// Appends the events of one sync run.
package struct SyncRecorder: Sendable {
    /// The run's `sync.started`, once it is logged: a run without news never begins in the log.
    package private(set) var start: Position?
    private let triggers: [SyncTrigger]
    private let seed: UInt64
    private let uptime: Uptime
    private let begunAt: Timestamp
    private var unlogged: [ReadExchange] = []
    /// Collections of whose list something was passed over, because more is known of it: their
    /// cursor stays, so that the next list brings it again.
    private var stale: Set<CollectionName> = []

    package init(triggers: [SyncTrigger], at now: Timestamp, seed: UInt64, uptime: Uptime) {
        self.triggers = triggers
        self.seed = seed
        self.uptime = uptime
        begunAt = now
    }

    /// What is known when a run begins: part of its first event, or of the only one.
    private func describe(_ payload: inout PayloadBuilder) {
        payload.add("trigger", triggers.first?.rawValue)
        if triggers.count > 1 {
            payload.add("triggers", JSONValue.array(triggers.map { .string($0.rawValue) }))
        }
        payload.add("begunAt", begunAt.rawValue)
        payload.add("bootID", uptime.bootID)
        payload.add("uptime", uptime.microseconds)
    }

    // MARK: Beginning and end

    /// Logs the start of the run, and the reads that had brought nothing so far.
    private mutating func begin(_ draft: Draft) throws -> Position {
        let start = try start ?? logStart(draft)
        self.start = start
        for exchange in unlogged { _ = try log(exchange, start, draft) }
        unlogged = []
        return start
    }

    private func logStart(_ draft: Draft) throws -> Position {
        var payload = PayloadBuilder()
        describe(&payload)
        payload.add("seed", String(seed))
        return try draft.append(Event(.syncStarted, recordedAt: draft.now, json: payload.bytes))
    }

    /// Logs the end of the run: one small event when there was nothing new on either side.
    package mutating func finish(
        _ outcome: SyncOutcome, uptime: Uptime, _ draft: Draft
    ) throws {
        var payload = PayloadBuilder()
        payload.add(
            "outcome", outcome.failure?.name ?? (outcome.isSynced ? "synced" : "incomplete"))
        payload.add("detail", outcome.failure.map { "\($0)" })
        let counts = outcome.counts
        for (name, count) in [
            ("requests", counts.requests), ("pulled", counts.pulled), ("pushed", counts.pushed),
            ("conflicts", counts.conflicts), ("rejected", counts.rejected),
            ("readBack", counts.readBack), ("pending", outcome.pending),
            ("refused", outcome.refused),
        ] where count > 0 {
            payload.add(name, Int64(count))
        }
        for (collection, failure) in outcome.paused.sorted(by: { $0.key < $1.key }) {
            payload.add("paused \(collection)", failure.name)
        }
        if outcome.failure != nil || !outcome.paused.isEmpty { _ = try begin(draft) }
        if start == nil {
            describe(&payload)
            payload.add("Date", unlogged.last?.answer.date)
        }
        // What makes the next run wait is measured by the clock that nobody sets.
        let backoff = start == nil ? unlogged.compactMap(\.answer.backoff).last : nil
        payload.add("Backoff", backoff)
        if outcome.failure != nil || backoff != nil {
            payload.add("endUptime", uptime.microseconds)
        }
        try draft.append(
            Event(.syncFinished, recordedAt: draft.now, sync: start, json: payload.bytes))
    }

    // MARK: Reads

    /// Keeps an exchange until something new is logged.
    mutating func note(_ exchange: ReadExchange) { unlogged.append(exchange) }

    private func log(
        _ exchange: ReadExchange, _ start: Position, _ draft: Draft
    ) throws -> Position {
        var payload = PayloadBuilder()
        payload.add(exchange.request, sentAt: exchange.sentAt)
        let call = try draft.append(
            Event(
                .requestSent, recordedAt: draft.now, key: exchange.key,
                collection: exchange.collection, sync: start, asOf: exchange.asOf,
                json: payload.bytes))
        try draft.append(
            Event(
                exchange.answer.isFailure ? .requestFailed : .requestAnswered,
                recordedAt: draft.now, key: exchange.key, collection: exchange.collection,
                cause: exchange.settles, sync: start, call: call, json: exchange.answer.payload),
            bodies: exchange.answer.bodies)
        return call
    }

    /// Logs a page of a list and the entities in it that are new; a page without news is kept back,
    /// unless it moves the cursor.
    ///
    /// - Returns: how many entities were new.
    mutating func page(
        _ page: ListPage, _ list: SyncMachine.Page, _ exchange: ReadExchange, _ draft: Draft
    ) throws -> Int {
        let collection = list.collection.name
        let isLast = page.next == nil
        let cursor = list.number == 0 ? page.cursor : list.cursor
        let news = try page.records.map { try isNews($0, collection, exchange.asOf, draft) }
        let movesCursor = isLast && cursor != nil && cursor != list.after
        guard news.contains(true) || movesCursor || !isLast || list.number > 0 else {
            note(exchange)
            return 0
        }
        let start = try begin(draft)
        let call = try log(exchange, start, draft)
        var ids: [JSONValue] = []
        var places: [JSONValue] = []
        for (record, isNew) in zip(page.records, news) {
            ids.append(.string(record.id))
            guard isNew else {
                places.append("=")
                continue
            }
            let position = try draft.append(
                record.event(
                    collection, start, call: call, asOf: exchange.asOf, mutation: nil, draft.now))
            places.append(.number(JSONNumber(Int(position.rawValue))))
        }
        if !ids.isEmpty {
            let payload: JSONObject = ["scope": "", "ids": .array(ids), "at": .array(places)]
            try draft.append(
                Event(
                    .pullPage, recordedAt: draft.now, collection: collection, sync: start,
                    call: call, json: JSONValue.object(payload).encoded()))
        }
        // What a list of everything should have named is asked after first; then it is made again.
        let isWhole = list.unnamed.isSubset(of: page.records.map(\.id))
        if isLast, isWhole, let cursor, !stale.contains(collection) {
            var payload = PayloadBuilder()
            payload.add("scope", "")
            payload.add("complete", true)
            payload.add("full", list.after == nil)
            try draft.append(
                Event(
                    .pullCompleted, recordedAt: draft.now, collection: collection, sync: start,
                    call: call, revision: cursor, json: payload.bytes))
        }
        return news.count { $0 }
    }

    private mutating func isNews(
        _ record: ServerRecord, _ collection: CollectionName, _ asOf: Position, _ draft: Draft
    ) throws -> Bool {
        let key = try draft.fold.resolve(EntityKey(collection, record.id))
        let row = try draft.fold.entity(key)
        if let known = row.asOf, asOf < known {
            if row.revision != record.revision { stale.insert(collection) }
            return false
        }
        guard !record.isDeleted, let document = record.document else {
            return row.baseState == .live || (row.baseState == .absent && !row.pending.isEmpty)
        }
        guard row.baseState == .live, row.revision == record.revision else { return true }
        return row.base != document && !Self.meanTheSame(row.base, document)
    }

    /// Whether two documents differ in nothing but how they are written.
    private static func meanTheSame(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard let left = try? JSONValue(parsing: left), let right = try? JSONValue(parsing: right)
        else { return false }
        return left == right
    }

    /// Logs how an entity stands whose write had no known outcome.
    mutating func readBack(
        _ key: EntityKey, _ exchange: ReadExchange, _ record: ServerRecord?, _ draft: Draft
    ) throws {
        let start = try begin(draft)
        let call = try log(exchange, start, draft)
        let row = try draft.fold.entity(key)
        if let record, !record.isDeleted {
            guard row.baseState != .live || row.revision != record.revision else { return }
            try draft.append(
                record.event(
                    key.collection, start, call: call, asOf: exchange.asOf, mutation: nil,
                    draft.now))
        } else if row.baseState == .live {
            try draft.append(
                Event(
                    .serverDeleted, recordedAt: draft.now, key: key, sync: start, call: call,
                    asOf: exchange.asOf))
        }
    }

    // MARK: Writes

    /// Logs a write before it is sent.
    ///
    /// - Returns: the position of the `request.sent`; nil when the entity is no longer as it was
    ///   when the write was decided: then nothing is logged, and nothing may be sent.
    mutating func sending(
        _ key: EntityKey, _ call: ServerCall, _ request: ServerRequest, covers: [Position],
        _ draft: Draft
    ) throws -> Position? {
        let row = try draft.fold.entity(key)
        guard row.attempt == nil, row.pending.prefix(covers.count).map(\.position) == covers,
            row.baseState == .live ? row.revision == call.revision : call.revision == nil
        else { return nil }
        let start = try begin(draft)
        var payload = PayloadBuilder()
        payload.add(request, sentAt: draft.now)
        payload.add("covers", covers)
        payload.add("rule", "push/\(PushWrite.version)")
        payload.body(request.body)
        return try draft.append(
            Event(
                .requestSent, recordedAt: draft.now, key: key, sync: start,
                mutation: covers.last, asOf: Position(draft.nextPosition.rawValue - 1),
                json: payload.bytes))
    }

    /// Logs the answer to a write and what it means.
    mutating func answered(
        _ key: EntityKey, call: Position, covers: [Position], _ record: AnswerRecord,
        _ answer: ServerAnswer, _ draft: Draft
    ) throws {
        let start = try begin(draft)
        let mutation = covers.last
        func event(_ kind: EventKind, json: [UInt8]? = nil, revision: Revision? = nil) -> Event {
            Event(
                kind, recordedAt: draft.now, key: key, sync: start, mutation: mutation, call: call,
                revision: revision, json: json)
        }
        var head = event(
            record.isFailure ? .requestFailed : .requestAnswered, json: record.payload)
        head.mutation = nil
        try draft.append(head, bodies: record.bodies)
        switch answer {
        case .record(let record), .deleted(let record):
            var payload: [UInt8]?
            if record.id != key.id {
                var builder = PayloadBuilder()
                builder.add("serverID", record.id)
                payload = builder.bytes
            }
            try draft.append(event(.pushAccepted, json: payload, revision: record.revision))
            try draft.append(
                record.event(
                    key.collection, start, call: call, asOf: call, mutation: mutation, draft.now))
        case .absent, .conflict(nil):
            try draft.append(
                Event(
                    .serverDeleted, recordedAt: draft.now, key: key, sync: start, call: call,
                    asOf: call))
        case .conflict(let record?):
            try draft.append(
                record.event(
                    key.collection, start, call: call, asOf: call, mutation: nil, draft.now))
        case .refused(let refusal): try refused(key, covers: covers, refusal, call: call, draft)
        case .failure, .page, .unchanged, .description, .cursorExpired, .records, .stored,
            .conflictUnknown, .batch:
            break
        }
    }

    /// Logs a refusal: the server's answer to a call, or one that needs no call.
    mutating func refused(
        _ key: EntityKey, covers: [Position], _ refusal: ServerRefusal, call: Position? = nil,
        _ draft: Draft
    ) throws {
        let start = try begin(draft)
        var payload = PayloadBuilder()
        payload.add("status", Int64(refusal.status))
        payload.add("message", refusal.message)
        try draft.append(
            Event(
                .pushRejected, recordedAt: draft.now, key: key, sync: start,
                mutation: covers.last, call: call, json: payload.bytes))
    }
}

extension ServerRecord {
    fileprivate func event(
        _ collection: CollectionName, _ sync: Position, call: Position, asOf: Position,
        mutation: Position?, _ now: Timestamp
    ) -> Event {
        Event(
            isDeleted ? .serverDeleted : .serverUpserted, recordedAt: now,
            key: EntityKey(collection, id), sync: sync, mutation: mutation, call: call, asOf: asOf,
            serverTime: serverTime, revision: revision, json: document)
    }
}

extension PayloadBuilder {
    fileprivate mutating func add(_ request: ServerRequest, sentAt: Timestamp) {
        add("method", request.method.rawValue)
        add("path", request.path)
        for field in request.headers where field.name == .ifMatch || field.name == .ifNoneMatch {
            add(field.name.rawName, field.value)
        }
        add("sentAt", sentAt.rawValue)
    }
}
