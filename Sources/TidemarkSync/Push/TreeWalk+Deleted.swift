// TreeWalk+Deleted.swift — the list of folders that are to be deleted, with all that lies in them:
// what lies there and was not seen here must not go with them.

import TidemarkEvents

extension TreeWalk {
    /// Has folders listed that are to be deleted, with all that lies in them.
    mutating func keep(toDeleted ids: [String]) {
        deleted = ids
        let own = Set(ids.map { ExactString($0) })
        waiting = ids.filter { !lies($0, inOneOf: own) }.compactMap(knownFolder)
            .sorted { $1.path.utf8.lexicographicallyPrecedes($0.path.utf8) }
        guard let first = waiting.popLast() else {
            isThere = false
            return
        }
        folder = first
    }

    /// Those of them of which everything is listed that lies in them.
    ///
    /// Of one in which something came that may have been moved there, a whole list tells.
    var deletedAndListed: [String] {
        var open: Set<ExactString> = []
        let untold = unheard.filter { $0.value != .absent }.keys + moves.arrived.map(\.folder)
        for folder in untold {
            var next = folder
            while let id = next, open.insert(ExactString(id)).inserted {
                next = place(of: id)?.folder
            }
        }
        return deleted.filter { knownFolder($0) != nil && !open.contains(ExactString($0)) }
    }

    /// The path of the first folder in one, itself included, of which the server does not show all;
    /// nil where none is, or where a list in it failed.
    func unshown(in id: String) -> String? {
        let own: Set = [ExactString(id)]
        let within = unheard.filter { folder, _ in
            folder.map { own.contains(ExactString($0)) || lies($0, inOneOf: own) } ?? false
        }
        guard !within.values.contains(.failed) else { return nil }
        return within.filter { $0.value == .unshown }.keys.compactMap { $0 }
            .map { knownFolder($0)?.path ?? $0 }
            .min { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    private func lies(_ id: String, inOneOf folders: Set<ExactString>) -> Bool {
        var next = place(of: id)?.folder
        var seen: Set<String> = []
        while let id = next, seen.insert(id).inserted {
            if folders.contains(ExactString(id)) { return true }
            next = place(of: id)?.folder
        }
        return false
    }
}

extension Listing {
    /// Whether it lists folders that are to be deleted.
    var isBeforeDeletion: Bool { walk?.deleted.isEmpty == false }

    /// Whether it told everything that lies in its tree, all of it in this run.
    var tellsAll: Bool {
        guard let walk, !walk.isOfFolders, walk.use != .skipping else { return false }
        return !isContinued && failure == nil && unreadable.isEmpty
            && walk.unheard.values.allSatisfy { $0 == .absent }
    }
}
