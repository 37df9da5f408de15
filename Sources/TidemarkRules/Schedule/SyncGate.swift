// SyncGate.swift — what keeps sync runs from beginning, and for how long. Nothing here looks at a
// clock: a moment comes in, a duration comes out.
//
//   server    the server said when it may be called again (Retry-After): holds every run
//   backoff   runs that failed one after another: holds automatic runs, longer each time
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
            return uptime - earlier.uptime
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
    /// How many runs failed in a row; 0 but for backoff.
    package var failures: Int
    /// The name of the failure that set it; empty where none did.
    package var reason: String
    /// The event that set it.
    package var position: Position

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
        return max(0, microseconds - passed)
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

    /// In how many microseconds a call is to be made again that failed by itself, and how often it
    /// failed; nil where there is none.
    ///
    /// What the last run did not ask again though it was due, because it could not be asked, waits
    /// as long once more.
    package func retry(at now: Moment, lastRunAt: Timestamp?) -> (wait: Int64, failures: Int)? {
        failing.map { gate in
            var left = gate.left(at: now)
            let again = max(gate.microseconds, 1_000_000)
            if left == 0, let last = lastRunAt, last > gate.since.now {
                let passed = now.now.rawValue.subtractingReportingOverflow(last.rawValue)
                let isKnown = !passed.overflow && passed.partialValue >= 0
                if isKnown, last >= gate.since.now.adding(from: 0, to: gate.microseconds) {
                    left = max(0, again - passed.partialValue)
                }
            }
            return (left, gate.failures)
        }
        .min { $0.0 < $1.0 }
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
    }

    /// What keeps a run with that trigger from beginning; nil when nothing does.
    package func hold(_ trigger: SyncTrigger, at now: Moment) -> Hold? {
        if !trigger.isUrgent, let frozen {
            return .frozen(SyncPauseReason(rawValue: frozen.reason) ?? .unauthorized)
        }
        var waits: [(Int64, SyncWaitReason)] = []
        if let server { waits.append((server.left(at: now), .serverAsked)) }
        if !trigger.isUrgent {
            if let backoff {
                waits.append((backoff.left(at: now), .failures(backoff.failures)))
            }
            if let busy { waits.append((busy.left(at: now), .serverBusy)) }
        }
        guard let longest = waits.max(by: { $0.0 < $1.0 }), longest.0 > 0 else { return nil }
        return .wait(longest.0, longest.1)
    }
}

extension Int64 {
    /// Microseconds in whole seconds, rounded up.
    package var inWholeSeconds: Int64 { self / 1_000_000 + (self % 1_000_000 > 0 ? 1 : 0) }
}
