// Why.swift — `tidemark why`: which rules decided about an entity, from which events, and who set
// each of its fields.

import ArgumentParser
import Tidemark
import TidemarkInspect
import TidemarkLog
import TidemarkViews

struct Why: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Says why an entity is as it is: which rule decided, from what, at which position.",
        discussion: """
            First how it stands: the server's word, what is pending and what that waits for.
            Then each decision about it, in the order of the log: rule and version, result,
            fields, the events that it was made from, and what was given up. Decisions about
            others that lost against it are among them.

            With a field, only what touched that: tidemark why STORE tasks/t1.title
            Dots lead into objects and lists: tasks/t1.address.city, tasks/t1.tags.0

            --blame prints a line a field: the event at which its value became what it is,
            who did that (created, edit, pull, answer, merge, a rule, placeholder, discard),
            when, and in which sync run.

            The id may be that of the server. -o json prints an object on how it stands and
            one for each decision, with --blame one a field. Exit code 1 when the log never
            heard of the entity, or it never had the field.
            """)

    @OptionGroup var store: StoreArgument
    @Argument(help: "COLLECTION/ID or COLLECTION/ID.FIELD.")
    var entity: String
    @Flag(help: "Who set each field last.")
    var blame = false
    @OptionGroup var past: PastOption
    @OptionGroup var format: OutputOption

    func run() throws {
        let named = try Name.entity(entity)
        let isTold = try past.read(store) { views, journal in
            if let beginning = try views.beginning() { Terminal.say(beginning.words) }
            let target = try EntityTarget(reading: named, views, journal)
            func timeline(_ key: EntityKey) throws -> EntityTimeline {
                try journal.timeline(key, views)
            }
            return try blame
                ? tellBlame(target, views, timeline) : tellWhy(target, views, timeline)
        }
        guard !isTold else { return }
        Terminal.say("tidemark: the log never heard of \(named)")
        throw Exit.findings
    }

    private func tellWhy(
        _ target: EntityTarget, _ views: ViewReader,
        _ timeline: (EntityKey) throws -> EntityTimeline
    ) throws -> Bool {
        guard let found = try EntityExplanation(target, views) else {
            return try tellGone(target, views, try timeline(target.key))
        }
        var lines = found.lines(columns: Terminal.outputColumns)
        var json = found.json
        if target.field != nil {
            let blames = try timeline(target.key).blame(of: target.field, views)
            guard !blames.isEmpty || !found.decisions.isEmpty else { return false }
            lines.insert(contentsOf: blames.flatMap(\.sentences), at: 1)
            json.insert(contentsOf: blames.map { $0.json(found.key) }, at: 1)
        }
        if format.isJSON {
            for line in json { Terminal.write(line) }
        } else {
            for line in lines { Terminal.write(wrapping: line) }
        }
        return true
    }

    /// Prints the end of an entity that has no row any more.
    private func tellGone(
        _ target: EntityTarget, _ views: ViewReader, _ timeline: EntityTimeline
    ) throws -> Bool {
        guard let history = try EntityHistory(timeline, views), let last = history.entries.last
        else { return false }
        let ending = history.ending(timeline)
        if !format.isJSON {
            Terminal.write("\(history.key): \(ending.isEmpty ? "never here" : "gone")")
        }
        let columns = Terminal.outputColumns.map { $0 - 2 }
        for entry in ending.isEmpty ? [last] : ending {
            if format.isJSON {
                Terminal.write(entry.json(history.key))
            } else {
                for line in entry.lines(columns: columns) {
                    Terminal.write(wrapping: "  " + line)
                }
            }
        }
        return true
    }

    private func tellBlame(
        _ target: EntityTarget, _ views: ViewReader,
        _ timeline: (EntityKey) throws -> EntityTimeline
    ) throws -> Bool {
        let found = try timeline(target.key)
        guard !found.steps.isEmpty || found.base != nil else { return false }
        let blames = try found.blame(of: target.field, views)
        let key = found.keys.first ?? target.key
        if blames.isEmpty {
            if let field = target.field {
                let never = try views.beginning().map { "since \($0.first) never" } ?? "never"
                Terminal.say("tidemark: \(key) \(never) had the field \(field.description)")
                throw Exit.findings
            }
            Terminal.say("\(key) has no fields: it is gone; see tidemark history")
        }
        let width = min(blames.map(\.field.count).max() ?? 0, 24)
        for blame in blames {
            if format.isJSON {
                Terminal.write(blame.json(key))
            } else {
                Terminal.write(cut(blame.line(width: width, columns: nil)))
            }
        }
        return true
    }
}
