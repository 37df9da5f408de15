// OtherPlace.swift — where an entity of a tree goes that would lie in what is not there any more,
// when the user keeps it: it stays where the server has it, or goes to the root.

package import TidemarkEvents
import TidemarkRules

extension Fold {
    /// A document that is made here again, at the root and under a free name where its folder is
    /// gone.
    ///
    /// - Parameter date: the server's time.
    package func placed(
        _ document: JSONDocument, in collection: CollectionModel, at date: Timestamp
    ) throws -> [UInt8] {
        guard let tree = collection.tree, let id = document.ids(in: tree.parent).first,
            try folder(EntityKey(collection.name, id), tree) == nil
        else { return document.bytes }
        let patch = try atRoot(document, tree, collection, at: date)
        return patch.applied(to: document, collection.keyed)
    }

    /// The edit by which an entity lies at the root that would lie in what is not there any more;
    /// nil where it has a place.
    package func otherPlace(
        for key: EntityKey, in collection: CollectionModel, at date: Timestamp
    ) throws -> Patch? {
        let row = try entity(key)
        guard let tree = collection.tree, let last = row.pending.last,
            try isNowhere(key, through: last.position, in: collection),
            let document = row.treeDocument(in: collection)
        else { return nil }
        return try atRoot(document, tree, collection, at: date)
    }

    /// What is left to be edited of an entity that stays where the server has it, as it would lie
    /// in what is not there any more; nil where it does not, or the server does not have it.
    package func editsWithoutPlace(
        of key: EntityKey, in collection: CollectionModel
    ) throws -> [Patch]? {
        let row = try entity(key)
        let stranded = try row.pending.map {
            try isNowhere(key, through: $0.position, in: collection)
        }
        guard let tree = collection.tree, stranded.contains(true), row.baseState == .live,
            let base = try row.baseValue(in: collection).document
        else { return nil }
        if let id = base.ids(in: tree.parent).first,
            try folder(EntityKey(collection.name, id), tree) == nil
        {
            return nil
        }
        return try zip(row.pending, stranded).compactMap { item, isStranded in
            guard item.kind == .update, !item.isDerived else { return nil }
            let patch = try Patch(parsing: item.payload)
            return isStranded ? patch.without(tree.parent) : patch
        }.filter { !$0.isEmpty }
    }

    private func isNowhere(
        _ key: EntityKey, through position: Position, in collection: CollectionModel
    ) throws -> Bool {
        var reader = TreeReader(collection)
        return try reader?.isNowhere(key, through: position, self) ?? false
    }

    private func atRoot(
        _ document: JSONDocument, _ tree: TreeRule, _ collection: CollectionModel,
        at date: Timestamp
    ) throws -> Patch {
        var patch = Patch(unset: [tree.parent])
        guard let name = document.value(tree.name)?.stringValue,
            try child(of: nil, named: name, in: collection) != nil
        else { return patch }
        let free = try NameBeside(name, isFolder: tree.isFolder(document)).next(at: date) {
            try child(of: nil, named: $0, in: collection) != nil
        }
        patch.set = [Patch.Field(tree.name, JSONValue.string(free).encoded())]
        return patch
    }
}
