// MutationReading.swift — the mutations that there are, and those that are open.

package import TidemarkEvents

extension RowReading {
    /// The row of a pending mutation, which may be one that follows from a rule.
    package func mutation(of item: EntityRow.Pending, _ key: EntityKey) throws -> MutationRow? {
        guard item.isDerived else { return try mutation(item.position) }
        return try derivedMutation(item.position, key)
    }

    /// A mutation that follows from a rule, by the event that made it follow and its entity.
    package func derivedMutation(_ position: Position, _ key: EntityKey) throws -> MutationRow? {
        let row = try get(.openDerived(position, key)) ?? get(.settledDerived(position, key))
        return try row.map { try MutationRow(parsing: $0) }
    }

    /// The mutation of an event among rows, wherever it stands.
    func storedMutation(
        _ position: Position, _ get: (RowKey) throws -> [UInt8]?
    ) throws -> MutationRow? {
        let row = try get(.open(position)) ?? get(.settled(position))
        return try row.map { try MutationRow(parsing: $0) }
    }

    /// The events whose mutations wait for the server or, refused by it, for the user, in order.
    func openMutations() throws -> [Position] {
        var positions: [Position] = []
        try walk(.ledger, Ledger.open) { key, _ in
            if let position = Position(bigEndianBytes: key.dropFirst()) {
                positions.append(position)
            }
            return true
        }
        return positions
    }

    /// The entities with mutations of these events, each once, in the order of their first ones.
    func openKeys() throws -> [EntityKey] {
        var seen: Set<EntityKey> = []
        return try openMutations().compactMap { try mutation($0)?.key }
            .filter { seen.insert($0).inserted }
    }

    /// Walks over mutations in order: all of them, or only those that wait for the server or,
    /// refused by it, for the user.
    ///
    /// What follows from an event by a rule comes at that event's position, after the event's own.
    package func forEachMutation(
        openOnly: Bool = false, _ body: (Position, MutationRow) throws -> Bool
    ) throws {
        // Of what is open there is little, and of what follows from rules.
        var others = try openMutations(andSettled: !openOnly)[...]
        var goesOn = true
        if !openOnly {
            try walk(.ledger, Ledger.settled) { key, value in
                guard let position = Position(bigEndianBytes: key.dropFirst()) else { return true }
                while let next = others.first, next.position < position {
                    others = others.dropFirst()
                    goesOn = try body(next.position, next.row)
                    if !goesOn { return false }
                }
                goesOn = try body(position, try MutationRow(parsing: value))
                return goesOn
            }
        }
        guard goesOn else { return }
        for next in others where try !body(next.position, next.row) { return }
    }

    /// The open mutations and those that follow from rules, by position, an event's own first, then
    /// by entity.
    private func openMutations(
        andSettled: Bool
    ) throws -> [(position: Position, row: MutationRow)] {
        var found: [(position: Position, row: MutationRow)] = []
        func note(_ bytes: [UInt8], _ value: [UInt8]) throws -> Bool {
            if let position = Position(bigEndianBytes: bytes.dropFirst().prefix(8)) {
                found.append((position, try MutationRow(parsing: value)))
            }
            return true
        }
        try walk(.ledger, Ledger.open, note)
        let own = found.count
        if andSettled { try walk(.ledger, Ledger.settledDerived, note) }
        try walk(.ledger, Ledger.openDerived, note)
        guard found.count > own else { return found }
        return found.sorted { left, right in
            if left.position != right.position { return left.position < right.position }
            if left.row.isDerived != right.row.isDerived { return right.row.isDerived }
            return left.row.key < right.row.key
        }
    }

    /// The entities whose last push has no known outcome, by key.
    package func unknownAttempts() throws -> [EntityKey] {
        try ledgerRows(Ledger.attempts).compactMap { EntityKey(bytes: $0.key.bytes.dropFirst()) }
    }

    /// The idempotency keys that are known, by their bytes.
    package func idempotencyKeys() throws -> [IdempotencyKey] {
        let prefix = RowKey.writeKey([]).bytes
        return try ledgerRows(prefix).compactMap {
            IdempotencyKey(bytes: Array($0.key.bytes.dropFirst(prefix.count)))
        }
    }
}
