// Catalog.swift — the single values of a store. They lie in LMDB's own list of tables, on a page
// that every commit writes anyway.
//
// A store of format 1 has them in a table of their own, "meta", and is read as it is. Opened for
// writing it is taken over.

/// The names of the single values; none is the name of a table.
package enum CatalogKey: String, CaseIterable, Sendable {
    /// The right edge of the Merkle tree.
    case edge
    /// Whose store it is.
    case identity
    /// Which view tables are live, and how they were made.
    case views
    /// What is left of the first events of a log that was truncated.
    case base

    package var bytes: [UInt8] { Array(rawValue.utf8) }
}

/// The single values of a store.
package struct Catalog: Sendable {
    /// LMDB's list of tables.
    package let table: Table
    /// Where a store of format 1 has them.
    private let former: Table?

    /// The table that a store of format 1 has them in.
    package static let formerTableName = "meta"

    package init(_ environment: Environment) {
        table = environment.catalog
        former = environment.formerTable(Self.formerTableName)
    }

    /// A value, copied out; nil when there is none.
    package func value(
        _ key: CatalogKey, _ transaction: borrowing some TableReading & ~Copyable
    ) throws(StoreError) -> [UInt8]? {
        if let value = try transaction.get(table, key.bytes) { return value }
        guard let former else { return nil }
        return try transaction.get(former, key.bytes)
    }

    package func set(
        _ key: CatalogKey, _ value: [UInt8], _ transaction: borrowing WriteTransaction
    ) throws(StoreError) {
        try transaction.put(table, key.bytes, value)
    }

    /// Whether a store has values where format 1 has them.
    package func isFormer(
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws(StoreError) -> Bool {
        guard let former else { return false }
        return try transaction.count(former) > 0
    }

    /// Moves the values of a store of format 1 to where they belong.
    package func takeOver(_ transaction: borrowing WriteTransaction) throws(StoreError) {
        guard let former, try transaction.count(former) > 0 else { return }
        for key in CatalogKey.allCases where try transaction.get(table, key.bytes) == nil {
            guard let value = try transaction.get(former, key.bytes) else { continue }
            try set(key, value, transaction)
        }
        try transaction.clear(former)
    }
}
