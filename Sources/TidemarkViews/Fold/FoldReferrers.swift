// FoldReferrers.swift — which entities may refer to some others, found by the indexes of their
// references, which tell of the rows that were there and are seen. What this fold wrote, and where
// there is no index all of a collection, is read once and kept by what it refers to.

package import TidemarkEvents
import TidemarkStore

/// What entities of some collections refer to, as they were at some time of this fold.
final class ReferrerMemory: FoldMemory {
    struct Source: Hashable {
        var collection: CollectionName
        var references: [Reference]
        /// Whether all of the collection was read, or only what indexes don't tell of.
        var isWhole: Bool
    }

    fileprivate var known: [Source: KnownReferrers] = [:]
}

/// The entities that refer to others by some fields, by the keys that they name: all that do, and
/// some that did.
final class KnownReferrers {
    private(set) var keys: [EntityKey: Set<EntityKey>] = [:]
    /// After how many writes of the fold they are up to date.
    fileprivate var count: Int

    fileprivate init(count: Int) { self.count = count }

    fileprivate func note(
        _ key: EntityKey, _ row: EntityRow, _ references: [Reference],
        _ collection: CollectionModel
    ) {
        for document in row.documents(in: collection) {
            for reference in references {
                for id in document.ids(in: reference.field) {
                    keys[EntityKey(reference.collection, id), default: []].insert(key)
                }
            }
        }
    }
}

extension Fold {
    /// Calls `body` with the entities of a collection that may refer to one of some others, in the
    /// order of their ids: with all that do, and with some that don't; it says whether to go on.
    package func forEachReferrer(
        to targets: Set<EntityKey>, by references: [Reference], in collection: CollectionModel,
        _ body: (EntityKey, EntityRow) throws -> Bool
    ) throws {
        let indexes = try references.map { try index(of: $0, in: collection.name) }
        // Of what is hidden for want of access no index tells.
        let isWhole = try hidesAny() || indexes.contains(where: { $0 == nil })
        let known = try knownReferrers(by: references, in: collection, isWhole: isWhole)
        var found: Set<[UInt8]> = []
        for (reference, index) in zip(references, indexes) {
            for target in targets where target.collection == reference.collection {
                for name in try keys(of: target) {
                    for key in known.keys[name] ?? [] { found.insert(key.bytes) }
                    if !isWhole, let index { try note(name.id, in: index, collection, &found) }
                }
            }
            if !isWhole, let index { try note([OrderKey.nested], in: index, collection, &found) }
        }
        for bytes in found.sorted(by: ByteOrder.precedes) {
            guard let key = EntityKey(bytes: bytes) else { continue }
            let row = try entity(key)
            guard !row.isEmpty else { continue }
            guard try body(key, row) else { return }
        }
    }

    /// What entities of a collection refer to: of all of it, or of those that this fold wrote and
    /// those that are hidden, as what they refer to can't be had.
    func knownReferrers(
        by references: [Reference], in collection: CollectionModel, isWhole: Bool
    ) throws -> KnownReferrers {
        let memory = memory(ReferrerMemory.self)
        let source = ReferrerMemory.Source(
            collection: collection.name, references: references, isWhole: isWhole)
        let count = followTaken()
        if let known = memory.known[source] {
            for (key, row) in entitiesTaken(in: collection.name, after: known.count) {
                known.note(key, row, references, collection)
            }
            known.count = count
            return known
        }
        let known = KnownReferrers(count: count)
        if isWhole {
            try forEachEntity(in: collection.name) { key, row in
                known.note(key, row, references, collection)
                return true
            }
        } else {
            for (key, row) in entitiesTaken(in: collection.name) {
                known.note(key, row, references, collection)
            }
            for key in try danglingKeys(in: collection) {
                known.note(key, try takenRow(at: .entity(key)), references, collection)
            }
        }
        memory.known[source] = known
        return known
    }

    /// The entities of a collection that an index has under some values, by the rows that were
    /// there; nil where it does not tell.
    ///
    /// - Parameter values: of each field of the index the ids or texts that it may have; nil for
    ///   none.
    func keys(
        in wanted: IndexModel, _ values: [[String]?], of collection: CollectionModel
    ) throws -> [EntityKey]? {
        guard try !hidesAny(), let index = try keptIndex(wanted, in: collection.name) else {
            return nil
        }
        var beginnings: [[UInt8]] = [[]]
        for field in values {
            var null: [UInt8] = []
            OrderKey.append(nil as JSONValue?, kind: .value, dates: collection.dates, to: &null)
            let own = field.map { ids in
                ids.flatMap { OrderKey.values(ofID: $0, dates: collection.dates) }
            }
            beginnings = beginnings.flatMap { start in (own ?? [null]).map { start + $0 } }
        }
        var found: Set<[UInt8]> = []
        for bytes in beginnings {
            try note(index.cut(bytes).bytes, in: index, collection, &found)
        }
        return found.sorted(by: ByteOrder.precedes).compactMap { EntityKey(bytes: $0) }
    }

    /// Whether an index tells which entities refer to some.
    func hasIndex(of reference: Reference, in collection: CollectionName) throws -> Bool {
        try !hidesAny() && index(of: reference, in: collection) != nil
    }

    private func index(
        of reference: Reference, in collection: CollectionName
    ) throws -> KeptIndex? {
        try keptIndex(IndexModel([IndexField(reference.field)]), in: collection)
    }

    /// Notes the entities that have an id in an index, as a text or as a number.
    private func note(
        _ id: String, in index: KeptIndex, _ collection: CollectionModel,
        _ found: inout Set<[UInt8]>
    ) throws {
        for bytes in OrderKey.values(ofID: id, dates: collection.dates) {
            try note(index.cut(bytes).bytes, in: index, collection, &found)
        }
    }

    /// Notes the entities whose values in an index begin so.
    private func note(
        _ beginning: [UInt8], in index: KeptIndex, _ collection: CollectionModel,
        _ found: inout Set<[UInt8]>
    ) throws {
        let prefix = EntityKey.prefix(of: collection.name)
        try walkIndex(index.name + beginning) { key, value in
            let id = try index.record(key, value, of: collection.name).id
            found.insert(prefix + id.utf8)
            return true
        }
    }
}
