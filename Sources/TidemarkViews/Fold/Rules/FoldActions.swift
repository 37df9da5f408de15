// FoldActions.swift — actions: which one is sent next, whether it waits, and what those grant for a
// time that the server carried out.
//
//   'G' collection 0 id 0 name   the last one of that name that grants something; of a name that
//                                fits no key behind the entity's, its checksum in digits

package import TidemarkEvents
import TidemarkRules
import TidemarkStore

/// An action that granted something.
package struct GrantRow: Sendable, Hashable {
    /// The `push.accepted` that tells.
    package var position: Position
    /// Until when, by the server's clock; where that is not known, by the device's.
    package var until: Timestamp
    /// The payload of `local.requested`.
    package var requested: [UInt8]

    package var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.position(1, position)
        writer.signed(2, until.rawValue)
        writer.bytes(3, requested)
        return writer.bytes
    }

    package init(position: Position, until: Timestamp, requested: [UInt8]) {
        self.position = position
        self.until = until
        self.requested = requested
    }

    package init(parsing bytes: [UInt8]) throws(ProtoError) {
        self.init(position: .start, until: Timestamp(rawValue: 0), requested: [])
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: position = try field.position()
            case 2: until = Timestamp(rawValue: try field.signed())
            case 3: requested = try field.bytes()
            default: continue
            }
        }
    }
}

extension RowKey {
    /// What an action granted last.
    package static func grant(_ key: EntityKey, _ action: String) -> RowKey {
        let entity = key.bytes(after: Ledger.grants) + [0]
        let name = Array(action.utf8)
        if entity.count + name.count <= bytesMax { return RowKey(.ledger, entity + name) }
        let sum = CRC32C.checksum(of: name)
        let digits = Hexadecimal.encode(
            (0..<4).reversed().map { UInt8(truncatingIfNeeded: sum >> (8 * $0)) })
        return RowKey(.ledger, entity + digits.utf8)
    }

    /// The entity of such a row's key.
    package static func granted(_ bytes: [UInt8]) -> EntityKey? {
        let rest = bytes.dropFirst(Ledger.grants.count)
        return rest.lastIndex(of: 0).flatMap { EntityKey(bytes: rest[..<$0]) }
    }
}

extension EntityRow {
    /// The action that is sent next; nil where that is an edit, or nothing.
    package var nextAction: LocalRequested? { pending.first?.requested }
}

extension RowReading {
    /// Whether an action waits for what counts in its entity.
    package func waitsForTree(
        _ action: LocalRequested, of key: EntityKey, _ collection: CollectionModel
    ) throws -> Bool {
        try collection.rule(of: action.action)?.waitsForTree == true && waits(below: key)
    }
}

extension Fold {
    /// Notes what an action grants that was carried out.
    func note(
        granted item: EntityRow.Pending, of key: EntityKey, _ collection: CollectionModel,
        _ event: Event, _ position: Position
    ) throws {
        let requested = LocalRequested(stored: item.payload)
        guard let rule = collection.rule(of: requested.action), rule.grants != .zero
        else { return }
        let now = try started(event)?.run.moment.flatMap { try serverClock()?.time(at: $0) }
        let grant = GrantRow(
            position: position, until: (now ?? event.recordedAt).adding(rule.grants),
            requested: item.payload)
        put(.grant(key, requested.action), grant.encoded)
    }

    /// Has the entity that another one turned out to be hold what was granted for that one.
    func moveGrants(from other: EntityKey, to key: EntityKey) throws {
        let prefix = other.bytes(after: Ledger.grants) + [0]
        for (place, value) in try ledgerRows(prefix) {
            put(place, nil)
            let granted = try GrantRow(parsing: value)
            let action = LocalRequested(stored: granted.requested).action
            if try get(.grant(key, action)) == nil { put(.grant(key, action), value) }
        }
    }
}

extension RowReading {
    /// What an action of that name granted last; nil where none did, also where it is over.
    package func grant(_ action: String, of named: EntityKey) throws -> GrantRow? {
        try get(.grant(resolve(named), action)).map { try GrantRow(parsing: $0) }
    }
}
