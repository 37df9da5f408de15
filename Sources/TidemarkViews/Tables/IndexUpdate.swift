// IndexUpdate.swift — what rows change in the indexes when many of them are written at once, in
// memory that does not grow with what they were before.

import TidemarkStore

/// What rows that are written change in indexes that know of all rows there are.
struct IndexUpdate {
    private let plan: IndexPlan
    private var changes: IndexChanges = []
    private var known: IndexedCollection?

    init(_ plan: IndexPlan) { self.plan = plan }

    /// What changes in the indexes, in the order of the keys.
    var sorted: IndexChanges { changes.inOrder }

    /// Takes in a row that is to be written.
    ///
    /// - Parameters:
    ///   - isThere: whether the indexes have a record.
    ///   - before: reads the row that it takes the place of.
    mutating func note(
        _ key: RowKey, _ row: [UInt8]?, isThere: (IndexEntry) throws -> Bool,
        before: () throws -> [UInt8]?
    ) throws {
        if known.map({ key.bytes.starts(with: $0.rowPrefix) }) != true {
            known = plan.collections.first { key.bytes.starts(with: $0.rowPrefix) }
        }
        guard let known else { return }
        let new = try known.entries(of: row, at: key.bytes)
        // A record is of one entity, which has one in each index: these are all that it had.
        if !new.isEmpty, try new.allSatisfy(isThere) { return }
        let old = try known.entries(of: before(), at: key.bytes)
        for entry in old where !new.contains(entry) { changes.append((entry.key, nil)) }
        for entry in new where !old.contains(entry) { changes.append((entry.key, entry.value)) }
    }
}

extension ViewTables {
    /// Takes in a row of an entity that is to be written.
    ///
    /// - Parameter isFirst: whether there are no rows yet.
    func note(
        _ key: RowKey, _ row: [UInt8]?, isFirst: Bool, in indexes: inout IndexUpdate,
        _ generation: Generation, _ transaction: borrowing WriteTransaction
    ) throws {
        try indexes.note(key, row) { entry in
            if isFirst { return false }
            let value = try transaction.get(indexTable(generation), entry.key)
            return value.map { ByteOrder.areEqual($0, entry.value) } ?? false
        } before: {
            isFirst ? nil : try self.row(key, generation, transaction)
        }
    }
}
