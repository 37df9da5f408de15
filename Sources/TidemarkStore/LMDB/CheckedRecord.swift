// CheckedRecord.swift — records that carry a checksum: what a table stores is the value and, behind
// it, the CRC32C of key and value together, XORed with that of the table's name, so that a page of
// another table is not taken for one of this; 4 bytes, little-endian.
//
// LMDB has no checksums of its own: a flipped bit is read as if it had been written. The events of
// a log carry theirs within; for the tables that are made from it, it stands around the value.

import CLMDB

/// The checksum behind a value.
enum CheckedRecord {
    static let checksumBytes = 4

    /// The value without its checksum; nil when that is not the one of key and value in the table.
    @inline(__always)
    static func value(
        of stored: UnsafeBufferPointer<UInt8>, _ key: UnsafeRawBufferPointer, _ table: Table
    ) -> UnsafeBufferPointer<UInt8>? {
        let count = stored.count - checksumBytes
        guard count >= 0, let start = stored.baseAddress else { return nil }
        let value = unsafe UnsafeBufferPointer(start: start, count: count)
        let known = unsafe UnsafeRawPointer(start + count).loadUnaligned(as: UInt32.self)
        let found = unsafe checksum(key, UnsafeRawBufferPointer(value), table)
        guard found == UInt32(littleEndian: known) else { return nil }
        return unsafe value
    }

    /// Whether what a table stores under a key is what was written.
    static func isRight(_ stored: [UInt8], _ key: [UInt8], _ table: Table) -> Bool {
        unsafe stored.withUnsafeBufferPointer { stored in
            unsafe key.withUnsafeBytes { unsafe value(of: stored, $0, table) != nil }
        }
    }

    /// Has LMDB store a value, with its checksum where the table has them.
    ///
    /// - Parameter put: stores a value under a key, with flags.
    @inline(__always)
    static func store(
        _ table: Table, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
        _ flags: UInt32,
        _ put: (UnsafeMutablePointer<MDB_val>, UnsafeMutablePointer<MDB_val>, UInt32) -> Int32
    ) -> Int32 {
        var name = unsafe MDB_val(key)
        var stored = unsafe MDB_val(value)
        guard table.isChecked else { return unsafe put(&name, &stored, flags) }
        unsafe stored.mv_size += checksumBytes
        unsafe stored.mv_data = nil
        let code = unsafe put(&name, &stored, flags | UInt32(MDB_RESERVE))
        if code == 0 { unsafe fill(stored, key, value, table) }
        return code
    }

    /// Fills the room that LMDB made for a value and its checksum.
    @inline(__always)
    private static func fill(
        _ room: MDB_val, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
        _ table: Table
    ) {
        guard let start = unsafe room.mv_data else { return }
        if let bytes = value.baseAddress {
            unsafe start.copyMemory(from: bytes, byteCount: value.count)
        }
        let checksum = unsafe checksum(key, value, table).littleEndian
        unsafe (start + value.count).storeBytes(of: checksum, as: UInt32.self)
    }

    private static func checksum(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ table: Table
    ) -> UInt32 {
        var crc = CRC32C()
        unsafe crc.update(key)
        unsafe crc.update(value)
        return crc.value ^ table.checksumMask
    }
}

/// The long records that a read found to be right beside keys which are not there.
///
/// What a read sees does not change. Else each of many keys that are missing beside one long record
/// would have all of that gone through.
struct LongNeighbours {
    /// The checksum of a shorter record takes less time than finding it.
    static let bytesMin = 4096
    /// Each table that is read from has two beside a key.
    private static let countMax = 8

    private struct Place {
        let table: UInt32
        let address: UInt
    }

    private var places: [Place] = []
    /// Which one gives way to the next.
    private var oldest = 0

    /// Whether the record of a table with its key at an address is one of them.
    func contains(_ table: Table, _ address: UInt) -> Bool {
        places.contains { $0.address == address && $0.table == table.handle }
    }

    mutating func insert(_ table: Table, _ address: UInt) {
        let place = Place(table: table.handle, address: address)
        guard places.count == Self.countMax else { return places.append(place) }
        places[oldest] = place
        oldest = (oldest + 1) % Self.countMax
    }
}

extension TreeReader {
    /// The value that a record stores, as it was put.
    ///
    /// - Throws: `damagedTable` when the record is not what was written.
    @inline(__always)
    func checked(
        _ table: Table, _ key: UnsafeRawBufferPointer, _ stored: UnsafeBufferPointer<UInt8>
    ) throws(StoreError) -> UnsafeBufferPointer<UInt8> {
        guard table.isChecked else { return unsafe stored }
        guard let value = unsafe CheckedRecord.value(of: stored, key, table) else {
            throw damaged(table, record: unsafe [UInt8](key))
        }
        return unsafe value
    }

    /// The error for a record that is not what was written.
    func damaged(_ table: Table, record key: [UInt8]) -> StoreError {
        let shown = key.prefix(64).map { 0x20...0x7E ~= $0 ? $0 : UInt8(ascii: "/") }
        let words = String(decoding: shown, as: UTF8.self)
        return damaged(table, "the record \(words) is not what was written", during: "read")
    }

    /// The error for a table that is not what was written; a writing transaction remembers it.
    func damaged(_ table: Table, _ what: String, during: String = "scan") -> StoreError {
        let error = StoreError(
            table.isChecked ? .damagedTable : .damaged, during: during,
            detail: "in the table \(table.name) \(what)")
        state?.record(error)
        return error
    }
}
