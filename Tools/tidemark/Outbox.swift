// Outbox.swift — `tidemark outbox`: the pending mutations with the reasons, and the outcomes of
// others.

import ArgumentParser
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkRules
import TidemarkViews

struct Outbox: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints the mutations that wait, or all that the log reaches back to.",
        discussion: """
            -o json prints one line a mutation: collection, id, position, fields, outcome,
            the position that proves it, and the server's revision; of one that follows
            from a rule of the model also the rule, of one that lost fields while the rest
            went on also those. The outcome is pending, unknown (sent, and never answered),
            blocked, or how it ended: accepted (all of it was stored), merged (part of it,
            or the server had the same), superseded (none), coalesced, annihilated,
            withdrawn, rejected, discarded.

            --explain says of each that waits what for, how often it was sent and with which
            answer, whether it went another way, and when it is tried next:
            tidemark outbox STORE --explain
            Of a capsule that is told by the time of its last event.
            """)

    @OptionGroup var store: StoreArgument
    @Flag(help: "Also the mutations that have an outcome.")
    var all = false
    @Flag(help: "Why each waits, how it went so far, and when it is tried next.")
    var explain = false
    @OptionGroup var past: PastOption
    @OptionGroup var format: OutputOption

    func validate() throws {
        guard !(all && explain) else {
            throw ValidationError("--explain is about what waits; leave out --all")
        }
    }

    func run() throws {
        if explain { return try explained() }
        let entries = try past.read(store) { views in try views.outbox(all: all) }
        for entry in entries {
            if format.isJSON {
                Terminal.write(entry.json)
            } else {
                Terminal.write(wrapping: entry.text, indent: 7)
            }
        }
        if entries.isEmpty, !format.isJSON { Terminal.say("the outbox is empty") }
    }

    private func explained() throws {
        let (entries, next) = try past.read(store) { views in
            (
                try OutboxExplanation.all(views),
                NextRun(try views.gates(), at: try past.moment(views, of: store))
            )
        }
        for entry in entries {
            guard !format.isJSON else {
                var object = entry.entry.object
                for (name, value) in entry.json(next) { object[name] = value }
                Terminal.write(JSONValue.object(object).encoded(sortedKeys: true))
                continue
            }
            Terminal.write(wrapping: entry.entry.text, indent: 7)
            for line in entry.lines(next) { Terminal.write(wrapping: line) }
        }
        if entries.isEmpty, !format.isJSON { Terminal.say("the outbox is empty") }
    }
}

extension OutboxEntry {
    fileprivate var json: [UInt8] { JSONValue.object(object).encoded() }

    fileprivate var object: JSONObject {
        var object: JSONObject = [
            "collection": .string(mutation.key.collection.rawValue),
            "id": .string(mutation.key.id),
            "position": .number(JSONNumber(position.rawValue)),
            "kind": .string(mutation.kind.description),
            "fields": .array(mutation.fields.map(JSONValue.string)),
            "outcome": .string(word),
        ]
        object["proof"] = mutation.proof.map { .number(JSONNumber($0.rawValue)) } ?? .some(.null)
        object["revision"] = mutation.revision.map { .string("\($0)") } ?? .some(.null)
        object["attempts"] = .number(JSONNumber(mutation.attempts))
        if mutation.isDerived { object["rule"] = .string(mutation.rule) }
        if !mutation.lost.isEmpty {
            object["lost"] = .array(mutation.lost.map(JSONValue.string))
        }
        if !blockers.isEmpty {
            object["blockedBy"] = .array(blockers.map { .string("\($0)") })
        }
        return object
    }

    fileprivate var text: String {
        var line =
            "\(position)".padded(to: 6) + " \(mutation.kind)".padded(to: 15)
            + " \(mutation.key)".padded(to: 22) + " \(word)"
        if let proof = mutation.proof { line += " by \(proof)" }
        if !blockers.isEmpty {
            line += " by " + blockers.map(\.description).joined(separator: ", ")
        }
        if !mutation.fields.isEmpty {
            line += "  (" + mutation.fields.joined(separator: ", ") + ")"
        }
        if !mutation.lost.isEmpty {
            line += "  lost " + mutation.lost.joined(separator: ", ")
        }
        if mutation.isDerived { line += " \(mutation.rule)" }
        return line
    }
}
