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
    /// Microseconds since the device's boot, when it was read.
    var uptime: Int64?
    /// For how many seconds the server asked not to be called without need.
    var backoff: String?
    var status: Int?
    /// What the server has to say to whoever runs the app.
    var alert: String?
    var isFailure = false

    /// The server's clock, where it was told.
    var serverTime: Timestamp? { date.flatMap(HTTPDate.parse) }

    /// What an answer to a whole batch says of each write in it.
    var ofEachWrite: AnswerRecord {
        guard let status else { return self }
        var payload = PayloadBuilder()
        payload.add("status", Int64(status))
        return AnswerRecord(payload: payload.bytes)
    }
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
    var stale: Set<CollectionName> = []
    /// Collections of which a word of the server was not taken, because their rule did not answer.
    package internal(set) var withheld: [CollectionName: SyncFailure] = [:]
    /// The rules of the app.
    let rules: [ConflictRule]
    /// Whether requests are counted, so that each has to be logged.
    private let hasLimits: Bool

    package init(
        triggers: [SyncTrigger], at now: Timestamp, seed: UInt64, uptime: Uptime,
        rules: [ConflictRule] = [], hasLimits: Bool = false
    ) {
        self.rules = rules
        self.hasLimits = hasLimits
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

    /// The server's time when the run began, as far as the log knows it.
    func serverNow(_ draft: Draft) throws -> Timestamp? {
        try draft.fold.serverNow(begunAt, bootID: uptime.bootID, uptime: uptime.microseconds)
    }

    // MARK: Beginning and end

    /// Logs the start of the run, and the reads that had brought nothing so far.
    mutating func begin(_ draft: Draft) throws -> Position {
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
            if let answer = unlogged.last?.answer, answer.date != nil {
                payload.add("Date", answer.date)
                payload.add("answerUptime", answer.uptime)
            }
        }
        // Requests that are not logged by themselves count for the limits all the same.
        if hasLimits, !unlogged.isEmpty {
            payload.add(
                "requestTimes",
                .array(unlogged.map { .number(JSONNumber($0.sentAt.rawValue)) }))
        }
        // What makes the next run wait is measured by the clock that nobody sets.
        let backoff = unlogged.compactMap(\.answer.backoff).last
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

    func log(
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
}

extension PayloadBuilder {
    mutating func add(_ request: ServerRequest, sentAt: Timestamp) {
        add("method", request.method.rawValue)
        add("path", request.path)
        for field in request.headers where field.name == .ifMatch || field.name == .ifNoneMatch {
            add(field.name.rawName, field.value)
        }
        add("sentAt", sentAt.rawValue)
    }
}
