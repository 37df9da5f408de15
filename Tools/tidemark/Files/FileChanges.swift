// FileChanges.swift — `tidemark files changes`.

import ArgumentParser
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkViews

struct FilesChanges: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "changes",
        abstract: "Prints what came, changed and went since a position.",
        discussion: """
            Of the whole tree, or of what lies in one folder: what was moved into it
            appeared, what was moved out went. A line has the word, the entity, and its
            path where it has one; the last line has the position to go on from.

            -o json prints one object a line. Exit code 1 where it is not known any more
            what was there then: read all that is there now.
            """)

    @OptionGroup var store: StoreArgument
    @Argument(help: "The folder, as its path or COLLECTION/ID; / is the root.")
    var path: String?
    @Option(help: ArgumentHelp("Since this event, or this time.", valueName: "@P|TIME"))
    var since: String
    @OptionGroup var tree: TreeOption
    @OptionGroup var format: OutputOption

    func run() throws {
        do { try store.read(print) } catch let error as TidemarkError
            where error.code == .anchorExpired
        {
            Terminal.say("tidemark: \(error.message)")
            throw Exit.findings
        }
    }

    private func print(_ journal: Journal) throws {
        let position = try Past.position(since, in: journal, allowsStart: true)
        let scope = try journal.read { try self.scope(in: $0) }
        let changes = try journal.changes(since: position, in: scope)
        try Terminal.whileReading {
            try journal.read { views in
                for key in changes.appeared { try write("appeared", key, views) }
                for key in changes.changed { try write("changed", key, views) }
                for key in changes.went { try write("went", key, views) }
            }
        }
        guard format.isJSON else { return Terminal.write("\(changes.last)") }
        let last = JSONNumber(changes.last.rawValue)
        Terminal.write(JSONValue.object(["position": .number(last)]).encoded())
    }

    /// Of which entities it is told.
    private func scope(in views: ViewReader) throws -> ChangeScope {
        let collection = try tree.collection(of: views.registration()?.model)
        guard let path else { return .collection(collection.name) }
        if path.hasPrefix(collection.name.rawValue + "/"), let key = try? Name.entity(path),
            try views.entity(key) != nil
        {
            return .folder(key)
        }
        let folder = try FileTree(views, tree).folder(path)
        return folder.map { .folder($0.key) } ?? .root(collection.name)
    }

    private func write(_ word: String, _ key: EntityKey, _ views: ViewReader) throws {
        let path = try views.model()[key.collection].flatMap { try views.path(of: key, in: $0) }?
            .joined(separator: "/")
        guard format.isJSON else {
            let line = word.padded(to: 10) + "\(key)" + (path.map { "  \($0)" } ?? "")
            return Terminal.write(cut(line))
        }
        var object: JSONObject = [
            "change": .string(word), "collection": .string(key.collection.rawValue),
            "id": .string(key.id),
        ]
        if let path { object["path"] = .string(path) }
        Terminal.write(JSONValue.object(object).encoded())
    }
}
