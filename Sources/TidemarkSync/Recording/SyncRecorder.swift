// SyncRecorder.swift — how a sync run stands in the log: which events each step appends.

import HTTPTypes
package import TidemarkEvents
package import TidemarkRules
package import TidemarkViews

/// A read that was sent and answered; logged only together with what it brought.
struct ReadExchange: Sendable {
    var key: EntityKey?
    var collection: CollectionName?
    var request: ServerRequest
    var sentAt: Timestamp
    /// Microseconds since the device's boot, when it was sent.
    var sentUptime: Int64
    /// The log's last position when it was sent.
    var asOf: Position
    var answer: AnswerRecord
    /// For a read-back, the attempt that it settles.
    var settles: Position?
    /// What the answer says beyond the events that follow from it.
    var note = AnswerNote()
    /// What a failure concerns, or that a list works again.
    var concern: FailureConcern?
    /// Whether it leaves or puts the server's time in doubt, so that it is logged at once.
    var isClockNews = false

    /// When it was sent, by the server's clock, and up to two seconds earlier: what the answer's
    /// Date says, less the time that the exchange took, and a second.
    var asked: Timestamp? {
        guard let date = answer.serverTime, let uptime = answer.uptime else { return nil }
        return date.adding(from: max(sentUptime, uptime), to: sentUptime).adding(seconds: -1)
    }
}

/// What is kept of an answer's head, and of its body where it failed.
package struct AnswerRecord: Sendable {
    package var payload: [UInt8]
    /// What the payload names by hash.
    package var bodies: [[UInt8]] = []
    /// The server's clock, as it wrote it.
    package var date: String?
    /// Microseconds since the device's boot, when it was read.
    package var uptime: Int64?
    /// For how many seconds the server asked not to be called without need.
    package var backoff: String?
    package var status: Int?
    /// What the server has to say to whoever runs the app.
    package var alert: String?
    /// The next page and the version, where header fields name them.
    package var nextPage: String?
    package var tag: String?
    package var isFailure = false
    /// Whether a document that came holds the credentials.
    var isExposing = false
    /// The name of the failure that the answer is.
    var failure: String?
    /// What the answer is, where its head alone does not say so.
    var kind: String?
    /// What a failure concerns, where it is not the whole run.
    var concern: FailureConcern?
    /// Whether the payload is one that was logged already, with all that is kept of the answer.
    package var isLogged = false

    package init(payload: [UInt8]) { self.payload = payload }

    /// The server's clock, where it was told.
    package var serverTime: Timestamp? { date.flatMap(HTTPDate.parse) }

    /// The payload, and in it what it concerns and what else the answer says.
    func payload(with note: AnswerNote = AnswerNote()) -> [UInt8] {
        guard !isLogged, !note.isEmpty || concern != nil else { return payload }
        var builder = PayloadBuilder(payload)
        builder.add("concerns", concern?.rawValue)
        if !note.isEmpty { builder.raw(AnswerNote.member, note.encoded) }
        return builder.bytes
    }

    /// What an answer to a whole batch says of each write in it.
    var ofEachWrite: AnswerRecord {
        guard let status else { return self }
        var payload = PayloadBuilder()
        payload.add("status", Int64(status))
        payload.add("failure", failure)
        var record = AnswerRecord(payload: payload.bytes)
        record.concern = concern
        return record
    }
}

/// Appends the events of one sync run.
package struct SyncRecorder: Sendable {
    /// The run's `sync.started`, once it is logged: a run without news never begins in the log.
    package private(set) var start: Position?
    private let triggers: [SyncTrigger]
    private let scope: SyncScope
    private let seed: UInt64
    private let isFull: Bool
    let begun: Moment
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
        triggers: [SyncTrigger], scope: SyncScope = .all, isFull: Bool = false, at begun: Moment,
        seed: UInt64, rules: [ConflictRule] = [], hasLimits: Bool = false
    ) {
        self.rules = rules
        self.hasLimits = hasLimits
        self.triggers = triggers
        self.scope = scope
        self.seed = seed
        self.isFull = isFull
        self.begun = begun
    }

    /// What is known when a run begins: part of its first event, or of the only one.
    private func describe(_ payload: inout PayloadBuilder) {
        payload.add("trigger", triggers.first?.rawValue)
        if triggers.count > 1 {
            payload.add("triggers", JSONValue.array(triggers.map { .string($0.rawValue) }))
        }
        payload.add("scope", scope.json)
        if isFull { payload.add("full", true) }
        payload.add("begunAt", begun.now.rawValue)
        payload.add("bootID", begun.bootID)
        payload.add("uptime", begun.uptime)
    }

    /// The server's time when the run began, as far as the log knows it; in doubt what was believed
    /// last.
    func serverNow(_ draft: Draft) throws -> Timestamp? {
        try draft.fold.serverNow(begun.now, bootID: begun.bootID, uptime: begun.uptime)
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
        _ outcome: SyncOutcome, uptime: Int64, _ draft: Draft
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
            ("refused", outcome.refused), ("unsettled", outcome.unsettled),
            ("held", outcome.held.values.reduce(0, +)),
        ] where count > 0 {
            payload.add(name, Int64(count))
        }
        if outcome.isTimeInDoubt { payload.add("timeInDoubt", true) }
        for (collection, failure) in outcome.paused.sorted(by: { $0.key < $1.key }) {
            payload.add("paused \(collection)", failure.name)
        }
        if !outcome.restarted.isEmpty {
            payload.add(
                "restarted",
                .array(outcome.restarted.sorted().map { .string($0.rawValue) }))
        }
        if outcome.failure != nil || !outcome.paused.isEmpty { _ = try begin(draft) }
        if start == nil {
            describe(&payload)
            if let answer = unlogged.last(where: { $0.answer.date != nil })?.answer {
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
            payload.add("endUptime", uptime)
        }
        try draft.append(
            Event(.syncFinished, recordedAt: draft.now, sync: start, json: payload.bytes))
    }

    // MARK: Reads

    /// Keeps an exchange until something new is logged.
    mutating func note(_ exchange: ReadExchange) { unlogged.append(exchange) }

    /// Logs an answer that brought nothing but that the call works again, or news of the clock.
    mutating func answered(_ exchange: ReadExchange, _ draft: Draft) throws {
        _ = try log(exchange, try begin(draft), draft)
    }

    /// Logs a call that failed for a reason of its own.
    ///
    /// An entity that a list of everything did not name, and of which the server says again that it
    /// may not be read, is not there for us.
    mutating func failedRead(_ exchange: ReadExchange, _ draft: Draft) throws {
        let start = try begin(draft)
        let before = try exchange.key.flatMap { try draft.fold.failing(draft.fold.resolve($0)) }
        let call = try log(exchange, start, draft)
        guard exchange.answer.status == 403, let key = exchange.key,
            let before, before.isAbsent, before.status == 403
        else { return }
        let row = try draft.fold.entity(key)
        guard row.baseState == .live, row.pending.isEmpty, row.attempt == nil else { return }
        try say(
            Event(
                .serverDeleted, recordedAt: draft.now, key: key, sync: start, call: call,
                asOf: exchange.asOf), draft)
    }

    func log(
        _ exchange: ReadExchange, _ start: Position, _ draft: Draft
    ) throws -> Position {
        var payload = PayloadBuilder()
        payload.add(exchange.request, sentAt: exchange.sentAt)
        var note = exchange.note
        note.kind = note.kind ?? exchange.answer.kind
        var answer = exchange.answer
        answer.concern = exchange.concern
        let call = try draft.append(
            Event(
                .requestSent, recordedAt: draft.now, key: exchange.key,
                collection: exchange.collection, sync: start, asOf: exchange.asOf,
                json: payload.bytes))
        try draft.append(
            Event(
                exchange.answer.isFailure ? .requestFailed : .requestAnswered,
                recordedAt: draft.now, key: exchange.key, collection: exchange.collection,
                cause: exchange.settles, sync: start, call: call,
                json: answer.payload(with: note)),
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
