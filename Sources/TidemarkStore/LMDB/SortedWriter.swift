// SortedWriter.swift — storing many records of one table in the order of their keys.

import CLMDB

/// Changes records of one table, starting each time where the last change was made: records in
/// the order of their keys cost less than one by one, and fill pages densely at the end.
///
/// Any order is right. Lent by ``WriteTransaction/withSorted(_:_:)``.
@safe package struct SortedWriter: ~Copyable {
    private let reader: TreeReader
    private let table: Table
    private var cursor: Cursor?
    /// No key of the table is greater.
    private var last: [UInt8]

    init(_ reader: TreeReader, _ table: Table) throws(StoreError) {
        self.reader = reader
        self.table = table
        last = try reader.end(table, MDB_LAST)?.key ?? []
    }

    /// Stores `value` under `key`, in place of what was there, or removes `key` for nil.
    ///
    /// - Throws: what ``WriteTransaction/put(_:_:_:)`` throws.
    package mutating func write(_ key: [UInt8], _ value: [UInt8]?) throws(StoreError) {
        guard let value else {
            // A cursor on a removed record is nothing to go on from.
            cursor = nil
            _ = try reader.delete(table, key)
            return
        }
        try reader.checkWrite(key, value, during: "put")
        var cursor = try opened()
        // What is beyond all others follows on the last record, which was read.
        let isBeyond = ByteOrder.precedes(last, key)
        if !isBeyond { try reader.checkPlace(table, key, &cursor) }
        try cursor.put(table, key, value, flags: isBeyond ? UInt32(MDB_APPEND) : 0)
        self.cursor = consume cursor
        if isBeyond { last = key }
    }

    private mutating func opened() throws(StoreError) -> Cursor {
        if let cursor = cursor.take() { return cursor }
        return try Cursor(reader, table)
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
