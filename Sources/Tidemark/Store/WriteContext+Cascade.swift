// WriteContext+Cascade.swift — what is deleted with an entity, by the references of the model.

import TidemarkEvents
import TidemarkViews

extension WriteContext {
    /// The entities that go with one when the app deletes it, those that refer to others before
    /// these.
    ///
    /// A collection stands after those that it refers to, or refers to itself: so one pass over the
    /// model finds all but what refers to its own collection, which is asked until nothing more is
    /// found.
    func cascade(_ key: EntityKey) throws -> [EntityKey] {
        let model = try draft.fold.model()
        var gone: Set<EntityKey> = [key]
        var found: [EntityKey] = []
        for collection in model.collections {
            let references = collection.references.filter { reference in
                reference.onDelete == .cascade
                    && (reference.collection == collection.name
                        || gone.contains { $0.collection == reference.collection })
            }
            guard !references.isEmpty else { continue }
            var isOver = false
            while !isOver {
                let below = try referring(to: gone, by: references, collection)
                gone.formUnion(below)
                found += below
                isOver = below.isEmpty || !references.contains { $0.collection == collection.name }
            }
        }
        return found.reversed()
    }

    /// The entities of a collection that refer to one of some, and are none of these, by their ids.
    private func referring(
        to gone: Set<EntityKey>, by references: [Reference], _ collection: CollectionModel
    ) throws -> [EntityKey] {
        var below: [EntityKey] = []
        try draft.fold.forEachReferrer(to: gone, by: references, in: collection) { key, row in
            guard !gone.contains(key), !row.isPlaceholder,
                let bytes = try row.cascading(in: collection)
            else { return true }
            let document = try JSONDocument(parsing: bytes)
            let isBelow = try references.contains { reference in
                try document.ids(in: reference.field).contains { id in
                    gone.contains(
                        try draft.fold.resolve(EntityKey(reference.collection, id)))
                }
            }
            if isBelow { below.append(key) }
            return true
        }
        return below
    }
}

extension EntityRow {
    /// The document that says with what it goes: one that is hidden, as what else it refers to
    /// can't be had, goes like any other.
    fileprivate func cascading(in collection: CollectionModel) throws -> [UInt8]? {
        let isDangling = isHidden && !isOrphan && collection.hidesDangling
        return isDangling ? try content(in: collection) : try document(in: collection)
    }
}
