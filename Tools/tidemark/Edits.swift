// Edits.swift — `tidemark put`, `patch` and `delete`: one edit, one event.

import ArgumentParser
import Tidemark
import TidemarkEvents

struct Put: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Creates an entity, or makes it be a document.",
        discussion: "Prints the event's position and the entity; without an ID makes one up.")

    @OptionGroup var store: StoreArgument
    @OptionGroup var patience: WaitOption
    @Argument(help: "COLLECTION/ID, or COLLECTION alone for a new id.")
    var entity: String
    @Argument(help: "A JSON object, or - to read it from standard input.")
    var json: String

    func run() throws {
        let replica = try store.open(patience)
        let bytes = try document(json)
        let name = entity
        let (key, position) = try replica.write { tx in
            let key = try Name.entity(name.contains("/") ? name : "\(name)/\(tx.makeID())")
            return (key, try tx.put(key, bytes))
        }
        try replica.close()
        report(position, key)
    }
}

struct PatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "patch",
        abstract: "Changes some fields of an entity.",
        discussion: """
            Fields of the JSON object are set, null too; those named by --unset are
            removed; the others stay. Prints the event's position and the entity.
            """)

    @OptionGroup var store: StoreArgument
    @OptionGroup var patience: WaitOption
    @Argument(help: "COLLECTION/ID.")
    var entity: String
    @Argument(help: "A JSON object of the fields to set, or - to read it from standard input.")
    var json: String = "{}"
    @Option(help: "A field to remove; may be repeated.")
    var unset: [String] = []

    func run() throws {
        let key = try Name.entity(entity)
        let set: Patch
        let bytes = try document(json)
        do throws(JSONError) {
            set = Patch(settingAllOf: try JSONDocument(parsing: bytes))
        } catch { throw UsageError("not a JSON object: \(error)") }
        guard !set.isEmpty || !unset.isEmpty else { throw UsageError("nothing to set or unset") }
        let patch = Patch(set: set.set, unset: unset)
        let replica = try store.open(patience)
        let position = try replica.write { tx in try tx.patch(key, patch) }
        try replica.close()
        report(position, key)
    }
}

struct Delete: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Deletes an entity.")

    @OptionGroup var store: StoreArgument
    @OptionGroup var patience: WaitOption
    @Argument(help: "COLLECTION/ID.")
    var entity: String

    func run() throws {
        let key = try Name.entity(entity)
        let replica = try store.open(patience)
        let position = try replica.write { tx in try tx.delete(key) }
        try replica.close()
        report(position, key)
    }
}

struct Discard: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Gives up what is pending on an entity.",
        discussion: """
            It becomes what the server last said of it. In a tree others may be built on
            what is given up: what lies in a folder that was made here, what is to be a
            copy of it, what took a name that is free only since. The verb names them and
            refuses, and with --with-built-on gives up all of it, in one commit.
            """)

    @OptionGroup var store: StoreArgument
    @OptionGroup var patience: WaitOption
    @Flag(help: "Give up what was built on it, too.")
    var withBuiltOn = false
    @Argument(help: "COLLECTION/ID.")
    var entity: String

    func run() throws {
        let key = try Name.entity(entity)
        let replica = try store.open(patience)
        let built = try replica.read { try $0.changes(builtOn: key) }
        guard withBuiltOn || built.isEmpty else {
            try replica.close()
            let names = built.map { "  \($0)" }.joined(separator: "\n")
            throw UsageError(
                "this would go along; --with-built-on gives it up, too:\n" + names)
        }
        let position = try replica.write { tx in
            try tx.discard(key, withBuiltOn: withBuiltOn)
        }
        try replica.close()
        report(position, key)
        for other in built { Terminal.write("  with \(other)") }
    }
}

private func report(_ position: Position?, _ key: EntityKey) {
    Terminal.write(position.map { "\($0) \(key)" } ?? "\(key) is so already")
}
