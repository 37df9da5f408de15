// SyncSchedule.swift — when the next sync run begins. A value: triggers and gates go in, a decision
// comes out, and no clock is looked at.
//
//   asked for          begins
//   userRequested      at once, unless the server said when it may be called again
//   localChange        when it has been quiet for a moment, so that typing is one run
//   others             at once
//   (after a failure)  when the backoff is over, of the run or of a single call; also where the log
//                      says nothing of it, as nothing was sent or it could not be stored; at once
//                      where the network failed and is there again
//   (after limits)     when there is room again for what they held back; so it is where the server
//                      has not given an answer yet that it promised
//   (every so often)   so long after the last run
//   (at midnight)      a clean-up, when nothing else is due
//
// One run serves everything that was asked for by then. What a gate holds waits for the gate. Where
// nothing but folders was asked for, only those are listed.

package import TidemarkEvents

/// What was asked of an engine, and what its store says about waiting.
package struct SyncSchedule: Sendable, Hashable {
    /// Which runs begin by themselves.
    package struct Automatic: Sendable, Hashable {
        /// Whether a local edit starts one.
        package var localChanges: Bool
        /// How long after the last run the next one begins, in microseconds; nil for never.
        package var every: Int64?
        /// How long no further edit may have come, in microseconds.
        package var quiet: Int64
        /// How long the first edit waits at most, in microseconds.
        package var quietMax: Int64
        /// How far local time is ahead of UTC, in microseconds, where each midnight brings a
        /// clean-up.
        package var midnight: Int64?

        package init(
            localChanges: Bool, every: Int64?, quiet: Int64, quietMax: Int64,
            midnight: Int64? = nil
        ) {
            self.midnight = midnight
            self.localChanges = localChanges
            self.every = every.map { max($0, Self.everyMin) }
            self.quiet = quiet
            self.quietMax = quietMax
        }

        /// A run a second is the most that a timer starts.
        private static let everyMin: Int64 = 1_000_000
    }

    /// What is to be done.
    package enum Decision: Sendable, Hashable {
        /// Begin a run that serves these triggers, the highest first.
        case run([SyncTrigger])
        /// Begin a run that lists folders only, for these triggers.
        case list([SyncTrigger], [SyncScope.Folder])
        /// Begin a clean-up.
        case cleanUp
        /// Wait until then, by the device's clock, or until something is asked for.
        case wait(until: Timestamp, SyncWaitReason)
        /// Wait until something is asked for.
        case idle
        /// Nothing begins by itself.
        case paused(SyncPauseReason)
    }

    private struct Asked: Sendable, Hashable {
        var trigger: SyncTrigger
        /// What it is about; nil for everything.
        var folder: SyncScope.Folder?
        var first: Moment
        var last: Moment
    }

    private struct Unlogged: Sendable, Hashable {
        var at: Moment
        /// For how long nothing begins by itself, in microseconds.
        var wait: Int64
        /// How many there were in a row.
        var failures: Int
        /// Why; nil where it could not be stored.
        var reason: FailureKind?
    }

    /// For how long limits let nothing be sent, or not all that waits.
    private struct Rest: Sendable, Hashable {
        var since: Moment
        /// In microseconds.
        var wait: Int64

        func left(at now: Moment) -> Int64 {
            now.microseconds(since: since).map { max(0, wait - $0) } ?? 0
        }
    }

    /// What may start a run, how many microseconds it waits by itself, and for what.
    private struct Candidate {
        var asked: Asked
        var wait: Int64
        var reason: SyncWaitReason
    }

    /// What was asked for and not served yet, the highest priority first; each once.
    private var asked: [Asked] = []
    /// Which runs begin by themselves; nil for none.
    package var automatic: Automatic?
    package var isPaused = false
    /// The last run that failed without the log telling for how long the next one waits.
    private var unlogged: Unlogged?
    /// Set by the last run that limits ended: nothing begins by itself until then.
    private var rest: Rest?
    /// Set by the last run in which limits held something back, or a promised answer did not come:
    /// one of everything is made then.
    private var heldBack: Rest?
    /// How many such runs in a row did not know for how long.
    private var heldRuns = 0
    /// When the next clean-up begins, where midnights bring one.
    package private(set) var cleanUpAt: Timestamp?
    /// What the store says, folded from its log.
    package var gates = SyncGates()
    /// The last runs of everything that count, the newest first, folded from the log.
    package var lastRuns: [SyncGates.LastRun] = []

    package init() {}

    /// A run is asked for, or a list of a folder.
    package mutating func ask(
        _ trigger: SyncTrigger, in folder: SyncScope.Folder? = nil, at now: Moment
    ) {
        let isSame = { (one: Asked) in one.trigger == trigger && one.folder == folder }
        if let index = asked.firstIndex(where: isSame) {
            asked[index].last = now
        } else {
            let asked = Asked(trigger: trigger, folder: folder, first: now, last: now)
            let place = self.asked.firstIndex { trigger < $0.trigger } ?? self.asked.count
            self.asked.insert(asked, at: place)
        }
    }

    /// A run failed before anything was sent, or could not be stored: none begins by itself for the
    /// shortest wait, twice as long after each further one.
    ///
    /// - Parameter reason: why it failed; nil where it could not be stored.
    package mutating func noteUnlogged(
        _ reason: FailureKind?, at now: Moment, _ backoff: BackoffSpan
    ) {
        let failures = (unlogged?.failures ?? 0) + 1
        let wait = BackoffRule.longest(failures: failures, backoff)
        unlogged = Unlogged(at: now, wait: wait, failures: failures, reason: reason)
    }

    /// A run ended otherwise: what the log says of it counts.
    package mutating func forgetUnlogged() { unlogged = nil }

    /// A run ended because limits let nothing more be sent for so many seconds; 0 where they did
    /// not.
    package mutating func noteRest(of seconds: Int64, at now: Moment) {
        rest = seconds > 0 ? Rest(since: now, wait: Self.microseconds(seconds)) : nil
    }

    /// Limits held something back in a run for so many seconds; nil where nothing is held back any
    /// more.
    ///
    /// Less than the shortest wait after failures is as if it were not known: then it is that, and
    /// twice as long after each further such run.
    package mutating func noteHeldBack(
        for seconds: Int64?, at now: Moment, _ backoff: BackoffSpan
    ) {
        let wait = seconds.map { Self.microseconds($0) }
        let isShort = wait.map { $0 < BackoffRule.longest(failures: 1, backoff) } ?? false
        heldRuns = isShort ? heldRuns + 1 : 0
        heldBack = wait.map { wait in
            let again = BackoffRule.longest(failures: heldRuns, backoff)
            return Rest(since: now, wait: isShort ? again : wait)
        }
    }

    /// Seconds in microseconds; no more than a day.
    private static func microseconds(_ seconds: Int64) -> Int64 {
        min(max(0, seconds), day / 1_000_000) * 1_000_000
    }

    /// How long a trigger waits after a run of which the log tells no wait.
    private func unloggedWait(_ trigger: SyncTrigger, at now: Moment) -> Int64 {
        guard let unlogged, !trigger.passes(unlogged.reason),
            let passed = now.microseconds(since: unlogged.at)
        else { return 0 }
        return max(0, unlogged.wait - passed)
    }

    /// A run begins: one of everything serves all that was asked for, another only its folders.
    package mutating func begin(_ scope: SyncScope = .all) {
        guard case .folders(let folders) = scope else {
            asked = []
            heldBack = nil
            return
        }
        asked.removeAll { $0.folder.map(folders.contains) ?? false }
    }

    /// Has the next clean-up begin at the midnight after a moment, where midnights bring one.
    package mutating func planCleanUp(after now: Timestamp) {
        let day = Self.day
        cleanUpAt = automatic?.midnight.map { ahead in
            let local = now.rawValue.addingReportingOverflow(ahead).partialValue
            let rest = local % day
            return Timestamp(rawValue: now.rawValue).adding(
                from: rest < 0 ? rest + day : rest, to: day)
        }
    }

    private static let day: Int64 = 86_400_000_000

    /// Plans the next clean-up anew where the clock was set back since: no midnight is farther away
    /// than a day.
    package mutating func planCleanUpAgain(at now: Timestamp) {
        guard let cleanUpAt, cleanUpAt > now.adding(from: 0, to: Self.day) else { return }
        planCleanUp(after: now)
    }

    /// What is to be done at a moment.
    package func next(_ now: Moment) -> Decision {
        if isPaused { return .paused(.byApp) }
        var due: [SyncTrigger] = []
        var listing: [Asked] = []
        var first: (wait: Int64, reason: SyncWaitReason)?
        var frozen: SyncPauseReason?
        for candidate in candidates(now) {
            let trigger = candidate.asked.trigger
            var (wait, reason) = (candidate.wait, candidate.reason)
            switch gates.hold(trigger, at: now) {
            case .frozen(let why)?:
                frozen = why
                continue
            case .wait(let held, let why)? where held >= wait: (wait, reason) = (held, why)
            case .wait?, nil: break
            }
            let held = unloggedWait(trigger, at: now)
            if held > wait { (wait, reason) = (held, .failures(unlogged?.failures ?? 1)) }
            let rest = trigger.isUrgent ? 0 : rest?.left(at: now) ?? 0
            if rest > wait { (wait, reason) = (rest, .serverAsked) }
            if wait == 0, candidate.asked.folder != nil {
                listing.append(candidate.asked)
            } else if wait == 0 {
                due.append(trigger)
            } else if wait < first?.wait ?? .max {
                first = (wait, reason)
            }
        }
        if !due.isEmpty { return .run(Set(asked.map(\.trigger)).union(due).sorted()) }
        if !listing.isEmpty {
            var seen: Set<SyncScope.Folder> = []
            let folders = listing.compactMap(\.folder).filter { seen.insert($0).inserted }
            return .list(Set(listing.map(\.trigger)).sorted(), folders)
        }
        // Also where nothing is asked for: somebody has to act.
        if frozen == nil, automatic != nil, case .frozen(let why)? = gates.hold(.timer, at: now) {
            frozen = why
        }
        if let cleanUpAt {
            // Nobody is asked for anything: no gate holds it.
            if now.now >= cleanUpAt { return .cleanUp }
            let wait = cleanUpAt.rawValue - now.now.rawValue
            if frozen == nil, wait < first?.wait ?? .max { first = (wait, .timer) }
        }
        if let first {
            let (until, overflow) = now.now.rawValue.addingReportingOverflow(first.wait)
            return .wait(until: Timestamp(rawValue: overflow ? .max : until), first.reason)
        }
        return frozen.map { .paused($0) } ?? .idle
    }

    /// What may start a run, gates aside.
    private func candidates(_ now: Moment) -> [Candidate] {
        var result = asked.map { one in
            Candidate(
                asked: one, wait: one.trigger == .localChange ? quiet(one, now) : 0, reason: .quiet)
        }
        func add(_ trigger: SyncTrigger, _ wait: Int64, _ reason: SyncWaitReason) {
            let asked = Asked(trigger: trigger, first: now, last: now)
            result.append(Candidate(asked: asked, wait: wait, reason: reason))
        }
        guard let automatic else { return result }
        if let wait = gates.resumption(at: now, lastRuns) { add(.retry, wait, .timer) }
        if let (wait, failures) = gates.retry(at: now, lastRuns) {
            add(.retry, wait, .failures(failures))
        }
        if let heldBack { add(.retry, heldBack.left(at: now), .serverAsked) }
        if let every = automatic.every {
            let passed = lastRuns.first.map {
                now.now.rawValue.subtractingReportingOverflow($0.at.rawValue)
            }
            // A clock that was set back says nothing of how long ago it was.
            let isKnown = passed.map { !$0.overflow && $0.partialValue >= 0 } ?? false
            add(.timer, isKnown ? max(0, every - (passed?.partialValue ?? 0)) : 0, .timer)
        }
        return result
    }

    private func quiet(_ edits: Asked, _ now: Moment) -> Int64 {
        guard let automatic, let sinceFirst = now.microseconds(since: edits.first),
            let sinceLast = now.microseconds(since: edits.last)
        else { return 0 }
        return max(0, min(automatic.quiet - sinceLast, automatic.quietMax - sinceFirst))
    }
}
