// TreeHolders.swift — for which other entities the changes of a tree wait, for people who ask.

package import TidemarkEvents
import TidemarkRules

/// What the pending changes of trees wait for.
package struct TreeHolders: Sendable {
    /// By a mutation, the entities of which an earlier one without an outcome overlaps it.
    private var holders: [Position: [EntityKey]] = [:]
    /// By an entity, what it would lie in after all that is pending, and what is not there.
    private var missing: [EntityKey: EntityKey] = [:]

    /// What is open in the trees of a model.
    init(_ views: ViewReader, _ model: SyncModel) throws {
        var readers: [CollectionName: (reader: TreeReader, lanes: Lanes)] = [:]
        for collection in model.collections {
            guard let reader = TreeReader(collection) else { continue }
            readers[collection.name] = (reader, Lanes())
        }
        guard !readers.isEmpty else { return }
        try views.forEachMutation(openOnly: true) { position, mutation in
            let (name, id) = (mutation.key.collection, mutation.key.id)
            guard !mutation.isDerived, var (reader, lanes) = readers.removeValue(forKey: name)
            else { return true }
            if let folder = try reader.ending(of: id, views) {
                holders[position] = [EntityKey(name, folder)]
                readers[name] = (reader, lanes)
                return true
            }
            let tags = try reader.tags(of: id, position, views)
            let found = lanes.holders(of: tags).map { EntityKey(name, $0.text) }.sorted()
            if !found.isEmpty { holders[position] = found }
            missing[mutation.key] = try reader.missing(for: id, through: position, views).map {
                EntityKey(name, $0)
            }
            lanes.add(tags)
            readers[name] = (reader, lanes)
            return true
        }
    }

    /// What an entity would lie in and what is not there, neither on the server nor about to be.
    package func missing(for key: EntityKey) -> EntityKey? { missing[key] }

    /// The entities for which a mutation waits.
    package func callAsFunction(_ position: Position) -> [EntityKey] {
        holders[position] ?? []
    }
}

extension ViewReader {
    /// The entities of its tree for which what is pending on one waits, from its first mutation on.
    package func treeHolders(of row: EntityRow, _ model: SyncModel) throws -> [EntityKey] {
        guard let first = row.pending.first else { return [] }
        return try treeHolders(model)(first.position)
    }
}
