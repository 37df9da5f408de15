// ReadTransaction.swift — a snapshot of every table.

import CLMDB

/// The store as it was when the read began; later commits don't show in it.
///
/// Keep it short: pages that it may still see can't be used again, so the file grows meanwhile.
@safe package struct ReadTransaction: ~Copyable, TableReading {
    private let reader: TreeReader

    /// - Parameter neighbours: nothing yet; what it leads to lives as long as this.
    init(
        _ raw: OpaquePointer, _ pages: MapPages.View?,
        _ neighbours: UnsafeMutablePointer<LongNeighbours>
    ) {
        unsafe reader = TreeReader(raw: raw, state: nil, pages: pages, neighbours: neighbours)
    }

    /// The number of the commit that it sees.
    var number: UInt64 { unsafe UInt64(mdb_txn_id(reader.raw)) }

    /// The value of `key`, copied out; nil when there is none.
    package borrowing func get(
        _ table: Table, _ key: [UInt8]
    ) throws(StoreError) -> [UInt8]? {
        try reader.get(table, key)
    }

    /// Lends the value of `key` to `body`; false, without calling it, when there is none.
    package borrowing func lend(
        _ table: Table, _ key: [UInt8], _ body: (Span<UInt8>) throws -> Void
    ) throws -> Bool {
        try reader.lend(table, key, body)
    }

    /// Walks over keys in order; see ``TableReading``.
    package borrowing func scan(
        _ table: Table, from start: [UInt8]?, prefix: [UInt8], reversed: Bool,
        _ body: (_ key: Span<UInt8>, _ value: Span<UInt8>) throws -> Bool
    ) throws {
        try reader.scan(table, from: start, prefix: prefix, reversed: reversed, body)
    }

    /// The least key and its value, copied out; nil when the table is empty.
    package borrowing func first(
        _ table: Table
    ) throws(StoreError) -> (key: [UInt8], value: [UInt8])? {
        try reader.end(table, MDB_FIRST)
    }

    /// The greatest key and its value, copied out; nil when the table is empty.
    package borrowing func last(
        _ table: Table
    ) throws(StoreError) -> (key: [UInt8], value: [UInt8])? {
        try reader.end(table, MDB_LAST)
    }

    /// How many keys the table has.
    package borrowing func count(_ table: Table) throws(StoreError) -> Int {
        try reader.count(table)
    }

    /// How many bytes the pages of the table have.
    package borrowing func pageBytes(_ table: Table) throws(StoreError) -> Int {
        try reader.pageBytes(table)
    }
}
