// FileList.swift — `tidemark files ls`.

import ArgumentParser
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkViews

struct FilesList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ls",
        abstract: "Prints what lies in a folder.",
        discussion: """
            A line has the length in bytes, how the entry stands, whether its content is
            here, and its name, with a / behind a folder's:

            here     its content is in the store
            wanted   it is to be fetched
            own      of the user's, and not sent yet

            -o json prints one object a line. Exit code 0.
            """)

    @OptionGroup var store: StoreArgument
    @Argument(help: "The path of the folder; the root unless given.")
    var path: String = ""
    @Flag(name: [.customShort("R"), .long], help: "Also what lies in its folders.")
    var recursive = false
    @OptionGroup var tree: TreeOption
    @OptionGroup var past: PastOption
    @OptionGroup var format: OutputOption

    func run() throws {
        try past.read(store) { views in
            let files = try FileTree(views, tree)
            let one = files.entry(path, isExact: false).flatMap { $0.isFolder ? nil : $0 }
            let folder = try one == nil ? files.folder(path) : nil
            let entries =
                one.map { [$0] }
                ?? (recursive ? files.all(below: folder) : files.content(of: folder))
            for entry in entries {
                let line = FileLine(entry, try views.files(of: entry, in: files.collection))
                Terminal.write(
                    format.isJSON ? line.json : Array(cut(line.text(isWhole: recursive)).utf8))
            }
            if entries.isEmpty, !format.isJSON { Terminal.say("nothing lies in it") }
        }
    }
}

/// What is here of the content of a file.
struct FileContent {
    /// The member of a document in which a server of files tells the length.
    static let size = "size"

    var isHere = false
    var isWanted = false
    var isOwn = false
    var bytes: Int?
}

extension ViewReader {
    /// What is here of the content of an entry.
    func files(
        of entry: FileTree.Entry, in collection: CollectionModel
    ) throws -> FileContent {
        var content = FileContent()
        let row = try contents(of: entry.key)
        for (field, name) in collection.contentNames(in: entry.document.bytes) {
            content.isWanted = row.wants(field) || collection.fetchesAll(of: field)
            let digest = try digest(of: name, in: collection.name)
            if case .file(_, let bytes) = name { (content.isOwn, content.bytes) = (true, bytes) }
            if let stored = try digest.flatMap({ try self.content($0) })?.stored {
                content.isHere = true
                content.bytes = Int(clamping: stored.bytes)
            }
        }
        if content.bytes == nil {
            if case .number(let size)? = entry.document.value(FileContent.size) {
                content.bytes = size.int64.map { Int(clamping: $0) }
            }
        }
        return content
    }
}

private struct FileLine {
    var entry: FileTree.Entry
    var content: FileContent

    init(_ entry: FileTree.Entry, _ content: FileContent) {
        (self.entry, self.content) = (entry, content)
    }

    private var state: String {
        if entry.isFolder { return "" }
        if content.isOwn { return "own" }
        return content.isHere ? "here" : content.isWanted ? "wanted" : ""
    }

    func text(isWhole: Bool) -> String {
        let bytes = entry.isFolder ? "-" : content.bytes.map { "\($0)" } ?? "?"
        return String(repeating: " ", count: max(0, 11 - bytes.count)) + bytes + "  "
            + entry.status.rawValue.padded(to: 10) + state.padded(to: 8)
            + (isWhole ? entry.path : entry.name) + (entry.isFolder ? "/" : "")
    }

    var json: [UInt8] {
        var object: JSONObject = [
            "path": .string(entry.path), "collection": .string(entry.key.collection.rawValue),
            "id": .string(entry.key.id), "isFolder": .bool(entry.isFolder),
            "status": .string(entry.status.rawValue),
        ]
        if let bytes = content.bytes { object["size"] = .number(JSONNumber(bytes)) }
        if !state.isEmpty { object["content"] = .string(state) }
        return JSONValue.object(object).encoded()
    }
}
