// TreeWalk+Views.swift — what a walk knows of the tree before it: all of it, or of a single folder
// only what lies in that. Where its list names something else, which may have lain elsewhere, the
// rest is read before that is taken.

import TidemarkEvents
import TidemarkRules
import TidemarkViews

extension TreeWalk {
    /// Notes what is known of an entity before the list.
    mutating func note(
        _ key: EntityKey, _ row: EntityRow, in collection: CollectionModel, _ views: ViewReader
    ) throws {
        guard let tree = collection.tree else { return }
        let base = try row.baseValue(in: collection)
        if base.isLive {
            guard let document = base.document else { return }
            let spot = try views.treeSpot(document, in: collection.name, tree)
            if row.endsDeleted { leaving.insert(ExactString(key.id)) }
            return know(key.id, spot, document, row.isAssumed ? nil : row.revision)
        }
        if let document = base.lastDocument {
            remember(key.id, document)
        } else if row.baseState == .deleted, !row.mark.isEmpty {
            remember(key.id, try collection.read(JSONDocument(parsing: row.mark)))
        }
        if row.baseState == .deleted, row.pending.isEmpty, row.hasOrphans {
            ended.insert(ExactString(key.id))
        }
        // What is there under the name of a copy is not known to be one.
        guard let first = row.pending.first, first.request.isEmpty else { return }
        if let document = try row.sentTreeDocument(in: collection) {
            expect(
                key.id, try views.treeSpot(document, in: collection.name, tree), document,
                isSent: row.attempt != nil)
        }
    }

    /// Notes a single folder, what lies in it, and that in which it lies, by the index.
    ///
    /// - Parameter id: empty for the root.
    /// - Returns: false where all of the tree has to be noted instead.
    mutating func note(
        folder id: String, of collection: CollectionModel, _ views: ViewReader
    ) throws -> Bool {
        let key = id.isEmpty ? nil : EntityKey(collection.name, id)
        // The index tells of what is seen.
        if let key, try views.document(key) == nil { return false }
        guard let children = try views.indexedChildren(of: key, in: collection) else {
            return false
        }
        var noted: Set<EntityKey> = []
        func isNew(_ key: EntityKey) -> Bool { noted.insert(key).inserted }
        // Where the server has what is edited here the index does not tell.
        try views.forEachMutation(openOnly: true) { _, mutation in
            if mutation.key.collection == collection.name, isNew(mutation.key) {
                try note(
                    mutation.key, views.entity(at: .entity(mutation.key)), in: collection, views)
            }
            return true
        }
        for child in children where isNew(child) {
            try note(child, views.entity(at: .entity(child)), in: collection, views)
        }
        var (next, seen): (EntityKey?, Set<EntityKey>) = (key, [])
        while let above = next, seen.insert(above).inserted {
            if isNew(above) {
                try note(above, views.entity(at: .entity(above)), in: collection, views)
            }
            next = place(of: above.id)?.folder.map { EntityKey(collection.name, $0) }
        }
        isNarrow = true
        return true
    }

    /// Whether a page of a single folder names only what is known to lie there.
    func knows(_ page: ListPage) -> Bool {
        guard !page.isPartial, page.unreadable.isEmpty else { return false }
        return page.records.allSatisfy { record in
            guard let document = record.document.flatMap({ try? JSONDocument(parsing: $0) }) else {
                return false
            }
            return knows(record.id, document)
        }
    }

    /// The same walk with all that is known of the tree.
    func whole(of collection: CollectionModel, _ views: ViewReader) throws -> TreeWalk {
        var walk = withoutEntities
        walk.tellsMissing = tellsMissing
        walk.moves = Moves(keeping: moves.fields)
        try views.forEachEntity(in: collection.name) { key, row in
            try walk.note(key, row, in: collection, views)
            return true
        }
        return walk
    }
}
