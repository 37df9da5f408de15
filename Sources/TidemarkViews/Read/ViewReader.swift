// ViewReader.swift — reading views and log at one point in time.

package import TidemarkEvents
package import TidemarkLog
package import TidemarkRules
package import TidemarkStore

/// The views and the log as they are in one read transaction.
///
/// Not to be kept.
package final class ViewReader {
    /// The last position of the log.
    package let last: Position
    let rows: RowSource
    private let loadEvent: (Position) throws -> Event?
    private let loadBeginning: () throws -> LogBeginning?
    private let models: ModelCache
    private var knownModel: SyncModel?
    private var knownPlan: IndexPlan?
    private var knownToHaveBindings: Bool?
    private var knownTreeHolders: TreeHolders?
    var knownTreeNews: TreeNews?
    /// The first of the events that were asked for and that the log does not have.
    package private(set) var firstMissing: Position?
    /// What aliases stand for, of those that were asked for.
    private var knownKeys: [EntityKey: EntityKey] = [:]
    private let state: ViewTables.State
    /// Whether the rows are as this version of the library makes them.
    var isCurrent: Bool { state.isCurrent }
    /// From which event on they tell what changed.
    var toldSince: Position { state.toldSince }
    /// Where it is known which tables are in doubt.
    private var shared: SharedStore?
    /// What is read; nil where nobody asks.
    var region: ReadRegion?
    /// The files of the store, where it is open for writing and these are its rows of now.
    package private(set) var contentFiles: ContentFiles?

    private init(
        _ models: ModelCache, _ state: ViewTables.State, last: Position, _ rows: RowSource,
        loadEvent: @escaping (Position) throws -> Event?,
        loadBeginning: @escaping () throws -> LogBeginning? = { nil }
    ) {
        self.loadBeginning = loadBeginning
        self.models = models
        self.state = state
        self.last = last
        self.rows = rows
        self.loadEvent = loadEvent
    }

    /// Rows in memory, which have no indexes.
    convenience init(
        _ rows: RowSource, _ models: ModelCache, last: Position,
        event: @escaping (Position) throws -> Event?
    ) {
        self.init(models, ViewTables.State(), last: last, rows, loadEvent: event)
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
                    beginning: { try journal.log.beginning(transaction) },
                    { reader in
                        reader.shared = journal.shared
                        reader.contentFiles = journal.contentFiles
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
        event: (Position) throws -> Event?, beginning: () throws -> LogBeginning?,
        _ body: (ViewReader) throws -> R
    ) throws -> R {
        try withoutActuallyEscaping(event) { event in
            try withoutActuallyEscaping(beginning) { beginning in
                try views.withRows(state.generation, transaction) { stored in
                    let rows = mended?.source(over: stored) ?? stored
                    return try body(
                        ViewReader(
                            models, state, last: last, rows, loadEvent: event,
                            loadBeginning: beginning))
                }
            }
        }
    }

    // MARK: Damage

    /// How often the tables were rebuilt because a record was not what was written.
    package var mendings: Int { state.mendings }

    /// What was found the last time; empty for nothing.
    package var lastFound: String { state.lastFound }

    /// What was found in the tables that are there now, in this transaction or one before it, so
    /// that the log is folded and read instead; nil for nothing.
    package var damage: String? {
        state.isDamaged ? state.problem.detail : shared?.doubt(of: state)?.detail
    }

    /// Whether another version made the tables, so that the log is folded and read instead.
    package var isOutdated: Bool { !state.isCurrent && !state.isDamaged }

    /// What a newer version made otherwise, where it made the tables; nil for nothing.
    package var madeByNewer: String? { state.madeByNewer }

    // MARK: Rows

    /// The event at a position, or nil.
    package func event(at position: Position) throws -> Event? {
        region?.noteEverything()
        let event = try loadEvent(position)
        if event == nil, position > .start {
            firstMissing = min(firstMissing ?? position, position)
        }
        return event
    }

    /// Where the log begins, if that is behind its first event.
    package func beginning() throws -> LogBeginning? {
        region?.noteEverything()
        return try loadBeginning()
    }

    /// The same, where a position is before it; else nil.
    package func beginning(after position: Position) throws -> LogBeginning? {
        try beginning().flatMap { position > .start && position < $0.first ? $0 : nil }
    }

    /// The entity that an id names, an alias too; nil where there is none.
    package func entity(_ key: EntityKey) throws -> EntityRow? { try found(key)?.row }

    /// The indexes that the registered model asks for.
    package func indexPlan() throws -> IndexPlan {
        if let knownPlan { return knownPlan }
        let plan =
            try fact("model").map { models.plan($0) }
            ?? IndexPlan(SyncModel(name: "", collections: []))
        knownPlan = plan
        return plan
    }

    /// The names of the indexes that are there.
    package var indexNames: [[UInt8]] { state.currentIndexes(last) }

    /// Walks over the ledger's rows under a prefix, the last one first; `body` says whether to go
    /// on.
    func walkBack(_ prefix: [UInt8], _ body: ([UInt8], [UInt8]) throws -> Bool) throws {
        try walkLedger(prefix, reversed: true, body)
    }

    /// Walks over sync runs, the last one first.
    package func forEachSyncRun(_ body: (Position, SyncRunRow) throws -> Bool) throws {
        try walkBack(Ledger.syncRuns) { key, value in
            guard let position = Position(bigEndianBytes: key.dropFirst()) else { return true }
            return try body(position, try SyncRunRow(parsing: value))
        }
    }

    /// The last sync run; nil before the first.
    package func lastSyncRun() throws -> (position: Position, row: SyncRunRow)? {
        var last: (position: Position, row: SyncRunRow)?
        try forEachSyncRun { position, row in
            last = (position, row)
            return false
        }
        return last
    }
}

extension ViewReader: RowReading {
    package func get(_ key: RowKey) throws -> [UInt8]? {
        region?.note(key.tree, key.bytes)
        return try rows.get(key)
    }

    /// Looks at the rows of the ledger under a prefix, in order, without a copy of them.
    func skim(_ prefix: [UInt8], _ body: RowSource.Glance) throws {
        region?.note(.ledger, prefix)
        try rows.skim(prefix, body)
    }

    package func walk(
        _ tree: Tree, _ prefix: [UInt8], from: [UInt8],
        _ body: ([UInt8], [UInt8]) throws -> Bool
    ) throws {
        region?.note(tree, prefix)
        try rows.walk(tree, prefix, from.isEmpty ? nil : from, false, body)
    }

    package func model() throws -> SyncModel {
        if let knownModel { return knownModel }
        let model =
            try fact("model").map { models.model($0) } ?? SyncModel(name: "", collections: [])
        knownModel = model
        return model
    }

    package var hasBindings: Bool {
        get throws {
            if let knownToHaveBindings { return knownToHaveBindings }
            let isThere = try hasLedgerRow(Ledger.bindings)
            knownToHaveBindings = isThere
            return isThere
        }
    }

    package func resolve(_ key: EntityKey) throws -> EntityKey {
        guard try hasBindings else { return key }
        if let known = knownKeys[key] { return known }
        let lasting = try get(.binding(key)).flatMap { EntityKey(bytes: $0) } ?? key
        if knownKeys.count < Self.knownKeysMax { knownKeys[key] = lasting }
        return lasting
    }

    private static let knownKeysMax = 4096

    package func entity(at place: RowKey) throws -> EntityRow {
        try get(place).map { try EntityRow(parsing: $0) } ?? EntityRow()
    }

    package func forEachEntity(
        in collection: CollectionName?, _ body: (EntityKey, EntityRow) throws -> Bool
    ) throws {
        try walk(.rows, collection.map { EntityKey.prefix(of: $0) } ?? []) { key, value in
            guard let key = EntityKey(bytes: key) else { return true }
            return try body(key, try EntityRow(parsing: value))
        }
    }

    package func mutation(_ position: Position) throws -> MutationRow? {
        try storedMutation(position) { try get($0) }
    }

    package func failing(_ key: EntityKey) throws -> FailingRow? {
        try get(.failing(key)).map { try FailingRow(parsing: $0) }
    }

    package func serverClock() throws -> ServerClock? {
        try get(.clock).map { try ServerClock(parsing: $0) }
    }

    package func hidesAny() throws -> Bool { try get(.hiddenCount) != nil }
}

extension ViewReader: IndexReading {
    package func walkIndex(
        _ index: KeptIndex, of collection: CollectionName, from: [UInt8]?, reversed: Bool,
        isPast: ([UInt8]) -> Bool, _ body: ([UInt8], [UInt8]) throws -> Bool
    ) throws {
        region?.note(collection)
        try rows.walkIndex(index.name, from, reversed, body)
    }

    package func walkLedger(
        _ prefix: [UInt8], reversed: Bool, _ body: ([UInt8], [UInt8]) throws -> Bool
    ) throws {
        region?.note(.ledger, prefix)
        try rows.walk(.ledger, prefix, nil, reversed, body)
    }

    package func forEachEntity(
        in collection: CollectionName, from id: String?, reversed: Bool,
        _ body: (EntityKey, EntityRow) throws -> Bool
    ) throws {
        region?.note(collection)
        let from = id.map { EntityKey(collection, $0).bytes }
        try rows.walk(.rows, EntityKey.prefix(of: collection), from, reversed) { key, value in
            guard let key = EntityKey(bytes: key) else { return true }
            return try body(key, try EntityRow(parsing: value))
        }
    }

    package func row(at place: RowKey) throws -> EntityRow? {
        try get(place).map { try EntityRow(parsing: $0) }
    }
}

extension ViewReader {
    /// What the pending changes of trees wait for, read once.
    package func treeHolders(_ model: SyncModel) throws -> TreeHolders {
        if let knownTreeHolders { return knownTreeHolders }
        let holders = try TreeHolders(self, model)
        knownTreeHolders = holders
        return holders
    }
}
