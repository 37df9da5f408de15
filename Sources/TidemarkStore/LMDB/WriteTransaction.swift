// WriteTransaction.swift — changes to every table that are stored together or not at all.

import CLMDB

/// The one writing transaction of an environment; reads see its own changes.
///
/// After any error that one of its methods threw it can only be aborted: it is, whatever the
/// closure does then. It commits when the closure returns.
@safe package struct WriteTransaction: ~Copyable, TableReading {
    let reader: TreeReader
    private let state: TransactionState

    init(_ raw: OpaquePointer, _ state: TransactionState, _ pages: MapPages.View?) {
        unsafe reader = TreeReader(raw: raw, state: state, pages: pages, neighbours: nil)
        self.state = state
    }

    /// Stores `value` under `key`, in place of what was there.
    ///
    /// - Throws: `badKey`, or what LMDB says. A full map never reaches the caller as an error of
    ///   its own making: the closure is run again on a larger one.
    package borrowing func put(
        _ table: Table, _ key: [UInt8], _ value: [UInt8]
    ) throws(StoreError) {
        try store(table, key, value, flags: 0, during: "put")
    }

    /// Stores `value` under a `key` that is greater than every one in the table; fills pages
    /// more densely than `put`.
    ///
    /// - Throws: `keyExists` when the key is not greater than the last one.
    package borrowing func append(
        _ table: Table, _ key: [UInt8], _ value: [UInt8]
    ) throws(StoreError) {
        try store(table, key, value, flags: UInt32(MDB_APPEND), during: "append")
    }

    /// The same under a number, 8 bytes, big-endian.
    package borrowing func append(
        _ table: Table, number: UInt64, _ value: Span<UInt8>
    ) throws(StoreError) {
        state.checkWrite()
        let code = unsafe withUnsafeBytes(of: number.bigEndian) { key in
            unsafe value.withUnsafeBytes { value in
                unsafe CheckedRecord.store(table, key, value, UInt32(MDB_APPEND)) {
                    unsafe mdb_put(reader.raw, table.handle, $0, $1, $2)
                }
            }
        }
        guard code == 0 else { throw reader.failure(code, during: "append", in: table) }
    }

    /// Removes `key`; false when it wasn't there.
    @discardableResult
    package borrowing func delete(_ table: Table, _ key: [UInt8]) throws(StoreError) -> Bool {
        try reader.delete(table, key)
    }

    /// Removes every key of the table; the table stays.
    ///
    /// Its pages become free where they are its own, as all of them say; where one of them does
    /// not, they are left behind as they are, and only making the file smaller gives their space
    /// back.
    ///
    /// - Throws: `damaged`, `damagedTable` where they can't be left behind, as the transaction has
    ///   read or written the table before.
    package borrowing func clear(_ table: Table) throws(StoreError) {
        state.checkWrite()
        guard try reader.hasOwnPages(table) else { return try reader.leaveBehind(table) }
        let code = unsafe mdb_drop(reader.raw, table.handle, 0)
        guard code == 0 else { throw reader.failure(code, during: "clear", in: table) }
    }

    /// Whether all pages of a table say that they are its own, as the last commit left them; reads
    /// them all, and of a table without checksums all others of the file.
    package borrowing func hasOwnPages(_ table: Table) throws(StoreError) -> Bool {
        try reader.hasOwnPages(table)
    }

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

    private borrowing func store(
        _ table: Table, _ key: [UInt8], _ value: [UInt8], flags: UInt32, during: String
    ) throws(StoreError) {
        try reader.checkWrite(key, value, during: during)
        // What is appended follows on the last record, which was read.
        if flags & UInt32(MDB_APPEND) == 0 { try reader.checkPlace(table, key) }
        let code = unsafe key.withUnsafeBytes { keyBytes in
            unsafe value.withUnsafeBytes { valueBytes in
                unsafe CheckedRecord.store(table, keyBytes, valueBytes, flags) {
                    unsafe mdb_put(reader.raw, table.handle, $0, $1, $2)
                }
            }
        }
        guard code == 0 else { throw reader.failure(code, during: during, in: table) }
    }

    /// LMDB's handle of the table of that name, which is made when it doesn't exist yet; nil where
    /// it may not be.
    borrowing func openTable(
        _ name: String, mayCreate: Bool = true
    ) throws(StoreError) -> UInt32? {
        var handle: MDB_dbi = 0
        let flags = mayCreate ? UInt32(MDB_CREATE) : 0
        let code = unsafe mdb_dbi_open(reader.raw, name, flags, &handle)
        if code == MDB_NOTFOUND, !mayCreate { return nil }
        guard code == 0 else { throw reader.failure(code, during: "open") }
        return handle
    }
}
