// RowReading.swift — reading rows: those of a transaction (ViewReader.swift), or those of a fold in
// the middle of its events (Fold.swift). Who has `get` and `walk` can answer every question that
// rows answer; each is an extension of the protocol, in the file of the rows that it is about.

package import TidemarkEvents
package import TidemarkRules

/// Rows with everything that was folded so far.
package protocol RowReading: AnyObject {
    /// The row under a key; nil where there is none.
    func get(_ key: RowKey) throws -> [UInt8]?

    /// Walks over the rows of a tree whose keys begin with a prefix, in the order of their keys,
    /// from a key on; `body` says whether to go on.
    func walk(
        _ tree: Tree, _ prefix: [UInt8], from: [UInt8],
        _ body: (_ key: [UInt8], _ value: [UInt8]) throws -> Bool
    ) throws

    // What follows could be read by these two; a reader that remembers the answer is asked first.

    /// The registered model; one without collections before any is.
    func model() throws -> SyncModel

    /// Whether any id is another one's alias.
    var hasBindings: Bool { get throws }

    /// The lasting key of an id: that of its entity where the id is an alias, else the id itself.
    func resolve(_ key: EntityKey) throws -> EntityKey

    /// The entity under a key that lasts; an empty row where there is none.
    func entity(at place: RowKey) throws -> EntityRow

    /// Walks over entities by collection and id, tombstones included; `body` says whether to go on.
    func forEachEntity(
        in collection: CollectionName?, _ body: (EntityKey, EntityRow) throws -> Bool
    ) throws

    /// A mutation by its event; nil where there is none, or it follows from a rule.
    func mutation(_ position: Position) throws -> MutationRow?

    /// The failing calls about an entity, or about a collection's list; nil where none fails.
    func failing(_ key: EntityKey) throws -> FailingRow?

    /// What the server's clock is believed to show; nil before it was ever seen.
    func serverClock() throws -> ServerClock?

    /// Whether any entity is hidden by itself, so that others may be hidden with it.
    func hidesAny() throws -> Bool
}

extension RowReading {
    /// Walks over all rows of a tree whose keys begin with a prefix, likewise.
    package func walk(
        _ tree: Tree, _ prefix: [UInt8] = [],
        _ body: (_ key: [UInt8], _ value: [UInt8]) throws -> Bool
    ) throws { try walk(tree, prefix, from: prefix, body) }

    /// The rows of the ledger whose keys begin with a prefix, in the order of their keys.
    func ledgerRows(_ prefix: [UInt8]) throws -> [(key: RowKey, value: [UInt8])] {
        var rows: [(key: RowKey, value: [UInt8])] = []
        try walk(.ledger, prefix) { key, value in
            rows.append((RowKey(.ledger, key), value))
            return true
        }
        return rows
    }

    /// Whether any row of the ledger has a key that begins with a prefix.
    func hasLedgerRow(_ prefix: [UInt8]) throws -> Bool {
        var isThere = false
        try walk(.ledger, prefix) { _, _ in
            isThere = true
            return false
        }
        return isThere
    }

    // MARK: Store

    package func fact(_ name: String) throws -> StoreFactRow? {
        try get(.store(name)).map { try StoreFactRow(parsing: $0) }
    }

    /// The registered model and remote; nil before any is.
    package func registration() throws -> ModelRegistration? {
        try fact("model").map { try ModelRegistration(parsing: $0.payload, isLogged: true) }
    }

    /// What was found out of the server's preconditions; nil before it was.
    package func preconditions() throws -> KnownPreconditions? {
        guard let fact = try fact("preconditions") else { return nil }
        let told = try ServerDescribed(reading: fact.payload)
        guard let found = told.preconditions, let time = told.triedAt else { return nil }
        return KnownPreconditions(areHeeded: found == .heeded, triedAt: time)
    }

    /// The event that registered the model of now; the start of the log before any did.
    package func modelPosition() throws -> Position { try fact("model")?.position ?? .start }

    /// The watermark of a target.
    package func watermark(_ target: PullTarget) throws -> WatermarkRow? {
        try get(.watermark(target)).map { try WatermarkRow(parsing: $0) }
    }

    // MARK: Entities

    /// Walks over the entities of all collections, likewise.
    package func forEachEntity(_ body: (EntityKey, EntityRow) throws -> Bool) throws {
        try forEachEntity(in: nil, body)
    }

    /// The entity that an id names, an alias too, and the key that it keeps for life; nil where
    /// there is none.
    package func found(_ named: EntityKey) throws -> (key: EntityKey, row: EntityRow)? {
        // Nothing lies under an alias, so that most are found without asking whether it is one.
        let row = try entity(at: .entity(named))
        if !row.isEmpty { return (named, row) }
        let key = try resolve(named)
        guard key != named else { return nil }
        let target = try entity(at: .entity(key))
        return target.isEmpty ? nil : (key, target)
    }

    /// The visible document of an entity, read by today's model; nil when there is none.
    package func document(_ key: EntityKey) throws -> [UInt8]? {
        try found(key)?.row.document(in: try model()[key.collection])
    }

    /// Whether an entity is only a placeholder.
    package func isPlaceholder(_ key: EntityKey) throws -> Bool {
        try entity(at: .entity(key)).isPlaceholder
    }

    /// Whether a collection has an accessible entity.
    package func hasInReach(_ collection: CollectionName) throws -> Bool {
        try countInReach(collection, upTo: 1) > 0
    }

    /// How many accessible entities a collection has; counts so many at most.
    package func countInReach(_ collection: CollectionName, upTo limit: Int) throws -> Int {
        var count = 0
        try forEachEntity(in: collection) { _, row in
            if row.isInReach { count += 1 }
            return count < limit
        }
        return count
    }
}

extension EntityRow {
    /// Whether it is just as the server has it: nothing is pending, sent or refused, and it is no
    /// placeholder.
    package var isInSync: Bool {
        baseState == .live && pending.isEmpty && attempt == nil && refusal == nil && !isPlaceholder
    }

    /// Whether it is visible, placeholders included.
    package var isListed: Bool { baseState == .live && !isHidden }

    /// Whether it is accessible: the server has it, and it is not hidden.
    package var isInReach: Bool { baseState == .live && !isHidden && !isPlaceholder }

    /// Its known documents, visible or not: with the pending mutations, and without.
    func documents(in collection: CollectionModel) -> [JSONDocument] {
        var known: [[UInt8]] = []
        if let content { known.append(content) }
        if !pending.isEmpty, !base.isEmpty { known.append(base) }
        return known.compactMap { try? collection.read(JSONDocument(parsing: $0)) }
    }

    /// The last event that changed the visible document.
    package var seenPosition: Position? {
        [basePosition, pending.last?.position].compactMap(\.self).max()
    }

    /// The event that changed the entity last: an edit made here, or what the server said.
    package var lastChange: Position {
        [seenPosition, refusal?.position].compactMap(\.self).max() ?? .start
    }
}
