// FoldSets.swift — collections of which all is listed or nothing: what their lists bring waits in
// rows (StagedRows.swift) until all of them came to their end in one run, and is taken then, in one
// commit. What a run brought that did not get so far goes with the next one's first word.

package import TidemarkEvents

extension RowReading {
    /// The run whose lists of a set wait to be taken; nil for none.
    fileprivate func staging(_ set: String) throws -> Position? {
        try get(.staging(set)).flatMap { Position(bigEndianBytes: $0) }
    }

    /// Whether anything waits of a set that a run lists.
    package func isStaging(_ set: String, in sync: Position?) throws -> Bool {
        guard let sync else { return false }
        return try staging(set) == sync
    }
}

extension Fold {
    /// Takes what a list of such a collection brings out of the way; false where it counts at once.
    func stage(_ event: Event, _ position: Position) throws -> Bool {
        guard let collection = event.collection, let sync = event.sync, event.mutation == nil,
            let set = try set(of: collection, sync, event)
        else { return false }
        let isWord = event.kind == .serverDeleted || event.kind == .serverUpserted
        let isEnd = event.kind == .pullCompleted
        guard try !isWiped(collection, after: event.asOf) else { return isWord || isEnd }
        if try staging(set) != sync {
            try drop(staged: set)
            put(.staging(set), sync.bigEndianBytes)
        }
        let row = StagedRow(event, sync, position)
        if isWord, let key = event.key, row.isDeletion || event.isObject {
            put(.staged(key), row.encoded)
        } else if isEnd {
            put(.stagedEnd(collection), row.encoded)
        }
        return true
    }

    /// The set of a collection whose lists bring all or nothing, and that a run lists; nil where
    /// all of it came in the run, so that what comes now counts at once.
    private func set(
        of name: CollectionName, _ sync: Position, _ event: Event
    ) throws -> String? {
        guard let set = try known(name)?.model.allOrNone,
            try get(.stagedLast(set)) != sync.bigEndianBytes
        else { return nil }
        switch try started(event)?.run.scope {
        case .all, .pull: return set
        default: return nil
        }
    }

    /// All of a set came: what waits of it is taken.
    func takeSet(_ set: String, _ event: Event, _ position: Position) throws {
        guard let sync = event.sync else { return }
        let waits = try staging(set) == sync
        put(.stagedLast(set), sync.bigEndianBytes)
        guard waits else { return try drop(staged: set) }
        put(.staging(set), nil)
        for collection in try model().members(of: set) {
            for (place, value) in try ledgerRows(
                Ledger.staged + EntityKey.prefix(of: collection.name))
            {
                put(place, nil)
                guard let key = EntityKey(bytes: place.bytes.dropFirst(Ledger.staged.count)) else {
                    continue
                }
                let row = try StagedRow(parsing: value)
                let word = row.word(on: key).checked
                try serverSays(word, row.position, isDeletion: row.isDeletion)
                // Each meets the rules as a word of its own does, before the next one changes rows.
                try takeSoFar(event, position)
            }
            let end = RowKey.stagedEnd(collection.name)
            guard let bytes = try get(end) else { continue }
            put(end, nil)
            let row = try StagedRow(parsing: bytes)
            let list = row.end(of: collection.name)
            try pulled(list, PullCompleted(stored: row.payload), row.position)
        }
    }

    /// Forgets what waits of a set.
    private func drop(staged set: String) throws {
        if try get(.staging(set)) != nil { put(.staging(set), nil) }
        for collection in try model().members(of: set) {
            let prefix = EntityKey.prefix(of: collection.name)
            for (place, _) in try ledgerRows(Ledger.staged + prefix) { put(place, nil) }
            let end = RowKey.stagedEnd(collection.name)
            if try get(end) != nil { put(end, nil) }
        }
    }

    /// Forgets what waits of sets that a model had otherwise.
    func forgetSets(of before: SyncModel) throws {
        func sets(_ model: SyncModel) -> [String: String] {
            let named = model.collections.compactMap { collection in
                collection.allOrNone.map { (collection.name.rawValue, $0) }
            }
            return Dictionary(named, uniquingKeysWith: { first, _ in first })
        }
        guard try sets(before) != sets(model()) else { return }
        for prefix in [Ledger.staging, Ledger.stagedLast, Ledger.staged, Ledger.stagedEnds] {
            for (place, _) in try ledgerRows(prefix) { put(place, nil) }
        }
    }
}
