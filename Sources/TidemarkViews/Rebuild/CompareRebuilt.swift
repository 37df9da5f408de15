// CompareRebuilt.swift — folding the log again, into a store of its own beside the live one, and
// comparing: each commit with the digests it recorded, and in the end each row with the live one.

package import TidemarkEvents
package import TidemarkLog
import TidemarkStore

/// How the views differ from a new fold of the log.
package struct RebuildComparison: Sendable, Hashable {
    /// The first commit that recorded other rows than a new fold makes.
    package var commit: CommitDifference?
    /// The rows that differ now, in key order.
    package var rows: [RowDifference] = []
    /// The records of indexes that are not as the live rows have them, when the rows are right.
    package var indexes: [IndexDifference] = []
    /// The snapshots whose rows are not those that a new fold makes at their position.
    package var snapshots: [LogError] = []
    /// Whether other rules made the rows that are there, so that they were not compared.
    package var isOutdated = false

    package var isEqual: Bool {
        commit == nil && rows.isEmpty && indexes.isEmpty && snapshots.isEmpty
    }
}

/// A commit that recorded other rows than a new fold makes of its events, by the same rules.
package struct CommitDifference: Sendable, Hashable, CustomStringConvertible {
    /// The commit's last event.
    package var position: Position
    package var view: View
    /// The first row that differs, or nil when only the commit knows of it.
    package var key: RowKey?

    package var description: String {
        let row = key.map { "the row \($0)" } ?? "a row"
        return "the commit recorded \(row) of view \(view) otherwise than a new fold makes it"
    }
}

/// A row that a new fold makes differently.
package struct RowDifference: Sendable, Hashable, CustomStringConvertible {
    /// The last event of the first commit after which rows differ; nil when no commit wrote the
    /// row.
    ///
    /// Where every commit recorded just what a new fold makes, the row was changed later, and this
    /// is the last commit that wrote it.
    package var commit: Position?
    package var view: View
    package var tree: Tree
    package var key: [UInt8]
    package var live: [UInt8]?
    package var rebuilt: [UInt8]?

    /// What is wrong, without the place.
    package var summary: String {
        let how = live == nil ? "missing" : rebuilt == nil ? "left over" : "different"
        return "the row \(RowKey(tree, key)) of view \(view) is \(how)"
    }

    package var description: String { (commit.map { "\($0): " } ?? "") + summary }
}

extension RowKey: CustomStringConvertible {
    /// The key as people read it: `tasks/1`, or for a row of the ledger `o/@12` or `b/tasks/1`.
    package var description: String {
        guard tree == .ledger, let first = bytes.first else { return Self.words(bytes[...]) }
        let prefix = Self.words([first]) + "/"
        if let position = Position(bigEndianBytes: bytes.dropFirst().prefix(8)) {
            switch sort {
            case .decisions, .settled, .open, .runs: return prefix + "\(position)"
            case .settledDerived, .openDerived, .overtaken:
                if bytes.count > 9 {
                    return prefix + "\(position)/" + Self.words(bytes.dropFirst(9))
                }
            default: break
            }
        }
        return prefix + Self.words(bytes.dropFirst())
    }

    private static func words(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes.map { $0 < 0x20 ? UInt8(ascii: "/") : $0 }, as: UTF8.self)
    }
}

extension Journal {
    /// Folds the whole log into a new store beside this one and compares.
    ///
    /// Changes nothing here, and needs no more memory for a longer log. A writer may go on
    /// meanwhile.
    ///
    /// - Parameters:
    ///   - scratch: the directory to make the new store in, which the caller removes.
    ///   - differencesMax: how many rows are listed at most.
    ///   - eventsPerStep: how many events, roughly, are read in one transaction; a longer one would
    ///     keep a writer from using old pages again.
    ///   - progress: called after each step; what it throws cuts the comparison short.
    package func compareWithRebuilt(
        in scratch: String, differencesMax: Int = 100, eventsPerStep: Int = 1000,
        progress: (RebuildProgress) throws -> Void = { _ in }
    ) throws -> RebuildComparison {
        let refold = try Refold(self, in: scratch)
        let (last, manifests) = try environment.read { transaction in
            (
                try log.lastPosition(transaction),
                try snapshots.manifests(transaction).filter(\.isCurrent)
            )
        }
        var ahead = manifests[...]
        while refold.done < last {
            try environment.read { transaction in
                try refold.step(eventsPerStep, stop: ahead.last?.position, transaction)
                while let next = ahead.last, next.position <= refold.done {
                    try refold.check(next, transaction)
                    ahead.removeLast()
                }
            }
            try progress(RebuildProgress(done: refold.done, last: last))
        }
        // The events written since, and the rows, are read in one transaction.
        let comparison = try environment.read { transaction in
            let last = try log.lastPosition(transaction)
            while refold.done < last { try refold.step(eventsPerStep, transaction) }
            return try refold.compare(differencesMax, transaction)
        }
        try refold.close()
        return comparison
    }
}

/// A fold of a log from its first event into a store of its own.
private final class Refold {
    private struct State: Sendable {
        /// The last event that was folded.
        var done = Position.start
        var difference: CommitDifference?
        /// What is wrong with the snapshots so far.
        var snapshots: [LogError] = []
        var digests = DigestComparison()
    }

    private let journal: Journal
    private let scratch: Environment
    private let views: ViewTables
    private let models = ModelCache()
    private let generation = Generation.a
    private var state = State()

    var done: Position { state.done }

    init(_ journal: Journal, in directory: String) throws {
        self.journal = journal
        scratch = try ViewTables.makeScratch(in: directory)
        views = ViewTables(scratch)
        state = try begin()
    }

    /// Takes the rows that the log begins with, where its first events were dropped.
    private func begin() throws -> State {
        let (journal, views, generation) = (journal, views, generation)
        return try journal.environment.read { transaction in
            var state = State()
            // Of a fold that was cut short there.
            try scratch.write { target in
                for tree in Tree.allCases { try target.clear(views.table(tree, generation)) }
            }
            guard let base = try journal.snapshots.base(transaction) else { return state }
            try scratch.write { target in
                try views.write(generation, target) { write in
                    try journal.snapshots.forEachRow(of: base, transaction) { try write($0, $1) }
                }
            }
            state.done = base.position
            state.digests = DigestComparison(after: base.fingerprints)
            return state
        }
    }

    func close() throws { try scratch.close() }

    /// Folds further commits of some `count` events, or up to a position where to stop.
    func step(
        _ count: Int, stop: Position? = nil, _ transaction: borrowing some TableReading & ~Copyable
    ) throws {
        let before = state
        try journal.log.checkHeld(after: before.done, transaction)
        // May be run again when the scratch store has to grow, so it works on a copy.
        let after = try scratch.write { target in
            var state = before
            try journal.log.forEachCommit(from: state.done.next, transaction) { record in
                let changes = try self.fold(record, transaction, target)
                try self.views.write(changes, self.generation, target)
                if state.difference == nil {
                    let other = state.digests.compare(record.views, changes)
                        .first { $0.isDifferent }
                    state.difference = other.map { view in
                        CommitDifference(
                            position: record.last, view: view.view,
                            key: view.differences(changes).first?.row)
                    }
                }
                state.done = record.last
                if let stop, state.done >= stop { return false }
                return state.done.rawValue - before.done.rawValue < UInt64(count)
            }
            return state
        }
        guard after.done > done else {
            throw LogError(.corruptCommit, at: done, "no commit follows, but events do")
        }
        state = after
    }

    /// Compares the rows of a snapshot with those that were made up to its position.
    func check(
        _ manifest: SnapshotManifest, _ transaction: borrowing some TableReading & ~Copyable
    ) throws {
        // One that is no longer needed may have been removed.
        guard state.difference == nil,
            try journal.snapshots.manifests(transaction).contains(manifest)
        else { return }
        do {
            guard manifest.position == done else { throw manifest.damaged("no commit ends there") }
            try scratch.read { target in
                var before: RowKey?
                try journal.snapshots.forEachRow(of: manifest, transaction) { key, value in
                    let made = try views.row(key, generation, target)
                    guard made == value, before.map({ $0 < key }) ?? true else {
                        throw manifest.damaged("the row \(key) is not what the log makes")
                    }
                    before = key
                }
                let rows = try Tree.allCases.reduce(0) {
                    try $0 + target.count(views.table($1, generation))
                }
                guard rows == manifest.rows else {
                    throw manifest.damaged("\(rows) rows are made, it has \(manifest.rows)")
                }
            }
        } catch let error as LogError where error.code == .corruptSnapshot {
            state.snapshots.append(error)
        }
    }

    private func fold(
        _ record: CommitRecord, _ transaction: borrowing some TableReading & ~Copyable,
        _ target: borrowing WriteTransaction
    ) throws -> RowChanges {
        try views.withFold(models, generation, target) { fold in
            try journal.log.forEach(from: record.first, transaction) { position, event in
                guard position <= record.last else { return false }
                try fold.apply(event, at: position)
                return position < record.last
            }
            return fold.sortedChanges
        }
    }

    func compare(
        _ differencesMax: Int, _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> RebuildComparison {
        let live = try journal.views.state(transaction) ?? ViewTables.State()
        var comparison = RebuildComparison(commit: state.difference)
        comparison.snapshots = state.snapshots
        guard live.isCurrent || live.isDamaged else {
            comparison.isOutdated = true
            return comparison
        }
        var rows: [RowDifference] = []
        try journal.views.withRows(live.generation, transaction) { live in
            try scratch.read { target in
                try views.withRows(generation, target) { rebuilt in
                    try live.forEachDifference(from: rebuilt) { key, live, rebuilt in
                        rows.append(
                            RowDifference(
                                commit: state.difference?.position, view: key.view, tree: key.tree,
                                key: key.bytes, live: live, rebuilt: rebuilt))
                        return rows.count < differencesMax
                    }
                }
            }
        }
        rows.sort { RowKey($0.tree, $0.key) < RowKey($1.tree, $1.key) }
        if state.difference == nil, !rows.isEmpty { try nameLastWriters(of: &rows, transaction) }
        comparison.rows = rows
        if state.difference == nil, rows.isEmpty {
            comparison.indexes = try journal.indexDifferences(
                differencesMax: differencesMax, transaction)
        }
        return comparison
    }

    /// Names the last commit that wrote each row, by the short hash of its key.
    private func nameLastWriters(
        of rows: inout [RowDifference], _ transaction: borrowing some TableReading & ~Copyable
    ) throws {
        func name(_ view: UInt32, _ key: UInt32) -> UInt64 { UInt64(view) << 32 | UInt64(key) }
        let names = rows.map { name($0.view.rawValue, CRC32C.checksum(of: $0.key)) }
        let wanted = Set(names)
        var writers: [UInt64: Position] = [:]
        try journal.log.forEachCommit(transaction) { record in
            for view in record.views {
                for hash in view.shortHashes {
                    let name = name(view.view, hash.key)
                    if wanted.contains(name) { writers[name] = record.last }
                }
            }
            return true
        }
        for index in rows.indices { rows[index].commit = writers[names[index]] }
    }
}
