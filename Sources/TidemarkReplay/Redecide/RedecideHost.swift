// RedecideHost.swift — the host of a run that is decided again: all of its input was recorded, and
// all of its output is compared. It has no access to a network.

import TidemarkCapsule
import TidemarkEvents
import TidemarkLog
import TidemarkRules
import TidemarkStore
import TidemarkSync
import TidemarkViews

/// Why a run is not decided to its end.
enum RedecideStop: Error {
    /// The recording ends here.
    case recordEnds
    /// It can't be decided from this position on.
    case notDecided(Position, String)
    /// A mishap ends the process.
    case restarted
}

/// Gives one run its recorded input and checks its output, in lock step with the recording.
final class RedecideHost: SyncHost {
    let capsule: Capsule
    let run: RecordedRun
    let journal: Journal
    let adapter: any ServerAdapter
    let comparison: CommitComparison
    let bodies: [BodyReference: [UInt8]]
    let mishaps: [RedecideMishap]
    let state: Lock<State>

    struct State: Sendable {
        /// The index of the capsule's next commit that is not in the store yet.
        var next: Int
        /// How many commits of the run are in the store.
        var done = 0
        /// Whether a decision asked for an event before the capsule's first one.
        var missesEvents = false
        var hasBegun = false
        /// The reads that were asked for, by index.
        var asked: Set<Int> = []
        var proofs = 0
        /// The last write before which the run waited, and for how long so far, in microseconds.
        var waitedFor: Position?
        var waited: Int64 = 0
        /// The clock that nobody sets, at the last request, answer or wait.
        var uptime: Int64 = 0
        /// Reads that were sent ahead and are not answered yet, in the order of sending.
        var open: [Int] = []
        /// The reads among them whose answer may be handed over.
        var released: Set<Int> = []
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        /// Reads that were sent ahead and of which no answer is recorded, by numbers below zero.
        var parked: [Int] = []
        /// Writes that are on their way, and the answers that may be handed over.
        var flying: [Position: SyncQuestion] = [:]
        var landed: [Position: (ServerAnswer, AnswerRecord)] = [:]
        var landing: [Position: CheckedContinuation<Void, Never>] = [:]
        var acts = 0
        var answers = 0
        /// Whether the comparison has ended; `aftermath` then holds what was appended since.
        var isFree = false
        var aftermath: [String] = []
        /// How long the run has waited since the comparison ended.
        var slept = Duration.zero
        /// Why the run stopped.
        var stop: (any Error)?
    }

    init(
        _ capsule: Capsule, _ run: RecordedRun, from next: Int, _ journal: Journal,
        _ adapter: any ServerAdapter, _ comparison: CommitComparison,
        _ bodies: [BodyReference: [UInt8]], mishaps: [RedecideMishap] = [], isFree: Bool = false
    ) {
        self.capsule = capsule
        self.run = run
        self.journal = journal
        self.adapter = adapter
        self.comparison = comparison
        self.bodies = bodies
        self.mishaps = mishaps
        var state = State(next: next)
        state.isFree = isFree
        state.uptime = run.begun.uptime
        self.state = Lock(state)
    }

    /// A copy of the current state.
    var progress: State { state.withLock(\.self) }

    // MARK: The next recorded event

    /// The run's next commit.
    func commit(_ state: State) -> [Capsule.Entry]? {
        guard state.done < run.commits.count else { return nil }
        return capsule.commits[run.commits[state.done]].entries
    }

    /// Whether the run's next commit is its last one.
    func isLast(_ state: State) -> Bool {
        commit(state)?.last?.position == run.finished?.position && run.finished != nil
    }

    /// The run's next write, in its next commit or in a later one.
    func nextWrite(_ state: State) -> RecordedWrite? {
        guard let first = commit(state)?.first else { return nil }
        return run.write(in: first.position...Position(.max))
    }

    func unasked(_ state: State) -> [(number: Int, read: RecordedRead)] {
        run.reads.enumerated().filter { !state.asked.contains($0.offset) }
            .map { ($0.offset, $0.element) }
    }

    /// The first recorded event that the run has not made yet.
    var following: Capsule.Entry? {
        state.withLock { state in
            let entries = commit(state) ?? []
            let read = unasked(state).compactMap(\.read.sent).min { $0.position < $1.position }
            // The start is not an act of its own, and requests that were asked for are done.
            let asked = Set(state.asked.compactMap { run.reads[$0].sent?.position })
            let act = entries.first { entry in
                entry.event.kind != .syncStarted && !asked.contains(entry.position)
                    && !(entry.event.call.map(asked.contains) ?? false)
            }
            guard let read, let act else { return read ?? act ?? entries.first }
            return read.position < act.position ? read : act
        }
    }

    /// Notes why the run stops; the first reason stays.
    @discardableResult
    func stop(_ error: any Error) -> any Error {
        let (first, waiters) = state.withLock { state in
            let first = state.stop ?? error
            state.stop = first
            defer { (state.waiters, state.landing) = ([:], [:]) }
            return (first, Array(state.waiters.values) + Array(state.landing.values))
        }
        for waiter in waiters { waiter.resume() }
        return first
    }

    private func check() throws { if let stop = progress.stop { throw stop } }

    // MARK: Deciding

    /// What begins a run stands in the log before it.
    var countsAttempts: Bool { false }

    func interruption() -> SyncFailure? {
        state.withLock { state in
            guard isLast(state), unasked(state).isEmpty, !state.isFree else { return nil }
            return SyncFailure(interruption: run.failure?.kind)
        }
    }

    /// Reads the views as of the recorded position.
    func read<R>(_ journal: Journal, _ body: (ViewReader) throws -> R) throws -> R {
        try check()
        let limit: Position? = state.withLock { state in
            state.hasBegun = true
            guard !state.isFree else { return nil }
            let next = commit(state)?.first?.position ?? Position(.max)
            let read = unasked(state).map(\.read.asOf).filter { $0 < next }.min()
            // What was written while a write was decided is not known to it.
            let write = run.write(in: next...Position(.max))?.asOf
            if let asOf = [read, write].compactMap(\.self).min(), asOf < next { return asOf }
            // A decision must not see events that came after the run's last recorded one.
            guard commit(state) != nil, !isLast(state) else { return nil }
            return Position(next.rawValue - 1)
        }
        if let limit { try append(upTo: limit) }
        return try journal.read { views in
            defer {
                if let missing = views.firstMissing, missing <= capsule.base.position {
                    state.withLock { $0.missesEvents = true }
                }
            }
            return try body(views)
        }
    }

    private func appendBeforeCommit() throws {
        let first = state.withLock { commit($0)?.first?.position }
        if let first { try append(upTo: Position(first.rawValue - 1)) }
    }

    /// Appends commits that others wrote during the run.
    private func append(upTo limit: Position) throws {
        while true {
            let index = progress.next
            guard index < capsule.commits.count else { break }
            let commit = capsule.commits[index]
            guard commit.last <= limit, !run.commits.contains(index) else { break }
            let transfers = try TransferComparison(comparison, adapter).compare(
                commit, in: journal)
            if let divergence = transfers.divergence { throw stop(divergence) }
            try journal.append(commit, bodies: bodies)
            state.withLock { state in
                state.next += 1
                state.acts += transfers.acts
            }
            if let divergence = try comparison.difference(commit, in: journal) {
                throw stop(divergence)
            }
        }
        if try journal.read({ $0.last }) < limit { try journal.goOn(at: limit) }
    }

    func cut(at place: CutPlace?) -> CutPlace? {
        progress.isFree ? place : run.ending?.cutAt.map { CutPlace(logged: $0) }
    }

    var logsStart: Bool {
        state.withLock { state in
            state.isFree || state.done == 0 && commit(state)?.count == 1
        }
    }

    // MARK: Asking

    /// Of such a wait nothing is recorded but when the question was sent.
    func pause(seconds: Int64) {
        state.withLock { state in
            if state.isFree { state.slept += .seconds(seconds) }
        }
    }

    func credentials() throws -> Credentials {
        let count = state.withLock { state in
            state.proofs += 1
            return state.proofs
        }
        let isOver = state.withLock { isLast($0) && unasked($0).isEmpty }
        guard isOver, let failure = run.failure else { return .bearer("\(count)") }
        // There were no others.
        if failure.kind == .unauthorized, count > 1 { throw SyncFailure.unauthorized }
        if failure.kind == .cancelled { throw CancellationError() }
        let isOutside = run.reads.isEmpty && run.writes.isEmpty || count > 1
        if isOutside, !isHeldBack,
            let thrown = SyncFailure(ofCredentials: failure.kind, said: run.ending?.detail ?? "")
        {
            throw thrown
        }
        return .bearer("\(count)")
    }

    /// Whether the run ended by the model's limits after these held other collections back.
    private var isHeldBack: Bool {
        let limit = FailureKind.tooManyRequests
        return run.failure?.kind == limit
            && (run.ending?.paused ?? []).contains { $0.value.kind == limit }
    }

    func ask(
        _ question: SyncQuestion, _ proof: Credentials, _ limits: TransportLimits
    ) throws -> SyncReply {
        try check()
        if question.isWrite, question.isAhead, !progress.isFree {
            state.withLock { $0.flying[question.asOf] = question }
            return SyncReply(question) { [self] in await landed(question) }
        }
        if question.isWrite {
            let answer = try write(question)
            return SyncReply(question) { answer }
        }
        let found = state.withLock { state in
            let same = unasked(state).filter {
                $0.read.request == RecordedRequest(question.request)
            }
            let found = same.first { $0.read.asOf == question.asOf } ?? same.first
            if let found { state.asked.insert(found.number) }
            if let found, question.isAhead { state.open.append(found.number) }
            return found
        }
        guard let found else {
            if progress.isFree { return SyncReply(question) { [self] in nobody(question) } }
            // The answers to lists before it may be in the log.
            if question.isAhead, run.finished == nil { return park(question) }
            throw stop(missing(question))
        }
        let before = progress
        if found.read.asOf != question.asOf, !before.parked.isEmpty, !before.isFree {
            // It was asked earlier, when an answer came that was not logged.
            throw stop(unansweredAhead)
        }
        let isLost = !progress.isFree && loses(found.read)
        if isLost { state.withLock { $0.isFree = true } }
        let answer = isLost ? lost(question) : judged(found.read.answer, to: question)
        let isAhead = question.isAhead
        var reply = SyncReply(question) { [self] in
            if isAhead { await release(of: found.number) }
            return answer
        }
        state.withLock { state in
            state.answers += 1
            guard !state.isFree else { return }
            reply.sentAt = found.read.sentAt
            reply.sentUptime = uptime(at: reply.sentAt)
            state.pass(to: reply.sentUptime)
            if !isAhead, let came = found.read.cameAt { state.pass(to: came) }
        }
        return reply
    }

    /// Why a read has no answer that was not recorded.
    private func missing(_ question: SyncQuestion) -> any Error {
        let (isOver, isDone, isParked) = state.withLock { state in
            (unasked(state).isEmpty, isThrough(state), !state.parked.isEmpty)
        }
        if run.finished == nil, isDone { return RedecideStop.recordEnds }
        if isParked { return unansweredAhead }
        return comparison.instead(of: following, asks: question, isOver: isOver)
    }

    /// The recorded answer to a write.
    func write(_ question: SyncQuestion) throws -> (ServerAnswer, AnswerRecord) {
        if progress.isFree { return nobody(question) }
        if meets({ if case .drop = $0 { true } else { false } }) {
            state.withLock { $0.isFree = true }
            return lost(question)
        }
        let write = run.write(in: question.asOf...question.asOf)
        guard let write, let answer = write.answer else {
            throw stop(RedecideStop.recordEnds)
        }
        state.withLock { state in
            state.answers += 1
            state.pass(to: answer.uptime ?? uptime(at: write.sentAt))
        }
        return judged(answer, to: question, isRepeatable: write.isRepeated)
    }

    /// The adapter's reading of a recorded answer, and what the log keeps of it.
    private func judged(
        _ answer: KeptAnswer, to question: SyncQuestion, isRepeatable: Bool = false
    ) -> (ServerAnswer, AnswerRecord) {
        let uptime = answer.uptime ?? question.sentUptime
        guard let response = answer.response else {
            return judged(answer.transportError, to: question.call, uptime: uptime)
        }
        // Where the answer held credentials, it now holds this replacement.
        let mask = CredentialMask([CredentialMask.replacement])
        return judged(
            response, to: question, by: adapter, mask, uptime: uptime,
            isRepeatable: isRepeatable)
    }

    // MARK: Commits

    func commit<R: Sendable>(
        _ journal: Journal, at now: Timestamp, _ body: @escaping @Sendable (Draft) throws -> R
    ) async throws -> R {
        try check()
        if progress.isFree { return try await writeFree(journal, at: now, body) }
        let (entries, asOf) = state.withLock { state in
            let entries = commit(state)
            let last = entries?.last?.position ?? .start
            // What comes first of the reads that the next commit has, and that were not asked for.
            let reads = unasked(state).map(\.read).filter { $0.events.lowerBound <= last }
            return (entries, reads.map(\.asOf).min())
        }
        if entries != nil, asOf == nil { try appendBeforeCommit() }
        // Positions are skipped only once all reads before the commit were asked for.
        if let first = entries?.first, asOf == nil {
            try journal.goOn(at: Position(first.position.rawValue - 1))
        }
        let time = entries?.first?.event.recordedAt ?? now
        let written: (R, Int)
        do {
            written = try await attempt(journal, at: time, entries, before: asOf, body)
        } catch let early as CommitTooEarly {
            // What others wrote before that read was known here, as nothing was logged.
            try append(upTo: early.asOf)
            written = try await attempt(journal, at: time, entries, before: nil, body)
        }
        let (result, count) = written
        guard count > 0 else { return result }
        let index = run.commits[progress.done]
        let isRestart = meets { if case .restart = $0 { true } else { false } }
        let isTwice = meets { if case .duplicate = $0 { true } else { false } }
        state.withLock { state in
            state.acts += count
            state.done += 1
            state.next = max(state.next, index + 1)
        }
        if let divergence = try comparison.difference(capsule.commits[index], in: journal) {
            throw stop(divergence)
        }
        if isRestart { throw stop(RedecideStop.restarted) }
        if isTwice {
            state.withLock { $0.isFree = true }
            _ = try await writeFree(journal, at: time, body)
        }
        return result
    }

    /// Writes a commit, and compares it with the recorded one.
    ///
    /// - Parameter asOf: what was known at a read that comes before the recorded one.
    /// - Returns: its result, and how many events it has.
    private func attempt<R: Sendable>(
        _ journal: Journal, at time: Timestamp, _ entries: [Capsule.Entry]?,
        before asOf: Position?, _ body: @escaping @Sendable (Draft) throws -> R
    ) async throws -> (R, Int) {
        let comparison = comparison
        let run = run
        return try await journal.write(at: time) { draft in
            let last = draft.last
            let result = try body(draft)
            guard !draft.events.isEmpty else { return (result, 0) }
            if let asOf, asOf > last { throw CommitTooEarly(asOf: asOf) }
            guard let entries else {
                throw run.finished == nil
                    ? RedecideStop.recordEnds
                    : comparison.extra(draft.events[0], after: run.finished) as any Error
            }
            if let difference = comparison.difference(entries, draft.events) { throw difference }
            return (result, draft.events.count)
        }
    }
}

/// A commit has events, though a read comes before the next recorded one.
private struct CommitTooEarly: Error {
    /// What was known at that read.
    var asOf: Position
}
