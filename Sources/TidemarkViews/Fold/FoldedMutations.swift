// FoldedMutations.swift — the outbox rows of a fold, taken apart while events are folded.
//
// A mutation has two rows: what it is and became, and, as long as it is open, its entity's key.
// Both follow from one value, so that is what is kept, and both are made in the end.

import TidemarkEvents

/// Mutations that a fold wrote, by their positions.
struct FoldedMutations {
    private typealias Item = (position: Position, row: MutationRow)

    /// Those that the fold's own events made, in their order.
    private var made: [Item] = []
    /// Those of earlier events; all of them stand before the ones made.
    private var earlier: [Position: MutationRow] = [:]

    /// How many rows they are.
    var rowCount: Int { 2 * (made.count + earlier.count) }

    subscript(position: Position) -> MutationRow? {
        index(position).map { made[$0].row } ?? earlier[position]
    }

    /// Sets a mutation.
    ///
    /// - Parameter current: the position of the event that is folded.
    mutating func set(_ position: Position, _ row: MutationRow, at current: Position) {
        if let index = index(position) {
            made[index].row = row
        } else if position == current {
            made.append((position, row))
        } else {
            earlier[position] = row
        }
    }

    private func index(_ position: Position) -> Int? {
        guard let first = made.first, first.position <= position else { return nil }
        var low = 0
        var high = made.count
        while low < high {
            let middle = (low + high) / 2
            if made[middle].position < position { low = middle + 1 } else { high = middle }
        }
        return low < made.count && made[low].position == position ? low : nil
    }

    /// Walks over the first row of each, in the order of their keys; makes one at a time.
    func forEachWritten(_ body: (RowKey, [UInt8]?) throws -> Void) rethrows {
        let before = earlier.sorted { $0.key < $1.key }
        for (position, row) in before { try body(.mutation(position), row.encoded) }
        for (position, row) in made { try body(.mutation(position), row.encoded) }
    }

    /// The same with the other row of each.
    func forEachOpen(_ body: (RowKey, [UInt8]?) throws -> Void) rethrows {
        let before = earlier.sorted { $0.key < $1.key }
        for (position, row) in before { try body(.open(position), row.openRow) }
        for (position, row) in made { try body(.open(position), row.openRow) }
    }
}

extension MutationRow {
    /// The row that says it is open; nil when it is not.
    ///
    /// What the server refused still waits: for an edit, a retry, or to be given up.
    var openRow: [UInt8]? { isOpen ? key.bytes : nil }

    /// Whether it waits for the server or for the user.
    var isOpen: Bool { outcome == nil || outcome == .rejected }
}
