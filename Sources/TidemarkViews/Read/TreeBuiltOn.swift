// TreeBuiltOn.swift — which pending changes of a tree were built on those of an entity, and could
// not stay without them.
//
//   it was made here      what lies in it, near or far, and what is to be made of it
//   it was moved, or      what took the name that it had
//   renamed, or deleted

package import TidemarkEvents
import TidemarkRules

extension RowReading {
    /// The entities on which something is pending that was built on what is pending on one, each
    /// before what was built on it.
    ///
    /// - Parameter isInside: whether only what could not be anywhere counts: not what took a name.
    package func builtOn(_ named: EntityKey, isInside: Bool = false) throws -> [EntityKey] {
        let key = try resolve(named)
        guard let collection = try model()[key.collection], var reader = TreeReader(collection),
            try reader.mayBeBuiltOn(key.id, self)
        else { return [] }
        var others: [EntityKey] = []
        var seen: Set<EntityKey> = [key]
        try forEachMutation(openOnly: true) { _, mutation in
            if mutation.key.collection == key.collection, !mutation.isDerived,
                seen.insert(mutation.key).inserted
            {
                others.append(mutation.key)
            }
            return true
        }
        var found: [EntityKey] = []
        var waiting = [key][...]
        while let next = waiting.popFirst() {
            var left: [EntityKey] = []
            for other in others {
                if try reader.isBuilt(other.id, on: next.id, isInside: isInside, self) {
                    found.append(other)
                    waiting.append(other)
                } else {
                    left.append(other)
                }
            }
            others = left
        }
        return found
    }
}

extension TreeReader {
    /// Whether an entity is not there, or elsewhere, without what is pending on it.
    fileprivate mutating func mayBeBuiltOn(_ id: String, _ rows: some RowReading) throws -> Bool {
        let steps = try steps(of: id, rows)
        return steps.changes.last.map { steps.base == nil || $0.spot != steps.base } ?? false
    }

    /// Whether what is pending on an entity could not stay without what is pending on another one.
    fileprivate mutating func isBuilt(
        _ id: String, on other: String, isInside: Bool, _ rows: some RowReading
    ) throws -> Bool {
        let (own, below) = try (steps(of: id, rows), steps(of: other, rows))
        guard let base = below.base else {
            // Without what is pending it is not there.
            return own.changes.last?.spot?.parent == other || own.sources.values.contains(other)
        }
        let isElsewhere = below.changes.last.map { $0.spot != base } ?? false
        // One that is there on the server took no name.
        return !isInside && isElsewhere && own.base != base && own.changes.last?.spot == base
    }
}
