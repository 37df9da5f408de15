// DanglingRows.swift — entities that are hidden, as what they refer to can't be had, as rows of the
// ledger:
//
//   'De' collection 0 id                   such an entity, and why it is hidden
//   'Dt' collection 0 id 0 collection 0 id what can't be had, and an entity that waits for it
//   'Dl' collection 0 id                   an entity that waits, with the value of its 'De', where
//                                          both names are too long for one key

package import TidemarkEvents
import TidemarkRules

/// Why an entity is hidden: 'De' collection 0 id.
package struct DanglingRow: Sendable, Hashable {
    /// The event by which it was hidden, and the index of that decision.
    package var position: Position
    package var index: Int
    /// What can't be had, as the entity names it, and by which field.
    package var target: EntityKey
    package var field: String

    package init(position: Position, index: Int, target: EntityKey, field: String) {
        self.position = position
        self.index = index
        self.target = target
        self.field = field
    }

    package var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.position(1, position)
        writer.varint(2, UInt64(index))
        writer.bytes(3, target.bytes)
        writer.string(4, field)
        return writer.bytes
    }

    package init?(parsing bytes: [UInt8]) throws(ProtoError) {
        var target: EntityKey?
        var (position, index, field) = (Position.start, 0, "")
        var reader = ProtoReader(bytes)
        while let part = try reader.next() {
            switch part.number {
            case 1: position = try part.position()
            case 2: index = Int(clamping: try part.unsigned())
            case 3: target = EntityKey(bytes: try part.slice())
            case 4: field = try part.string()
            default: continue
            }
        }
        guard let target else { return nil }
        self.init(position: position, index: index, target: target, field: field)
    }
}

extension RowKey {
    package static func dangling(_ key: EntityKey) -> RowKey {
        RowKey(.ledger, key.bytes(after: Ledger.dangling))
    }

    /// That an entity waits for another one.
    package static func waiting(_ key: EntityKey, for target: EntityKey) -> RowKey {
        let bytes = key.bytes(after: waiting(for: target))
        return RowKey(
            .ledger, bytes.count <= bytesMax ? bytes : key.bytes(after: Ledger.waitingLong))
    }

    /// What the keys of those begin with that wait for an entity, where they fit.
    package static func waiting(for target: EntityKey) -> [UInt8] {
        target.bytes(after: Ledger.waiting) + [0]
    }
}

extension Ledger {
    package static let dangling = LedgerSort.dangling.prefix + "e".utf8
    package static let waiting = LedgerSort.dangling.prefix + "t".utf8
    package static let waitingLong = LedgerSort.dangling.prefix + "l".utf8
}

extension RowReading {
    /// Why an entity is hidden, as what it refers to can't be had; nil where it is not.
    package func dangling(_ key: EntityKey) throws -> DanglingRow? {
        try get(.dangling(key)).flatMap { try DanglingRow(parsing: $0) }
    }

    /// Whether entities are hidden for want of one, by that name.
    func isAwaited(_ named: EntityKey) throws -> Bool {
        if try hasLedgerRow(RowKey.waiting(for: named)) { return true }
        return try ledgerRows(Ledger.waitingLong).contains {
            try DanglingRow(parsing: $0.value)?.target == named
        }
    }

    /// The entities of a collection that are hidden so.
    package func danglingKeys(in collection: CollectionModel) throws -> [EntityKey] {
        guard collection.hidesDangling else { return [] }
        return try ledgerRows(Ledger.dangling + EntityKey.prefix(of: collection.name)).compactMap {
            EntityKey(bytes: $0.key.bytes.dropFirst(Ledger.dangling.count))
        }
    }

    func danglingIssues() throws -> [IssueRow] {
        try ledgerRows(Ledger.dangling).compactMap { place, value in
            guard let key = EntityKey(bytes: place.bytes.dropFirst(Ledger.dangling.count)),
                let row = try DanglingRow(parsing: value)
            else { return nil }
            var issue = IssueRow(
                kind: .dangling, position: row.position, index: row.index,
                collection: key.collection, entity: key.id)
            issue.fields = [row.field]
            issue.message = "it names \(row.target) in \(row.field), which can't be had"
            return issue
        }
    }
}

extension CollectionModel {
    /// Whether its entities are hidden while what they refer to can't be had.
    package var hidesDangling: Bool { references.contains { $0.missing == .hides } }
}
