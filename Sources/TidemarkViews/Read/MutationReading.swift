// MutationReading.swift — the mutations that there are, and those that are open.

package import TidemarkEvents

extension RowReading {
    /// The row of a pending mutation, which may be one that follows from a rule.
    package func mutation(of item: EntityRow.Pending, _ key: EntityKey) throws -> MutationRow? {
        guard item.isDerived else { return try mutation(item.position) }
        return try derivedMutation(item.position, key)
    }

    /// A mutation that follows from a rule, by the event that made it follow and its entity.
    func derivedMutation(_ position: Position, _ key: EntityKey) throws -> MutationRow? {
        try get(.derived(position, key)).map { try MutationRow(parsing: $0) }
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

    /// Walks over mutations in order: all of them, or only those that wait for the server or,
    /// refused by it, for the user.
    ///
    /// What follows from an event by a rule comes at that event's position, after the event's own.
    package func forEachMutation(
        openOnly: Bool = false, _ body: (Position, MutationRow) throws -> Bool
    ) throws {
        var derived = try derivedMutations(openOnly: openOnly)[...]
        var goesOn = true
        func visit(_ position: Position, _ row: MutationRow) throws -> Bool {
            while let next = derived.first, next.position < position {
                derived = derived.dropFirst()
                goesOn = try body(next.position, next.row)
                if !goesOn { return false }
            }
            goesOn = try body(position, row)
            return goesOn
        }
        if openOnly {
            try walk(.ledger, Ledger.open) { key, _ in
                guard let position = Position(bigEndianBytes: key.dropFirst()),
                    let row = try mutation(position)
                else { return true }
                return try visit(position, row)
            }
        } else {
            try walk(.ledger, Ledger.mutations) { key, value in
                guard let position = Position(bigEndianBytes: key.dropFirst()) else { return true }
                return try visit(position, try MutationRow(parsing: value))
            }
        }
        guard goesOn else { return }
        for next in derived where try !body(next.position, next.row) { return }
    }

    /// The mutations that follow from rules, by position and then by entity.
    private func derivedMutations(
        openOnly: Bool
    ) throws -> [(position: Position, row: MutationRow)] {
        var found: [(position: Position, row: MutationRow)] = []
        let prefix = openOnly ? Ledger.openDerived : Ledger.derived
        try walk(.ledger, prefix) { bytes, value in
            guard let position = Position(bigEndianBytes: bytes.dropFirst().prefix(8)),
                let key = EntityKey(bytes: bytes.dropFirst(9)),
                let row = openOnly ? try get(.derived(position, key)) : value
            else { return true }
            found.append((position, try MutationRow(parsing: row)))
            return true
        }
        return found
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
