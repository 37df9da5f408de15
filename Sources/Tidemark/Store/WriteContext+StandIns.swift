// WriteContext+StandIns.swift — what a write may not do with entities that are not here, or only in
// part: change them, or put something new below them.

import TidemarkEvents
import TidemarkViews

extension WriteContext {
    /// Refuses the change of a placeholder or a stub, and what would count in one.
    func checkStandIns(_ kind: EventKind, _ key: EntityKey, _ json: [UInt8]?) throws {
        let isEdit = kind == .localCreated || kind == .localUpdated
        guard isEdit || kind == .localDeleted || kind == .localRequested else { return }
        if isEdit { try checkParents(kind, key, json) }
        guard try draft.fold.isPlaceholder(key) else { return }
        throw TidemarkError(
            .notFound,
            try draft.fold.entity(key).isPartial
                ? "\(key) is known in part only, because something refers to it; fetch it, and "
                    + "change it once the server has sent all of it"
                : "\(key) is not here: what stands in its place was made up, because something "
                    + "refers to it; sync, and change it once the server has sent it", key: key)
    }

    /// Refuses an entity that is made, or moved, where it would count in one that is not here.
    private func checkParents(_ kind: EventKind, _ key: EntityKey, _ json: [UInt8]?) throws {
        guard let json, let known = try draft.fold.known(key.collection), !known.parents.isEmpty
        else { return }
        let changed =
            kind == .localCreated
            ? try JSONDocument(parsing: json)
            : try Patch(parsing: json).setDocument(known.model.keyed)
        guard let changed else { return }
        for reference in known.parents {
            for id in changed.ids(in: reference.field) {
                let parent = EntityKey(reference.collection, id)
                guard parent.isValid, try draft.fold.isPlaceholder(draft.fold.resolve(parent))
                else { continue }
                throw TidemarkError(
                    .notFound,
                    "\(key) would stand below \(parent), which is not here, or only in part; "
                        + "fetch that first", key: parent)
            }
        }
    }
}
