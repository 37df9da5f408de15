// RollUpRows.swift — what counts in an entity, of those that refer to it, as rows of the ledger:
//
//   'R' collection 0 id   an entity that waits for the server, was refused or is a placeholder, or
//                         in which such a one counts
//
// Where nothing is pending there is no row.

package import TidemarkEvents
package import TidemarkRules

/// What counts in an entity: 'R' collection 0 id.
package struct RollUpRow: Sendable, Hashable {
    /// As what it counts, itself and what is below taken together: in its parents, where it has
    /// any, and for who asks for its tree.
    package var counted: RollUpClasses = []
    /// In which entities it counts, in the order of the references.
    package var parents: [EntityKey] = []
    /// How many that refer to it count as what.
    package private(set) var below: [RollUpClass: UInt64] = [:]

    package init() {}

    var isEmpty: Bool { counted.isEmpty && below.isEmpty }

    /// As what those count that refer to it.
    package var belowClasses: RollUpClasses {
        RollUpClass.allCases.reduce(into: []) { classes, one in
            if below[one] != nil { classes.insert(RollUpClasses(one)) }
        }
    }

    mutating func add(_ classes: RollUpClasses, _ count: Int) {
        for one in classes.all {
            let sum = Int(clamping: below[one] ?? 0) + count
            below[one] = sum > 0 ? UInt64(sum) : nil
        }
    }

    /// Adds what another row counts.
    mutating func add(_ other: RollUpRow) {
        for one in RollUpClass.allCases {
            if let count = other.below[one] { below[one, default: 0] += count }
        }
    }

    package var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.varint(1, UInt64(counted.rawValue))
        for parent in parents { writer.message(2, parent.bytes) }
        for one in RollUpClass.allCases {
            guard let count = below[one] else { continue }
            var inner = ProtoWriter()
            inner.varint(1, UInt64(one.rawValue) + 1)
            inner.varint(2, count)
            writer.message(3, inner.bytes)
        }
        return writer.bytes
    }

    package init(parsing bytes: [UInt8]) throws(ProtoError) {
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: counted = RollUpClasses(rawValue: UInt8(clamping: try field.unsigned()))
            case 2:
                if let parent = EntityKey(bytes: try field.slice()) { parents.append(parent) }
            case 3:
                var (one, count): (UInt64, UInt64) = (0, 0)
                var inner = ProtoReader(try field.bytes())
                while let part = try inner.next() {
                    switch part.number {
                    case 1: one = try part.unsigned()
                    case 2: count = UInt64(try part.count())
                    default: continue
                    }
                }
                // One of a later version is none of this one's.
                guard one > 0, let one = RollUpClass(rawValue: UInt8(clamping: one - 1)) else {
                    continue
                }
                below[one] = count
            default: continue
            }
        }
    }
}

extension RowKey {
    package static func rollUp(_ key: EntityKey) -> RowKey {
        RowKey(.ledger, key.bytes(after: Ledger.rollUps))
    }

    /// The entity of which the row says what counts in it; nil for other rows.
    var treeKey: EntityKey? {
        guard view == .rollUps else { return nil }
        return EntityKey(bytes: bytes.dropFirst(Ledger.rollUps.count))
    }
}

extension Ledger {
    package static let rollUps = LedgerSort.rollUps.prefix
}

extension RowReading {
    /// What counts in an entity; nil where nothing does.
    package func rollUp(_ key: EntityKey) throws -> RollUpRow? {
        try get(.rollUp(key)).map { try RollUpRow(parsing: $0) }
    }

    /// The status of an entity together with all that counts in it; nil where there is no such
    /// entity, not even one to be deleted.
    package func rolledUpStatus(of named: EntityKey) throws -> EntityStatus? {
        let key = try resolve(named)
        let row = try entity(at: .entity(key))
        guard row.document != nil || !row.pending.isEmpty else { return nil }
        return try tree(of: key, row).status
    }

    /// What an entity and all that counts in it are, under a key that lasts.
    package func tree(of key: EntityKey, _ row: EntityRow) throws -> RollUpClasses {
        let counted = try rollUp(key)?.counted ?? []
        return counted.union(RollUpClasses(row.rollUpClass))
    }
}

extension IndexReading {
    /// Calls `body` with the entities of a collection in whose trees something counts as that, by
    /// their ids; `body` says whether to go on.
    ///
    /// Some of them may not be here.
    package func forEachTree(
        of collection: CollectionName, with wanted: RollUpClass, reversed: Bool,
        _ body: (EntityKey) throws -> Bool
    ) throws {
        let prefix = Ledger.rollUps + EntityKey.prefix(of: collection)
        try walkLedger(prefix, reversed: reversed) { bytes, value in
            let counted = try RollUpRow(parsing: value).counted
            guard counted.contains(RollUpClasses(wanted)),
                let key = EntityKey(bytes: bytes.dropFirst(Ledger.rollUps.count))
            else { return true }
            return try body(key)
        }
    }
}

extension SyncModel {
    /// Whether entities of a collection count in others, or others in them.
    package func hasRollUps(of name: CollectionName) -> Bool {
        collections.contains { collection in
            collection.references.contains { reference in
                reference.rollUp != nil
                    && (reference.collection == name || collection.name == name)
            }
        }
    }
}

extension EntityRow {
    /// As what it counts by itself; nil for nothing: it is as the server said, or not here.
    package var rollUpClass: RollUpClass? {
        isHidden || (pending.isEmpty && baseState != .live) ? nil : RollUpClass(status)
    }
}
