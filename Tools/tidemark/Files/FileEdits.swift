// FileEdits.swift — `tidemark files mkdir`, `mv`, `cp` and `rm`: one change, one event.

import ArgumentParser
import Tidemark
import TidemarkEvents
import TidemarkViews

/// What the verbs that change something share.
struct FileChange: ParsableArguments {
    @OptionGroup var store: StoreArgument
    @OptionGroup var patience: WaitOption
    @OptionGroup var tree: TreeOption

    /// What a verb changed: the entity, the event, and the path where it is gone from it.
    typealias Made = (key: EntityKey, position: Position?, path: String)

    /// Changes the tree, and prints the position, the entity and its path.
    func write(_ body: sending (FileTree, WriteContext) throws -> Made) throws {
        try write { _ in
        } _: { tree, _, tx in
            try body(tree, tx)
        }
    }

    /// The same after something is prepared outside of the write.
    func write<Prepared: Sendable>(
        _ prepare: (Replica) throws -> Prepared,
        _ body: sending (FileTree, Prepared, WriteContext) throws -> Made
    ) throws {
        let replica = try store.open(patience)
        let files = try replica.read { try FileTree($0.views, tree) }
        let prepared = try prepare(replica)
        let (made, path) = try replica.write { tx in
            let made = try body(files, prepared, tx)
            return (made, try tx.path(of: made.key)?.joined(separator: "/"))
        }
        try replica.close()
        let name = "\(made.key)  \(path ?? made.path)"
        Terminal.write(made.position.map { "\($0) \(name)" } ?? "\(name) is so already")
    }
}

struct FilesMakeFolder: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mkdir", abstract: "Makes a folder.",
        discussion: "Prints the event's position, the entity and its path.")

    @OptionGroup var change: FileChange
    @Argument(help: "The path; all but its last name must be there.")
    var path: String

    func run() throws {
        try change.write { tree, tx in
            let key = EntityKey(tree.collection.name, tx.makeID())
            let document = try tree.document(tree.rule.folder, tree.place(path))
            return (key, try tx.create(key, document), path)
        }
    }
}

struct FilesMove: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mv", abstract: "Renames or moves a file or a folder.",
        discussion: """
            Into TO where that is a folder, else to that path. It overwrites nothing.
            Prints the event's position, the entity and its path.
            """)

    @OptionGroup var change: FileChange
    @Argument(help: "The path.")
    var from: String
    @Argument(help: "Where it goes; / is the root.")
    var to: String

    func run() throws {
        try change.write { tree, tx in
            let entry = try tree.known(from)
            let (folder, name) = try tree.place(to, own: entry.name)
            var patch = Patch(set: [.init(tree.rule.name, JSONValue.string(name).encoded())])
            if let folder {
                let id = JSONValue.string(folder.key.id).encoded()
                patch.set.append(.init(tree.rule.parent, id))
            } else {
                patch.unset = [tree.rule.parent]
            }
            return (entry.key, try tx.patch(entry.key, patch), to)
        }
    }
}

struct FilesCopy: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cp", abstract: "Has the server copy a file, or a folder with all in it.",
        discussion: """
            Into TO where that is a folder, else to that path. The model's collection has
            an action that copies: "actions": {"copy": {"source": "of"}}. What lies in a
            copied folder comes with the sync after the one that makes it.
            Prints the event's position, the entity and its path.
            """)

    @OptionGroup var change: FileChange
    @Argument(help: "The path.")
    var from: String
    @Argument(help: "Where the copy goes; / is the root.")
    var to: String

    func run() throws {
        try change.write { tree, tx in
            let action = tree.collection.actions.first { $0.source != nil }
            guard let action, let source = action.source else {
                throw UsageError(
                    "\(tree.collection.name) has no action that copies: add \"actions\": "
                        + "{\"copy\": {\"source\": \"of\"}}")
            }
            let entry = try tree.known(from)
            let key = EntityKey(tree.collection.name, tx.makeID())
            let kind = tree.rule.kind.flatMap { entry.document.value($0)?.stringValue } ?? ""
            let document = try tree.document(kind, tree.place(to, own: entry.name))
            let position = try tx.request(
                action.name, making: key, document, parameters: [source: entry.key.id])
            return (key, position, to)
        }
    }
}

struct FilesRemove: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm", abstract: "Deletes a file, or a folder with all in it.",
        discussion: "Prints the event's position, the entity and its path.")

    @OptionGroup var change: FileChange
    @Argument(help: "The path.")
    var path: String

    func run() throws {
        try change.write { tree, tx in
            let entry = try tree.known(path)
            return (entry.key, try tx.delete(entry.key), entry.path)
        }
    }
}
