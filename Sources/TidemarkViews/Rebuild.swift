// Rebuild.swift — folding the log again from its first event, and comparing the result.

package import TidemarkEvents
import TidemarkLog
import TidemarkStore

/// How far a rebuild has come.
package struct RebuildProgress: Sendable, Hashable {
    package var done: Position
    package var last: Position
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

    package var description: String {
        let place = commit.map { "\($0): " } ?? ""
        let name = String(decoding: key.map { $0 < 0x20 ? UInt8(ascii: "/") : $0 }, as: UTF8.self)
        let how = live == nil ? "missing" : rebuilt == nil ? "left over" : "different"
        return "\(place)the row \(name) of view \(view) is \(how)"
    }
}

extension Journal {
    /// Folds the whole log into the generation that is not live, then makes that one live.
    ///
    /// Readers see the old rows until the new ones are complete; one that is cut short leaves the
    /// old ones live and is started anew.
    ///
    /// - Parameters:
    ///   - eventsPerStep: how many events are folded in one transaction.
    ///   - progress: called after each step; what it throws cuts the rebuild short.
    package func rebuild(
        eventsPerStep: Int = 20_000, progress: (RebuildProgress) throws -> Void = { _ in }
    ) throws {
        let target = try environment.write { transaction in
            let live = (try self.views.state(transaction) ?? ViewTables.State()).generation
            for tree in Tree.allCases {
                try transaction.clear(self.views.table(tree, live.other))
            }
            return live.other
        }
        var done = Position.start
        while true {
            let from = done
            let (reached, last) = try environment.write { transaction in
                try self.rebuildStep(after: from, eventsPerStep, into: target, transaction)
            }
            done = reached
            try progress(RebuildProgress(done: done, last: last))
            if done == last { return }
        }
    }

    private func rebuildStep(
        after start: Position, _ count: Int, into target: Generation,
        _ transaction: borrowing WriteTransaction
    ) throws -> (Position, Position) {
        let last = try log.lastPosition(transaction)
        let (changes, done) = try refold(
            after: start, count: count, transaction
        ) { key in try transaction.get(self.views.table(key.tree, target), key.bytes) }
        try views.write(changes, target, transaction)
        if done == last {
            var state = ViewTables.State()
            state.generation = target
            try views.setState(state, transaction)
        }
        return (done, last)
    }

    /// Folds the events after a position, at most `count`, over the rows that `load` gives.
    private func refold(
        after start: Position, count: Int,
        _ transaction: borrowing some TableReading & ~Copyable,
        _ load: (RowKey) throws -> [UInt8]?
    ) throws -> (RowChanges, Position) {
        func run(_ load: (RowKey) throws -> [UInt8]?, _ body: (Fold) throws -> Void) throws
            -> RowChanges
        {
            try withoutActuallyEscaping(load) { load in
                let fold = Fold(load: load)
                try body(fold)
                return fold.sortedChanges
            }
        }
        var done = start
        let changes = try run(load) { fold in
            var left = count
            try log.forEach(from: start.next, transaction) { position, event in
                try fold.apply(event, at: position)
                done = position
                left -= 1
                return left > 0
            }
        }
        return (changes, done)
    }

    /// Folds the whole log in memory and compares every row with the live one.
    ///
    /// - Returns: the rows that differ, in key order, at most `differencesMax`; each with the first
    ///   commit that recorded another row than the new fold makes, where that can be told.
    package func compareWithRebuilt(differencesMax: Int = 100) throws -> [RowDifference] {
        try environment.read { transaction in
            let generation = (try views.state(transaction) ?? ViewTables.State()).generation
            let (changes, _) = try refold(after: .start, count: .max, transaction) { _ in nil }
            var rebuilt: [RowKey: [UInt8]] = [:]
            for (key, value) in changes { rebuilt[key] = value }
            var differences: [RowDifference] = []
            for tree in Tree.allCases {
                try views.scan(tree, generation, transaction) { bytes, live in
                    let key = RowKey(tree, bytes)
                    let other = rebuilt.removeValue(forKey: key)
                    if other != live {
                        differences.append(
                            RowDifference(
                                commit: nil, view: key.view, tree: tree, key: bytes, live: live,
                                rebuilt: other))
                    }
                    return differences.count < differencesMax
                }
            }
            if differences.count < differencesMax {
                let missing = rebuilt.sorted { $0.key < $1.key }
                for (key, value) in missing.prefix(differencesMax - differences.count) {
                    differences.append(
                        RowDifference(
                            commit: nil, view: key.view, tree: key.tree, key: key.bytes, live: nil,
                            rebuilt: value))
                }
            }
            guard !differences.isEmpty else { return [] }
            let (first, lastWriters) = try firstDifferingCommit(transaction)
            return differences.map { difference in
                var difference = difference
                difference.commit = first ?? lastWriters[RowKey(difference.tree, difference.key)]
                return difference
            }
        }
    }

    /// The last event of the first commit whose recorded digests a new fold does not meet, or, when
    /// there is none, of the last commit that wrote each row.
    private func firstDifferingCommit(
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> (first: Position?, lastWriters: [RowKey: Position]) {
        var rows: [RowKey: [UInt8]] = [:]
        var lastWriters: [RowKey: Position] = [:]
        var records: [CommitRecord] = []
        try log.forEachCommit(transaction) { record in
            records.append(record)
            return true
        }
        for record in records {
            let count = Int(record.last.rawValue - record.first.rawValue) + 1
            let (changes, _) = try refold(
                after: Position(record.first.rawValue - 1), count: count, transaction
            ) { rows[$0] }
            if ViewDigest.of(changes) != record.views { return (record.last, [:]) }
            for (key, value) in changes {
                rows[key] = value
                lastWriters[key] = record.last
            }
        }
        return (nil, lastWriters)
    }
}
