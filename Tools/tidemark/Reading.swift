// Reading.swift — `tidemark get` and `list`.

import ArgumentParser
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkReplay
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
            let query = try views.documentQuery(terms, of: name)
            if self.query.explain {
                let words = QueryExplanation(query, try views.plan(query)).description
                return Terminal.write(words)
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
    // A document with line breaks is written on one line.
    line += document.contains(where: { $0 < 0x20 }) ? oneLine(document) : document
    line.append(UInt8(ascii: "}"))
    return line
}

private func oneLine(_ document: [UInt8]) -> [UInt8] {
    (try? JSONValue(parsing: document).encoded()) ?? document.map { $0 < 0x20 ? 0x20 : $0 }
}

/// A line cut to the terminal's width; whole when the output is no terminal.
func cut(_ line: String) -> String {
    let line = EventText.escaped(line)
    return Terminal.outputColumns.map { EventText.cut(line, to: $0) } ?? line
}
