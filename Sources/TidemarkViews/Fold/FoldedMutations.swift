// FoldedMutations.swift — the outbox rows of a fold, taken apart while events are folded.
//
// A mutation has one row: as long as it is open among the open ones, and then among the settled
// ones, until its event is dropped.

import TidemarkEvents

/// Mutations that a fold wrote, by their positions.
struct FoldedMutations {
    private typealias Item = (position: Position, row: MutationRow)

    /// Those that the fold's own events made, in their order.
    private var made: [Item] = []
    /// Those of earlier events; all of them stand before the ones made.
    private var earlier: [Position: MutationRow] = [:]

    /// How many rows they are.
    var rowCount: Int { made.count + earlier.count }

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

    /// Forgets a mutation whose row is removed.
    mutating func remove(_ position: Position) {
        if let index = index(position) { made.remove(at: index) } else { earlier[position] = nil }
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

    /// Walks over other rows of the ledger and, in the order of their keys, those of the mutations.
    ///
    /// - Parameter others: in that order, too.
    func forEachChange(
        among others: RowChanges, _ body: (RowKey, [UInt8]?) throws -> Void
    ) rethrows {
        var rest = others[...]
        try forEachRow { key, value in
            while let next = rest.first, next.key < key {
                rest = rest.dropFirst()
                try body(next.key, next.value)
            }
            try body(key, value)
        }
        for (key, value) in rest { try body(key, value) }
    }

    private func forEachRow(_ body: (RowKey, [UInt8]?) throws -> Void) rethrows {
        try forEachSettled(body)
        try forEachOpen(body)
    }

    /// Walks over the rows of the settled ones, in the order of their keys; makes one at a time.
    func forEachSettled(_ body: (RowKey, [UInt8]) throws -> Void) rethrows {
        for (position, row) in sortedEarlier where !row.isOpen {
            try body(.settled(position), row.encoded)
        }
        for (position, row) in made where !row.isOpen { try body(.settled(position), row.encoded) }
    }

    /// Walks over the rows of the open ones, and those that were open before, in the order of their
    /// keys; makes one at a time.
    func forEachOpen(_ body: (RowKey, [UInt8]?) throws -> Void) rethrows {
        for (position, row) in sortedEarlier {
            try body(.open(position), row.isOpen ? row.encoded : nil)
        }
        for (position, row) in made where row.isOpen { try body(.open(position), row.encoded) }
    }

    private var sortedEarlier: [Item] {
        earlier.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

extension MutationRow {
    /// Whether it waits for the server or for the user.
    ///
    /// What the server refused still waits: for an edit, a retry, or to be given up.
    package var isOpen: Bool { outcome == nil || outcome == .rejected }
}

extension Fold {
    /// Changes the row of a pending mutation, which may be one that follows from a rule.
    func updateMutation(
        _ item: EntityRow.Pending, of key: EntityKey, _ change: (inout MutationRow) -> Void
    ) throws {
        let position = item.position
        if item.isDerived { return try updateDerived(position, key, change) }
        guard var row = try mutation(position) else { return }
        change(&row)
        put(row, at: position)
    }

    /// Notes the outcome of a pending mutation.
    func settle(
        _ item: EntityRow.Pending, of key: EntityKey, _ outcome: MutationOutcome, proof: Position,
        revision: Revision?
    ) throws {
        try updateMutation(item, of: key) { row in
            row.outcome = row.lost.isEmpty ? outcome : outcome.ofPart
            row.proof = proof
            row.revision = revision
        }
    }

    /// Takes back the outcome of a mutation that is pending again.
    func reopen(_ item: EntityRow.Pending, of key: EntityKey) throws {
        try updateMutation(item, of: key) { row in
            (row.outcome, row.proof, row.revision) = (nil, nil, nil)
        }
    }

    /// Notes fields that a mutation lost while its other fields stay pending.
    func lose(_ fields: [String], of item: EntityRow.Pending, _ key: EntityKey) throws {
        guard !fields.isEmpty else { return }
        try updateMutation(item, of: key) { row in
            let known = Set(row.lost.map(ExactString.init))
            row.lost += fields.filter { !known.contains(ExactString($0)) }
        }
    }
}

/// The mutations that one event wrote, in its order; the last row of each counts.
///
/// No generic type for them and the rows of the ledger: it would be specialised for neither where
/// files are compiled one by one, and every event asks both.
struct WrittenMutations {
    private(set) var rows: [(position: Position, row: MutationRow)] = []
    /// Where the last row of each stands, once there are many.
    private var indexes: [Position: Int] = [:]
    /// Few are searched from the last one.
    private static let few = 16

    var isEmpty: Bool { rows.isEmpty }

    mutating func append(_ row: MutationRow, at position: Position) {
        rows.append((position, row))
        guard rows.count > Self.few else { return }
        if indexes.isEmpty {
            for (index, written) in rows.enumerated() { indexes[written.position] = index }
        } else {
            indexes[position] = rows.count - 1
        }
    }

    subscript(position: Position) -> MutationRow? {
        guard !indexes.isEmpty else { return rows.last { $0.position == position }?.row }
        return indexes[position].map { rows[$0].row }
    }

    mutating func removeAll() {
        rows.removeAll(keepingCapacity: true)
        if !indexes.isEmpty { indexes = [:] }
    }
}
