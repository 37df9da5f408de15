// ViewTables.swift — where the view rows lie in the store: two generations, one of them live.
//
//   table             holds
//   rows.a rows.b     the tree of entities, by generation
//   ledger.a ledger.b the ledger, by generation
//   index.a index.b   the indexes, by generation (IndexPlan.swift)
//   "views"           which generation is live, the fingerprints it was made with, its indexes and
//                     how far they are; a single value of the store

package import TidemarkEvents
package import TidemarkLog
package import TidemarkStore

/// One of the two sets of view tables.
package enum Generation: UInt64, Sendable {
    case a = 1
    case b = 2

    package var other: Generation { self == .a ? .b : .a }
}

extension ViewTables.State {
    private static let checksum: UInt32 = 15

    fileprivate var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.varint(1, generation.rawValue)
        writer.bytes(2, fingerprints)
        for name in indexes { writer.bytes(3, name) }
        if !indexes.isEmpty { writer.position(4, indexedTo) }
        writer.varint(5, UInt64(mendings))
        writer.string(6, lastFound)
        if toldSince > .start { writer.position(7, toldSince) }
        writer.varint(Self.checksum, 1 << 32 | UInt64(CRC32C.checksum(of: writer.bytes)))
        return writer.bytes
    }

    /// Reads what ``encoded`` wrote; states of earlier versions are without a checksum.
    ///
    /// - Throws: ``ProtoError`` where it is not what was written.
    fileprivate init(parsing bytes: [UInt8]) throws(ProtoError) {
        self.init()
        fingerprints = []
        var isChecked = false
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1:
                guard let known = Generation(rawValue: try field.unsigned()) else {
                    throw .valueOutOfRange(1)
                }
                generation = known
            case 2: fingerprints = try field.bytes()
            case 3: indexes.append(try field.bytes())
            case 4: indexedTo = try field.position()
            case 5: mendings = Int(clamping: try field.unsigned())
            case 6: lastFound = try field.string()
            case 7: toldSince = try field.position()
            case Self.checksum:
                let before = bytes.prefix(bytes.count - Self.checksumBytes)
                let known = 1 << 32 | UInt64(CRC32C.checksum(of: Array(before)))
                guard try field.unsigned() == known else { throw .valueOutOfRange(field.number) }
                isChecked = true
            default: continue
            }
        }
        guard isChecked || !isCurrent else { throw .valueOutOfRange(Self.checksum) }
    }

    /// The field with the checksum: its tag and, as the bit above makes all alike, five bytes.
    private static let checksumBytes = 6
}

/// The view tables of one store.
package struct ViewTables: Sendable {
    package static let tableNames = [
        "rows.a", "ledger.a", "rows.b", "ledger.b", "index.a", "index.b",
    ]
    /// All of them: what they hold can be made again, so a record that is not what was written is
    /// never used.
    package static let checkedTables = Set(tableNames)

    private let catalog: Catalog
    private let tables: [Table]
    /// The log whose events rows may name instead of holding what they say; nil for tables that are
    /// beside none.
    private let log: EventLog?

    package init(_ environment: Environment, beside log: EventLog? = nil) {
        self.log = log
        catalog = Catalog(environment)
        tables = Self.tableNames.map { environment.table($0) }
    }

    /// A store for view tables alone, in a directory of its own.
    static func makeScratch(in directory: String) throws(StoreError) -> Environment {
        try Environment.open(
            at: directory,
            Environment.Options(tables: tableNames, checkedTables: checkedTables))
    }

    package func table(_ tree: Tree, _ generation: Generation) -> Table {
        tables[(generation == .a ? 0 : 2) + (tree == .rows ? 0 : 1)]
    }

    package func indexTable(_ generation: Generation) -> Table {
        tables[generation == .a ? 4 : 5]
    }

    /// The tables of one generation.
    func allTables(of generation: Generation) -> [Table] {
        Tree.allCases.map { table($0, generation) } + [indexTable(generation)]
    }

    /// Removes the rows and the indexes of one generation.
    func clear(_ generation: Generation, _ transaction: borrowing WriteTransaction) throws {
        for table in allTables(of: generation) { try transaction.clear(table) }
    }

    /// Which generation is live, and by which rules its rows were made.
    package struct State: Sendable, Hashable {
        package var generation = Generation.a
        package var fingerprints: [UInt8] = State.todaysFingerprints
        /// The names of the indexes that the generation has, in order.
        package var indexes: [[UInt8]] = []
        /// The last event that the indexes know of.
        ///
        /// A version of Tidemark that keeps no indexes adds events and leaves this as it is: the
        /// indexes are out of date then.
        package var indexedTo = Position.start
        /// How often the tables were rebuilt because a record was not what was written.
        package var mendings = 0
        /// What was found the last time.
        package var lastFound = ""
        /// The last event when rows of other rules were made anew: what they said before is not
        /// known, so that it is told from there on what changed.
        var toldSince = Position.start
        /// Whether the state itself is not what was written.
        package private(set) var isDamaged = false

        package init() {}

        /// A state that nothing is known of.
        fileprivate static var damaged: State {
            var state = State()
            state.isDamaged = true
            return state
        }

        /// Those of the views, and behind them how records are stored: 3, with a checksum, and with
        /// documents named by their events.
        private static let todaysFingerprints =
            View.allFingerprints + recordsFingerprint(recordsVersion)
        /// How records are stored.
        private static let recordsVersion = 3

        private static func recordsFingerprint(_ version: Int) -> [UInt8] {
            Array(SHA256Digest.of(Array("records/\(version)".utf8)).prefix(4))
        }

        /// Whether today's rules would make the same rows.
        package var isCurrent: Bool { !isDamaged && fingerprints == Self.todaysFingerprints }

        /// What a newer version made otherwise than this one, in words; nil where none is known to
        /// have made the rows.
        var madeByNewer: String? {
            guard !isCurrent else { return nil }
            for (index, view) in View.allCases.enumerated() {
                let known = Array(fingerprints.dropFirst(index * 4).prefix(4))
                if let version = view.version(of: known), version > view.version {
                    return "view \(view) has version \(version), here it has \(view.version)"
                }
            }
            if fingerprints.count > Self.todaysFingerprints.count { return "it has more views" }
            let records = Array(fingerprints.dropFirst(View.allFingerprints.count))
            let newer = (Self.recordsVersion + 1)...(Self.recordsVersion + 1_000)
            return newer.first { Self.recordsFingerprint($0) == records }
                .map { "records have version \($0), here they have \(Self.recordsVersion)" }
        }

        /// The names of the indexes that can be relied on in a log that ends there.
        package func currentIndexes(_ last: Position) -> [[UInt8]] {
            indexedTo == last ? indexes : []
        }
    }

    /// The state; nil in a store that nothing was written to yet.
    package func state(_ transaction: borrowing some TableReading & ~Copyable) throws -> State? {
        guard let bytes = try catalog.value(.views, transaction) else { return nil }
        return (try? State(parsing: bytes)) ?? State.damaged
    }

    /// The state of a log that ends there; one that events are there without is damaged.
    package func state(
        _ last: Position, _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> State {
        Self.state(try state(transaction), of: last)
    }

    /// The state that is stored, or that of a log that ends there where none is.
    static func state(_ stored: State?, of last: Position) -> State {
        stored ?? (last == .start ? State() : State.damaged)
    }

    package func setState(_ state: State, _ transaction: borrowing WriteTransaction) throws {
        try catalog.set(.views, state.encoded, transaction)
    }

    /// The account that the rows name, those of another version, too; nil where they name none
    /// or can't be read.
    package func account(_ transaction: borrowing some TableReading & ~Copyable) -> String? {
        guard let state = try? state(transaction), !state.isDamaged,
            let bytes = try? row(.store("opened"), state.generation, transaction),
            let fact = try? StoreFactRow(parsing: bytes)
        else { return nil }
        return StoreOpened(stored: fact.payload).account
    }

    /// Whether any id is another one's alias.
    package func hasBindings(
        _ generation: Generation, _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> Bool {
        var found = false
        try transaction.scan(
            table(.ledger, generation), from: nil, prefix: Ledger.bindings, reversed: false
        ) { _, _ in
            found = true
            return false
        }
        return found
    }

    /// Reads the rows and indexes of one generation; the source must not be kept.
    func withRows<R>(
        _ generation: Generation, _ transaction: borrowing some TableReading & ~Copyable,
        _ body: (RowSource) throws -> R
    ) throws -> R {
        func run(
            _ get: (RowKey) throws -> [UInt8]?,
            _ walk: (Tree, [UInt8], [UInt8]?, Bool, RowSource.Visit) throws -> Void,
            _ skim: ([UInt8], RowSource.Glance) throws -> Void,
            _ walkIndex: ([UInt8], [UInt8]?, Bool, RowSource.Visit) throws -> Void
        ) throws -> R {
            try withoutActuallyEscaping(get) { get in
                try withoutActuallyEscaping(walk) { walk in
                    try withoutActuallyEscaping(skim) { skim in
                        try withoutActuallyEscaping(walkIndex) { walkIndex in
                            try body(
                                RowSource(get: get, walk: walk, skim: skim, walkIndex: walkIndex))
                        }
                    }
                }
            }
        }
        return try run(
            { key in try row(key, generation, transaction) },
            { tree, prefix, from, reversed, visit in
                try scan(
                    tree, generation, prefix: prefix, from: from, reversed: reversed, transaction,
                    visit)
            },
            { prefix, visit in
                try transaction.scan(
                    table(.ledger, generation), from: nil, prefix: prefix, reversed: false, visit)
            },
            { prefix, from, reversed, visit in
                let table = indexTable(generation)
                try transaction.scan(table, from: from, prefix: prefix, reversed: reversed) {
                    try visit($0.copied(), $1.copied())
                }
            })
    }

    /// Folds over the rows of one generation; the fold must not be kept.
    func withFold<R>(
        _ models: ModelCache, hasBindings: Bool = true, remembersRows: Bool = false,
        indexNames: [[UInt8]] = [], _ generation: Generation,
        _ transaction: borrowing WriteTransaction, _ body: (Fold) throws -> R
    ) throws -> R {
        try withRows(generation, transaction) { rows in
            try body(
                Fold(
                    rows, models, hasBindings: hasBindings, remembersRows: remembersRows,
                    indexNames: indexNames))
        }
    }

    /// Writes row changes into one generation.
    package func write(
        _ changes: RowChanges, _ generation: Generation, _ transaction: borrowing WriteTransaction
    ) throws {
        _ = try write(changes, of: nil, releasing: .start, generation, transaction)
    }

    /// Writes the rows that `rows` hands over, best in the order of their keys, into one
    /// generation; nil removes one.
    package func write(
        _ generation: Generation, _ transaction: borrowing WriteTransaction,
        _ rows: ((RowKey, [UInt8]?) throws -> Void) throws -> Void
    ) throws {
        try transaction.withSorted(table(.rows, generation)) { entities in
            try transaction.withSorted(table(.ledger, generation)) { ledger in
                try rows { key, value in
                    if key.tree == .rows {
                        let record = try value.map { try self.stored($0, of: nil, transaction) }
                        try entities.write(key.bytes, record)
                    } else {
                        try ledger.write(key.bytes, value)
                    }
                }
            }
        }
    }

    /// Walks over the rows of one tree in key order; `body` says whether to go on.
    package func scan(
        _ tree: Tree, _ generation: Generation, prefix: [UInt8] = [], from: [UInt8]? = nil,
        reversed: Bool = false, _ transaction: borrowing some TableReading & ~Copyable,
        _ body: (_ key: [UInt8], _ value: [UInt8]) throws -> Bool
    ) throws {
        let table = table(tree, generation)
        try transaction.scan(table, from: from, prefix: prefix, reversed: reversed) { key, value in
            try body(
                key.copied(), tree == .rows ? whole(value, key, transaction) : value.copied())
        }
    }

    /// The row under a key; nil when there is none.
    package func row(
        _ key: RowKey, _ generation: Generation,
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> [UInt8]? {
        let table = table(key.tree, generation)
        guard key.tree == .rows else { return try transaction.get(table, key.bytes) }
        return try transaction.withValue(table, key.bytes) {
            try whole($0, key.bytes.span, transaction)
        }
    }

    /// The events up to one that the rows of entities name.
    func named(
        by entities: Set<EntityKey>, through last: Position, _ generation: Generation,
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> Set<Position> {
        let hasBindings = try hasBindings(generation, transaction)
        var named: Set<Position> = []
        for entity in entities {
            var key = entity.bytes
            if hasBindings, let own = try row(.binding(entity), generation, transaction) {
                key = own
            }
            named.formUnion(try self.named(by: key, through: last, generation, transaction))
        }
        return named
    }

    /// The events up to one that any row names.
    func named(
        through last: Position, _ generation: Generation,
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> Set<Position> {
        var named: Set<Position> = []
        try transaction.scan(
            table(.rows, generation), from: nil, prefix: [], reversed: false
        ) { _, stored in
            named.formUnion(try StoredRow.named(in: stored, through: last))
            return true
        }
        return named
    }

    private func named(
        by key: [UInt8], through last: Position, _ generation: Generation,
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> [Position] {
        try transaction.withValue(table(.rows, generation), key) {
            try StoredRow.named(in: $0, through: last)
        } ?? []
    }

    /// Writes row changes as ``write(_:_:_:)`` does.
    ///
    /// - Parameters:
    ///   - fresh: the events that the changes follow from.
    ///   - last: the last event that is sealed.
    /// - Returns: the sealed events that the rows named before, and don't any more.
    func write(
        _ changes: RowChanges, of fresh: FreshEvents?, releasing last: Position,
        _ generation: Generation, _ transaction: borrowing WriteTransaction
    ) throws -> [Position] {
        var before: [Position] = []
        if last > .start {
            for (key, _) in changes where key.tree == .rows {
                before += try named(by: key.bytes, through: last, generation, transaction)
            }
        }
        var still: Set<Position> = []
        try transaction.withSorted(table(.rows, generation)) { entities in
            try transaction.withSorted(table(.ledger, generation)) { ledger in
                for (key, value) in changes {
                    guard key.tree == .rows else {
                        try ledger.write(key.bytes, value)
                        continue
                    }
                    let record = try value.map { try self.stored($0, of: fresh, transaction) }
                    try entities.write(key.bytes, record)
                    guard !before.isEmpty, let record else { continue }
                    still.formUnion(try StoredRow.named(in: record.span, through: last))
                }
            }
        }
        return before.filter { !still.contains($0) }
    }

    /// What to store of an entity's row.
    private func stored(
        _ row: [UInt8], of fresh: FreshEvents?, _ transaction: borrowing WriteTransaction
    ) throws -> [UInt8] {
        guard let log else { return row }
        return try StoredRow.encode(row) { position, document in
            if let payload = fresh?.inlinePayload(at: position) {
                return ByteOrder.areEqual(payload.span, document)
            }
            var isSame = false
            try log.lendPayloadInTable(at: position, transaction) {
                isSame = ByteOrder.areEqual($0, document)
            }
            return isSame
        }
    }

    /// An entity's row of what is stored of it.
    private func whole(
        _ stored: Span<UInt8>, _ key: Span<UInt8>,
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> [UInt8] {
        do {
            return try StoredRow.decode(stored) { position in
                let payload = try log?.inlinePayload(at: position, transaction)
                guard let payload else {
                    throw LogError(
                        .missingEvent, at: position,
                        "a row of the tables names it, the log lacks it")
                }
                return payload
            }
        } catch let error as ProtoError {
            let row = RowKey(.rows, key.copied())
            throw LogError(
                .corruptRow, at: .start, "the row \(row) of view \(row.view) is damaged: \(error)")
        }
    }
}

/// The events of the commit that is being written.
struct FreshEvents {
    let first: Position
    let events: [Event]

    /// The payload of one of them where it lies in its frame; nil for others.
    func inlinePayload(at position: Position) -> [UInt8]? {
        guard position >= first, position.rawValue - first.rawValue < UInt64(events.count) else {
            return nil
        }
        let index = Int(position.rawValue - first.rawValue)
        guard events[index].payload.count <= EventLog.inlinePayloadBytesMax else { return nil }
        return events[index].payload
    }
}
