// RowTable.swift — a hash table of recorded rows, in two flat arrays: it is written to once per row
// and event, and its keys are checksums already, which need no further hashing.

/// Recorded rows by name; rows are never removed.
struct RowTable {
    typealias Name = RecordedRows.Name
    typealias Row = RecordedRows.Row

    /// The names by slot, nil for a free slot; a name is in its own slot or one behind it.
    private var names: [Name?]
    private var rows: [Row]
    private var count = 0

    init(slots: Int = 1024) {
        names = Array(repeating: nil, count: slots)
        rows = Array(repeating: .foreign, count: slots)
    }

    subscript(_ name: Name) -> Row? {
        get {
            let slot = slot(of: name)
            return names[slot] == nil ? nil : rows[slot]
        }
    }

    mutating func set(_ name: Name, _ row: Row) {
        let slot = slot(of: name)
        rows[slot] = row
        guard names[slot] == nil else { return }
        names[slot] = name
        count += 1
        if count * 2 > names.count { grow() }
    }

    /// Calls `body` with every name and its row, in no particular order.
    func forEach(_ body: (Name, Row) -> Void) {
        for (slot, name) in names.enumerated() {
            if let name { body(name, rows[slot]) }
        }
    }

    /// The slot that holds the name, or the free slot for it.
    private func slot(of name: Name) -> Int {
        let mask = names.count - 1
        var slot = name.mixed & mask
        while let other = names[slot], other != name { slot = (slot + 1) & mask }
        return slot
    }

    private mutating func grow() {
        var larger = RowTable(slots: names.count * 2)
        forEach { name, row in larger.set(name, row) }
        self = larger
    }
}
