// ViewTables+Indexes.swift — keeping the indexes: changed with the rows they are about, made anew
// where the model asks for one that is not there.

import TidemarkEvents
import TidemarkLog
import TidemarkStore

extension ViewTables {
    /// The indexes that the registered model asks for.
    func indexPlan(
        _ models: ModelCache, _ generation: Generation,
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> IndexPlan {
        let key = RowKey.store("model")
        let fact = try transaction.get(table(.ledger, generation), key.bytes)
        return try fact.map { models.plan(try StoreFactRow(parsing: $0)) }
            ?? IndexPlan(SyncModel(name: "", collections: []))
    }

    /// Writes what ``IndexPlan/changes(_:_:)`` found.
    func writeIndexes(
        _ changes: IndexChanges, _ generation: Generation,
        _ transaction: borrowing WriteTransaction
    ) throws {
        guard !changes.isEmpty else { return }
        try transaction.withSorted(indexTable(generation)) { indexes in
            for (key, value) in changes { try indexes.write(key, value) }
        }
    }

    /// Removes all indexes of a generation if there are some that do not know the log's last event.
    func dropStaleIndexes(
        _ state: inout State, _ last: Position, _ transaction: borrowing WriteTransaction
    ) throws {
        guard state.currentIndexes(last) != state.indexes else { return }
        try transaction.clear(indexTable(state.generation))
        state.indexes = []
    }

    /// Removes the indexes that are not in a plan; the state that says which there are is to be
    /// written.
    func dropIndexes(
        notIn plan: IndexPlan, _ state: State, _ transaction: borrowing WriteTransaction
    ) throws -> State {
        let kept = state.indexes.filter(Set(plan.names).contains)
        let table = indexTable(state.generation)
        if kept.isEmpty {
            try transaction.clear(table)
        } else {
            let names = Set(kept)
            for name in state.indexes where !names.contains(name) {
                var gone: [[UInt8]] = []
                try transaction.scan(table, from: nil, prefix: name, reversed: false) { key, _ in
                    gone.append(key.copied())
                    return true
                }
                for key in gone { try transaction.delete(table, key) }
            }
        }
        var state = state
        state.indexes = kept
        return state
    }

    /// Removes the indexes that are not in a plan and makes from the rows those that are not there
    /// yet; the state that says which there are is to be written.
    func settleIndexes(
        _ plan: IndexPlan, _ state: State, _ transaction: borrowing WriteTransaction
    ) throws -> State {
        guard state.indexes != plan.names else { return state }
        var state = try dropIndexes(notIn: plan, state, transaction)
        let kept = Set(state.indexes)
        let missing = IndexPlan(plan, only: plan.names.filter { !kept.contains($0) })
        for collection in missing.collections {
            var next: [UInt8]? = collection.rowPrefix
            while let from = next {
                var made: IndexChanges = []
                next = nil
                try scan(
                    .rows, state.generation, prefix: collection.rowPrefix, from: from, transaction
                ) { key, row in
                    guard made.count < Self.entriesAtOnce else {
                        next = key
                        return false
                    }
                    made += try collection.entries(of: row, at: key).map { ($0.key, $0.value) }
                    return true
                }
                try writeIndexes(made.inOrder, state.generation, transaction)
            }
        }
        state.indexes = plan.names
        return state
    }

    /// How many records of indexes are made in memory before they are written, at least.
    private static let entriesAtOnce = 100_000

    /// Every record that the indexes of a plan have for the rows of a generation, in order.
    func indexEntries(
        _ plan: IndexPlan, _ generation: Generation,
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> [IndexEntry] {
        var entries: [IndexEntry] = []
        for collection in plan.collections {
            try scan(.rows, generation, prefix: collection.rowPrefix, transaction) { key, row in
                entries += try collection.entries(of: row, at: key)
                return true
            }
        }
        return ByteOrder.order(of: entries.map(\.key)).map { entries[$0] }
    }
}

/// Records of indexes, nil for one that is removed.
typealias IndexChanges = [(key: [UInt8], value: [UInt8]?)]

extension IndexChanges {
    /// The same in the order of their keys.
    var inOrder: IndexChanges { ByteOrder.order(of: map(\.key)).map { self[$0] } }
}

extension IndexPlan {
    /// What changes in the indexes when rows are written, in the order of the keys.
    ///
    /// - Parameter rowsBefore: what the rows of entities, which come first, were before.
    func changes(_ changes: RowChanges, _ rowsBefore: [[UInt8]?]) throws -> IndexChanges {
        var result: IndexChanges = []
        var known: IndexedCollection?
        for index in rowsBefore.indices {
            let key = changes[index].key
            if known.map({ key.bytes.starts(with: $0.rowPrefix) }) != true {
                known = collections.first { key.bytes.starts(with: $0.rowPrefix) }
            }
            guard let collection = known else { continue }
            let id = key.bytes[collection.rowPrefix.count...]
            let before = try collection.values(of: rowsBefore[index])
            let after = try collection.values(of: changes[index].value)
            if before == after { continue }
            let old = collection.entries(before, id: id)
            let new = collection.entries(after, id: id)
            for entry in old where !new.contains(entry) { result.append((entry.key, nil)) }
            for entry in new where !old.contains(entry) { result.append((entry.key, entry.value)) }
        }
        return result.inOrder
    }
}

extension Journal {
    /// Makes the indexes that the registered model asks for where they are not there yet.
    ///
    /// A store that has no room for them goes on without: what they would answer is found by
    /// reading whole collections.
    func settleIndexes() throws { try settleIndexes(by: { try environment.write($0) }) }

    /// The same on the writer thread, for a model that was registered just now.
    ///
    /// Whatever keeps them from being made, the model is registered: a later opening makes them.
    func settleIndexes(_ writer: borrowing Writer) {
        func run(_ step: (borrowing WriteTransaction) throws -> Void) throws {
            try writer.transaction(step)
        }
        try? settleIndexes(by: run)
    }

    private func settleIndexes(
        by run: ((borrowing WriteTransaction) throws -> Void) throws -> Void
    ) throws {
        func plan(_ transaction: borrowing some TableReading & ~Copyable) throws -> (
            plan: IndexPlan, state: ViewTables.State, last: Position
        )? {
            guard let state = try views.state(transaction), state.isCurrent else { return nil }
            let plan = try views.indexPlan(models, state.generation, transaction)
            return (plan, state, try log.lastPosition(transaction))
        }
        let isSettled = try environment.read { transaction in
            guard let (plan, state, last) = try plan(transaction) else { return true }
            return state.indexes == plan.names && state.currentIndexes(last) == state.indexes
        }
        guard !isSettled else { return }
        do {
            try run { transaction in
                guard let (plan, found, last) = try plan(transaction) else { return }
                var state = found
                try self.views.dropStaleIndexes(&state, last, transaction)
                state = try self.views.settleIndexes(plan, state, transaction)
                state.indexedTo = last
                try self.views.setState(state, transaction)
            }
        } catch let error as StoreError where error.saysNoRoom {}
    }
}
