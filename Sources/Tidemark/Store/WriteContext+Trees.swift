// WriteContext+Trees.swift — where an entity of a tree may lie, and how it may be called.

import TidemarkEvents
import TidemarkRules
import TidemarkViews

extension WriteContext {
    /// The names of an entity of a tree and of those in which it lies, the outermost first, with
    /// the changes of this commit so far: ``CollectionModel/tree``.
    ///
    /// - Returns: nil where there is no such entity, or its collection is no tree.
    /// - Throws: ``TidemarkError``: `damaged`, and other errors of the storage.
    public func path(of key: EntityKey) throws -> [String]? {
        guard let collection = try draft.fold.known(key.collection)?.model else { return nil }
        return try draft.fold.path(of: key, in: collection)
    }

    /// Refuses an edit that leaves an entity of a tree where it can't lie.
    ///
    /// - Parameters:
    ///   - kind: that it is made or changed; anything else is not looked at.
    ///   - json: its document, or the patch.
    func checkPlace(
        _ kind: EventKind, _ key: EntityKey, _ json: [UInt8]?, _ collection: CollectionModel
    ) throws {
        guard let tree = collection.tree, let json else { return }
        if kind == .localCreated {
            let row = try draft.fold.entity(key)
            if row.isOrphan, row.content != nil {
                throw TidemarkError(
                    .notFound, "\(key) is there, and lies in something that is deleted", key: key)
            }
            let document = try collection.read(JSONDocument(parsing: json))
            try checkName(document.value(tree.name), key, tree)
            try checkPlace(of: key, document, collection, tree)
            if let content = tree.content, let value = document.value(content) {
                try checkContent(value, of: key, document, tree)
            }
        }
        guard kind == .localUpdated else { return }
        let patch = try Patch(parsing: json)
        let changed = Set(patch.fieldNames.map(ExactString.init))
        func changes(_ field: String?) -> Bool {
            field.map { changed.contains(.init($0)) } ?? false
        }
        guard
            changes(tree.name) || changes(tree.parent) || changes(tree.kind)
                || changes(tree.content),
            let bytes = try draft.fold.document(of: key)
        else { return }
        let document = try JSONDocument(
            parsing: patch.applied(to: JSONDocument(parsing: bytes), collection.keyed))
        if changes(tree.name) { try checkName(document.value(tree.name), key, tree) }
        if changes(tree.name) || changes(tree.parent) {
            try checkPlace(of: key, document, collection, tree)
        }
        if let content = tree.content, changes(content) {
            try checkContent(document.value(content) ?? .null, of: key, document, tree)
        }
        guard changes(tree.kind), !tree.isFolder(document),
            let child = try draft.fold.children(of: key, in: collection).first
        else { return }
        throw TidemarkError(
            .invalidDocument,
            "\(key) has to stay a \(tree.folder), as \(child) lies in it", key: key)
    }

    /// Refuses a content that is no file of this store's, and one of a folder.
    private func checkContent(
        _ value: JSONValue, of key: EntityKey, _ document: JSONDocument, _ tree: TreeRule
    ) throws {
        let why: String? =
            if tree.isFolder(document) {
                "a \(tree.folder) has no content"
            } else if ContentName(value)?.isFile != true {
                "a content is given as what importFile(at:) returns; what the server has can only "
                    + "be replaced"
            } else {
                nil
            }
        guard let why else { return }
        throw TidemarkError(
            .invalidDocument, "\(key), field \(tree.content ?? ""): \(why)", key: key)
    }

    /// The most bytes of a name, in UTF-8.
    private static let nameBytesMax = 255

    private func checkName(_ value: JSONValue?, _ key: EntityKey, _ tree: TreeRule) throws {
        func refusal(_ why: String) -> TidemarkError {
            TidemarkError(.invalidDocument, "\(key), field \(tree.name): \(why)", key: key)
        }
        guard let name = value?.stringValue, !name.isEmpty else {
            throw refusal("a name is needed, a text that is not empty")
        }
        if name == "." || name == ".." { throw refusal("\"\(name)\" can't be a name") }
        if name.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "/") }) {
            throw refusal("a name has no \"/\" and no NUL in it")
        }
        if name.utf8.count > Self.nameBytesMax {
            throw refusal(
                "a name of \(name.utf8.count) bytes, and \(Self.nameBytesMax) are the most")
        }
    }

    private func checkPlace(
        of key: EntityKey, _ document: JSONDocument, _ collection: CollectionModel,
        _ tree: TreeRule
    ) throws {
        let fold = draft.fold
        var above: EntityKey?
        if let id = document.ids(in: tree.parent).first {
            let parent = try fold.resolve(EntityKey(collection.name, id))
            try checkFolder(parent, for: key, collection, tree)
            above = parent
        }
        guard let name = document.value(tree.name)?.stringValue,
            let other = try fold.child(of: above, named: name, in: collection), other != key
        else { return }
        throw TidemarkError(
            .alreadyExists,
            "\(key): \(above.map { "in \($0)" } ?? "at the root") there already is "
                + "\"\(name)\", \(other)", key: key)
    }

    private func checkFolder(
        _ parent: EntityKey, for key: EntityKey, _ collection: CollectionModel, _ tree: TreeRule
    ) throws {
        guard let bytes = try draft.fold.document(of: parent) else {
            throw TidemarkError(
                .notFound, "\(key): there is no \(parent) in which it could lie", key: key)
        }
        if let kind = tree.kind, try !tree.isFolder(JSONDocument(parsing: bytes)) {
            throw TidemarkError(
                .invalidDocument,
                "\(key): nothing can lie in \(parent), whose \(kind) is not \"\(tree.folder)\"",
                key: key)
        }
        guard try draft.fold.isInside(parent, key, in: collection) else { return }
        throw TidemarkError(
            .invalidDocument, "\(key) can't lie in itself, nor in what lies in it", key: key)
    }

    /// Refuses to give up what took an entity out of one that was deleted since: it would be in it
    /// again, and go with it.
    ///
    /// - Parameter others: what is discarded in the same commit.
    func checkDiscard(_ key: EntityKey, with others: Set<EntityKey> = []) throws {
        guard let collection = try draft.fold.known(key.collection)?.model,
            let reference = collection.treeReference, var reader = TreeReader(collection)
        else { return }
        let row = try draft.fold.entity(key)
        func above(_ document: JSONDocument?) throws -> [String] {
            guard let id = document?.ids(in: reference.field).first else { return [] }
            let parent = try draft.fold.resolve(EntityKey(collection.name, id)).id
            return try reader.above(parent, draft.fold)
        }
        // In which it lies now it goes with it already.
        let present = Set(try above(row.treeDocument(in: collection)))
        for id in try above(row.baseValue(in: collection).document) {
            let folder = EntityKey(collection.name, id)
            guard !others.contains(folder), !present.contains(id) else { continue }
            let other = try draft.fold.entity(folder)
            guard other.baseState == .live, other.pending.last?.kind == .delete else { continue }
            throw TidemarkError(
                .pendingChanges,
                "\(key) would be in \(folder) again, which was deleted since, and go with it; "
                    + "discard the deletion of \(folder) first, or move or delete \(key)",
                key: key)
        }
    }

    /// What goes with an entity of a tree that the server does not have, when it is deleted: what
    /// lies in it and was never sent either, the innermost first.
    func cascadeOfUnsent(_ key: EntityKey) throws -> [EntityKey] {
        guard let collection = try draft.fold.known(key.collection)?.model,
            collection.treeReference != nil
        else { return [] }
        func isUnsent(_ key: EntityKey) throws -> Bool {
            let row = try draft.fold.entity(key)
            return row.baseState != .live && row.attempt == nil
        }
        guard try isUnsent(key) else { return [] }
        var found: [EntityKey] = []
        var waiting = [key]
        while let next = waiting.popLast() {
            for child in try draft.fold.children(of: next, in: collection)
            where try isUnsent(child) {
                found.append(child)
                waiting.append(child)
            }
        }
        return found.reversed()
    }
}

extension ReadContext {
    /// The entities of a tree on which something is pending that was built on what is pending on
    /// one, each before what was built on it: what lies in a folder that was made here, or is to be
    /// made of it, and what took a name that is free only since.
    ///
    /// It can't stay when that is discarded: ``WriteContext/discard(_:withBuiltOn:)``.
    public func changes(builtOn key: EntityKey) throws -> [EntityKey] { try views.builtOn(key) }

    /// The names of an entity of a tree and of those in which it lies, the outermost first:
    /// ``CollectionModel/tree``.
    ///
    /// It follows from what they are called now, with everything that is pending; no path is
    /// stored.
    ///
    /// - Returns: nil where there is no such entity, or its collection is no tree.
    /// - Throws: ``TidemarkError``: `damaged`, and other errors of the storage.
    public func path(of key: EntityKey) throws -> [String]? {
        guard let collection = try views.model()[key.collection] else { return nil }
        return try views.path(of: key, in: collection)
    }
}
