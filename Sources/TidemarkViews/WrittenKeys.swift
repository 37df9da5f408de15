// WrittenKeys.swift — the keys of the rows that a fold wrote, to be walked over in their order.

/// Keys, each noted once; kept apart by what they are about.
///
/// Rows of one kind are often written in the order of their keys, and what is in order is sorted
/// at a glance.
struct WrittenKeys {
    private var rows: [RowKey] = []
    private var ledger: [UInt8: [RowKey]] = [:]

    mutating func append(_ key: RowKey) {
        if key.tree == .rows { return rows.append(key) }
        ledger[key.bytes.first ?? 0, default: []].append(key)
    }

    /// Walks over them by tree and key.
    func forEachSorted(_ body: (RowKey) throws -> Void) rethrows {
        for key in rows.sorted() { try body(key) }
        for (_, keys) in ledger.sorted(by: { $0.key < $1.key }) {
            for key in keys.sorted() { try body(key) }
        }
    }
}
