// ServerClock.swift — what the server's clock shows now, from what it showed last.

package import TidemarkEvents

/// The server's clock as it was last seen.
package struct ServerClock: Sendable, Hashable {
    /// What it showed: the answer's Date.
    package var date: Timestamp
    /// The boot of the device in which that answer came.
    package var bootID: String
    /// Microseconds since that boot when the answer came.
    package var uptime: Int64
    /// What the device's clock showed when the answer came.
    package var deviceTime: Timestamp
    /// The latest time that was ever seen or given out.
    package var latest: Timestamp

    package init(
        date: Timestamp, bootID: String, uptime: Int64, deviceTime: Timestamp, latest: Timestamp
    ) {
        self.date = date
        self.bootID = bootID
        self.uptime = uptime
        self.deviceTime = deviceTime
        self.latest = latest
    }

    /// What it shows now; never earlier than ``latest``.
    ///
    /// In the same boot, what it showed and the time since, by the clock that nobody sets; after a
    /// restart the device's time, off by as much as it was then.
    package func now(device: Timestamp, bootID: String, uptime: Int64) -> Timestamp {
        let now =
            bootID == self.bootID && uptime >= self.uptime
            ? date.adding(from: self.uptime, to: uptime)
            : device.adding(from: deviceTime.rawValue, to: date.rawValue)
        return max(now, latest)
    }

    /// The clock after it was seen again.
    package func seen(_ newer: ServerClock) -> ServerClock {
        var clock = newer
        clock.latest = max(latest, newer.date)
        return clock
    }
}

extension Timestamp {
    /// The moment as much later as `end` is after `start`, in microseconds; what does not fit is
    /// held at the end of the range.
    package func adding(from start: Int64, to end: Int64) -> Timestamp {
        let (delta, isTooLong) = end.subtractingReportingOverflow(start)
        let (sum, isTooLate) = rawValue.addingReportingOverflow(delta)
        if isTooLong || isTooLate { return Timestamp(rawValue: end < start ? .min : .max) }
        return Timestamp(rawValue: sum)
    }
}
