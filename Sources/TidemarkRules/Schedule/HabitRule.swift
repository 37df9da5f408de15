// HabitRule.swift — for how long it is believed what a server does, before that is looked at again:
// that the versions of its folders move with everything below, or what becomes of preconditions.

package import TidemarkEvents

/// When what a server does is looked at again.
package enum HabitRule {
    private static let every = TimeSpan.days(7)

    /// Whether it is due.
    ///
    /// - Parameters:
    ///   - last: when it was looked at last, by the device's clock; nil for never.
    ///   - now: the device's clock. One that was set back tells nothing.
    package static func isDue(last: Timestamp?, now: Timestamp) -> Bool {
        guard let last, now >= last else { return true }
        return now >= last.adding(every)
    }
}
