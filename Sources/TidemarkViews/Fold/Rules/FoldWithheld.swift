// FoldWithheld.swift — entities of which a list's word was left out, because something in their
// trees waits: CollectionModel.withholdsTrees.
//
//   'H' collection 0 id   the page; until the server's word on the entity is taken

package import TidemarkEvents
import TidemarkRules

extension Fold {
    /// The entities of which a list's word was left out.
    private func withheld() throws -> Set<EntityKey> {
        if let known = cache.withheld { return known }
        let keys = try ledgerRows(Ledger.withheld).compactMap {
            EntityKey(bytes: $0.key.bytes.dropFirst(Ledger.withheld.count))
        }
        cache.withheld = Set(keys)
        return Set(keys)
    }

    /// Whether a list's word on an entity was left out.
    package func isWithheld(_ key: EntityKey) throws -> Bool { try withheld().contains(key) }

    /// Notes what a page leaves out, and what it names that was left out before.
    func noteWithheld(_ page: PullPage, of collection: CollectionName, _ position: Position) throws
    {
        guard try page.places.contains(.withheld) || !withheld().isEmpty else { return }
        for (id, place) in zip(page.ids, page.places) {
            let key = try resolve(EntityKey(collection, id))
            if place == .withheld {
                try withhold(key, position.bigEndianBytes)
            } else {
                try takeWithheld(key)
            }
        }
    }

    /// Says of the entity that another one turned out to be what was left out of that one.
    func moveWithheld(from other: EntityKey, to key: EntityKey) throws {
        guard try isWithheld(other), let page = try get(.withheld(other)) else { return }
        try takeWithheld(other)
        try withhold(key, page)
    }

    private func withhold(_ key: EntityKey, _ page: [UInt8]) throws {
        _ = try withheld()
        cache.withheld?.insert(key)
        put(.withheld(key), page)
    }

    /// Notes that the server's word on an entity was taken.
    func takeWithheld(_ key: EntityKey) throws {
        guard try isWithheld(key) else { return }
        cache.withheld?.remove(key)
        put(.withheld(key), nil)
    }
}

extension RowReading {
    /// Whether nothing in an entity's tree waits for the server, was refused or has a warning.
    package func isTreeClean(_ key: EntityKey) throws -> Bool {
        try tree(of: key, try entity(at: .entity(key))).subtracting(.clean).isEmpty
    }

    /// Whether anything that counts in an entity waits for the server, was refused or has a
    /// warning.
    package func waits(below key: EntityKey) throws -> Bool {
        try rollUp(key).map { !$0.belowClasses.subtracting(.clean).isEmpty } ?? false
    }
}

extension ViewReader {
    /// The entities of which a list's word was left out and in whose trees nothing waits any more,
    /// by collection and id.
    package func releasedTrees() throws -> [EntityKey] {
        var keys: [EntityKey] = []
        try walk(.ledger, Ledger.withheld) { bytes, _ in
            if let key = EntityKey(bytes: bytes.dropFirst(Ledger.withheld.count)),
                try isTreeClean(key)
            {
                keys.append(key)
            }
            return true
        }
        return keys
    }

    /// The page whose word on an entity was left out; nil where none was.
    package func withheldPage(_ key: EntityKey) throws -> Position? {
        try get(.withheld(key)).flatMap { Position(bigEndianBytes: $0[...]) }
    }
}
