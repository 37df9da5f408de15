// FileContents.swift — `tidemark files import`, `export`, `want` and `drop`: the contents of files.

import ArgumentParser
import Foundation
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkStore
import TidemarkViews

struct FilesImport: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Takes a file in, as a new one or as another content.",
        discussion: """
            The copy is in the store when this ends, and is sent with the next sync. What
            is at the path already gets another content; a folder, a file in it.
            Prints the event's position, the entity and its path.
            """)

    @OptionGroup var change: FileChange
    @Argument(help: "The file outside of the store.")
    var file: String
    @Argument(help: "The path in the tree; / is the root.")
    var path: String

    func run() throws {
        let name = URL(filePath: file).lastPathComponent
        let file = file
        try change.write { replica in
            try replica.importFile(at: file)
        } _: { tree, content, tx in
            let field = try tree.contentField()
            if let entry = tree.entry(path), !entry.isFolder {
                let patch = Patch(set: [.init(field, content.json.encoded())])
                return (entry.key, try tx.patch(entry.key, patch), entry.path)
            }
            let key = EntityKey(tree.collection.name, tx.makeID())
            let document = try tree.document(
                "file", tree.place(path, own: name), content: content)
            return (key, try tx.create(key, document), path)
        }
    }
}

struct FilesExport: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Copies the content of a file out of the store.",
        discussion: """
            Prints where it was written. Exit code 1 where the content is not here: it
            comes with a sync after tidemark files want. Exit code 1, too, where it is
            damaged; nothing is written then. The store may be a capsule that was made
            with --contents.
            """)

    @OptionGroup var store: StoreArgument
    @OptionGroup var patience: WaitOption
    @OptionGroup var tree: TreeOption
    @Argument(help: "The path in the tree.")
    var path: String
    @Argument(help: "Where it is written, a new file or a folder.")
    var to: String = "."

    func run() throws {
        if store.isFile { return try exportFromCapsule() }
        let replica = try store.open(patience)
        defer { try? replica.close() }
        let files = try replica.read { try FileTree($0.views, tree) }
        let entry = try file(in: files)
        let named = try replica.useFiles(of: entry.key, [try files.contentField()])
        guard let content = named.first(where: { $0.stored != nil }), let stored = content.stored,
            let copy = stored.path
        else {
            Terminal.say("tidemark: the content of \"\(path)\" is not here")
            throw Exit.findings
        }
        try write(entry, stored.bytes) { target in
            try FileManager.default.copyItem(atPath: copy, toPath: target)
            let copied = try ContentFiles.content(at: target)
            guard copied.digest == stored.sha256 else {
                throw damaged(stored, copied, advice(on: content, at: copy))
            }
        }
    }

    /// What helps where a copy is damaged.
    private func advice(on content: EntityFile, at copy: String) -> String {
        guard case .source = content.name else {
            return "The server does not have it: take it in again (tidemark files import)"
        }
        // What opens the store next notices that the copy is gone.
        var commands = "rm -f \(copy.shellQuoted)"
        if !content.isWanted {
            commands +=
                "; tidemark files want \(store.store.shellQuoted) \(path.shellQuoted)"
        }
        return "What the server has comes anew with a sync after: \(commands)"
    }

    private func damaged(
        _ stored: EntityFile.Stored, _ copied: ContentFiles.Content, _ advice: String
    ) -> Exit {
        let what =
            copied.bytes == UInt64(clamping: stored.bytes)
            ? "it has another hash" : "it has \(copied.bytes) bytes, not \(stored.bytes)"
        Terminal.say(
            lines: "tidemark: the content of \"\(path)\" is damaged: \(what)\n  \(advice)")
        return .findings
    }

    private func exportFromCapsule() throws {
        let contents = try store.capsule().contents
        let (entry, digests) = try store.read { journal in
            try journal.read { views in
                let files = try FileTree(views, tree)
                let entry = try file(in: files)
                let field = try files.contentField()
                let names = files.collection.contentNames(in: entry.document.bytes)
                    .filter { $0.field == field }
                let collection = files.collection.name
                return (
                    entry, try names.compactMap { try views.digest(of: $0.name, in: collection) }
                )
            }
        }
        let content = digests.lazy.compactMap { digest in
            contents.first { $0.digest == digest }
        }.first
        guard let content else {
            Terminal.say("tidemark: the content of \"\(path)\" is not in the capsule")
            throw Exit.findings
        }
        try write(entry, content.bytes.count) { target in
            // From its first byte on it is for its owner alone.
            try SmallFile(at: target).replace(with: content.bytes, isDurable: false)
        }
    }

    private func file(in files: FileTree) throws -> FileTree.Entry {
        let entry = try files.known(path)
        guard !entry.isFolder else { throw UsageError("\"\(path)\" is a folder") }
        return entry
    }

    private func write(
        _ entry: FileTree.Entry, _ bytes: Int, _ write: (_ target: String) throws -> Void
    ) throws {
        var target = to
        let type = try? FileManager.default.attributesOfItem(atPath: to)[.type]
        if type as? FileAttributeType == .typeDirectory {
            target = URL(filePath: to).appending(path: entry.name).path(percentEncoded: false)
        }
        let files = FileManager.default
        guard !files.fileExists(atPath: target) else {
            throw UsageError("\(target) is there already; name another file")
        }
        // As a capsule and the store are, the owner's alone, however it comes here. The part has a
        // name of its own, as the file's may be as long as any can be.
        let slash = target.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = slash.map { String(decoding: target.utf8[...$0], as: UTF8.self) } ?? ""
        let part = "\(folder).tidemark-\(ProcessInfo.processInfo.processIdentifier).part"
        do {
            defer { try? files.removeItem(atPath: part) }
            try write(part)
            try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: part)
            try files.moveItem(atPath: part, toPath: target)
        } catch let exit as Exit { throw exit } catch {
            let said = (error as? StoreError)?.detail ?? error.localizedDescription
            throw UsageError("\(target) can't be written: \(said)")
        }
        Terminal.write("\(target)  \(bytes) bytes")
    }
}

struct FilesWant: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "want", abstract: "Has the content of a file fetched and kept here.",
        discussion: """
            Of a folder, the contents of all files that lie in it, now and later; of the
            root, of all that lies there now. They come with the next sync. Prints a line
            for each file and folder of which that is new.
            """)

    @OptionGroup var store: StoreArgument
    @OptionGroup var patience: WaitOption
    @OptionGroup var tree: TreeOption
    @Argument(help: "The path; / is the root.")
    var path: String
    @Option(help: "Who wants it: it is kept as long as anybody does.")
    var by: String = "user"
    @Flag(help: "Take it back.")
    var noMore = false

    func run() throws {
        let replica = try store.open(patience)
        let files = try replica.read { try FileTree($0.views, tree) }
        let field = try files.contentField()
        for entry in try files.entries(at: path) {
            let position = try replica.write { tx in
                try tx.wantFiles(
                    of: entry.key, field, by: by, below: entry.isFolder, isWanted: !noMore)
            }
            if let position { Terminal.write("\(position) \(entry.key)  \(entry.path)") }
        }
        try replica.close()
    }
}

struct FilesDrop: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop", abstract: "Removes the copy that is here of a file's content.",
        discussion: """
            Of a folder, those of all files that lie in it, which the user wants no longer.
            What was not sent yet stays, and so does what somebody else wants, or wants
            with a folder above. Prints a line for each that is gone.
            """)

    @OptionGroup var store: StoreArgument
    @OptionGroup var patience: WaitOption
    @OptionGroup var tree: TreeOption
    @Argument(help: "The path; / is the root.")
    var path: String

    func run() throws {
        let replica = try store.open(patience)
        let files = try replica.read { try FileTree($0.views, tree) }
        let field = try files.contentField()
        let entries = try files.entries(at: path).flatMap { entry in
            [entry] + (entry.isFolder ? files.all(below: entry) : [])
        }
        for entry in entries where try replica.dropFiles(of: entry.key, field) > 0 {
            Terminal.write("\(entry.key)  \(entry.path)")
        }
        try replica.close()
    }
}

extension FileTree {
    /// What is at a path; of the root, all that lies there.
    fileprivate func entries(at path: String) throws -> [Entry] {
        if let entry = entry(path, isExact: false) { return [entry] }
        return content(of: try folder(path))
    }
}
