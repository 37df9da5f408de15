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
    let moments: FoldMoments = [.hear, .meet]

    func isRule(of collection: CollectionModel) -> Bool { collection.treeReference != nil }

    func hear(
        _ event: Event, of key: EntityKey, _ collection: CollectionModel, _ position: Position,
        _ fold: Fold
    ) throws -> [FoldEffect] {
        try collection.isByPath
            ? hearNews(event, of: key, collection, position, fold)
            : hearDeletion(event, of: key, collection, position, fold)
    }

    /// Notes what lies in an entity that the server deletes: what it was is forgotten by that.
    ///
    /// A server that knows paths tells of all that lay in it by itself.
    private func hearDeletion(
        _ event: Event, of key: EntityKey, _ collection: CollectionModel, _ position: Position,
        _ fold: Fold
    ) throws -> [FoldEffect] {
        guard event.kind == .serverDeleted else { return [] }
        let row = try fold.entity(key)
        guard !row.isGone,
            row.mayHold(row.treeDocument(in: collection), in: collection) ?? true
        else { return [] }
        return [
            {
                var row = try fold.entity(key)
                guard row.isGone, !row.hasOrphans else { return }
                row.hasOrphans = true
                try fold.put(row, key)
                try fold.orphan(below: key, collection, are: true, event, position)
            }
        ]
    }

    /// Notes that the server told something new of an entity: of a folder only that it is there,
    /// as what else it tells of one follows from what lies in it.
    private func hearNews(
        _ event: Event, of key: EntityKey, _ collection: CollectionModel, _ position: Position,
        _ fold: Fold
    ) throws -> [FoldEffect] {
        guard event.kind == .serverUpserted, event.mutation == nil, let tree = collection.tree
        else {
            return []
        }
        let document = try collection.read(JSONDocument(parsing: event.payload))
        let row = try fold.entity(key)
        if tree.isFolder(document), row.baseState == .live,
            let known = try row.baseValue(in: collection).document,
            try fold.treeSpot(known, in: collection.name, tree).parent
                == fold.treeSpot(document, in: collection.name, tree).parent
        {
            return []
        }
        // What the answer to our own write told, or could not: it is no news.
        if try fold.isOwnWrite(event, row, collection) { return [] }
        if row.isAssumed, row.revision == nil, row.baseState == .live,
            let known = try row.baseValue(in: collection).document,
            try fold.treeSpot(known, in: collection.name, tree)
                == fold.treeSpot(document, in: collection.name, tree),
            try fold.isSameContent(document, known, in: collection)
        {
            return []
        }
        return [
            {
                var row = try fold.entity(key)
                guard row.basePosition == position else { return }
                row.newsAt = position
                try fold.put(row, key)
            }
        ]
    }

    func meet(
        _ entity: inout MetEntity, _ event: Event, _ position: Position, _ fold: Fold
    ) throws {
        let (key, collection) = (entity.key, entity.collection)
        guard let tree = collection.tree else { return }
        var row = entity.row
        guard !row.isEmpty else {
            // What it was is forgotten; a creation that is given up leaves what lay in it.
            if event.kind == .localDiscarded {
                try fold.orphan(below: key, collection, are: false, event, position)
            }
            return
        }
        let document = row.treeDocument(in: collection)
        let spot = try document.map { try fold.treeSpot($0, in: collection.name, tree) }
        if let spot {
            fold.noteName(spot, key)
            fold.noteChild(key, of: spot.parent)
        }
        let above = spot?.parent.map { EntityKey(collection.name, $0) }
        if let above { try fold.noteEntrance(to: above, event, collection, tree) }
        try fold.noteExit(of: key, row, event, collection, tree)
        let isOrphan = try above.map { try fold.entity($0).hidesBelow } ?? false
        if isOrphan, let above { try fold.noteOrphan(in: above, collection) }
        // What is deleted on the server is what it was.
        let isGivenUp = row.isGone && event.kind == .localDiscarded
        let mayHold = row.mayHold(document, in: collection) ?? (row.hasOrphans || isGivenUp)
        let hasOrphans = (row.isGone || isOrphan) && mayHold
        let isEntered = row.isEntered && row.baseState != .live
        guard
            row.isOrphan != isOrphan || row.hasOrphans != hasOrphans || row.isEntered != isEntered
        else { return }
        let (wasOver, wasOrphan) = (row.hasOrphans, row.isOrphan)
        (row.isOrphan, row.hasOrphans, row.isEntered) = (isOrphan, hasOrphans, isEntered)
        try fold.put(row, key)
        if wasOrphan != isOrphan, collection.hidesDangling {
            try fold.settleDangling(key, collection, event, position)
            row = try fold.entity(key)
        }
        entity.row = row
        if wasOver != hasOrphans {
            try fold.orphan(below: key, collection, are: hasOrphans, event, position)
        }
    }

    func adopt(
        _ before: SyncModel, _ event: Event, _ position: Position, _ fold: Fold
    ) throws {
        for collection in try fold.model().collections {
            let old = before[collection.name]
            let reference = collection.treeReference
            guard old?.treeReference?.field != reference?.field else { continue }
            try fold.orphanAll(in: collection, event, position)
        }
    }
}

extension Fold {
    /// Notes that an entity was moved into one that the server does not have.
    fileprivate func noteEntrance(
        to above: EntityKey, _ event: Event, _ collection: CollectionModel, _ tree: TreeRule
    ) throws {
        guard event.kind == .localUpdated,
            try Patch(parsing: event.payload).value(of: tree.parent) != nil
        else { return }
        var next: EntityKey? = above
        while let above = next {
            var other = try entity(above)
            guard other.baseState != .live, !other.pending.isEmpty, !other.isEntered else { return }
            other.isEntered = true
            try put(other, above)
            next = try parent(of: other, in: collection)
        }
    }

    /// Notes that an entity was moved that was made in one which the server does not have, and in
    /// which others were made since: it has to be made there before it is moved.
    fileprivate func noteExit(
        of key: EntityKey, _ row: EntityRow, _ event: Event, _ collection: CollectionModel,
        _ tree: TreeRule
    ) throws {
        guard event.kind == .localUpdated, row.baseState != .live, row.pending.count > 1,
            try Patch(parsing: event.payload).value(of: tree.parent) != nil,
            try !children(of: key, in: collection).isEmpty
        else { return }
        for item in row.pending.dropLast() {
            let id: String?
            switch item.kind {
            case .create:
                id = try JSONDocument(parsing: item.payload).ids(in: tree.parent).first
            case .update:
                let value = try Patch(parsing: item.payload).value(of: tree.parent)
                id = try value.flatMap { try JSONValue(parsing: $0).idText }
            case .delete, .carried, .action: id = nil
            }
            guard let id else { continue }
            let above = try resolve(EntityKey(collection.name, id))
            try noteEntrance(to: above, event, collection, tree)
        }
    }

    /// Notes that an orphan lies in an entity of which it is not known any more what it was.
    fileprivate func noteOrphan(in above: EntityKey, _ collection: CollectionModel) throws {
        var row = try entity(above)
        guard row.isGone, !row.hasOrphans,
            row.mayHold(row.treeDocument(in: collection), in: collection) == nil
        else { return }
        row.hasOrphans = true
        try put(row, above)
    }

    /// Makes all that lies in an entity orphans, or no orphans any more.
    fileprivate func orphan(
        below key: EntityKey, _ collection: CollectionModel, are areOrphans: Bool, _ event: Event,
        _ position: Position
    ) throws {
        var waiting = [key]
        while let next = waiting.popLast() {
            // Orphans are in no index.
            let children =
                try areOrphans
                ? children(of: next, in: collection) : allChildren(of: next, in: collection)
            for child in children where child != key {
                var row = try entity(child)
                guard row.content != nil, row.isOrphan != areOrphans else { continue }
                let mayHold =
                    row.mayHold(row.treeDocument(in: collection), in: collection) ?? false
                (row.isOrphan, row.hasOrphans) = (areOrphans, areOrphans && mayHold)
                try put(row, child)
                if collection.hidesDangling {
                    try settleDangling(child, collection, event, position)
                }
                if mayHold { waiting.append(child) }
            }
        }
    }

    /// Finds all orphans anew, by another model.
    fileprivate func orphanAll(
        in collection: CollectionModel, _ event: Event, _ position: Position
    ) throws {
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
            let document = row.treeDocument(in: collection)
            let mayHold =
                collection.treeReference != nil && row.mayHold(document, in: collection) ?? true
            let hasOrphans = (row.isGone || isOrphan) && mayHold
            guard row.isOrphan != isOrphan || row.hasOrphans != hasOrphans else { return true }
            var row = row
            (row.isOrphan, row.hasOrphans) = (isOrphan, hasOrphans)
            changed.append((key, row))
            return true
        }
        for (key, row) in changed {
            // What the model makes of its edits was written just before.
            var now = try entity(key)
            (now.isOrphan, now.hasOrphans) = (row.isOrphan, row.hasOrphans)
            try put(now, key)
        }
        guard collection.hidesDangling else { return }
        for (key, _) in changed { try settleDangling(key, collection, event, position) }
    }
}

extension EntityRow {
    /// The document that says where it lies in a tree, with everything pending; nil where there is
    /// none.
    package func treeDocument(in collection: CollectionModel) -> JSONDocument? {
        content.flatMap { try? collection.read(JSONDocument(parsing: $0)) }
    }

    /// The same with what an attempt carries, where one has no answer.
    package func sentTreeDocument(
        in collection: CollectionModel
    ) throws -> JSONDocument? {
        guard let attempt else { return treeDocument(in: collection) }
        let bytes = try made(through: attempt.covers, in: collection)
        return bytes.isEmpty ? nil : try JSONDocument(parsing: bytes)
    }

    /// Whether what lies in it is not seen.
    fileprivate var hidesBelow: Bool { isGone || isOrphan }

    /// Whether it was deleted, here or on the server: not one of which only little is kept.
    fileprivate var isGone: Bool {
        content == nil && (baseState == .deleted || !pending.isEmpty)
    }

    /// Whether what is pending on it ends with a deletion.
    package var endsDeleted: Bool { pending.last { !$0.isAction }?.kind == .delete }

    /// Whether it is deleted here and has to be made on the server all the same, as another one was
    /// moved into it before.
    var isMadeForOthers: Bool { isEntered && baseState != .live && endsDeleted }

    /// Whether others may lie in it; nil where it is not known any more what it was.
    ///
    /// - Parameter document: as it is now; of one that is deleted, that of the server counts.
    fileprivate func mayHold(_ document: JSONDocument?, in collection: CollectionModel) -> Bool? {
        guard let tree = collection.tree, tree.kind != nil else { return true }
        let known =
            document
            ?? (base.isEmpty ? nil : try? collection.read(JSONDocument(parsing: base)))
        return known.map(tree.isFolder)
    }
}
