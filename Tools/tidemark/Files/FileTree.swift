// FileTree.swift — the entities of a tree by their paths, for the verbs of `tidemark files`.

import ArgumentParser
import Tidemark
import TidemarkEvents
import TidemarkRules
import TidemarkViews

/// Which collection of a store is the tree.
struct TreeOption: ParsableArguments {
    @Option(help: "The collection, where several of the model have a tree.")
    var collection: String?

    /// The collection of the tree.
    func collection(of model: SyncModel?) throws -> CollectionModel {
        let trees = (model?.collections ?? []).filter { $0.tree != nil }
        let names = trees.map(\.name.rawValue).joined(separator: ", ")
        if let collection {
            if let found = trees.first(where: { $0.name.rawValue == collection }) { return found }
            throw UsageError(
                "\(collection) is no collection with a tree; the model has "
                    + (names.isEmpty ? "none" : names))
        }
        guard let first = trees.first else {
            throw UsageError(
                "no collection of the model has a tree: add \"tree\" to the one with the files")
        }
        guard trees.count == 1 else {
            throw UsageError("several collections have a tree: --collection, one of \(names)")
        }
        return first
    }
}

/// What is seen of a tree.
struct FileTree {
    /// An entity of it.
    struct Entry {
        var key: EntityKey
        var name: String
        var path: String
        var isFolder: Bool
        var status: EntityStatus
        var document: JSONDocument
    }

    let collection: CollectionModel
    let rule: CollectionModel.TreeRule
    /// What lies in each folder, by its id, in the order of the names; nil is the root.
    private var children: [ExactString?: [Entry]] = [:]

    init(_ views: ViewReader, _ option: TreeOption) throws {
        collection = try option.collection(of: views.registration()?.model)
        guard let tree = collection.tree else { throw UsageError("it is no tree") }
        rule = tree
        let name = collection.name
        try views.forEachEntity(in: name) { key, row in
            guard let bytes = row.document else { return true }
            let document = try JSONDocument(parsing: bytes)
            let spot = try views.treeSpot(document, in: name, tree)
            children[spot.parent.map(ExactString.init), default: []].append(
                Entry(
                    key: key, name: spot.name, path: spot.name, isFolder: tree.isFolder(document),
                    status: row.status, document: document))
            return true
        }
        for folder in children.keys {
            children[folder]?.sort {
                let (left, right) = (Array($0.name.utf8), Array($1.name.utf8))
                return left == right
                    ? $0.key < $1.key : left.lexicographicallyPrecedes(right)
            }
        }
    }

    /// What lies in a folder, by its path; nil is the root.
    func content(of folder: Entry?) -> [Entry] {
        (children[(folder?.key.id).map(ExactString.init)] ?? []).map { entry in
            var entry = entry
            if let folder { entry.path = folder.path + "/" + entry.name }
            return entry
        }
    }

    /// The same with all below, each folder before what lies in it.
    func all(below folder: Entry?) -> [Entry] {
        content(of: folder).flatMap { [$0] + ($0.isFolder ? all(below: $0) : []) }
    }

    /// The entity at a path; nil where there is none.
    ///
    /// - Parameter isExact: whether each name is to have these bytes; else one is also found by
    ///   another Unicode form, where it is the only one.
    func entry(_ path: String, isExact: Bool = true) -> Entry? {
        var found: Entry?
        for name in Self.names(path) {
            if let folder = found, !folder.isFolder { return nil }
            let alike = content(of: found).filter { $0.name == name }
            let same = alike.first { ExactString($0.name) == ExactString(name) }
            guard let next = same ?? (!isExact && alike.count == 1 ? alike.first : nil) else {
                return nil
            }
            found = next
        }
        return found
    }

    /// The entity at a path.
    ///
    /// - Throws: ``TidemarkError`` `notFound`.
    func known(_ path: String) throws -> Entry {
        guard let found = entry(path, isExact: false) else {
            throw TidemarkError(.notFound, "there is no \"\(path)\" in \(collection.name)")
        }
        return found
    }

    /// The folder at a path; nil for the root.
    func folder(_ path: String) throws -> Entry? {
        guard !Self.names(path).isEmpty else { return nil }
        let found = try known(path)
        guard found.isFolder else { throw UsageError("\"\(path)\" is no folder") }
        return found
    }

    /// Where something new, or something that is moved, goes: in which folder, under which name.
    ///
    /// - Parameter own: the name that it has; it keeps it where the path is that of a folder.
    func place(_ path: String, own: String? = nil) throws -> (folder: Entry?, name: String) {
        let names = Self.names(path)
        if let own, names.isEmpty || entry(path, isExact: false)?.isFolder == true {
            return (try folder(path), own)
        }
        guard let name = names.last else { throw UsageError("\"\(path)\" names nothing") }
        return (try folder(names.dropLast().joined(separator: "/")), name)
    }

    private static func names(_ path: String) -> [String] {
        path.split(separator: "/").map(String.init)
    }

    /// The document of something new.
    func document(
        _ kind: String, _ place: (folder: Entry?, name: String), content: ContentName? = nil
    ) throws -> [UInt8] {
        var object: JSONObject = [:]
        if let member = rule.kind { object[member] = .string(kind) }
        object[rule.name] = .string(place.name)
        if let folder = place.folder { object[rule.parent] = .string(folder.key.id) }
        if let content { object[try contentField()] = content.json }
        return JSONValue.object(object).encoded()
    }

    /// The field that names a file's content.
    func contentField() throws -> String {
        guard let field = rule.content ?? collection.contents.first?.field else {
            throw UsageError(
                "\(collection.name) names no contents in the model: add \"contents\" with the field"
            )
        }
        return field
    }
}
