// SyncMachine+Clock.swift — the server's time in a sync run: what the log makes of the answers, and
// what the last one said. In doubt lists are whole, and whoever decides by the time waits.

import TidemarkEvents
import TidemarkRules
import TidemarkViews

extension SyncMachine {
    /// The server's time; nil where it is not known, or in doubt.
    var sureTime: Timestamp? { clock.isInDoubt ? nil : serverTime }

    /// What windows lie around: what was believed last; with nothing, what the last answer said, or
    /// else the device's clock.
    var windowTime: Timestamp { serverTime ?? heard?.date ?? deviceTime }

    /// Whether an answer leaves or puts the server's time in doubt.
    func isClockNews(_ seen: ClockSighting?) -> Bool {
        guard let seen else { return false }
        var after = clock
        let correction = after.see(seen, at: .start)
        return clock.isInDoubt || after.isInDoubt || correction != nil
    }

    /// Whether everything is listed whole, and nothing concluded from what lists do not name.
    var isTimeInDoubt: Bool { clock.isInDoubt }
}
