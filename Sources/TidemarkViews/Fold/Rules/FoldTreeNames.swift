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
