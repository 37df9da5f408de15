// RequestWindow.swift — how many requests may be sent in which time: sliding windows over those
// that were sent.

package import TidemarkEvents

/// The requests that count, by the device's clock.
package struct RequestWindow: Sendable, Hashable {
    private let limits: [RequestLimit]
    /// When requests were sent, ascending; no more of them than a limit looks at.
    package private(set) var times: [Timestamp]

    package init(_ limits: [RequestLimit], _ times: [Timestamp] = []) {
        self.limits = limits
        self.times = []
        for time in times { add(time) }
    }

    /// Takes note of a request, in whatever order they are told of.
    package mutating func add(_ time: Timestamp) {
        guard let most = limits.map(\.requests).max() else { return }
        let index = times.lastIndex { $0 <= time }.map { $0 + 1 } ?? 0
        times.insert(time, at: index)
        if times.count > most { times.removeFirst(times.count - most) }
    }

    /// How many microseconds the next request has to wait.
    ///
    /// What seems to have been sent later than now was sent before the clock was set back: it
    /// counts as sent now, so that nobody waits longer than a window.
    package func wait(at now: Timestamp) -> Int64 {
        var wait: Int64 = 0
        for limit in limits where times.count >= limit.requests {
            let first = min(times[times.count - limit.requests], now)
            wait = max(wait, first.adding(seconds: Int64(limit.seconds)).rawValue - now.rawValue)
        }
        return max(0, wait)
    }
}
