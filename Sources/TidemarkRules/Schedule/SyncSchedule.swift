// SyncSchedule.swift — when the next sync run begins. A value: triggers and gates go in, a decision
// comes out, and no clock is looked at.
//
//   asked for          begins
//   userRequested      at once, unless the server said when it may be called again
//   localChange        when it has been quiet for a moment, so that typing is one run
//   others             at once
//   (after a failure)  when the backoff is over, of the run or of a single call
//   (every so often)   so long after the last run
//   (at midnight)      a clean-up, when nothing else is due
//
// One run serves everything that was asked for by then. What a gate holds waits for the gate.

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
        var first: Moment
        var last: Moment
    }

    /// What was asked for and not served yet, the highest priority first; each once.
    private var asked: [Asked] = []
    /// Which runs begin by themselves; nil for none.
    package var automatic: Automatic?
    package var isPaused = false
    /// When the next clean-up begins, where midnights bring one.
    private var cleanUpAt: Timestamp?
    /// What the store says, folded from its log.
    package var gates = SyncGates()
    /// When the last run ended, or began if it never ended; folded from the log.
    package var lastRunAt: Timestamp?

    package init() {}

    /// A run is asked for.
    package mutating func ask(_ trigger: SyncTrigger, at now: Moment) {
        if let index = asked.firstIndex(where: { $0.trigger == trigger }) {
            asked[index].last = now
        } else {
            asked.append(Asked(trigger: trigger, first: now, last: now))
            asked.sort { $0.trigger < $1.trigger }
        }
    }

    /// A run begins, which serves everything that was asked for.
    package mutating func begin() { asked = [] }

    /// Has the next clean-up begin at the midnight after a moment, where midnights bring one.
    package mutating func planCleanUp(after now: Timestamp) {
        let day: Int64 = 86_400_000_000
        cleanUpAt = automatic?.midnight.map { ahead in
            let local = now.rawValue.addingReportingOverflow(ahead).partialValue
            let rest = local % day
            return Timestamp(rawValue: now.rawValue).adding(
                from: rest < 0 ? rest + day : rest, to: day)
        }
    }

    /// What is to be done at a moment.
    package func next(_ now: Moment) -> Decision {
        if isPaused { return .paused(.byApp) }
        var due: [SyncTrigger] = []
        var first: (wait: Int64, reason: SyncWaitReason)?
        var frozen: SyncPauseReason?
        for (trigger, ready, reason) in candidates(now) {
            var (wait, reason) = (ready, reason)
            switch gates.hold(trigger, at: now) {
            case .frozen(let why)?:
                frozen = why
                continue
            case .wait(let held, let why)? where held >= wait: (wait, reason) = (held, why)
            case .wait?, nil: break
            }
            if wait == 0 {
                due.append(trigger)
            } else if wait < first?.wait ?? .max {
                first = (wait, reason)
            }
        }
        if !due.isEmpty { return .run(Set(asked.map(\.trigger)).union(due).sorted()) }
        if let cleanUpAt {
            // Nobody is asked for anything: no gate holds it.
            if now.now >= cleanUpAt { return .cleanUp }
            let wait = cleanUpAt.rawValue - now.now.rawValue
            if wait < first?.wait ?? .max { first = (wait, .timer) }
        }
        if let first {
            let (until, overflow) = now.now.rawValue.addingReportingOverflow(first.wait)
            return .wait(until: Timestamp(rawValue: overflow ? .max : until), first.reason)
        }
        return frozen.map { .paused($0) } ?? .idle
    }

    /// What may start a run, in how many microseconds, gates aside, and what it waits for until
    /// then.
    private func candidates(_ now: Moment) -> [(SyncTrigger, Int64, SyncWaitReason)] {
        var result: [(SyncTrigger, Int64, SyncWaitReason)] = asked.map { one in
            (one.trigger, one.trigger == .localChange ? quiet(one, now) : 0, .quiet)
        }
        guard let automatic else { return result }
        if gates.backoff != nil { result.append((.retry, 0, .timer)) }
        if let (wait, failures) = gates.retry(at: now, lastRunAt: lastRunAt) {
            result.append((.retry, wait, .failures(failures)))
        }
        if let every = automatic.every {
            let passed = lastRunAt.map {
                now.now.rawValue.subtractingReportingOverflow($0.rawValue)
            }
            // A clock that was set back says nothing of how long ago it was.
            let isKnown = passed.map { !$0.overflow && $0.partialValue >= 0 } ?? false
            result.append(
                (.timer, isKnown ? max(0, every - (passed?.partialValue ?? 0)) : 0, .timer))
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
