// WrittenRows.swift — what one event writes to the ledger, in its order: read again before it is
// taken, and discarded as a whole where the event can't be understood.

/// Rows that were written one after the other; the last one under a key counts.
struct WrittenRows<Key: Hashable, Value> {
    /// In the order in which they were written.
    private(set) var rows: [(key: Key, value: Value)] = []
    /// Where the last one under each key stands, once there are many.
    private var indexes: [Key: Int] = [:]
    /// Up to how many are searched from the last one.
    private let few: Int

    init(few: Int) { self.few = few }

    var isEmpty: Bool { rows.isEmpty }

    mutating func append(_ key: Key, _ value: Value) {
        rows.append((key, value))
        guard rows.count > few else { return }
        if indexes.isEmpty {
            for (index, row) in rows.enumerated() { indexes[row.key] = index }
        } else {
            indexes[key] = rows.count - 1
        }
    }

    /// The place of the last row under a key; nil where none was written.
    func lastIndex(of key: Key) -> Int? {
        indexes.isEmpty ? rows.lastIndex { $0.key == key } : indexes[key]
    }

    mutating func removeAll() {
        rows.removeAll(keepingCapacity: true)
        if !indexes.isEmpty { indexes = [:] }
    }
}
