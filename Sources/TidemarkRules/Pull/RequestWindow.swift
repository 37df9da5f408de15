// RequestWindow.swift — how many requests may be sent in which time: windows over those that were
// sent.
//
//   (usual)   at most so many in any window
//   burst     one after another in even steps, and so many of them may come early: the limit of
//             servers that let a bucket leak

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

    private var timesMax: Int? { limits.map(\.timesMax).max() }

    /// Takes note of a request, in whatever order they are told of.
    package mutating func add(_ time: Timestamp) {
        guard let most = timesMax else { return }
        let index = times.lastIndex { $0 <= time }.map { $0 + 1 } ?? 0
        times.insert(time, at: index)
        if times.count > most { times.removeFirst(times.count - most) }
    }

    /// How many microseconds the next request has to wait, or so many that are sent at once.
    ///
    /// All or nothing: none of them may be sent before all may. More than a limit ever lets
    /// through count as that many. What seems to have been sent later than now was sent before the
    /// clock was set back: it counts as sent now, so that nobody waits longer than a window.
    package func wait(at now: Timestamp, slots: Int = 1) -> Int64 {
        limits.map { wait($0, at: now, slots) }.max() ?? 0
    }

    /// How many microseconds a pull of so many lists has to wait until all of them fit into each
    /// limit that asks for it.
    ///
    /// A limit that never lets so many through holds each request by itself.
    package func pullWait(at now: Timestamp, lists: Int) -> Int64 {
        let asking = limits.filter { $0.wholePulls && lists <= $0.requests }
        return asking.map { wait($0, at: now, lists) }.max() ?? 0
    }

    private func wait(_ limit: RequestLimit, at now: Timestamp, _ slots: Int) -> Int64 {
        guard slots > 0, limit.requests > 0 else { return 0 }
        if let burst = limit.burst { return wait(limit, burst: burst, at: now, slots) }
        let index = times.count + min(slots, limit.requests) - limit.requests - 1
        guard times.indices.contains(index) else { return 0 }
        let free = min(times[index], now).adding(seconds: Int64(limit.within.seconds))
        return max(0, now.distance(to: free))
    }

    /// Of a limit that spreads requests evenly: each is due one step after the one before it, and
    /// may come so many steps earlier.
    private func wait(
        _ limit: RequestLimit, burst: Int, at now: Timestamp, _ slots: Int
    ) -> Int64 {
        guard let first = times.first else { return 0 }
        let step = Int64(limit.within.seconds) * 1_000_000 / Int64(limit.requests)
        let early = step * Int64(burst)
        // Of what was forgotten it is only known that there may have been much of it.
        let isCut = times.count == timesMax
        var due = min(first, now).adding(from: 0, to: isCut ? early : 0)
        for time in times { due = max(due, min(time, now)).adding(from: 0, to: step) }
        let last = due.adding(from: 0, to: step * Int64(min(slots, burst + 1) - 1))
        return max(0, now.distance(to: last.adding(from: early, to: 0)))
    }
}

extension RequestLimit {
    /// How many requests it looks at; of one with a burst, more than may come early.
    fileprivate var timesMax: Int { requests + (burst.map { 2 * ($0 + 1) } ?? 0) }
}
