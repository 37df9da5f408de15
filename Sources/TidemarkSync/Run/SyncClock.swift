// SyncClock.swift — the time that a sync run has, and the moments that gates are measured by.

import TidemarkEvents
package import TidemarkRules

extension Dependencies {
    /// Now, by both clocks of the device.
    package var moment: Moment {
        let uptime = uptime()
        return Moment(now: now(), bootID: uptime.bootID, uptime: uptime.microseconds)
    }
}

/// How much time a sync run has left, by the clock that can't be set.
package struct SyncTime: Sendable {
    /// With less than this left, no request is begun.
    package static let requestTimeMin = Duration.seconds(1)

    private let begun: Moment
    private let deadline: Duration?

    /// - Parameter deadline: how long from now, up to a century; nil for no deadline.
    package init(from now: Moment, deadline: Duration?) {
        begun = now
        self.deadline = deadline?.withinCentury
    }

    /// The time left; nil without a deadline.
    package func left(at now: Moment) -> Duration? {
        deadline.map { $0 - .microseconds(now.microseconds(since: begun) ?? 0) }
    }
}
