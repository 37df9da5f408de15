// TreeUnseen.swift — what lies in a folder on the server that was not seen here when the folder was
// deleted: it would go with it.

package import TidemarkEvents
import TidemarkRules

extension ViewReader {
    /// The first file in a folder of the server's, near or far, of which the server told something
    /// new after the folder was deleted here; nil where there is none.
    ///
    /// What a change of ours made of it counts as seen, and so does a folder with nothing in it.
    /// Costs a look at the events since the deletion.
    ///
    /// - Parameter row: the folder's row.
    package func unseenFile(
        in folder: EntityKey, _ row: EntityRow, _ collection: CollectionModel
    ) throws -> EntityKey? {
        guard let tree = collection.tree,
            var position = row.pending.last(where: { $0.kind == .delete })?.position
        else { return nil }
        while position < last {
            position = position.next
            guard let event = try event(at: position), event.kind == .serverUpserted,
                event.collection == collection.name, let named = event.key
            else { continue }
            let key = try resolve(named)
            guard let row = try entity(key), row.basePosition == position, !row.isAssumed,
                let base = try liveBase(of: key, in: collection), !tree.isFolder(base),
                try lies(base, in: folder.id, collection, tree)
            else { continue }
            return key
        }
        return nil
    }

    /// What the server has of an entity; nil where it has none.
    private func liveBase(
        of key: EntityKey, in collection: CollectionModel
    ) throws -> JSONDocument? {
        guard let row = try entity(key), row.baseState == .live else { return nil }
        return try row.baseValue(in: collection).document
    }

    /// Whether a document of the server's lies in a folder, near or far.
    private func lies(
        _ document: JSONDocument, in folder: String, _ collection: CollectionModel,
        _ tree: TreeRule
    ) throws -> Bool {
        var seen: Set<String> = []
        var next = try treeSpot(document, in: collection.name, tree).parent
        while let parent = next, seen.insert(parent).inserted {
            if ExactString(parent) == ExactString(folder) { return true }
            let base = try liveBase(of: EntityKey(collection.name, parent), in: collection)
            next = try base.map { try treeSpot($0, in: collection.name, tree) }?.parent
        }
        return false
    }
}
