// MendedRows.swift — reading rows where the stored ones are not what was written: the log is folded
// in memory, up to where the transaction sees it, and what it makes is read instead.

package import TidemarkEvents
import TidemarkLog
import TidemarkStore

/// The rows of one transaction: as they are stored or, once one of them was found not to be what
/// was written, as the log makes them.
final class MendedRows {
    private let shared: SharedStore
    private let state: ViewTables.State
    private let models: ModelCache
    private let fold: (FoldedRows?) throws -> FoldedRows?
    private let last: Position
    private var made: MemoryRows?

    /// - Parameters:
    ///   - last: the last position of the log that the transaction sees.
    ///   - fold: folds the log from some rows, or from its beginning, up to there; nil where that
    ///     is too much for memory.
    init(
        _ shared: SharedStore, _ state: ViewTables.State, _ models: ModelCache, last: Position,
        fold: @escaping (FoldedRows?) throws -> FoldedRows?
    ) {
        self.shared = shared
        self.state = state
        self.models = models
        self.last = last
        self.fold = fold
    }

    /// The rows of a source, or those that the log makes in the place of damaged ones.
    func source(over stored: RowSource) -> RowSource {
        RowSource(
            get: { try self.get($0, stored) },
            walk: { try self.walk($0, $1, $2, $3, stored, $4) },
            skim: { try self.skim($0, stored, $1) },
            walkIndex: { try self.walkIndex($0, $1, $2, stored, $3) })
    }

    private func get(_ key: RowKey, _ stored: RowSource) throws -> [UInt8]? {
        if let rows = try rowsInDoubt() { return rows[key] }
        do { return try stored.get(key) } catch let error as StoreError
            where error.code == .damagedTable
        {
            return try rows(insteadOf: error)[key]
        }
    }

    private func walk(
        _ tree: Tree, _ prefix: [UInt8], _ from: [UInt8]?, _ reversed: Bool, _ stored: RowSource,
        _ visit: RowSource.Visit
    ) throws {
        let rest = try rest(after: visit) { try stored.walk(tree, prefix, from, reversed, $0) }
        guard let (rows, done) = rest else { return }
        try rows.scan(tree, prefix: prefix, from: done ?? from, reversed: reversed) { key, value in
            if key == done { return true }
            return try visit(key, value)
        }
    }

    /// Walks as long as the stored rows are right; where they are not, the rest of them is walked
    /// over as the log makes it.
    private func skim(
        _ prefix: [UInt8], _ stored: RowSource, _ visit: RowSource.Glance
    ) throws {
        let rest = try rest { progress in
            try stored.skim(prefix) { key, value in
                progress.done(key)
                do { return try visit(key, value) } catch {
                    progress.isVisitors = true
                    throw error
                }
            }
        }
        guard let (rows, done) = rest else { return }
        try rows.scan(.ledger, prefix: prefix, from: done) { key, value in
            if key == done { return true }
            return try visit(key.span, value.span)
        }
    }

    private func walkIndex(
        _ prefix: [UInt8], _ from: [UInt8]?, _ reversed: Bool, _ stored: RowSource,
        _ visit: RowSource.Visit
    ) throws {
        let rest = try rest(after: visit) { try stored.walkIndex(prefix, from, reversed, $0) }
        guard let (rows, done) = rest else { return }
        try rows.scan(index: prefix, models, from: done ?? from, reversed: reversed) { key, value in
            if key == done { return true }
            return try visit(key, value)
        }
    }

    /// How far a walk over stored rows came.
    private struct Progress {
        /// The last key that was handed over.
        var done: [UInt8]?
        /// Whether it was the visitor who failed.
        var isVisitors = false

        mutating func done(_ key: Span<UInt8>) {
            // Into the same memory, where that is as long.
            guard var bytes = done.take(), bytes.count == key.count else {
                done = key.copied()
                return
            }
            for index in bytes.indices { bytes[index] = key[index] }
            done = bytes
        }
    }

    /// Walks over stored rows, up to the first damaged one.
    ///
    /// - Returns: the rows to go on with, and the last key that was handed over, which is right
    ///   with all before it; nil when the walk came to its end.
    private func rest(
        after visit: RowSource.Visit, _ walk: @escaping (RowSource.Visit) throws -> Void
    ) throws -> (rows: MemoryRows, done: [UInt8]?)? {
        try rest { progress in
            try walk { key, value in
                progress.done = key
                do { return try visit(key, value) } catch {
                    progress.isVisitors = true
                    throw error
                }
            }
        }
    }

    private func rest(
        _ walk: (inout Progress) throws -> Void
    ) throws -> (rows: MemoryRows, done: [UInt8]?)? {
        if let rows = try rowsInDoubt() { return (rows, nil) }
        var progress = Progress()
        do { try walk(&progress) } catch let error as StoreError
            where error.code == .damagedTable && !progress.isVisitors
        {
            let rows = try rows(insteadOf: error)
            // Where records are out of order or missing, some may have been passed over.
            guard error.isAboutRecord || progress.done == nil else { throw error }
            return (rows, progress.done)
        }
        return nil
    }

    /// The rows that the log makes, where the stored ones are known not to be those; else nil.
    private func rowsInDoubt() throws -> MemoryRows? {
        if let made { return made }
        if let doubt = shared.doubt(of: state) { return try rows(insteadOf: doubt) }
        return state.isCurrent ? nil : try rows(insteadOf: state.problem)
    }

    private func rows(insteadOf error: @autoclosure () -> StoreError) throws -> MemoryRows {
        if state.isCurrent || state.isDamaged { shared.doubt(error(), state) }
        guard let folded = try fold(shared.folded(upTo: last)) else { throw error() }
        shared.keep(folded)
        made = folded.rows
        return folded.rows
    }
}

/// Rows folded in memory, and how far.
struct FoldedRows: Sendable {
    var last: Position
    var rows: MemoryRows
}

extension Journal {
    /// What was found in the tables by a read of this process, which read the log instead; nil for
    /// nothing, also once the tables were rebuilt.
    package var foundDamage: String? { shared.foundDamage }

    /// The first event that a read passed over because it can't be read; nil for none.
    ///
    /// What was read is not all there is then.
    package var passedOver: String? {
        shared.passedOver.withLock { first in
            first.map { "the event \($0.position) can't be read: \($0.why)" }
        }
    }

    /// An event for who goes on without those that can't be read; nil for such a one, noted.
    package func readable<R>(at position: Position, _ read: () throws -> R) -> R? {
        do { return try read() } catch {
            shared.passedOver.withLock { first in
                guard first.map({ position < $0.position }) ?? true else { return }
                let detail = (error as? LogError)?.detail ?? (error as? StoreError)?.detail
                first = (position, detail ?? "\(error)")
            }
            return nil
        }
    }

    /// Folds the log in memory up to a position, from rows that are known or the nearest snapshot.
    ///
    /// - Returns: nil where that is too much for memory.
    func foldedInMemory(
        _ known: FoldedRows?, to last: Position,
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> FoldedRows? {
        var folded = known ?? FoldedRows(last: .start, rows: MemoryRows())
        if known == nil {
            try withNearestSnapshot(to: last, transaction) { manifest in
                var rows: RowChanges = []
                try snapshots.forEachRow(of: manifest, transaction) { rows.append(($0, $1)) }
                folded.rows.write(rows)
                folded.last = manifest.position
            }
        }
        let eventsMax = shared.eventsInMemoryMax.withLock(\.self)
        guard last.rawValue - folded.last.rawValue <= eventsMax else { return nil }
        let changes = try folded.rows.withFold(models) { fold in
            try log.forEach(from: folded.last.next, transaction) { position, event in
                guard position <= last else { return false }
                try fold.apply(event, at: position)
                return position < last
            }
            return fold.sortedChanges
        }
        folded.rows.write(changes)
        folded.last = last
        return folded
    }
}

extension MemoryRows {
    /// Walks over the records that an index would have for the rows.
    fileprivate func scan(
        index name: [UInt8], _ models: ModelCache, from: [UInt8]?, reversed: Bool,
        _ visit: ([UInt8], [UInt8]) throws -> Bool
    ) throws {
        guard let fact = self[.store("model")] else { return }
        let plan = IndexPlan(models.plan(try StoreFactRow(parsing: fact)), only: [name])
        var entries: [IndexEntry] = []
        for collection in plan.collections {
            let prefix = collection.rowPrefix
            try scan(.rows, prefix: prefix) { key, row in
                entries += collection.entries(
                    try collection.values(of: row), id: key[prefix.count...])
                return true
            }
        }
        entries.sort { reversed != IndexEntry.precedes($0, $1) }
        for entry in entries {
            if let from {
                let isBefore =
                    reversed
                    ? ByteOrder.precedes(from, entry.key) : ByteOrder.precedes(entry.key, from)
                if isBefore { continue }
            }
            guard try visit(entry.key, entry.value) else { return }
        }
    }
}

extension StoreError {
    /// Whether one record is not what was written, and those before it are.
    fileprivate var isAboutRecord: Bool { during == "read" }
}

extension ViewTables.State {
    /// Why the tables are not read.
    var problem: StoreError {
        if isDamaged {
            return StoreError(
                .damagedTable, during: "read",
                detail: "the value \"views\" is not what was written")
        }
        if let why = madeByNewer {
            return StoreError(
                .newerFormat, during: "read",
                detail: "a newer version made the store's tables (\(why))")
        }
        return StoreError(
            .otherVersion, during: "read", detail: "another version made the store's tables")
    }
}
