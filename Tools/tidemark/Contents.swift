// Contents.swift — `tidemark contents`: the files beside the entities of a store.

import ArgumentParser
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkViews

struct Contents: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints the files that entities name, and what there is of them.",
        discussion: """
            own      of the user's, and the server has no name for it yet
            named    an entity names it
            unused   no entity names it: the next sweep removes it after its grace
            missing  of the user's, and not here, or not any more
            remote   an entity names it, and it is not here

            A line has the first digits of the hash, the length in bytes, how many
            entities name it, + where somebody wants it, and what the server calls it.
            -o json prints one object a line, with the whole hash.

            Whether the files are what they should be: tidemark verify STORE
            """)

    @OptionGroup var store: StoreArgument
    @OptionGroup var past: PastOption
    @OptionGroup var format: OutputOption

    func run() throws {
        let entries = try past.read(store) { try ContentEntry.all($0) }
        for entry in entries {
            if format.isJSON { Terminal.write(entry.json) } else { Terminal.write(cut(entry.text)) }
        }
        if entries.isEmpty, !format.isJSON { Terminal.say("no entity names a file") }
    }
}

/// A file as it is printed.
private struct ContentEntry {
    enum State: String {
        case own, named, unused, missing, remote
    }

    var state: State
    var digest: String?
    var row = ContentRow()
    var references = 0
    var wanted = 0
    var sources: [ContentSource] = []

    /// Those that are here, or should be, by hash; then those that are not, by name.
    static func all(_ views: ViewReader) throws -> [ContentEntry] {
        var entries: [ContentEntry] = []
        try views.forEachContent { digest, row in
            let state: State =
                row.stored == nil
                ? .missing : !row.own.isEmpty ? .own : row.holds.isEmpty ? .unused : .named
            var entry = ContentEntry(state: state, digest: digest, row: row)
            entry.count(row.own + row.holds)
            entry.sources = row.sources
            entries.append(entry)
        }
        try views.forEachContentName { source, name in
            guard name.digest.isEmpty else { return }
            var entry = ContentEntry(state: .remote)
            entry.count(name.holds)
            entry.sources = [source]
            entries.append(entry)
        }
        return entries
    }

    private mutating func count(_ holds: [ContentHold]) {
        references = holds.reduce(0) { $0 + $1.references }
        wanted = holds.reduce(0) { $0 + $1.wanted }
    }

    var text: String {
        let bytes = row.stored.map { "\($0.bytes)" } ?? "-"
        let line =
            (digest.map { String($0.prefix(12)) } ?? "-").padded(to: 13)
            + bytes.padded(to: 11) + " " + state.rawValue.padded(to: 8)
        let count = "\(references)\(wanted > 0 ? "+" : "")"
        guard !sources.isEmpty else { return line + count }
        return line + count.padded(to: 6)
            + sources.map { "\($0.collection) \($0.text)" }.joined(separator: ", ")
    }

    var json: [UInt8] {
        var object: JSONObject = ["state": .string(state.rawValue)]
        if let digest { object["sha256"] = .string(digest) }
        if let stored = row.stored {
            object["bytes"] = .number(JSONNumber(stored.bytes))
            object["storedAt"] = .number(JSONNumber(stored.at.rawValue))
            object["position"] = .number(JSONNumber(stored.position.rawValue))
            if let used = stored.usedAt { object["usedAt"] = .number(JSONNumber(used.rawValue)) }
        }
        object["references"] = .number(JSONNumber(references))
        object["wanted"] = .number(JSONNumber(wanted))
        object["sources"] = .array(
            sources.map {
                ["collection": .string($0.collection.rawValue), "source": .string($0.text)]
            })
        return JSONValue.object(object).encoded()
    }
}
