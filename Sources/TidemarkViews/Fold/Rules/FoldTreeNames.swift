// FoldTreeNames.swift — which entity of a tree has a name in another one: found by the index of
// names, which tells of the rows that were there, and by what this fold has seen since.

package import TidemarkEvents
import TidemarkRules

/// The entities of trees that a commit wrote, by where they were at some time of it.
final class TreeNames: FoldMemory {
    struct Place: Hashable {
        var collection: CollectionName
        var parent: String?
        var name: ExactString

        init(collection: CollectionName, _ spot: TreeSpot) {
            (self.collection, parent) = (collection, spot.parent)
            name = ExactString(spot.name)
        }
    }

    var keys: [Place: Set<EntityKey>] = [:]
}

extension RowReading {
    /// The names of an entity of a tree and of those in which it lies, the outermost first.
    package func path(of key: EntityKey, in collection: CollectionModel) throws -> [String]? {
        guard var reader = TreeReader(collection), let (key, row) = try found(key),
            row.document != nil
        else { return nil }
        return try reader.path(of: key.id, self)
    }

    /// The path of an entity on the server, where it was before anything that is pending on it and
    /// on those in which it lies; of one that is not there, where the mutations up to `last` make
    /// it, or all of them.
    package func serverPath(
        of key: EntityKey, in collection: CollectionModel, through last: Position? = nil
    ) throws -> String? {
        guard var reader = TreeReader(collection) else { return nil }
        return try reader.serverPath(of: key.id, through: last, self)?.joined(separator: "/")
    }

    /// Whether a write without an answer gives an entity, or one in which it lies, another path.
    func isBeingMoved(_ key: EntityKey, in collection: CollectionModel) throws -> Bool {
        guard try hasLedgerRow(Ledger.attempts) else { return false }
        return try isOnItsWay(key, in: collection) || isCarriedAlong(key, in: collection)
    }

    /// Whether a write without an answer gives something in which an entity lies another path.
    package func isCarriedAlong(
        _ key: EntityKey, in collection: CollectionModel
    ) throws -> Bool {
        guard try hasLedgerRow(Ledger.attempts), var reader = TreeReader(collection) else {
            return false
        }
        return try reader.above(key.id, self).dropFirst().contains { id in
            try isOnItsWay(EntityKey(collection.name, id), in: collection)
        }
    }

    /// The path to which the mutations up to one move an entity on the server; nil where they don't
    /// move it, or the server does not have it, or what it would lie in.
    package func movedPath(
        of key: EntityKey, in collection: CollectionModel, through last: Position
    ) throws -> String? {
        guard collection.isByPath, var reader = TreeReader(collection),
            try reader.base(of: key.id, self) != nil,
            let spot = try reader.newSpot(of: key.id, through: last, self)
        else { return nil }
        guard let parent = spot.parent else { return spot.name }
        return try serverPath(of: EntityKey(collection.name, parent), in: collection).map {
            "\($0)/\(spot.name)"
        }
    }

    /// Whether a write without an answer gives an entity another path.
    func isOnItsWay(_ key: EntityKey, in collection: CollectionModel) throws -> Bool {
        guard collection.isByPath, var reader = TreeReader(collection),
            let attempt = try entity(at: .entity(key)).attempt
        else { return false }
        return try reader.isMoved(key.id, through: attempt.covers, self)
    }

    /// What a server that knows a tree by paths says of an entity, with where it lies there.
    package func placed(
        _ document: JSONDocument, of key: EntityKey, _ revision: Revision?,
        in collection: CollectionModel
    ) throws -> JSONDocument {
        guard let tree = collection.tree, tree.isByPath, var reader = TreeReader(collection),
            let spot = try reader.serverSpot(
                of: key.id, through: entity(at: .entity(key)).attempt?.covers, self)
        else { return document }
        return tree.placing(document, of: key.id, revision, in: spot.parent, as: spot.name)
    }
}

extension Fold {
    /// Whether an entity is another one, or lies in it, near or far.
    package func isInside(
        _ key: EntityKey, _ other: EntityKey, in collection: CollectionModel
    ) throws -> Bool {
        guard var reader = TreeReader(collection) else { return false }
        return try reader.above(key.id, self).contains(other.id)
    }

    /// Notes where an entity lies, of those that a commit writes.
    func noteName(_ spot: TreeSpot, _ key: EntityKey) {
        guard remembersRows else { return }
        let place = TreeNames.Place(collection: key.collection, spot)
        memory(TreeNames.self).keys[place, default: []].insert(key)
    }

    /// The entity that has a name in another one, or at the root; the one with the least id where
    /// there are several.
    package func child(
        of parent: EntityKey?, named name: String, in collection: CollectionModel
    ) throws -> EntityKey? {
        guard let tree = collection.tree else { return nil }
        let place = TreeNames.Place(
            collection: collection.name, TreeSpot(parent: parent?.id, name: name))
        var least: EntityKey?
        func look(_ key: EntityKey, _ row: EntityRow) throws {
            guard row.document != nil, let document = row.treeDocument(in: collection),
                try TreeNames.Place(
                    collection: collection.name, treeSpot(document, in: collection.name, tree))
                    == place
            else { return }
            least = min(key, least ?? key)
        }
        let known = try keys(
            in: IndexModel([IndexField(tree.parent), IndexField(tree.name)]),
            [try parent.map { try self.keys(of: $0).map(\.id) }, [name]], of: collection)
        if let known {
            for key in memory(TreeNames.self).keys[place, default: []].union(known) {
                try look(key, try entity(key))
            }
        } else {
            try forEachEntity(in: collection.name) { key, row in
                try look(key, row)
                return true
            }
        }
        return least
    }
}
