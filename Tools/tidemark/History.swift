// History.swift — `tidemark history`: the history of an entity.

import ArgumentParser
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkLog
import TidemarkViews

struct History: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints everything that happened to an entity, event by event.",
        discussion: """
            Position, time and what happened; below it each field that changed, from what to
            what, the rules that decided, and the mutations that were settled.

            With a field, only what changed it: tidemark history STORE tasks/t1.title
            The id may be that of the server. -o json prints an object an event. Exit code 1
            when the log never heard of the entity.
            """)

    @OptionGroup var store: StoreArgument
    @Argument(help: "COLLECTION/ID or COLLECTION/ID.FIELD.")
    var entity: String
    @Option(name: .customShort("n"), help: "At most so many events.")
    var limit: Int?
    @Flag(name: [.customShort("r"), .long], help: "The last event first.")
    var reverse = false
    @OptionGroup var format: OutputOption

    func run() throws {
        if let limit, limit < 0 { throw UsageError("-n takes a number from 0 up") }
        let named = try Name.entity(entity)
        var beginning: LogBeginning?
        let history = try store.read { journal in
            beginning = try journal.beginning()
            return try journal.withTimelines { views, timeline in
                let target = try EntityTarget(reading: named, views, journal)
                return try EntityHistory(
                    try timeline(target.key), field: target.field, views)
            }
        }
        if let beginning { Terminal.say(beginning.words) }
        guard let history else {
            Terminal.say("tidemark: the log never heard of \(named)")
            throw Exit.findings
        }
        let entries = reverse ? history.entries.reversed() : history.entries
        for entry in entries.prefix(limit ?? .max) {
            if format.isJSON {
                Terminal.write(entry.json(history.key))
            } else {
                for line in entry.lines(columns: Terminal.outputColumns) {
                    Terminal.write(wrapping: line)
                }
            }
        }
        if entries.isEmpty {
            Terminal.say(
                beginning.map { "nothing changed it since \($0.first)" }
                    ?? "nothing ever changed that")
        }
    }
}
