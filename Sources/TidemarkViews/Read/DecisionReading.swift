// DecisionReading.swift — the decisions about an entity, and those in which it was the reason for
// what became of others.

package import TidemarkEvents

/// A decision, and where it was made.
package struct PlacedDecision: Sendable, Hashable {
    /// The event that it was made at.
    package var position: Position
    package var row: DecisionRow

    package init(position: Position, row: DecisionRow) {
        self.position = position
        self.row = row
    }
}

extension RowReading {
    /// A decision by its place.
    package func decision(_ position: Position, _ index: Int) throws -> DecisionRow? {
        try get(.decision(position, index)).map { try DecisionRow(parsing: $0) }
    }

    /// The decisions of an event, each with its place, in their order.
    func decisions(at position: Position) throws -> [(index: Int, decision: DecisionRow)] {
        var found: [(index: Int, decision: DecisionRow)] = []
        for index in 0...RowKey.indexMax {
            guard let decision = try decision(position, index) else { break }
            found.append((index, decision))
        }
        return found
    }

    /// Walks over decisions in order; `body` says whether to go on.
    package func forEachDecision(_ body: (Position, DecisionRow) throws -> Bool) throws {
        try walk(.ledger, Ledger.decisions) { key, value in
            guard let position = Position(bigEndianBytes: key.dropFirst().prefix(8)) else {
                return true
            }
            return try body(position, try DecisionRow(parsing: value))
        }
    }
}

extension ViewReader {
    /// Whether a placeholder was made after a position.
    package func hasPlaceholderDecision(after start: Position) throws -> Bool {
        var found = false
        try walkBack(Ledger.decisions) { key, value in
            guard let position = Position(bigEndianBytes: key.dropFirst().prefix(8)),
                position > start
            else { return false }
            found = try DecisionRow(parsing: value).rule == "placeholder"
            return !found
        }
        return found
    }

    /// The decisions about an entity, by any of its keys, in the order of the log.
    ///
    /// Of the others only the first bytes are looked at.
    package func decisions(about keys: [EntityKey]) throws -> [PlacedDecision] {
        let beginnings = keys.map { key in
            var writer = ProtoWriter()
            writer.bytes(1, key.bytes)
            return writer.bytes
        }
        return try decisions { value in beginnings.contains { value.starts(with: $0) } }
    }

    /// The decisions about other entities that were made because of an entity, in which an event of
    /// it is an input: those of rules that compare, and of actions that are done for its sake.
    package func decisions(becauseOf keys: [EntityKey]) throws -> [PlacedDecision] {
        guard let name = keys.first?.collection else { return [] }
        let model = try model()
        let comparing = model.collections.filter { collection in
            (collection.name == name && collection.rivals != nil)
                || collection.choices.contains { $0.collection == name }
                || !collection.actions.isEmpty
        }
        let beginnings = comparing.map { EntityKey.prefix(of: $0.name) }
        guard !beginnings.isEmpty else { return [] }
        let found = try decisions { value in
            var reader = ProtoReader(value)
            guard let field = try? reader.next(), field.number == 1,
                let key = try? field.slice()
            else { return false }
            return beginnings.contains { key.starts(with: $0) }
        }
        return try found.filter { decision in
            let rules = [RivalRule.name, ChoiceRule.name, RequestSent.remedyRule]
            guard rules.contains(decision.row.rule), !keys.contains(decision.row.key) else {
                return false
            }
            // Of rivals, the first input is an event of the other entity.
            let isRival = decision.row.rule == RivalRule.name
            return try decision.row.inputs.dropFirst(isRival ? 1 : 0).contains { input in
                try event(at: input)?.key.map { keys.contains($0) } ?? false
            }
        }
    }

    private func decisions(_ isWanted: ([UInt8]) -> Bool) throws -> [PlacedDecision] {
        var found: [PlacedDecision] = []
        try walk(.ledger, Ledger.decisions) { key, value in
            guard isWanted(value),
                let position = Position(bigEndianBytes: key.dropFirst().prefix(8))
            else { return true }
            found.append(PlacedDecision(position: position, row: try DecisionRow(parsing: value)))
            return true
        }
        return found
    }
}
