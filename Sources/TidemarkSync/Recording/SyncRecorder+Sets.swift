// SyncRecorder+Sets.swift — when the last list of a set came to its end, of which all is listed or
// nothing.

import TidemarkEvents
import TidemarkViews

extension SyncRecorder {
    /// Notes that a list came to its end; the set that is whole with it, nil for none.
    mutating func end(_ list: Listing, _ draft: Draft) throws -> String? {
        let name = list.collection.name
        guard let set = list.collection.allOrNone, !stale.contains(name) else { return nil }
        ended.insert(name)
        let members = try draft.fold.model().members(of: set)
        return members.allSatisfy { ended.contains($0.name) } ? set : nil
    }

    /// Whether the end of a set is logged though its last list brings nothing.
    func isWaiting(_ set: String?, _ draft: Draft) throws -> Bool {
        try set.map { try draft.fold.isStaging($0, in: start) } ?? false
    }
}
