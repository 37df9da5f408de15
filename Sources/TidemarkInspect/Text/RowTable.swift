// RowTable.swift — a map from rows to what was recorded of them, in two flat arrays: it is written
// to once a row and event, and a key is a checksum already, which needs no further hashing.

/// Rows by name; none can be taken out.
struct RowTable {
    typealias Name = RecordedRows.Name
    typealias Row = RecordedRows.Row

    /// The names by slot, nil where there is none; a name is in its own slot or behind it.
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

    /// Every name with its row, in no order that means anything.
    func forEach(_ body: (Name, Row) -> Void) {
        for (slot, name) in names.enumerated() {
            if let name { body(name, rows[slot]) }
        }
    }

    /// The slot that holds the name, or the one to put it into.
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
