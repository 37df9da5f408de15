// SyncMachine+Folders.swift — lists of folders amid a push: of those that are to be deleted
// (SyncMachine+Deletions.swift), and of those in which the server refused something, or had not
// what was to be deleted, as they are not as they seemed.

import TidemarkEvents
import TidemarkRules
import TidemarkViews

extension SyncMachine {
    /// Has lists made, after which the push goes on.
    mutating func list(amidPush targets: [PullTarget]) {
        unpulled = targets[...]
        isAmidPush = true
        state = .pulling
    }

    /// Goes on with the push.
    mutating func endListsAmidPush() {
        (isAmidPush, deletions.isListing) = (false, false)
        state = .pushing
    }

    /// Has the folders listed around what the server refused or had not, each once in a run.
    mutating func list(around targets: [PullTarget]) {
        let new = targets.filter { listedAround.insert($0).inserted }
        if !new.isEmpty { list(amidPush: new) }
    }
}

extension ViewReader {
    /// The folders in which entities lie on the server, and would lie after what is pending, as far
    /// as the server has them; the first ones, where there are too many.
    func foldersAround(
        _ keys: [EntityKey], atMost: Int, _ model: SyncModel
    ) throws -> [PullTarget] {
        var (found, seen): ([PullTarget], Set<PullTarget>) = ([], [])
        for key in keys {
            guard let collection = model[key.collection], var reader = TreeReader(collection) else {
                continue
            }
            for id in try reader.folders(around: key.id, self) {
                let target = PullTarget.folder(id, of: collection.name)
                if seen.insert(target).inserted { found.append(target) }
                if found.count == atMost { return found }
            }
        }
        return found
    }
}
