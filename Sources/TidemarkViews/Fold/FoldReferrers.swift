// FoldReferrers.swift — which entities may refer to some others, found by the indexes of their
// references: those tell of the rows that were there, and what was written since is looked at.

package import TidemarkEvents
import TidemarkLog
import TidemarkStore

extension Fold {
    /// Calls `body` with the entities of a collection that may refer to one of some others, in the
    /// order of their ids: with all that do, and with some that don't; it says whether to go on.
    ///
    /// Without an index for each reference, and where entities are hidden for want of access, of
    /// which indexes don't tell, these are all entities of the collection.
    package func forEachReferrer(
        to targets: Set<EntityKey>, by references: [Reference], in collection: CollectionModel,
        _ body: (EntityKey, EntityRow) throws -> Bool
    ) throws {
        let indexes = try references.map { try index(of: $0, in: collection.name) }
        guard try !hidesAny(), !indexes.contains(where: { $0 == nil }) else {
            return try forEachEntity(in: collection.name, body)
        }
        var found: Set<[UInt8]> = []
        for (reference, index) in zip(references, indexes) {
            guard let index else { continue }
            for target in targets where target.collection == reference.collection {
                for id in try keys(of: target).map(\.id) {
                    try note(id, in: index, collection, &found)
                }
            }
            try note([OrderKey.nested], in: index, collection, &found)
        }
        found.formUnion(writtenEntityKeys(in: collection.name))
        found.formUnion(try danglingKeys(in: collection).map(\.bytes))
        for bytes in found.sorted(by: ByteOrder.precedes) {
            guard let key = EntityKey(bytes: bytes) else { continue }
            let row = try entity(key)
            guard !row.isEmpty else { continue }
            guard try body(key, row) else { return }
        }
    }

    /// The entities of a collection that an index has under some values, by the rows that were
    /// there; nil where it does not tell.
    ///
    /// - Parameter values: of each field of the index the ids or texts that it may have; nil for
    ///   none.
    func keys(
        in wanted: IndexModel, _ values: [[String]?], of collection: CollectionModel
    ) throws -> [EntityKey]? {
        guard try !hidesAny(), let index = try index(wanted, in: collection.name) else {
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
        try index(IndexModel([IndexField(reference.field)]), in: collection)
    }

    private func index(
        _ wanted: IndexModel, in collection: CollectionName
    ) throws -> KeptIndex? {
        let kept = try indexPlan()[collection]?.indexes.first { $0.index == wanted }
        return kept.flatMap { indexNames.contains($0.name) ? $0 : nil }
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
            let rest = key[index.name.count...]
            guard let end = index.componentsEnd(of: rest)?.end,
                let id = KeptIndex.id(rest[end...], value)
            else {
                throw LogError(
                    .corruptRow, at: .start,
                    "a record of an index of \(collection.name) is damaged; `tidemark rebuild` "
                        + "mends it")
            }
            found.insert(prefix + id.utf8)
            return true
        }
    }
}
