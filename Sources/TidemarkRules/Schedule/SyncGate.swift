// SyncGate.swift — what keeps sync runs from beginning, and for how long. Nothing here looks at a
// clock: a moment comes in, a duration comes out.
//
//   server    the server said when it may be called again (Retry-After): holds every run
//   backoff   runs that failed one after another: holds automatic runs, longer each time, but not
//             one for a network that is there again where it is the network that failed; without a
//             failure it holds none, and a run of everything is owed
//   busy      the server asked for no call that is not needed: holds automatic runs
//   frozen    credentials or API are refused: holds automatic runs until somebody does something

package import TidemarkEvents

/// A moment by both clocks of a device: the one that people set, and the one that nobody sets.
package struct Moment: Sendable, Hashable {
    /// The device's clock.
    package var now: Timestamp
    /// Names the boot; empty when it is not known.
    package var bootID: String
    /// Microseconds since the boot.
    package var uptime: Int64

    package init(now: Timestamp, bootID: String, uptime: Int64) {
        self.now = now
        self.bootID = bootID
        self.uptime = uptime
    }

    /// The microseconds from an earlier moment to this one: within a boot by the clock that nobody
    /// sets, else by the device's; nil when that one was set back meanwhile.
    package func microseconds(since earlier: Moment) -> Int64? {
        if !bootID.isEmpty, bootID == earlier.bootID, uptime >= earlier.uptime {
            let (passed, overflow) = uptime.subtractingReportingOverflow(earlier.uptime)
            return overflow ? nil : passed
        }
        let (passed, overflow) = now.rawValue.subtractingReportingOverflow(earlier.now.rawValue)
        return overflow || passed < 0 ? nil : passed
    }
}

/// One thing that keeps sync runs from beginning.
package struct SyncGate: Sendable, Hashable {
    package enum Name: String, Sendable, CaseIterable {
        case server, backoff, busy, frozen
    }

    /// When it was set.
    package var since: Moment
    /// For how long, in microseconds; a frozen one has no end.
    package var microseconds: Int64
    /// How many runs failed in a row; 0 but for backoff, where it is 0 once the server could be
    /// had again for something else.
    package var failures: Int
    /// The name of the failure that set it; empty where none did.
    package var reason: String
    /// The event that set it.
    package var position: Position
    /// Of backoff, the last run that failed of those that were to make all lists, however old the
    /// last ones are; the start where none was.
    package var asked = Position.start

    package init(
        since: Moment, microseconds: Int64, failures: Int = 0, reason: String = "",
        position: Position
    ) {
        self.since = since
        self.microseconds = microseconds
        self.failures = failures
        self.reason = reason
        self.position = position
    }

    /// How long it still holds, in microseconds; 0 when it is over.
    ///
    /// Never longer than was asked for: where the clock was set back, it is void.
    package func left(at now: Moment) -> Int64 {
        guard let passed = now.microseconds(since: since) else { return 0 }
        return passed < microseconds ? microseconds - passed : 0
    }
}

/// Everything that keeps sync runs from beginning.
package struct SyncGates: Sendable, Hashable {
    package var server: SyncGate?
    package var backoff: SyncGate?
    package var busy: SyncGate?
    package var frozen: SyncGate?
    /// Of single calls that fail for reasons of their own; they hold no run.
    package var failing: [SyncGate] = []
    /// Of groups of requests whose quota is used up; they hold no run, only those requests.
    package var groups: [RequestGroup: SyncGate] = [:]

    package init() {}

    /// A run that ended, or that began if it never ended.
    package struct LastRun: Sendable, Hashable {
        package var at: Timestamp
        /// The event that began it.
        package var begun: Position

        package init(at: Timestamp, begun: Position) { (self.at, self.begun) = (at, begun) }
    }

    /// In how many microseconds a call is to be made again that failed by itself, and how often it
    /// failed; nil where there is none.
    ///
    /// - Parameter runs: the last runs, the newest first.
    package func retry(at now: Moment, _ runs: [LastRun]) -> (wait: Int64, failures: Int)? {
        failing.map { (Self.wait(for: $0, at: now, runs), $0.failures) }.min { $0.0 < $1.0 }
    }

    /// In how many microseconds runs of everything go on that failed one after another; nil where
    /// the last one did not.
    ///
    /// - Parameter runs: the last runs, the newest first.
    package func resumption(at now: Moment, _ runs: [LastRun]) -> Int64? {
        backoff.map { Self.wait(for: $0, at: now, runs) }
    }

    /// Whether a run before one may have left untried what is due, so that it counts.
    package func counts(runsBefore run: LastRun) -> Bool {
        (failing + [backoff].compactMap(\.self)).contains { $0.position < run.begun }
    }

    /// How many runs count at most: from the smallest wait they lead to the longest.
    package static let runsMax = 13

    /// How long it waits at most where it is due and can't be tried, in microseconds.
    private static let untriedMax: Int64 = 3_600_000_000
    private static let untriedMin: Int64 = 1_000_000

    /// How long it is until something is tried again.
    ///
    /// What a run did not try though it was due, because it could not, waits for its backoff, and
    /// after each more such run twice as long: what can't be tried makes ever fewer runs. Where
    /// many runs came in a short time it waits no longer than it has been due.
    private static func wait(for gate: SyncGate, at now: Moment, _ runs: [LastRun]) -> Int64 {
        let left = gate.left(at: now)
        guard left == 0, let last = runs.first else { return left }
        let (passed, overflow) = now.now.rawValue.subtractingReportingOverflow(last.at.rawValue)
        // By the clock as it is now, as the last runs are.
        let due =
            now.microseconds(since: gate.since).map {
                now.now.adding(from: $0, to: gate.microseconds)
            } ?? gate.since.now.adding(from: 0, to: gate.microseconds)
        let untried = runs.prefix { run in
            // The clock may have been set back meanwhile.
            run.at >= due || run.at < gate.since.now && run.begun > gate.position
        }
        guard !untried.isEmpty, !overflow, passed >= 0 else { return 0 }
        let (overdue, isLong) = last.at.rawValue.subtractingReportingOverflow(due.rawValue)
        let least = max(untriedMin, gate.microseconds)
        let (grown, isMuch) = least.multipliedReportingOverflow(
            by: 1 << Int64(min(untried.count, runsMax) - 1))
        let again = min(max(least, isLong ? .max : overdue), isMuch ? .max : grown)
        return max(0, min(again, max(untriedMax, gate.microseconds)) - passed)
    }

    package subscript(name: SyncGate.Name) -> SyncGate? {
        get {
            switch name {
            case .server: server
            case .backoff: backoff
            case .busy: busy
            case .frozen: frozen
            }
        }
        set {
            switch name {
            case .server: server = newValue
            case .backoff: backoff = newValue
            case .busy: busy = newValue
            case .frozen: frozen = newValue
            }
        }
    }

    /// What a run waits for.
    package enum Hold: Sendable, Hashable {
        /// So many microseconds, for the last of the gates to open.
        case wait(Int64, SyncWaitReason)
        case frozen(SyncPauseReason)

        /// For how many microseconds; what is frozen has no end.
        fileprivate var left: Int64 { if case .wait(let left, _) = self { left } else { .max } }
    }

    /// What keeps a run with that trigger from beginning; nil when nothing does.
    package func hold(_ trigger: SyncTrigger, at now: Moment) -> Hold? {
        if !trigger.isUrgent, let frozen {
            return .frozen(SyncPauseReason(rawValue: frozen.reason) ?? .unauthorized)
        }
        var waits: [(Int64, SyncWaitReason)] = []
        if let server { waits.append((server.left(at: now), .serverAsked)) }
        if let backoff, !trigger.passes(FailureKind(rawValue: backoff.reason)) {
            waits.append((backoff.left(at: now), .failures(backoff.failures)))
        }
        if !trigger.isUrgent, let busy { waits.append((busy.left(at: now), .serverBusy)) }
        guard let longest = waits.max(by: { $0.0 < $1.0 }), longest.0 > 0 else { return nil }
        return .wait(longest.0, longest.1)
    }

    /// What keeps a run with several triggers from beginning; nil where one of them may begin it.
    package func hold(_ triggers: [SyncTrigger], at now: Moment) -> Hold? {
        let holds = triggers.map { hold($0, at: now) }
        return holds.contains(nil) ? nil : holds.compactMap(\.self).min { $0.left < $1.left }
    }
}

extension Int64 {
    /// Microseconds in whole seconds, rounded up.
    package var inWholeSeconds: Int64 { self / 1_000_000 + (self % 1_000_000 > 0 ? 1 : 0) }
}
