// RebuildChild.swift — folds the log of a store again and is killed in the middle of it.

import TidemarkStore
import TidemarkViews

enum RebuildChild {
    /// `STORE EVENTS STEPS DELAY`: how many events are folded in a transaction, or 0 to let the
    /// opening of the store do what it does; and when the process dies.
    ///
    /// That is when so many transactions are done, and as many thousandths of the time that one of
    /// them took have passed; at the opening so many microseconds after its beginning, and where
    /// the delay is negative so many from before it.
    static func run(_ words: [String]) throws {
        let arguments = ChildArguments(words, "EVENTS", "STEPS", "DELAY")
        let (events, steps, delay) = (
            arguments.numbers[0], arguments.numbers[1], arguments.numbers[2]
        )
        if delay < 0 { CrashChild.die(after: -delay) }
        if events == 0 {
            if delay >= 0 { CrashChild.die(after: delay) }
            try Journal.open(at: arguments.store).close()
        } else {
            let environment = try Environment.open(
                at: arguments.store, Journal.options())
            let pace = CrashPace(steps: steps, thousandths: delay)
            if delay >= 0 { pace.begin() }
            try Journal(environment).rebuild(eventsPerStep: events) { _ in
                if delay >= 0 { pace.stepDone() }
            }
        }
        CrashChild.say("rebuilt")
    }
}
