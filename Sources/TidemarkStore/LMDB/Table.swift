// Table.swift — a named tree of keys and values, and what can be read from one.

/// A named sub-database of one environment, in the byte order of its keys.
///
/// Valid for the environment that handed it out, as long as that is open.
package struct Table: Hashable, Sendable {
    /// Its name on disk.
    package let name: String
    /// Whether each record carries a checksum over its key and value (CheckedRecord.swift).
    package let isChecked: Bool
    /// What tells this table's checksums from another one's.
    let checksumMask: UInt32
    /// LMDB's handle; 0 for a table that a store doesn't have, which reads as empty.
    let handle: UInt32

    /// LMDB's own list of tables, which has the same handle everywhere.
    static let catalog = Table(name: "catalog", isChecked: false, checksumMask: 0, handle: 1)
}

/// What a reading and a writing transaction have in common.
///
/// A key has 1 to 511 bytes; another one throws `badKey`. Bytes passed to a closure are lent: they
/// lie in the mapped file and end with the call. While bytes of a *writing* transaction are lent,
/// it must not be written to; that is a programmer's mistake and stops the process with a sentence.
package protocol TableReading: ~Copyable {
    /// The value of `key`, copied out; nil when there is none.
    borrowing func get(_ table: Table, _ key: [UInt8]) throws(StoreError) -> [UInt8]?

    /// Lends the value of `key` to `body`; false, without calling it, when there is none.
    borrowing func lend(
        _ table: Table, _ key: [UInt8], _ body: (Span<UInt8>) throws -> Void
    ) throws -> Bool

    /// Walks over keys in order and lends each with its value, until `body` answers false.
    ///
    /// - Parameters:
    ///   - start: where the walk begins, inclusive: at the first key not below it, or, reversed,
    ///     at the last key not above it. Nil or empty: at the end of the range.
    ///   - prefix: the range: only keys that start with it. Empty: all keys.
    ///   - reversed: whether to walk from greater keys to lesser ones.
    ///   - body: gets a key and its value and answers whether to go on.
    borrowing func scan(
        _ table: Table, from start: [UInt8]?, prefix: [UInt8], reversed: Bool,
        _ body: (_ key: Span<UInt8>, _ value: Span<UInt8>) throws -> Bool
    ) throws

    /// The least key and its value, copied out; nil when the table is empty.
    borrowing func first(
        _ table: Table
    ) throws(StoreError) -> (key: [UInt8], value: [UInt8])?

    /// The greatest key and its value, copied out; nil when the table is empty.
    borrowing func last(
        _ table: Table
    ) throws(StoreError) -> (key: [UInt8], value: [UInt8])?

    /// How many keys the table has; costs nothing.
    borrowing func count(_ table: Table) throws(StoreError) -> Int

    /// How many bytes the pages of the table have, no fewer than its keys and values; reads none.
    borrowing func pageBytes(_ table: Table) throws(StoreError) -> Int
}

extension TableReading where Self: ~Copyable {
    /// Lends the value of `key` to `body`; nil, without calling it, when there is none.
    package borrowing func withValue<R>(
        _ table: Table, _ key: [UInt8], _ body: (Span<UInt8>) throws -> R
    ) throws -> R? {
        var result: R?
        _ = try lend(table, key) { result = try body($0) }
        return result
    }
}
