// RequestPace.swift — when the next request of a run may be sent, by the model's limits, by what
// the server said of its quotas, and by the run's deadline. A value: it never waits by itself.
//
//   too long a wait         what happens
//   for all requests        the run ends
//   for one group of them   that request is left to a later run, and the others go on

package import TidemarkEvents
package import TidemarkRules

/// When the next request may be sent.
package struct RequestPace: Sendable {
    /// What comes before a request.
    package enum Verdict: Sendable, Hashable {
        /// It may be sent.
        case go
        /// So many microseconds have to pass first.
        case wait(Int64)
        /// It is not sent in this run: its group has no room for so long.
        case hold(SyncFailure)
        /// The run ends instead.
        case end(SyncFailure)
    }

    /// The longest time that a run waits between two requests, in microseconds.
    package static let waitMax: Int64 = 60_000_000

    /// What is longer than a thousand years has no known end.
    private static let unknownWait: Int64 = 31_536_000_000_000_000

    private var windows: RequestWindows
    /// Until when the server takes no requests of a group, as ``now(at:)`` tells the time.
    private var holds: [RequestGroup: Timestamp] = [:]
    /// When the run began.
    let begun: Moment
    let time: SyncTime

    /// - Parameter gates: of the groups whose quota is used up.
    package init(
        _ windows: RequestWindows, gates: [RequestGroup: SyncGate] = [:], begun: Moment,
        time: SyncTime
    ) {
        self.windows = windows
        self.begun = begun
        self.time = time
        holds = gates.mapValues { begun.now.adding(from: 0, to: $0.left(at: begun)) }
    }

    /// The device's clock at a moment, as if nobody had set it since the run began; limits go by
    /// it.
    package func now(at moment: Moment) -> Timestamp {
        begun.now.adding(from: 0, to: moment.microseconds(since: begun) ?? 0)
    }

    /// Counts a request.
    package mutating func sent(at time: Timestamp, of group: RequestGroup? = nil) {
        windows.add(time, of: group)
    }

    /// Notes that a group's quota is used up.
    ///
    /// - Parameters:
    ///   - seconds: for how long; nil for the rest of the run.
    ///   - uptime: microseconds since the device's boot, when the server said so.
    package mutating func hold(_ group: RequestGroup, seconds: Int64?, uptime: Int64) {
        let until = seconds.map {
            begun.now.adding(from: begun.uptime, to: uptime).adding(seconds: $0)
        }
        holds[group] = max(holds[group] ?? begun.now, until ?? Timestamp(rawValue: .max))
    }

    /// Whether the server takes no requests of some group at a moment.
    func isHolding(at moment: Moment) -> Bool {
        let now = now(at: moment)
        return holds.values.contains { now < $0 }
    }

    /// Whether too little of the run's time is left for another request.
    package func isOver(at moment: Moment) -> Bool {
        time.left(at: moment).map { $0 < SyncTime.requestTimeMin } ?? false
    }

    /// Whether a pull would have to wait before its first request.
    ///
    /// - Parameter lists: the group of each of its lists.
    package func waitsToPull(_ lists: [RequestGroup?]) -> Bool {
        windows.pullWait(at: begun.now, lists: lists.count) > 0
            || lists.contains { pullWait(at: begun.now, lists, $0) > 0 }
    }

    private func pullWait(
        at now: Timestamp, _ lists: [RequestGroup?], _ group: RequestGroup?
    ) -> Int64 {
        windows.pullWait(at: now, lists: lists.count { $0 == group }, of: group)
    }

    /// What comes before one more request.
    ///
    /// - Parameters:
    ///   - group: the group that it counts for.
    ///   - slept: for how many microseconds the run has already waited for this request.
    package func verdict(
        at moment: Moment, for group: RequestGroup? = nil, slept: Int64 = 0
    ) -> Verdict {
        let now = now(at: moment)
        let held = group.flatMap { holds[$0] }.map { now.microseconds(until: $0) } ?? 0
        return verdict(
            windows.wait(at: now), max(windows.wait(at: now, of: group), held), moment, slept)
    }

    /// What comes before the lists of a pull, all of which must fit into the limits that demand it.
    ///
    /// - Parameter lists: the group of each of its lists.
    package func verdict(
        at moment: Moment, pulling lists: [RequestGroup?], slept: Int64 = 0
    ) -> Verdict {
        let now = now(at: moment)
        let own = lists.map { pullWait(at: now, lists, $0) }.max() ?? 0
        return verdict(windows.pullWait(at: now, lists: lists.count), own, moment, slept)
    }

    /// - Parameters:
    ///   - all: the wait for all requests, in microseconds.
    ///   - own: the wait for the group.
    private func verdict(_ all: Int64, _ own: Int64, _ moment: Moment, _ slept: Int64) -> Verdict {
        if let failure = excess(all, moment, slept) { return .end(failure) }
        if excess(own, moment, slept) != nil {
            let isKnown = own < Self.unknownWait
            return .hold(.tooManyRequests(retryAfterSeconds: isKnown ? own.inWholeSeconds : nil))
        }
        let wait = max(all, own)
        return wait > 0 ? .wait(wait) : .go
    }

    /// Why a wait is too long; nil where it is not.
    private func excess(_ wait: Int64, _ moment: Moment, _ slept: Int64) -> SyncFailure? {
        guard wait > 0 else { return nil }
        if let left = time.left(at: moment), left < .microseconds(wait) { return .deadline }
        return wait <= Self.waitMax - slept
            ? nil : .tooManyRequests(retryAfterSeconds: wait.inWholeSeconds)
    }
}

extension Timestamp {
    /// The microseconds until a later time; 0 for an earlier one.
    fileprivate func microseconds(until later: Timestamp) -> Int64 {
        let (left, overflow) = later.rawValue.subtractingReportingOverflow(rawValue)
        return overflow ? .max : max(0, left)
    }
}
