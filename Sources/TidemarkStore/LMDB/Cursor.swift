// Cursor.swift — a place in a table, moved in key order.

import CLMDB

/// LMDB's cursor; closed when it goes, which must be before its transaction ends.
@safe struct Cursor: ~Copyable {
    private let raw: OpaquePointer
    private let reader: TreeReader
    private let table: Table
    private var currentKey = unsafe MDB_val()
    private var currentValue = unsafe MDB_val()

    init(_ reader: TreeReader, _ table: Table) throws(StoreError) {
        var opened: OpaquePointer?
        let code = unsafe mdb_cursor_open(reader.raw, table.handle, &opened)
        guard code == 0, let opened = unsafe opened else {
            throw reader.failure(code, during: "scan", in: table)
        }
        unsafe raw = opened
        self.reader = reader
        self.table = table
    }

    deinit { unsafe mdb_cursor_close(raw) }

    var key: UnsafeBufferPointer<UInt8> { unsafe currentKey.bytes }
    var value: UnsafeBufferPointer<UInt8> { unsafe currentValue.bytes }

    func keyHasPrefix(_ prefix: [UInt8]) -> Bool {
        unsafe prefix.withUnsafeBytes { wanted in
            guard !prefix.isEmpty, let wantedStart = wanted.baseAddress else { return true }
            guard unsafe currentKey.mv_size >= wanted.count,
                let start = unsafe currentKey.mv_data
            else { return false }
            return unsafe Platform.areEqual(start, wantedStart, count: wanted.count)
        }
    }

    /// To the first key that is not below `bound`, or the last one where all are.
    mutating func seekNear(_ bound: [UInt8]) throws(StoreError) -> Bool {
        if try seek(atLeast: bound) { return true }
        return try move(MDB_LAST)
    }

    /// Whether there is a record where the operation leads.
    mutating func move(_ operation: MDB_cursor_op) throws(StoreError) -> Bool {
        let code = unsafe mdb_cursor_get(raw, &currentKey, &currentValue, operation)
        switch code {
        case 0: return true
        case MDB_NOTFOUND: return false
        default: throw reader.failure(code, during: "scan", in: table)
        }
    }

    /// To the first key that is neither below `start` nor below `prefix`.
    mutating func seekUp(from start: [UInt8], prefix: [UInt8]) throws(StoreError) -> Bool {
        try seek(atLeast: start.lexicographicallyPrecedes(prefix) ? prefix : start)
    }

    /// To the last key of the prefix's range that isn't above `start`; empty, it is no bound.
    mutating func seekDown(from start: [UInt8], prefix: [UInt8]) throws(StoreError) -> Bool {
        if !start.isEmpty {
            if start.starts(with: prefix) {
                guard try seek(atLeast: start) else { return try move(MDB_LAST) }
                if keyEquals(start) { return true }
                return try move(MDB_PREV)
            }
            if start.lexicographicallyPrecedes(prefix) { return false }
        }
        guard let end = Self.successor(ofPrefix: prefix), try seek(atLeast: end) else {
            return try move(MDB_LAST)
        }
        return try move(MDB_PREV)
    }

    /// Stores a record, from where the cursor is if that is near.
    func put(
        _ table: Table, _ key: [UInt8], _ value: [UInt8], flags: UInt32
    ) throws(StoreError) {
        let code = unsafe key.withUnsafeBytes { keyBytes in
            unsafe value.withUnsafeBytes { valueBytes in
                unsafe CheckedRecord.store(table, keyBytes, valueBytes, flags) {
                    unsafe mdb_cursor_put(raw, $0, $1, $2)
                }
            }
        }
        guard code == 0 else { throw reader.failure(code, during: "put", in: table) }
    }

    private mutating func seek(atLeast bound: [UInt8]) throws(StoreError) -> Bool {
        guard !bound.isEmpty else { return try move(MDB_FIRST) }
        let code = unsafe bound.withUnsafeBytes { bytes in
            unsafe currentKey = MDB_val(bytes)
            return unsafe mdb_cursor_get(raw, &currentKey, &currentValue, MDB_SET_RANGE)
        }
        switch code {
        case 0: return true
        case MDB_NOTFOUND: return false
        default: throw reader.failure(code, during: "scan", in: table)
        }
    }

    func keyEquals(_ other: [UInt8]) -> Bool {
        unsafe currentKey.mv_size == other.count && keyHasPrefix(other)
    }

    /// The least byte string above every one that starts with `prefix`; nil when there is none.
    private static func successor(ofPrefix prefix: [UInt8]) -> [UInt8]? {
        guard let index = prefix.lastIndex(where: { $0 != 0xFF }) else { return nil }
        var end = Array(prefix[...index])
        end[index] += 1
        return end
    }
}
