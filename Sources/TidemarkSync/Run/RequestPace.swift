// RequestPace.swift — when the next request of a run may be sent, by the model's limits and by the
// run's deadline. A value: it never waits by itself.

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
        /// The run ends instead.
        case end(SyncFailure)
    }

    /// The longest time that a run waits between two requests, in microseconds.
    package static let waitMax: Int64 = 60_000_000

    private var window: RequestWindow
    /// When the run began.
    let begun: Moment
    let time: SyncTime

    package init(_ window: RequestWindow, begun: Moment, time: SyncTime) {
        self.window = window
        self.begun = begun
        self.time = time
    }

    /// The device's clock at a moment, as if nobody had set it since the run began; limits go by
    /// it.
    package func now(at moment: Moment) -> Timestamp {
        begun.now.adding(from: 0, to: moment.microseconds(since: begun) ?? 0)
    }

    /// Counts a request.
    package mutating func sent(at time: Timestamp) { window.add(time) }

    /// Whether too little of the run's time is left for another request.
    package func isOver(at moment: Moment) -> Bool {
        time.left(at: moment).map { $0 < SyncTime.requestTimeMin } ?? false
    }

    /// Whether a pull of that many lists would have to wait before its first request.
    package func waitsToPull(lists: Int) -> Bool {
        window.pullWait(at: begun.now, lists: lists) > 0
    }

    /// What comes before one more request.
    ///
    /// - Parameters:
    ///   - slept: for how many microseconds the run has already waited for this request.
    ///   - lists: of how many lists' requests it is the first. All of them must fit into the limits
    ///     that demand it; nil for a single request.
    package func verdict(at moment: Moment, slept: Int64 = 0, lists: Int? = nil) -> Verdict {
        let now = now(at: moment)
        let wait =
            lists.map { window.pullWait(at: now, lists: $0) } ?? window.wait(at: now)
        guard wait > 0 else { return .go }
        if let left = time.left(at: moment), left < .microseconds(wait) { return .end(.deadline) }
        guard wait <= Self.waitMax - slept else {
            return .end(.tooManyRequests(retryAfterSeconds: wait.inWholeSeconds))
        }
        return .wait(wait)
    }
}
