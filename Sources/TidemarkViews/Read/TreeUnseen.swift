// TreeUnseen.swift — what lies in a folder on the server that was not seen here when the folder was
// deleted: it would go with it.

package import TidemarkEvents
import TidemarkRules

/// The entities of which servers that know trees by paths told something after a position.
struct TreeNews {
    var since: Position
    var found: [(position: Position, key: EntityKey)]
}

extension ViewReader {
    /// The first entity in a folder of the server's, near or far, of which the server told
    /// something new after the folder was deleted here; nil where there is none.
    ///
    /// New are a file that came or was changed, and a folder that came. A change of ours is not,
    /// unless a list tells of it in a later run: another client's might be in it.
    ///
    /// Costs a look at the events since the deletion, once for all that is asked of this reader.
    ///
    /// - Parameter deletion: when it was deleted here.
    package func unseen(
        in folder: EntityKey, since deletion: Position, _ collection: CollectionModel
    ) throws -> EntityKey? {
        guard let tree = collection.tree else { return nil }
        for (position, key) in try treeNews(since: deletion)
        where position > deletion && key.collection == collection.name {
            guard let row = try entity(key), row.newsAt.map({ $0 > deletion }) == true,
                let base = try liveBase(of: key, in: collection),
                try lies(base, in: folder.id, collection, tree)
            else { continue }
            return key
        }
        return nil
    }

    /// Whether a folder that was deleted here was kept as something lies in it that was not seen.
    package func isHeldByUnseen(_ key: EntityKey) throws -> Bool {
        guard let collection = try model()[key.collection], let row = try entity(key),
            row.refusal?.status == 0, let deletion = try folderDeletion(of: row, in: collection)
        else { return false }
        return try unseen(in: resolve(key), since: deletion, collection) != nil
    }

    /// When a folder was deleted here that the server has; nil for what is no folder, or is not
    /// deleted.
    package func folderDeletion(
        of row: EntityRow, in collection: CollectionModel
    ) throws -> Position? {
        guard let tree = collection.tree, row.baseState == .live,
            let deletion = row.pending.last(where: { $0.kind == .delete })?.position,
            let document = try row.baseValue(in: collection).document, tree.isFolder(document)
        else { return nil }
        return deletion
    }

    /// The folders of a tree that are to be deleted and were not refused, in the order of their
    /// deletions.
    package func deletedFolders(in collection: CollectionModel) throws -> [EntityKey] {
        var found: [EntityKey] = []
        try forEachMutation(openOnly: true) { _, mutation in
            guard mutation.kind == .localDeleted, mutation.key.collection == collection.name
            else { return true }
            let row = try entity(at: .entity(mutation.key))
            if row.status != .error, try folderDeletion(of: row, in: collection) != nil {
                found.append(mutation.key)
            }
            return true
        }
        return found
    }

    private func treeNews(since deletion: Position) throws -> [(position: Position, key: EntityKey)]
    {
        if let known = knownTreeNews, known.since <= deletion { return known.found }
        var found: [(position: Position, key: EntityKey)] = []
        var position = deletion
        while position < last {
            position = position.next
            guard let event = try event(at: position), event.kind == .serverUpserted,
                event.mutation == nil, let named = event.key
            else { continue }
            found.append((position, try resolve(named)))
        }
        knownTreeNews = TreeNews(since: deletion, found: found)
        return found
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
