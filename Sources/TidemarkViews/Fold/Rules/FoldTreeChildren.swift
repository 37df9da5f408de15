// FoldTreeChildren.swift — what lies in an entity of a tree: found by the index of the reference,
// which tells of no orphans, or by what this fold has read once and seen since.

package import TidemarkEvents
import TidemarkRules

/// The entities of trees by what they lie in, and by what they lay in at some time of this fold.
final class TreeChildren: FoldMemory {
    /// Of the collections that were read.
    fileprivate var keys: [CollectionName: [EntityKey: Set<EntityKey>]] = [:]
}

extension Fold {
    /// The entity in which one lies; nil at the root.
    func parent(of row: EntityRow, in collection: CollectionModel) throws -> EntityKey? {
        guard let tree = collection.tree, let document = row.treeDocument(in: collection) else {
            return nil
        }
        return try treeSpot(document, in: collection.name, tree).parent.map {
            EntityKey(collection.name, $0)
        }
    }

    /// The entities that lie in one and are no orphans.
    package func children(
        of key: EntityKey, in collection: CollectionModel
    ) throws -> [EntityKey] {
        guard let reference = collection.treeReference else { return [] }
        // While all is folded again there is no index.
        guard try hasIndex(of: reference, in: collection.name) else {
            return try allChildren(of: key, in: collection).filter { try !entity($0).isOrphan }
        }
        var children: [EntityKey] = []
        try forEachReferrer(to: [key], by: [reference], in: collection) { child, row in
            if !row.isOrphan, try parent(of: row, in: collection) == key { children.append(child) }
            return true
        }
        return children
    }

    /// All entities by those in which they lie.
    func childrenOfAll(
        in collection: CollectionModel
    ) throws -> [EntityKey: [EntityKey]] {
        var children: [EntityKey: [EntityKey]] = [:]
        try forEachEntity(in: collection.name) { child, row in
            if let above = try parent(of: row, in: collection) {
                children[above, default: []].append(child)
            }
            return true
        }
        return children
    }

    /// The entities that lie in one, with all orphans.
    func allChildren(of key: EntityKey, in collection: CollectionModel) throws -> [EntityKey] {
        let known = try childrenRead(in: collection)
        var found: Set<EntityKey> = []
        for key in try keys(of: key) { found.formUnion(known[key] ?? []) }
        return try found.sorted().filter { try parent(of: entity($0), in: collection) == key }
    }

    private func childrenRead(
        in collection: CollectionModel
    ) throws -> [EntityKey: Set<EntityKey>] {
        let memory = memory(TreeChildren.self)
        if let known = memory.keys[collection.name] { return known }
        memory.keys[collection.name] = try childrenOfAll(in: collection).mapValues(Set.init)
        // No walk sees what the current event wrote.
        for place in writtenPlaces {
            guard let key = EntityKey(bytes: place.bytes), key.collection == collection.name
            else { continue }
            noteChild(key, of: try parent(of: entity(at: place), in: collection)?.id)
        }
        return memory.keys[collection.name] ?? [:]
    }

    /// Notes what an entity lies in.
    func noteChild(_ key: EntityKey, of parent: String?) {
        guard let parent else { return }
        let memory = memory(TreeChildren.self)
        guard memory.keys[key.collection] != nil else { return }
        let above = EntityKey(key.collection, parent)
        memory.keys[key.collection]?[above, default: []].insert(key)
    }
}
