// RebuildChild.swift — folds the log of a store again and is killed in the middle of it.

import TidemarkStore
import TidemarkViews

enum RebuildChild {
    /// `STORE EVENTS MICROSECONDS`: how many events are folded in a transaction, or 0 to let the
    /// opening of the store do what it does; and when the process dies.
    static func run(_ words: [String]) throws {
        let arguments = ChildArguments(words, "EVENTS", "MICROSECONDS")
        let (events, delay) = (arguments.numbers[0], arguments.numbers[1])
        if delay < 0 { CrashChild.die(after: -delay) }
        if events == 0 {
            if delay >= 0 { CrashChild.die(after: delay) }
            try Journal.open(at: arguments.store).close()
        } else {
            let environment = try Environment.open(
                at: arguments.store, Environment.Options(tables: Journal.tableNames))
            if delay >= 0 { CrashChild.die(after: delay) }
            try Journal(environment).rebuild(eventsPerStep: events)
        }
        CrashChild.say("rebuilt")
    }
}
