// SyncRecorder.swift — how a sync run stands in the log: which events each step appends.

import HTTPTypes
package import TidemarkEvents
package import TidemarkViews

/// A read that was sent and answered; logged only together with what it brought.
struct ReadExchange: Sendable {
    var key: EntityKey?
    var collection: CollectionName
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
    var isFailure = false
}

/// Appends the events of one sync run.
package struct SyncRecorder: Sendable {
    /// The run's `sync.started`, once it is logged: a run without news never begins in the log.
    package private(set) var start: Position?
    private let begun: Event
    private var unlogged: [ReadExchange] = []

    package init(trigger: String, at now: Timestamp, seed: UInt64, uptime: Uptime) {
        var payload = PayloadBuilder()
        payload.add("trigger", trigger)
        payload.add("seed", String(seed))
        payload.add("bootID", uptime.bootID)
        payload.add("uptime", uptime.microseconds)
        begun = Event(.syncStarted, recordedAt: now, json: payload.bytes)
    }

    // MARK: Beginning and end

    /// Logs the start of the run, and the reads that had brought nothing so far.
    private mutating func begin(_ draft: Draft) throws -> Position {
        let start = try start ?? draft.append(begun)
        self.start = start
        for exchange in unlogged { _ = try log(exchange, start, draft) }
        unlogged = []
        return start
    }

    /// Logs the end of the run: one small event when there was nothing new on either side.
    package mutating func finish(_ outcome: SyncOutcome, _ draft: Draft) throws {
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
                cause: exchange.settles, sync: start, call: call, json: exchange.answer.payload))
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
            let payload: JSONObject = ["ids": .array(ids), "at": .array(places)]
            try draft.append(
                Event(
                    .pullPage, recordedAt: draft.now, collection: collection, sync: start,
                    call: call, json: JSONValue.object(payload).encoded()))
        }
        if isLast, let cursor {
            var payload = PayloadBuilder()
            payload.add("complete", true)
            payload.add("full", list.after == nil)
            try draft.append(
                Event(
                    .pullCompleted, recordedAt: draft.now, collection: collection, sync: start,
                    call: call, revision: cursor, json: payload.bytes))
        }
        return news.count { $0 }
    }

    private func isNews(
        _ record: ServerRecord, _ collection: CollectionName, _ asOf: Position, _ draft: Draft
    ) throws -> Bool {
        let key = try draft.fold.resolve(EntityKey(collection, record.id))
        let row = try draft.fold.entity(key)
        if let known = row.asOf, asOf < known { return false }
        guard let document = record.document else { return row.baseState != .deleted }
        return row.baseState != .live || row.revision != record.revision || row.base != document
    }

    /// Logs how an entity stands whose write had no known outcome.
    mutating func readBack(
        _ key: EntityKey, _ exchange: ReadExchange, _ record: ServerRecord?, _ draft: Draft
    ) throws {
        let start = try begin(draft)
        let call = try log(exchange, start, draft)
        let row = try draft.fold.entity(key)
        if let record, record.document != nil {
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
    mutating func sending(
        _ key: EntityKey, _ request: ServerRequest, covers: [Position], _ draft: Draft
    ) throws -> Position {
        let start = try begin(draft)
        var payload = PayloadBuilder()
        payload.add(request, sentAt: draft.now)
        payload.add("covers", covers)
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
        try draft.append(head)
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
        case .refused(let refusal):
            var builder = PayloadBuilder()
            builder.add("status", Int64(refusal.status))
            builder.add("message", refusal.message)
            try draft.append(event(.pushRejected, json: builder.bytes))
        case .failure, .page, .unchanged: break
        }
    }
}

extension ServerRecord {
    fileprivate func event(
        _ collection: CollectionName, _ sync: Position, call: Position, asOf: Position,
        mutation: Position?, _ now: Timestamp
    ) -> Event {
        Event(
            document == nil ? .serverDeleted : .serverUpserted, recordedAt: now,
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
