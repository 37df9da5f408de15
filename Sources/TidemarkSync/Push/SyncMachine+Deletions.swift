// SyncMachine+Deletions.swift — folders that are listed just before they are deleted, with all that
// lies in them.
//
//   listed in this run, since it was deleted here    it is deleted
//   else                                             it is listed first, and looked at once more
//   a list in it failed                              the deletion waits for another run
//   the server does not show all of it               the deletion is refused
//
// The list is logged as any other. What it tells that is new is not deleted with the folder
// (TreeUnseen.swift).

import TidemarkEvents
import TidemarkViews

/// What was listed in a run of folders that are to be deleted.
struct ListedDeletions: Sendable {
    /// Whether they are being listed.
    var isListing = false
    /// The log's last position when a tree was listed whole, and when a folder was.
    private var trees: [CollectionName: Position] = [:]
    private var folders: [EntityKey: Position] = [:]
    /// The deletion for which a folder was last listed, or was to be.
    private var tried: [EntityKey: Position] = [:]
    /// Of folders that were listed the path of what the server does not show whole.
    private var unshown: [EntityKey: String] = [:]

    /// Whether a folder was listed since it was deleted here.
    func tells(of folder: EntityKey, since deletion: Position) -> Bool {
        let asOf = max(trees[folder.collection] ?? .start, folders[folder] ?? .start)
        return asOf >= deletion
    }

    /// Whether it may be listed: once for each deletion.
    func mayList(_ folder: EntityKey, since deletion: Position) -> Bool {
        tried[folder].map { $0 < deletion } ?? true
    }

    /// The path of what the server does not show whole, where that is why a folder is not known
    /// to be listed.
    func unshown(in folder: EntityKey) -> String? { unshown[folder] }

    mutating func begin(_ folder: EntityKey, since deletion: Position) {
        tried[folder] = deletion
        isListing = true
    }

    /// Takes in a list that came to its end.
    mutating func note(_ list: Listing) {
        guard let walk = list.walk else { return }
        let name = list.collection.name
        if list.tellsAll { trees[name] = list.asOf }
        for id in walk.deletedAndListed { folders[EntityKey(name, id)] = list.asOf }
        // All of them were tried with the one.
        for id in walk.deleted {
            let key = EntityKey(name, id)
            tried[key] = max(tried[key] ?? .start, list.asOf)
            unshown[key] = walk.unshown(in: id)
        }
    }
}

extension SyncMachine {
    /// Whether a folder is to be listed before it is deleted.
    func isUnlisted(_ pending: PendingWrite) -> Bool {
        guard let deletion = pending.deletedAt, pending.unseen == nil else { return false }
        return !deletions.tells(of: pending.key, since: deletion)
    }

    /// Whether it may be listed: once for each deletion.
    func mayList(_ pending: PendingWrite) -> Bool {
        pending.deletedAt.map { deletions.mayList(pending.key, since: $0) } ?? false
    }

    /// Has folders listed that are to be deleted, and all that is pending planned once more.
    mutating func list(beforeDeleting pending: PendingWrite) {
        guard let deletion = pending.deletedAt else { trap("lists what is not deleted") }
        deletions.begin(pending.key, since: deletion)
        planAnew()
        list(amidPush: [.folder(pending.key.id, of: pending.key.collection)])
    }
}
