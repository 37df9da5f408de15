// Reading.swift — `tidemark get`, `list` and `outbox`.

import ArgumentParser
import Tidemark
import TidemarkInspect
import TidemarkViews

struct Get: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints the document of an entity.",
        discussion: "Exit code 1 when there is none.")

    @OptionGroup var store: StoreArgument
    @Argument(help: "COLLECTION/ID.")
    var entity: String
    @OptionGroup var past: PastOption
    @OptionGroup var format: OutputOption

    func run() throws {
        let key = try Name.entity(entity)
        let row = try past.read(store) { try $0.entity(key) }
        guard let row, let document = row.document else {
            Terminal.say("tidemark: there is no \(key)")
            throw Exit.findings
        }
        Terminal.write(format.isJSON ? listLine(key, row.status, document) : document)
    }
}

struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints the entities of a store, by collection and id.",
        discussion: """
            -o json prints {"collection","id","status","data"} a line, the data as it
            came. Entities that are to be deleted are left out; they are in the outbox.

            With a collection, --where, --order and --limit say which of its entities:
            tidemark list STORE tasks --where list=home --where 'due<2026-12-01' --order due
            """)

    @OptionGroup var store: StoreArgument
    @Argument(help: "Only this collection.")
    var collection: String?
    @OptionGroup var query: QueryOptions
    @OptionGroup var past: PastOption
    @OptionGroup var format: OutputOption

    func run() throws {
        let name = collection.map { CollectionName($0) }
        if name == nil, query.isAsked {
            throw UsageError("--where, --order, --limit and --explain need a collection")
        }
        try past.read(store) { views in
            let model = try views.registration()?.model
            if let name, model?[name] == nil {
                throw UsageError("the model has no collection \(name)")
            }
            guard let name, let model, query.isAsked else {
                return try views.forEachEntity(in: name) { key, row in
                    if let document = row.document { write(key, row, document) }
                    return true
                }
            }
            let terms = try query.terms(model[name] ?? CollectionModel(name))
            let query = try DocumentQuery(terms, of: name, in: model, ids: views.ids(of:))
            if self.query.explain {
                let words = QueryExplanation(query, try views.plan(query)).description
                return Terminal.write(Array(words.utf8))
            }
            try views.forEachFound(query) { found in
                write(found.key, found.row, found.row.document ?? found.document)
                return true
            }
        }
    }

    private func write(_ key: EntityKey, _ row: EntityRow, _ document: [UInt8]) {
        guard !format.isJSON else { return Terminal.write(listLine(key, row.status, document)) }
        let line =
            "\(key)".padded(to: 24) + " \(row.status.rawValue)".padded(to: 10) + " "
            + EventLine.onOneLine(document)
        Terminal.write(cut(line))
    }
}

/// `{"collection":…,"id":…,"status":…,"data":…}`.
private func listLine(_ key: EntityKey, _ status: EntityStatus, _ document: [UInt8]) -> [UInt8] {
    var line = Array(#"{"collection":"#.utf8)
    JSON.appendString(key.collection.rawValue, to: &line)
    line += Array(#","id":"#.utf8)
    JSON.appendString(key.id, to: &line)
    line += Array(#","status":""#.utf8) + Array(status.rawValue.utf8)
    line += Array(#"","data":"#.utf8)
    // A document that came with line breaks is one line here.
    line += document.contains(where: { $0 < 0x20 }) ? oneLine(document) : document
    line.append(UInt8(ascii: "}"))
    return line
}

private func oneLine(_ document: [UInt8]) -> [UInt8] {
    (try? JSONValue(parsing: document).encoded()) ?? document.map { $0 < 0x20 ? 0x20 : $0 }
}

struct Outbox: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints the mutations that wait, or all there ever were.",
        discussion: """
            -o json prints one line a mutation: collection, id, position, fields, outcome,
            the position that proves it, and the server's revision; of one that follows
            from a rule of the model also the rule. The outcome is
            pending, unknown (sent, and never answered), blocked, or how it ended:
            accepted, merged, superseded, coalesced, annihilated, withdrawn, rejected,
            discarded.
            """)

    @OptionGroup var store: StoreArgument
    @Flag(help: "Also the mutations that have an outcome.")
    var all = false
    @OptionGroup var past: PastOption
    @OptionGroup var format: OutputOption

    func run() throws {
        let entries = try past.read(store) { views in try views.outbox(all: all) }
        for entry in entries {
            if format.isJSON { Terminal.write(entry.json) } else { Terminal.write(cut(entry.text)) }
        }
        if entries.isEmpty, !format.isJSON { Terminal.say("the outbox is empty") }
    }
}

extension OutboxEntry {
    fileprivate var json: [UInt8] {
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
        if !blockers.isEmpty {
            object["blockedBy"] = .array(blockers.map { .string("\($0)") })
        }
        return JSONValue.object(object).encoded()
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
        if mutation.isDerived { line += " \(mutation.rule)" }
        return line
    }
}

/// A line cut to the terminal's width; whole when it goes elsewhere.
func cut(_ line: String) -> String {
    guard let columns = Terminal.outputColumns, line.count > columns else { return line }
    return line.prefix(max(columns - 1, 1)) + "…"
}
