// SyncMachine+Placeholders.swift — which entities that are here only as placeholders the server is
// asked for, and in which order.

import TidemarkEvents
import TidemarkRules
import TidemarkViews

/// One question after placeholders.
struct Refetch: Sendable, Hashable {
    var collection: CollectionModel
    var ids: [String]
    /// What they all refer to; nil where they refer to nothing.
    var together: String?
}

extension SyncMachine {
    /// The next question after placeholders; nil when all were asked that are due.
    ///
    /// They are made up once in a run, when all was pulled: what is not found then is asked for
    /// again by a later one.
    mutating func nextRefetch(_ views: ViewReader, at now: Moment) throws -> SyncStep? {
        if refetches == nil { refetches = try due(views, serverTime ?? now.now).reversed() }
        return refetches?.popLast().map {
            .refetch($0.collection, ids: $0.ids, together: $0.together)
        }
    }

    private func due(_ views: ViewReader, _ now: Timestamp) throws -> [Refetch] {
        guard
            model.collections.contains(where: { ($0.placeholder?.refetch.every ?? .zero) != .zero })
        else {
            return []
        }
        let placeholders = try views.placeholders()
        var result: [Refetch] = []
        for collection in model.collections {
            guard let rule = collection.placeholder, outcome.paused[collection.name] == nil else {
                continue
            }
            var groups: [(together: String?, id: String)] = []
            for (key, note) in placeholders where key.collection == collection.name {
                guard rule.isDue(triedAt: note.triedAt, now: now), let row = try views.entity(key),
                    row.isPlaceholder, !row.isHidden
                else { continue }
                let document = try? JSONDocument(parsing: row.base)
                groups.append(
                    (rule.refetch.together.flatMap { document?.ids(in: $0).first }, key.id))
            }
            groups.sort {
                let (a, b) = ($0.together ?? "", $1.together ?? "")
                if IDOrder.precedes(a, b) { return true }
                return !IDOrder.precedes(b, a) && IDOrder.precedes($0.id, $1.id)
            }
            for (together, id) in groups {
                if let last = result.last, last.collection.name == collection.name,
                    last.together.map(ExactString.init) == together.map(ExactString.init)
                {
                    result[result.count - 1].ids.append(id)
                } else {
                    result.append(Refetch(collection: collection, ids: [id], together: together))
                }
            }
        }
        return result
    }
}
