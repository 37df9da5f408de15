// FoldTrees.swift — the rule `tree`: what lies in a deleted entity is not seen.
//
// An entity is an orphan while the one in which it lies is deleted, by a pending deletion or on the
// server, or is an orphan itself. It keeps all that is pending on it, and is seen again when that
// one is. Which ones are is noted in their rows when one is deleted, comes back or moves.

package import TidemarkEvents
import TidemarkRules

/// Hides what lies in deleted entities.
struct FoldTrees: FoldRule {
    let name = "tree"
    let moments: FoldMoments = .meet

    func isRule(of collection: CollectionModel) -> Bool { collection.treeReference != nil }

    func meet(
        _ entity: inout MetEntity, _ event: Event, _ position: Position, _ fold: Fold
    ) throws {
        let (key, collection) = (entity.key, entity.collection)
        var row = entity.row
        guard !row.isEmpty else {
            // What it was is forgotten; a creation that is given up leaves what lay in it.
            if event.kind == .localDiscarded { try fold.orphan(below: key, collection, are: false) }
            return
        }
        if let tree = collection.tree {
            try fold.noteName(row, key, collection, tree)
            try fold.noteEntrance(row, event, collection, tree)
        }
        let isOrphan = try fold.isOrphan(row, in: collection)
        // What is deleted on the server is what it was.
        let mayHold = row.mayHold(in: collection) ?? row.hasOrphans
        let hasOrphans = (row.isGone || isOrphan) && mayHold
        let isEntered = row.isEntered && row.baseState != .live
        guard
            row.isOrphan != isOrphan || row.hasOrphans != hasOrphans || row.isEntered != isEntered
        else { return }
        let wasOver = row.hasOrphans
        (row.isOrphan, row.hasOrphans, row.isEntered) = (isOrphan, hasOrphans, isEntered)
        try fold.put(row, key)
        entity.row = row
        if wasOver != hasOrphans { try fold.orphan(below: key, collection, are: hasOrphans) }
    }

    func adopt(
        _ before: SyncModel, _ event: Event, _ position: Position, _ fold: Fold
    ) throws {
        for collection in try fold.model().collections {
            let old = before[collection.name]
            let reference = collection.treeReference
            guard old?.treeReference?.field != reference?.field else { continue }
            try fold.orphanAll(in: collection)
        }
    }
}

extension Fold {
    /// Notes that an entity was moved into one that the server does not have.
    fileprivate func noteEntrance(
        _ row: EntityRow, _ event: Event, _ collection: CollectionModel, _ tree: TreeRule
    ) throws {
        guard event.kind == .localUpdated,
            try Patch(parsing: event.payload).set.contains(where: {
                ExactString($0.name) == ExactString(tree.parent)
            })
        else { return }
        var next = try parent(of: row, in: collection)
        while let above = next {
            var other = try entity(above)
            guard other.baseState != .live, !other.pending.isEmpty, !other.isEntered else { return }
            other.isEntered = true
            try put(other, above)
            next = try parent(of: other, in: collection)
        }
    }

    /// Whether an entity lies in one that is deleted, or is an orphan.
    fileprivate func isOrphan(_ row: EntityRow, in collection: CollectionModel) throws -> Bool {
        guard row.content != nil, let above = try parent(of: row, in: collection) else {
            return false
        }
        let other = try entity(above)
        return other.isGone || other.isOrphan
    }

    /// The entity in which one lies; nil at the root.
    private func parent(of row: EntityRow, in collection: CollectionModel) throws -> EntityKey? {
        guard let reference = collection.treeReference, let content = row.content,
            let document = try? collection.read(JSONDocument(parsing: content)),
            let id = document.ids(in: reference.field).first
        else { return nil }
        return try resolve(EntityKey(collection.name, id))
    }

    /// Makes all that lies in an entity orphans, or no orphans any more.
    fileprivate func orphan(
        below key: EntityKey, _ collection: CollectionModel, are areOrphans: Bool
    ) throws {
        // Orphans are in no index, and while all is folded again there is none.
        let hasIndex = try areOrphans && findsReferrers(of: collection)
        let known = hasIndex ? nil : try childrenOfAll(in: collection)
        var waiting = [key]
        while let next = waiting.popLast() {
            let children = try known.map { $0[next] ?? [] } ?? children(of: next, in: collection)
            for child in children where child != key {
                var row = try entity(child)
                guard row.content != nil, row.isOrphan != areOrphans else { continue }
                row.isOrphan = areOrphans
                row.hasOrphans = areOrphans && row.mayHold(in: collection) ?? false
                try put(row, child)
                if row.mayHold(in: collection) ?? false { waiting.append(child) }
            }
        }
    }

    private func findsReferrers(of collection: CollectionModel) throws -> Bool {
        guard let reference = collection.treeReference else { return false }
        return try hasIndex(of: reference, in: collection.name)
    }

    /// The entities that lie in one and are no orphans.
    package func children(
        of key: EntityKey, in collection: CollectionModel
    ) throws -> [EntityKey] {
        guard let reference = collection.treeReference else { return [] }
        var children: [EntityKey] = []
        try forEachReferrer(to: [key], by: [reference], in: collection) { child, row in
            if try parent(of: row, in: collection) == key { children.append(child) }
            return true
        }
        return children
    }

    /// All entities by those in which they lie.
    private func childrenOfAll(
        in collection: CollectionModel
    ) throws -> [EntityKey: [EntityKey]] {
        var children: [EntityKey: [EntityKey]] = [:]
        try forEachEntity(in: collection.name) { child, row in
            if let above = try parent(of: row, in: collection) {
                children[above, default: []].append(child)
            }
            return true
        }
        return children
    }

    /// Finds all orphans anew, by another model.
    fileprivate func orphanAll(in collection: CollectionModel) throws {
        let children = try childrenOfAll(in: collection)
        var changed: [(key: EntityKey, row: EntityRow)] = []
        var orphans: Set<EntityKey> = []
        var waiting: [EntityKey] = []
        try forEachEntity(in: collection.name) { key, row in
            if row.isGone { waiting.append(key) }
            return true
        }
        let deleted = Set(waiting)
        while let next = waiting.popLast() {
            for child in children[next] ?? [] where !deleted.contains(child) {
                if orphans.insert(child).inserted { waiting.append(child) }
            }
        }
        try forEachEntity(in: collection.name) { key, row in
            let isOrphan = orphans.contains(key)
            let mayHold = collection.treeReference != nil && row.mayHold(in: collection) ?? true
            let hasOrphans = (row.isGone || isOrphan) && mayHold
            guard row.isOrphan != isOrphan || row.hasOrphans != hasOrphans else { return true }
            var row = row
            (row.isOrphan, row.hasOrphans) = (isOrphan, hasOrphans)
            changed.append((key, row))
            return true
        }
        for (key, row) in changed { try put(row, key) }
    }
}

extension EntityRow {
    /// Whether it was deleted, here or on the server: not one of which only little is kept.
    fileprivate var isGone: Bool {
        content == nil && (baseState == .deleted || !pending.isEmpty)
    }

    /// Whether others may lie in it; nil where it is not known any more what it was.
    fileprivate func mayHold(in collection: CollectionModel) -> Bool? {
        guard let tree = collection.tree, tree.kind != nil else { return true }
        guard let bytes = content ?? (base.isEmpty ? nil : base),
            let document = try? collection.read(JSONDocument(parsing: bytes))
        else { return nil }
        return tree.isFolder(document)
    }
}
