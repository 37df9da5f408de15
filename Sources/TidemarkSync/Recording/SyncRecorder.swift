// SyncRecorder.swift — how a sync run stands in the log: which events each step appends.

import HTTPTypes
package import TidemarkEvents
import TidemarkLog
package import TidemarkRules
package import TidemarkViews

/// A read that was sent and answered; logged only together with what it brought.
package struct ReadExchange: Sendable {
    var key: EntityKey?
    var collection: CollectionName?
    var request: ServerRequest
    /// The group of requests that it counts for.
    var group: RequestGroup?
    var sentAt: Timestamp
    /// Microseconds since the device's boot, when it was sent.
    var sentUptime: Int64
    /// The log's last position when it was sent.
    var asOf: Position
    var answer: AnswerRecord
    /// For a read-back, the attempt that it settles.
    var settles: Position?
    /// How many answers to what was asked earlier, at the same time, came later.
    var overtook = 0
    /// What a failure concerns, or that a list works again.
    var concern: FailureConcern?
    /// The pool that it concerns.
    var place = PoolPlace()
    /// The rule that has it made, with its version.
    var rule: String?
    /// Whether it leaves or puts the server's time in doubt, so that it is logged at once.
    package var isClockNews = false

    package init(
        collection: CollectionName?, request: ServerRequest, sentAt: Timestamp, sentUptime: Int64,
        asOf: Position, answer: AnswerRecord
    ) {
        self.collection = collection
        self.request = request
        self.sentAt = sentAt
        self.sentUptime = sentUptime
        self.asOf = asOf
        self.answer = answer
    }

    /// When it was sent, by the server's clock, and up to two seconds earlier: what the answer's
    /// Date says, less the time that the exchange took, and a second.
    var asked: Timestamp? {
        guard let date = answer.serverTime, let uptime = answer.uptime else { return nil }
        return date.adding(from: max(sentUptime, uptime), to: sentUptime).adding(seconds: -1)
    }
}

/// Appends the events of one sync run.
package struct SyncRecorder: Sendable {
    /// The run's `sync.started`, once it is logged: a run without news never begins in the log,
    /// but where it goes on at a place where one was cut off.
    package private(set) var start: Position?
    private let triggers: [SyncTrigger]
    let scope: SyncScope
    private let seed: UInt64
    private let mode: PullMode
    let begun: Moment
    private var unlogged: [ReadExchange] = []
    /// Whether nothing but its start is logged of the run.
    private var isStartAlone = false
    /// Collections in which a listed record was skipped because the log holds a newer answer.
    ///
    /// Their cursor does not advance, so that the next list returns the record again.
    var stale: Set<CollectionName> = []
    /// Collections of which all is listed or nothing, and whose lists came to their end.
    var ended: Set<CollectionName> = []
    /// The log's last position when the last list of each collection began.
    var lists: [CollectionName: Position] = [:]
    /// Collections in which a server's change was not taken: a rule of the app did not answer.
    package internal(set) var withheld: [CollectionName: SyncFailure] = [:]
    /// The entities for which an action was done, as they were refused: its name.
    var remedied: [EntityKey: String] = [:]
    /// The rules of the app.
    let rules: [ConflictRule]
    /// Whether requests are counted, so that each has to be logged.
    private let hasLimits: Bool
    /// The names of groups of requests that are counted by themselves.
    private let limited: Set<String>
    /// How much is kept of answers as they came.
    private let keeps: SyncSettings.KeptAnswers
    /// The log's last position when the next step was decided.
    ///
    /// It moves on with the run's own commits, and stays where it is once others have written.
    var decidedAt: Position?
    /// How many bytes of bodies wait with exchanges that are not logged.
    private var unloggedBytes = 0

    package init(
        triggers: [SyncTrigger], scope: SyncScope = .all, mode: PullMode = .changes,
        at begun: Moment,
        seed: UInt64, rules: [ConflictRule] = [], settings: SyncSettings = SyncSettings()
    ) {
        self.rules = rules
        hasLimits = !settings.limits.isEmpty
        limited = Set(settings.limits.compactMap(\.group))
        let isKept = settings.answers.runs > 0 && settings.answers.bytes > 0
        keeps = isKept ? settings.answers : SyncSettings.KeptAnswers(runs: 0, bytes: 0)
        self.triggers = triggers
        self.scope = scope
        self.seed = seed
        self.mode = mode
        self.begun = begun
    }

    /// What is known when a run begins: part of its first event, or of the only one.
    private var runStart: RunStart {
        var run = RunStart()
        run.triggers = triggers
        run.scope = scope
        run.mode = mode
        run.begunAt = begun.now
        run.bootID = begun.bootID
        run.uptime = begun.uptime
        return run
    }

    /// What the log knows, to compare an answer with.
    func known(_ draft: Draft) -> ServerNews {
        ServerNews(draft.fold, begun: begun, overwrites: mode.overwrites, run: start)
    }

    /// The shape of a payload that says what the run is to do.
    private var schema: UInt32 {
        mode.overwrites ? max(PullMode.schema, scope.schema) : scope.schema
    }

    /// What a write that is logged now was decided by: the position before it, unless others have
    /// written since it was decided.
    ///
    /// - Parameter last: the log's last position before this commit.
    func asOf(after last: Position, _ draft: Draft) -> Position {
        guard let decidedAt, decidedAt < last else { return draft.last }
        return decidedAt
    }

    // MARK: Beginning and end

    /// Logs the start of the run by itself, before it asks for anything.
    mutating func beginAlone(_ draft: Draft) throws {
        _ = try begin(draft)
        isStartAlone = true
    }

    /// Logs the start of the run, and the reads that had brought nothing so far.
    mutating func begin(_ draft: Draft) throws -> Position {
        isStartAlone = false
        let start = try start ?? logStart(draft)
        self.start = start
        for exchange in unlogged { _ = try log(exchange, start, draft) }
        (unlogged, unloggedBytes) = ([], 0)
        return start
    }

    /// The last answer that is not logged and tells the server's time.
    var dated: AnswerRecord? { unlogged.last { $0.answer.date != nil }?.answer }

    private func logStart(_ draft: Draft) throws -> Position {
        var started = SyncStarted()
        started.run = runStart
        started.seed = seed
        var event = Event(.syncStarted, recordedAt: draft.now, json: started.encoded)
        event.schemaVersion = schema
        return try draft.append(event)
    }

    /// Logs the end of the run: one small event when there was nothing new on either side.
    package mutating func finish(
        _ outcome: SyncOutcome, uptime: Int64, _ draft: Draft
    ) throws {
        var end = SyncFinished(outcome)
        // What was wiped since is to be listed anew, however often that is.
        end.listed = try end.listed.filter { name in
            let name = CollectionName(name)
            return try !draft.fold.isWiped(name, after: lists[name])
        }
        // The end tells the server's time only where it is the run's one event; else its reads do.
        if outcome.failure != nil || !outcome.failed.isEmpty || isStartAlone {
            _ = try begin(draft)
        }
        if start == nil {
            end.run = runStart
            if let answer = dated {
                end.date = answer.date
                end.answerUptime = answer.uptime
            }
        }
        // Requests that are not logged by themselves count for the limits all the same.
        if hasLimits {
            end.requestTimes = unlogged.map(\.sentAt)
            end.requestGroups = unlogged.map { parts(of: $0.group) ?? [] }
        }
        // What makes the next run wait is measured by the clock that nobody sets.
        end.backoff = unlogged.compactMap(\.answer.backoff).last
        if outcome.failure != nil || end.backoff != nil { end.uptime = uptime }
        let kept = keptUnlogged
        if start != nil { end.kept = kept.name }
        var event = Event(.syncFinished, recordedAt: draft.now, sync: start, json: end.encoded)
        if start == nil { event.schemaVersion = schema }
        try draft.append(event)
        if let start, !kept.isEmpty { draft.keep(kept, of: start, keeps) }
        draft.pruneAnswers(keeps)
    }

    // MARK: Reads

    /// Keeps an exchange until something new is logged.
    mutating func note(_ exchange: ReadExchange) {
        var exchange = exchange
        let before = unloggedBytes
        unloggedBytes += exchange.answer.kept?.bodyBytes ?? 0
        // What is too much to be kept need not wait.
        if unloggedBytes > keeps.bytes {
            exchange.answer.kept = nil
            if before <= keeps.bytes {
                for index in unlogged.indices { unlogged[index].answer.kept = nil }
            }
        }
        unlogged.append(exchange)
    }

    /// Logs an answer that brought nothing but that the call works again, or news of the clock.
    mutating func answered(_ exchange: ReadExchange, _ draft: Draft) throws {
        _ = try log(exchange, draft)
    }

    /// Logs a call that failed for a reason of its own.
    ///
    /// An entity that a list of everything did not name, and of which the server says again that it
    /// may not be read, is not there for us.
    mutating func failedRead(_ exchange: ReadExchange, _ draft: Draft) throws {
        let start = try begin(draft)
        let before = try exchange.key.flatMap { try draft.fold.failing(draft.fold.resolve($0)) }
        let read = try log(exchange, start, draft)
        guard exchange.answer.status == 403, let key = exchange.key,
            let before, before.isAbsent, before.status == 403
        else { return }
        let row = try draft.fold.entity(key)
        guard row.baseState == .live, row.pending.isEmpty, row.attempt == nil else { return }
        try say(
            Event(
                .serverDeleted, recordedAt: draft.now, key: key, sync: start, call: read.call,
                asOf: read.asOf), draft)
    }

    /// Logs that no request can be made that would tell what became of a write.
    mutating func noReadBack(
        _ key: EntityKey, _ attempt: EntityRow.Attempt, _ failure: SyncFailure, _ draft: Draft
    ) throws {
        let start = try begin(draft)
        var failed = RequestFailed()
        failed.error = failure.name
        failed.mayHaveArrived = false
        failed.detail = failure.detail
        failed.concern = .entity
        try draft.append(
            Event(
                .requestFailed, recordedAt: draft.now, key: key, cause: attempt.call, sync: start,
                json: failed.encoded))
    }

    /// What is logged of a request's group: only one that the model limits.
    func parts(of group: RequestGroup?) -> [String]? {
        group.flatMap { limited.contains($0.name) ? $0.parts : nil }
    }

    /// Logs a read; a run that has not begun begins with it.
    mutating func log(_ exchange: ReadExchange, _ draft: Draft) throws -> LoggedCall {
        let start = try begin(draft)
        return try log(exchange, start, draft)
    }

    private func log(
        _ exchange: ReadExchange, _ start: Position, _ draft: Draft
    ) throws -> LoggedCall {
        var request = RequestSent(exchange.request, at: exchange.sentAt)
        request.group = parts(of: exchange.group)
        request.rule = exchange.rule
        var answer = exchange.answer
        answer.concern = exchange.concern
        answer.place = exchange.place
        answer.kept?.overtook = exchange.overtook
        let call = try draft.append(
            Event(
                .requestSent, recordedAt: draft.now, key: exchange.key,
                collection: exchange.collection, sync: start, asOf: exchange.asOf,
                json: request.encoded))
        let read = LoggedCall(start: start, call: call, asOf: exchange.asOf)
        try append(
            answer, key: exchange.key, exchange.collection, cause: exchange.settles, to: read,
            draft)
        return read
    }

    /// Logs an answer, and keeps it as it came.
    func append(
        _ answer: AnswerRecord, key: EntityKey?, _ collection: CollectionName?,
        cause: Position? = nil, to logged: LoggedCall, _ draft: Draft
    ) throws {
        let kept = [answer.kept].compactMap(\.self).filter { keeps.runs > 0 && !$0.isEmpty }
        try draft.append(
            Event(
                answer.isFailure ? .requestFailed : .requestAnswered, recordedAt: draft.now,
                key: key, collection: collection, cause: cause, sync: logged.start,
                call: logged.call, json: answer.payload(naming: kept.name)),
            bodies: answer.bodies)
        if !kept.isEmpty { draft.keep(kept, of: logged.start, keeps) }
    }

    /// The answers that no event tells of, as they came.
    private var keptUnlogged: [KeptAnswer] {
        guard keeps.runs > 0 else { return [] }
        return unlogged.map { exchange in
            // That there was one is known also where it may not be kept.
            var kept = exchange.answer.kept ?? KeptAnswer()
            kept.overtook = exchange.overtook
            kept.note(exchange)
            return kept
        }
    }
}

extension RequestSent {
    /// A request without its body.
    init(_ request: ServerRequest, at sentAt: Timestamp) {
        self.init()
        method = request.method.rawValue
        path = request.path
        destination = request.destination
        ifMatch = request.headers[.ifMatch]
        ifNoneMatch = request.headers[.ifNoneMatch]
        self.sentAt = sentAt
    }
}

extension ServerRequest {
    private static let destination = HTTPField.Name("Destination")

    /// Where a move or a copy leads, without the server; nil for any other request.
    fileprivate var destination: String? {
        guard let address = Self.destination.flatMap({ headers[$0] }) else { return nil }
        guard let scheme = address.firstRange(of: "://") else { return address }
        let place = address[scheme.upperBound...]
        return place.firstIndex(of: "/").map { String(place[$0...]) } ?? "/"
    }
}

extension SyncFinished {
    /// How a run ended, and what it did.
    fileprivate init(_ outcome: SyncOutcome) {
        self.init()
        self.outcome =
            outcome.failure.map { .failed(FailureName($0.kind)) }
            ?? (outcome.isSynced ? .synced : .incomplete)
        detail = outcome.failure.map { "\($0)" }
        requests = Int64(outcome.counts.requests)
        pulled = Int64(outcome.counts.pulled)
        pushed = Int64(outcome.counts.pushed)
        conflicts = Int64(outcome.counts.conflicts)
        rejected = Int64(outcome.counts.rejected)
        readBack = Int64(outcome.counts.readBack)
        pending = Int64(outcome.pending)
        refused = Int64(outcome.refused)
        unsettled = Int64(outcome.unsettled)
        held = Int64(outcome.held.values.reduce(0, +))
        isTimeInDoubt = outcome.isTimeInDoubt
        paused = outcome.failed.sorted { $0.key < $1.key }.map {
            Named($0.key.rawValue, FailureName($0.value.kind))
        }
        restarted = outcome.restarted.sorted().map(\.rawValue)
        listed = outcome.listed.sorted().map(\.rawValue)
        cutAt = outcome.cut?.logged
    }
}
