// IndexSupport.swift — models with indexes, and what an index has to say by a plain reading.

import Testing
import TidemarkEvents
import TidemarkStore
import TidemarkViews

extension Event {
    /// A model of the collection `tasks`, and of those it refers to.
    static func tasks(
        _ indexes: [IndexModel], references: [Reference] = [],
        dates: DateFormat = .iso8601, migrations: [FieldMigration] = []
    ) -> Event {
        let tasks = CollectionModel(
            "tasks", references: references, indexes: indexes, dates: dates,
            migrations: migrations)
        return .collections(references.map { CollectionModel($0.collection) } + [tasks])
    }

    static func collections(_ collections: [CollectionModel]) -> Event {
        let model = SyncModel(name: "test", collections: collections)
        return .registered(model)
    }
}

/// One entity as an index has it.
struct IndexedEntity: Hashable, CustomStringConvertible {
    var components: [UInt8]
    var id: String

    var description: String { "\(id) \(components)" }

    static func precedes(_ left: IndexedEntity, _ right: IndexedEntity) -> Bool {
        if left.components != right.components {
            return left.components.lexicographicallyPrecedes(right.components)
        }
        return left.id.utf8.lexicographicallyPrecedes(right.id.utf8)
    }
}

extension ScratchStore {
    /// How the indexes differ from ones made anew.
    func indexDifferences() throws -> [IndexDifference] {
        try journal.environment.read { try journal.indexDifferences($0) }
    }

    /// The ids that an index has, in its order.
    func ids(
        _ index: IndexModel, in name: CollectionName = "tasks", from lower: IndexBound? = nil,
        to upper: IndexBound? = nil, reversed: Bool = false, most: Int = .max
    ) throws -> [String] {
        try journal.read { views in
            var ids: [String] = []
            try views.forEachIndexed(index, in: name, from: lower, to: upper, reversed: reversed) {
                ids.append($2)
                return ids.count < most
            }
            return ids
        }
    }

    func hasIndex(_ index: IndexModel, in name: CollectionName = "tasks") throws -> Bool {
        try journal.read { try $0.hasIndex(index, in: name) }
    }

    /// How many records all indexes have together.
    func indexCount() throws -> Int {
        let table = journal.views.indexTable(try generation)
        return try journal.environment.read { try $0.count(table) }
    }

    /// All records of the indexes, key and value.
    func indexRecords() throws -> [[[UInt8]]] {
        let table = journal.views.indexTable(try generation)
        return try journal.environment.read { transaction in
            var records: [[[UInt8]]] = []
            try transaction.scan(table, from: nil, prefix: [], reversed: false) {
                records.append([$0.copied(), $1.copied()])
                return true
            }
            return records
        }
    }
}

extension IndexReading {
    /// Every entity of a collection as an index would have it, uncut and in order.
    func allIndexed(_ index: IndexModel, in name: CollectionName) throws -> [IndexedEntity] {
        let collection = try model()[name]
        var result: [IndexedEntity] = []
        try forEachEntity(in: name) { key, row in
            guard let bytes = try row.document(in: collection) else { return true }
            let document = try JSONDocument(parsing: bytes)
            var components: [UInt8] = []
            for field in index.fields {
                OrderKey.append(
                    document.rawValue(field.name), kind: field.kind,
                    dates: collection?.dates ?? .iso8601, to: &components)
            }
            result.append(IndexedEntity(components: components, id: key.id))
            return true
        }
        return result.sorted(by: IndexedEntity.precedes)
    }
}
