// WrittenRows.swift — what one event writes to the ledger, in its order: read again before it is
// taken, and discarded as a whole where the event can't be understood.

/// Rows that were written one after the other; the last one under a key counts.
struct WrittenRows {
    /// In the order in which they were written; nil is a row removed.
    private(set) var rows: [(key: RowKey, value: [UInt8]?)] = []
    /// Where the last one under each key stands, once there are many.
    private var indexes: [RowKey: Int] = [:]
    /// Few are searched from the last one.
    private static let few = 64

    var isEmpty: Bool { rows.isEmpty }

    mutating func append(_ key: RowKey, _ value: [UInt8]?) {
        rows.append((key, value))
        guard rows.count > Self.few else { return }
        if indexes.isEmpty {
            for (index, row) in rows.enumerated() { indexes[row.key] = index }
        } else {
            indexes[key] = rows.count - 1
        }
    }

    /// The last row under a key; nil where none was written.
    func last(of key: RowKey) -> (key: RowKey, value: [UInt8]?)? {
        let index = indexes.isEmpty ? rows.lastIndex { $0.key == key } : indexes[key]
        return index.map { rows[$0] }
    }

    mutating func removeAll() {
        rows.removeAll(keepingCapacity: true)
        if !indexes.isEmpty { indexes = [:] }
    }
}
