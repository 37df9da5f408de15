// SortedWriter.swift — storing many records of one table in the order of their keys.

import CLMDB

/// Changes records of one table, starting each time where the last change was made: records in
/// the order of their keys cost less than one by one, and fill pages densely at the end.
///
/// Any order is right. Lent by ``WriteTransaction/withSorted(_:_:)``.
@safe package struct SortedWriter: ~Copyable {
    private let reader: TreeReader
    private let table: Table
    private var cursor: OpaquePointer?
    /// No key of the table is greater.
    private var last: [UInt8]

    init(_ reader: TreeReader, _ table: Table) throws(StoreError) {
        self.reader = reader
        self.table = table
        unsafe cursor = nil
        last = try reader.end(table, MDB_LAST)?.key ?? []
    }

    deinit { if let cursor = unsafe cursor { unsafe mdb_cursor_close(cursor) } }

    /// Stores `value` under `key`, in place of what was there, or removes `key` for nil.
    ///
    /// - Throws: what ``WriteTransaction/put(_:_:_:)`` throws.
    package mutating func write(_ key: [UInt8], _ value: [UInt8]?) throws(StoreError) {
        guard let value else {
            // A cursor on a removed record is nothing to go on from.
            if let cursor = unsafe cursor.take() { unsafe mdb_cursor_close(cursor) }
            _ = try reader.delete(table, key)
            return
        }
        try reader.checkWrite(key, value, during: "put")
        let isBeyond = ByteOrder.precedes(last, key)
        let cursor = unsafe try opened()
        let code = unsafe key.withUnsafeBytes { keyBytes in
            unsafe value.withUnsafeBytes { valueBytes in
                let flags = isBeyond ? UInt32(MDB_APPEND) : 0
                return unsafe CheckedRecord.store(table, keyBytes, valueBytes, flags) {
                    unsafe mdb_cursor_put(cursor, $0, $1, $2)
                }
            }
        }
        guard code == 0 else { throw reader.failure(code, during: "put") }
        if isBeyond { last = key }
    }

    private mutating func opened() throws(StoreError) -> OpaquePointer {
        if let cursor = unsafe cursor { return unsafe cursor }
        var opened: OpaquePointer?
        let code = unsafe mdb_cursor_open(reader.raw, table.handle, &opened)
        guard code == 0, let opened = unsafe opened else {
            throw reader.failure(code, during: "put")
        }
        unsafe cursor = opened
        return unsafe opened
    }
}

extension WriteTransaction {
    /// Lends `body` a writer for many records of one table; meanwhile nothing else may write to it.
    package borrowing func withSorted<R>(
        _ table: Table, _ body: (inout SortedWriter) throws -> R
    ) throws -> R {
        var writer = try SortedWriter(reader, table)
        return try body(&writer)
    }
}
