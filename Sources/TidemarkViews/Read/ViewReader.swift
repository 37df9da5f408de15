// ViewReader.swift — reading views and log at one point in time.

package import TidemarkEvents
import TidemarkLog
package import TidemarkStore

/// The views and the log as they are in one read transaction.
///
/// Not to be kept.
package final class ViewReader {
    /// The last position of the log.
    package let last: Position
    private let load: (RowKey) throws -> [UInt8]?
    private let walk:
        (Tree, [UInt8], [UInt8]?, Bool, ([UInt8], [UInt8]) throws -> Bool) throws
            -> Void
    private let loadEvent: (Position) throws -> Event?
    private let models: ModelCache
    private var knownModel: SyncModel?
    private var knownPlan: IndexPlan?
    /// What was asked for already; see EntityStanding.swift.
    var knownToHaveBindings: Bool?
    var knownKeys: [EntityKey: EntityKey] = [:]
    private let state: ViewTables.State
    /// Where it is known which tables are in doubt.
    private var shared: SharedStore?
    /// The names of the indexes that are there.
    var indexNames: [[UInt8]] { state.currentIndexes(last) }
    /// Walks over the keys of the indexes that begin with some bytes, from a key on, up or down.
    let walkIndex: WalkIndex
    typealias WalkIndex = (
        _ prefix: [UInt8], _ from: [UInt8]?, _ reversed: Bool,
        _ visit: ([UInt8], [UInt8]) throws -> Bool
    ) throws -> Void

    private init(
        _ models: ModelCache, _ state: ViewTables.State, last: Position,
        load: @escaping (RowKey) throws -> [UInt8]?,
        walk:
            @escaping (Tree, [UInt8], [UInt8]?, Bool, ([UInt8], [UInt8]) throws -> Bool) throws
            -> Void,
        walkIndex: @escaping WalkIndex, loadEvent: @escaping (Position) throws -> Event?
    ) {
        self.models = models
        self.state = state
        self.walkIndex = walkIndex
        self.last = last
        self.load = load
        self.walk = walk
        self.loadEvent = loadEvent
    }

    /// The rows in memory, which have no indexes.
    convenience init(
        _ rows: MemoryRows, _ models: ModelCache, last: Position,
        event: @escaping (Position) throws -> Event?
    ) {
        self.init(
            models, ViewTables.State(), last: last, load: { rows[$0] },
            walk: { try rows.scan($0, prefix: $1, from: $2, reversed: $3, $4) },
            walkIndex: { _, _, _, _ in }, loadEvent: event)
    }

    /// Reads the views of a store in a transaction of it.
    package static func with<R>(
        _ journal: Journal, _ transaction: borrowing some TableReading & ~Copyable,
        _ body: (ViewReader) throws -> R
    ) throws -> R {
        let last = try journal.log.lastPosition(transaction)
        let state = try journal.views.state(last, transaction)
        func run(_ fold: (FoldedRows?) throws -> FoldedRows?) throws -> R {
            try withoutActuallyEscaping(fold) { fold in
                let mended = MendedRows(
                    journal.shared, state, journal.models, last: last, fold: fold)
                return try with(
                    journal.views, state, journal.models, last: last, mended, transaction,
                    event: { try journal.log.event(at: $0, transaction) },
                    { reader in
                        reader.shared = journal.shared
                        return try body(reader)
                    })
            }
        }
        return try run { try journal.foldedInMemory($0, to: last, transaction) }
    }

    /// Reads rows, whosever they are; the events come through `event`.
    static func with<R>(
        _ views: ViewTables, _ state: ViewTables.State, _ models: ModelCache, last: Position,
        _ mended: MendedRows?, _ transaction: borrowing some TableReading & ~Copyable,
        event: (Position) throws -> Event?, _ body: (ViewReader) throws -> R
    ) throws -> R {
        let generation = state.generation
        func run(
            _ load: (RowKey) throws -> [UInt8]?,
            _ walk: (Tree, [UInt8], [UInt8]?, Bool, ([UInt8], [UInt8]) throws -> Bool) throws ->
                Void,
            _ walkIndex: WalkIndex
        ) throws -> R {
            try withoutActuallyEscaping(load) { load in
                try withoutActuallyEscaping(walk) { walk in
                    try withoutActuallyEscaping(walkIndex) { walkIndex in
                        try withoutActuallyEscaping(event) { event in
                            try body(
                                ViewReader(
                                    models, state, last: last, load: load, walk: walk,
                                    walkIndex: walkIndex, loadEvent: event))
                        }
                    }
                }
            }
        }
        return try run(
            { key in
                func stored() throws -> [UInt8]? {
                    try transaction.get(views.table(key.tree, generation), key.bytes)
                }
                return if let mended { try mended.load(key, stored) } else { try stored() }
            },
            { tree, prefix, from, reversed, visit in
                func stored(_ visit: MendedRows.Visit) throws {
                    try views.scan(
                        tree, generation, prefix: prefix, from: from, reversed: reversed,
                        transaction, visit)
                }
                guard let mended else { return try stored(visit) }
                try mended.walk(tree, prefix, from, reversed, visit, stored)
            },
            { prefix, from, reversed, visit in
                func stored(_ visit: MendedRows.Visit) throws {
                    let table = views.indexTable(generation)
                    try transaction.scan(table, from: from, prefix: prefix, reversed: reversed) {
                        try visit($0.copied(), $1.copied())
                    }
                }
                guard let mended else { return try stored(visit) }
                try mended.walkIndex(prefix, from, reversed, visit, stored)
            })
    }

    // MARK: Damage

    /// How often the tables were made anew because a record was not what was written.
    package var mendings: Int { state.mendings }

    /// What was found the last time; empty for nothing.
    package var lastFound: String { state.lastFound }

    /// What was found in the tables that are there now, in this transaction or one before it, so
    /// that the log is folded and read instead; nil for nothing.
    package var damage: String? {
        state.isCurrent ? shared?.doubt(of: state)?.detail : state.problem.detail
    }

    // MARK: Rows

    package func row(_ key: RowKey) throws -> [UInt8]? { try load(key) }

    /// Walks over all rows of a tree in the order of their keys; `body` says whether to go on.
    package func forEachRow(
        of tree: Tree, _ body: (_ key: [UInt8], _ value: [UInt8]) throws -> Bool
    ) throws { try walk(tree, [], nil, false, body) }

    /// Walks over the ledger's rows under a prefix, in the order of their keys.
    func forEachRow(_ prefix: [UInt8], _ body: ([UInt8], [UInt8]) throws -> Void) throws {
        try forEachRow(prefix) { key, value in
            try body(key, value)
            return true
        }
    }

    /// The same; `body` says whether to go on.
    func forEachRow(_ prefix: [UInt8], _ body: ([UInt8], [UInt8]) throws -> Bool) throws {
        try walk(.ledger, prefix, nil, false, body)
    }

    /// The event at a position, or nil.
    package func event(at position: Position) throws -> Event? { try loadEvent(position) }

    /// The entity of a key, also by an id that is an alias.
    package func entity(_ key: EntityKey) throws -> EntityRow? { try found(key)?.row }

    /// The entity of a key, also by an id that is an alias, and the key that it keeps for life.
    package func found(_ key: EntityKey) throws -> (key: EntityKey, row: EntityRow)? {
        if let bytes = try load(.entity(key)) { return (key, try EntityRow(parsing: bytes)) }
        guard let target = try load(.binding(key)).flatMap({ EntityKey(bytes: $0) }) else {
            return nil
        }
        return try load(.entity(target)).map { (target, try EntityRow(parsing: $0)) }
    }

    /// Walks over entities by collection and id, tombstones included.
    package func forEachEntity(
        in collection: CollectionName? = nil,
        _ body: (EntityKey, EntityRow) throws -> Bool
    ) throws {
        let prefix = collection.map { EntityKey.prefix(of: $0) } ?? []
        try walk(.rows, prefix, nil, false) { key, value in
            guard let key = EntityKey(bytes: key) else { return true }
            return try body(key, try EntityRow(parsing: value))
        }
    }

    package func watermark(
        _ collection: CollectionName, scope: String = ""
    ) throws -> WatermarkRow? {
        try load(.watermark(collection, scope: scope)).map { try WatermarkRow(parsing: $0) }
    }

    package func fact(_ name: String) throws -> StoreFactRow? {
        try load(.store(name)).map { try StoreFactRow(parsing: $0) }
    }

    /// The registered model and remote, or nil before any is.
    package func registration() throws -> ModelRegistration? {
        try fact("model").map { try ModelRegistration(parsing: $0.payload, isLogged: true) }
    }

    /// The registered model; one without collections before any is.
    package func model() throws -> SyncModel {
        if let knownModel { return knownModel }
        let model =
            try fact("model").map { models.model($0) } ?? SyncModel(name: "", collections: [])
        knownModel = model
        return model
    }

    /// The indexes that the registered model asks for.
    func indexPlan() throws -> IndexPlan {
        if let knownPlan { return knownPlan }
        let plan =
            try fact("model").map { models.plan($0) }
            ?? IndexPlan(SyncModel(name: "", collections: []))
        knownPlan = plan
        return plan
    }

    /// What is seen of an entity, read by today's model; nil when there is none.
    package func document(_ key: EntityKey) throws -> [UInt8]? {
        try entity(key)?.document(in: try model()[key.collection])
    }

    /// The entities whose last push has no known outcome, by key.
    package func unknownAttempts() throws -> [EntityKey] {
        var keys: [EntityKey] = []
        try walk(.ledger, Ledger.attempts, nil, false) { key, _ in
            if let key = EntityKey(bytes: key.dropFirst()) { keys.append(key) }
            return true
        }
        return keys
    }

    /// The idempotency keys that are known, by their bytes.
    package func idempotencyKeys() throws -> [IdempotencyKey] {
        var keys: [IdempotencyKey] = []
        let prefix = RowKey.writeKey([]).bytes
        try walk(.ledger, prefix, nil, false) { key, _ in
            if let key = IdempotencyKey(bytes: Array(key.dropFirst(prefix.count))) {
                keys.append(key)
            }
            return true
        }
        return keys
    }

    package func mutation(_ position: Position) throws -> MutationRow? {
        try load(.mutation(position)).map { try MutationRow(parsing: $0) }
    }

    /// The row of a pending mutation, which may be one that follows from a rule.
    package func mutation(of item: EntityRow.Pending, _ key: EntityKey) throws -> MutationRow? {
        guard item.isDerived else { return try mutation(item.position) }
        return try load(.derived(item.position, key)).map { try MutationRow(parsing: $0) }
    }

    /// Walks over mutations in order: all of them, or only those that wait for the server or,
    /// refused by it, for the user.
    ///
    /// What follows from an event by a rule comes at that event's position, after the event's own.
    package func forEachMutation(
        openOnly: Bool = false, _ body: (Position, MutationRow) throws -> Bool
    ) throws {
        var derived = try derivedMutations(openOnly: openOnly)[...]
        var goesOn = true
        func visit(_ position: Position, _ row: MutationRow) throws -> Bool {
            while let next = derived.first, next.position < position {
                derived = derived.dropFirst()
                goesOn = try body(next.position, next.row)
                if !goesOn { return false }
            }
            goesOn = try body(position, row)
            return goesOn
        }
        if openOnly {
            try walk(.ledger, Ledger.open, nil, false) { key, _ in
                guard let position = Position(bigEndianBytes: key.dropFirst()),
                    let row = try mutation(position)
                else { return true }
                return try visit(position, row)
            }
        } else {
            try walk(.ledger, Ledger.mutations, nil, false) { key, value in
                guard let position = Position(bigEndianBytes: key.dropFirst()) else { return true }
                return try visit(position, try MutationRow(parsing: value))
            }
        }
        guard goesOn else { return }
        for next in derived where try !body(next.position, next.row) { return }
    }

    /// The mutations that follow from rules, by position and then by entity.
    private func derivedMutations(
        openOnly: Bool
    ) throws -> [(position: Position, row: MutationRow)] {
        var found: [(position: Position, row: MutationRow)] = []
        let prefix = openOnly ? Ledger.openDerived : Ledger.derived
        try walk(.ledger, prefix, nil, false) { bytes, value in
            guard let position = Position(bigEndianBytes: bytes.dropFirst().prefix(8)),
                let key = EntityKey(bytes: bytes.dropFirst(9)),
                let row = openOnly ? try load(.derived(position, key)) : value
            else { return true }
            found.append((position, try MutationRow(parsing: row)))
            return true
        }
        return found
    }

    /// Walks over decisions in order.
    package func forEachDecision(_ body: (Position, DecisionRow) throws -> Bool) throws {
        try walk(.ledger, Ledger.decisions, nil, false) { key, value in
            guard let position = Position(bigEndianBytes: key.dropFirst().prefix(8)) else {
                return true
            }
            return try body(position, try DecisionRow(parsing: value))
        }
    }

    /// Whether a placeholder was made after a position.
    package func hasPlaceholderDecision(after start: Position) throws -> Bool {
        var found = false
        try walk(.ledger, Ledger.decisions, nil, true) { key, value in
            guard let position = Position(bigEndianBytes: key.dropFirst().prefix(8)),
                position > start
            else { return false }
            found = try DecisionRow(parsing: value).rule == "placeholder"
            return !found
        }
        return found
    }

    /// Walks over sync runs, the last one first.
    package func forEachSyncRun(_ body: (Position, SyncRunRow) throws -> Bool) throws {
        try walk(.ledger, Ledger.syncRuns, nil, true) { key, value in
            guard let position = Position(bigEndianBytes: key.dropFirst()) else { return true }
            return try body(position, try SyncRunRow(parsing: value))
        }
    }
}
