// FoldTreeWants.swift — what somebody wants of all that lies in an entity of a tree.
//
// Each entity below has in its row what is wanted from above (ContentRows.swift), so that its files
// count as wanted. It is told anew where an entity comes, goes or moves to another one, and for all
// below where that makes a difference; a move within what is wanted alike changes one row.

import TidemarkEvents
import TidemarkRules

extension Fold {
    /// Whether somebody may want anything of all that lies in an entity.
    func hasTreeWants() throws -> Bool {
        if let known = cache.hasTreeWants { return known }
        let isThere = try hasLedgerRow(Ledger.treeWants)
        cache.hasTreeWants = isThere
        return isThere
    }

    /// Whether there may be files that were let go.
    func hasLetGo() throws -> Bool {
        if let known = cache.hasLetGo { return known }
        let isThere = try hasLedgerRow(Ledger.letGo)
        cache.hasLetGo = isThere
        return isThere
    }

    /// Notes what is wanted from above of an entity that the current event wrote.
    ///
    /// - Parameter known: what was wanted so.
    func noteWantsAbove(
        of key: EntityKey, _ row: EntityRow, _ collection: CollectionModel, known: [String],
        _ position: Position
    ) throws {
        // Of what is not seen a want may have been taken back meanwhile.
        guard let tree = collection.tree, try !known.isEmpty || hasTreeWants() else { return }
        var above: [String] = []
        if !row.isEmpty, row.baseState != .deleted || !row.pending.isEmpty {
            // One that is deleted here is where it was.
            guard let document = row.treeDocument(in: collection) else { return }
            let spot = try treeSpot(document, in: collection.name, tree)
            if let parent = spot.parent {
                above = try wantsBelow(EntityKey(collection.name, parent))
            }
        }
        guard known != above else { return }
        try change(contentsOf: key, position) { $0.above = above }
        // In a file nothing lies.
        if let document = row.treeDocument(in: collection), !tree.isFolder(document) { return }
        try spreadWants(below: key, collection, position)
    }

    /// Notes for all that lies in an entity what is wanted of it from above.
    func spreadWants(
        below key: EntityKey, _ collection: CollectionModel, _ position: Position
    ) throws {
        guard let reference = collection.treeReference else { return }
        // Those of what is deleted are in no index.
        let isIndexed =
            try hasIndex(of: reference, in: collection.name) && !entity(key).hasOrphans
        var waiting = [key]
        var seen: Set<EntityKey> = [key]
        while let next = waiting.popLast() {
            let above = try wantsBelow(next)
            let children =
                try isIndexed
                ? children(of: next, in: collection) : allChildren(of: next, in: collection)
            for child in children where seen.insert(child).inserted {
                guard try contents(of: child).above != above else { continue }
                try change(contentsOf: child, position) { $0.above = above }
                waiting.append(child)
            }
        }
    }

    /// Notes all of it anew for a collection, the tree of which is another one.
    func spreadAllWants(in collection: CollectionModel, _ position: Position) throws {
        let prefix = EntityKey.prefix(of: collection.name)
        let wanting = try ledgerRows(Ledger.treeWants + prefix).map(\.key)
        guard !wanting.isEmpty else { return }
        for (place, _) in try ledgerRows(Ledger.contentsOfEntities + prefix) {
            guard let key = place.entityOfContents else { continue }
            try change(contentsOf: key, position) { $0.above = [] }
        }
        for place in wanting {
            guard let key = place.entityOfContents else { continue }
            try spreadWants(below: key, collection, position)
        }
    }

    /// The fields of which the files are wanted of all that lies in an entity, in order; empty text
    /// for each.
    private func wantsBelow(_ key: EntityKey) throws -> [String] {
        let row = try contents(of: key)
        let fields = Set(
            (row.above + row.wants.filter(\.isTree).map(\.field)).map(ExactString.init))
        guard !fields.contains(ExactString("")) else { return [""] }
        return fields.map(\.text).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    // MARK: Copies that were let go

    /// Notes that nobody wants the file of a source any more that was wanted with all that lies in
    /// an entity.
    func letGo(_ source: ContentSource, _ position: Position) throws {
        guard let digest = try digest(of: source) else { return }
        // A file of the user's own stays as long as any other.
        try change(content: digest) { row in
            if row.stored?.isImported != true { row.stored?.letGoAt = position }
        }
    }

    /// `sync.finished`: what was let go before a run that listed everything need not be kept.
    func endLettingGo(_ event: Event, _ end: SyncFinished) throws {
        guard end.paused.isEmpty, end.held == 0, try hasLetGo() else { return }
        if case .failed = end.outcome { return }
        var scope = end.run.scope
        if let start = event.sync {
            let row = try get(.syncRun(start)).map { try SyncRunRow(parsing: $0) }
            scope = row.map { SyncStarted(stored: $0.started).run.scope } ?? .push
        }
        guard scope == .all else { return }
        for (place, _) in try ledgerRows(Ledger.letGo) {
            let digest = String(decoding: place.bytes.dropFirst(Ledger.letGo.count), as: UTF8.self)
            try change(content: digest) { row in
                guard let letGoAt = row.stored?.letGoAt else { return }
                if event.sync.map({ letGoAt < $0 }) ?? true { row.stored?.isLetGo = true }
            }
        }
    }
}
