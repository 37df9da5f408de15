// TimerFired.swift — a timer went off.

/// `timer.fired`.
package struct TimerFired: MemberPayload, EventPayload {
    /// What timers are for.
    package enum Timer: String, Sendable {
        /// What need not be kept is pruned.
        case cleanUp
        /// Contents that need not be kept are removed.
        case sweep
    }

    /// Nil where the payload does not say.
    package var timer: Timer?
    /// The time by which it went off: the server's, and of a sweep the device's.
    package var now = Timestamp(rawValue: 0)

    package init() {}

    package init(_ timer: Timer, now: Timestamp) {
        self.timer = timer
        self.now = now
    }

    package static let members: [PayloadMember<Self>] = [
        PayloadMember("timer", \.timer, .word, .plain),
        PayloadMember("now", \.now, .time, .time),
    ]
}
