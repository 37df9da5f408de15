// RequestWindows.swift — the windows over the requests that were sent: one over all of them, and
// one over those of each group that has limits of its own.

package import TidemarkEvents

/// The requests that count for a model's limits.
package struct RequestWindows: Sendable, Hashable {
    private let limits: [RequestLimit]
    private var all: RequestWindow
    private var groups: [RequestGroup: RequestWindow] = [:]

    /// - Parameters:
    ///   - times: when requests were sent, by the device's clock.
    ///   - groups: the same of each group.
    package init(
        _ limits: [RequestLimit], _ times: [Timestamp] = [],
        groups: [RequestGroup: [Timestamp]] = [:]
    ) {
        self.limits = limits
        all = RequestWindow(limits.of(nil), times)
        for (group, times) in groups {
            let own = limits.of(group)
            if !own.isEmpty { self.groups[group] = RequestWindow(own, times) }
        }
    }

    /// Counts a request.
    package mutating func add(_ time: Timestamp, of group: RequestGroup? = nil) {
        all.add(time)
        guard let group else { return }
        let own = limits.of(group)
        if !own.isEmpty { groups[group, default: RequestWindow(own)].add(time) }
    }

    /// How many microseconds the next request has to wait for the limits of all requests, whatever
    /// its group.
    package func wait(at now: Timestamp) -> Int64 { all.wait(at: now) }

    /// How many microseconds the next request of a group has to wait for the group's own limits.
    package func wait(at now: Timestamp, of group: RequestGroup?) -> Int64 {
        group.flatMap { groups[$0] }?.wait(at: now) ?? 0
    }

    /// How many microseconds a pull of so many lists has to wait for the limits of all requests.
    package func pullWait(at now: Timestamp, lists: Int) -> Int64 {
        all.pullWait(at: now, lists: lists)
    }

    /// How many microseconds so many lists of a group have to wait for the group's own limits.
    package func pullWait(at now: Timestamp, lists: Int, of group: RequestGroup?) -> Int64 {
        group.flatMap { groups[$0] }?.pullWait(at: now, lists: lists) ?? 0
    }
}

extension [RequestLimit] {
    /// The limits of a group's own; of nil, those of all requests.
    package func of(_ group: RequestGroup?) -> [RequestLimit] { filter { $0.group == group?.name } }
}
