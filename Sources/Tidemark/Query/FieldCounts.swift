// FieldCounts.swift — how many entities of a query have each value of a field.

package import TidemarkEvents
import TidemarkStore
package import TidemarkViews

/// Entities counted by the value of a field, as queries compare it (OrderKey.swift).
package struct FieldCounts {
    package struct Group {
        package var count: Int
        /// One of the entities, the first that was found; what its property is, all of them have.
        package let example: EntityKey
    }

    /// In the order in which their values were found.
    package private(set) var groups: [Group] = []
    private let field: DocumentField
    private let dates: DateFormat
    private let reader: FieldReader
    private var places: [[UInt8]: Int] = [:]
    /// The group of the last entity: neighbours in an index often have one value.
    private var last: (value: [UInt8], place: Int)?

    package init(of field: DocumentField, in collection: CollectionModel) {
        self.field = field
        dates = collection.dates
        reader = FieldReader([field.name])
    }

    /// Counts an entity by its document, as today's model reads it.
    package mutating func add(_ key: EntityKey, _ document: [UInt8]) {
        var value: [UInt8] = []
        switch field {
        case .id: OrderKey.append(.string(key.id), kind: .value, dates: dates, to: &value)
        case .field(let field):
            OrderKey.append(
                reader.values(of: document[...])[0], kind: field.kind, dates: dates, to: &value)
        }
        add(key, value: value)
    }

    /// Counts an entity by the bytes of the value.
    fileprivate mutating func add(_ key: EntityKey, value: [UInt8]) {
        if let last, ByteOrder.areEqual(last.value, value) {
            groups[last.place].count += 1
            return
        }
        let place = places[value] ?? groups.count
        if place == groups.count {
            groups.append(Group(count: 0, example: key))
            places[value] = place
        }
        groups[place].count += 1
        last = (value, place)
    }
}

extension DocumentQuery {
    /// The field of documents that a property is.
    ///
    /// - Throws: ``TidemarkError`` `unknownField` for a key path without a name.
    package func documentField(_ field: QueryField) throws -> DocumentField {
        try TermReader(collection: collection, ids: { [$0.id] }).field(field)
    }
}

extension QueryPlan {
    /// The plan by which an index alone tells how many entities of a query have each value of a
    /// field; nil where none does.
    package init?(
        counting query: DocumentQuery, by field: IndexField, indexes: [IndexModel]
    ) {
        let facts = QueryFacts(query.conditions)
        guard query.isWhole, !facts.isNever else { return nil }
        var best: IndexFit.Score?
        var plan: QueryPlan?
        for index in indexes where index.fields.contains(field) {
            let fit = IndexFit(index, query, facts)
            let found = fit.plan(query, facts)
            guard found.isExact, best.map({ fit.score > $0 }) ?? true else { continue }
            (best, plan) = (fit.score, found)
        }
        guard var plan else { return nil }
        // Nothing has to be merged.
        plan.pinnedFields = 0
        self = plan
    }
}

extension IndexReading {
    /// How many entities of a query have each value of a field; read from an index alone where one
    /// has the field and answers all of the query.
    package func counts(
        _ query: DocumentQuery, by field: DocumentField
    ) throws -> FieldCounts {
        var counts = FieldCounts(of: field, in: query.collection)
        guard case .field(let indexed) = field,
            let plan = QueryPlan(
                counting: query, by: indexed, indexes: try indexes(of: query.collection)),
            case .index(let index, _) = plan.access,
            let place = index.fields.firstIndex(of: indexed)
        else {
            let searched = query.isWhole ? query.unordered : query
            var plan = try self.plan(searched)
            if query.isWhole { (plan.isInOrder, plan.pinnedFields) = (true, 0) }
            try forEachFound(searched, plan, reading: { $0 }) { entity in
                counts.add(entity.key, entity.document)
                return true
            }
            return counts
        }
        try forEachEntry(plan, in: query.collection.name) { components, isCut, id in
            let key = EntityKey(query.collection.name, id)
            if !isCut {
                let start = OrderKey.end(of: components, behind: place)
                let end = OrderKey.end(of: components[...], from: start) ?? components.endIndex
                counts.add(key, value: Array(components[start..<end]))
            } else if let row = try self.row(at: .entity(key)),
                let document = try row.document(in: query.collection),
                query.matches(document, id: id)
            {
                counts.add(key, document)
            }
            return true
        }
        return counts
    }
}

extension FieldCounts {
    /// The counts by the property's own values, each read of one entity that has it.
    func values<T: Entity, Value: Hashable>(
        of path: KeyPath<T, Value>, in store: some EntityReading
    ) throws -> [Value: Int] {
        var counts: [Value: Int] = [:]
        for group in groups {
            guard let example = try store.get(T.self, ID(group.example.id)) else { continue }
            // An entity that goes by two ids is one value.
            counts[example[keyPath: path], default: 0] += group.count
        }
        return counts
    }
}

extension EntityReading {
    /// The counts of a query of which all has to be read.
    func countsRead<T: Entity, Value: Hashable>(
        _ query: EntityQuery<T>, by path: KeyPath<T, Value>
    ) throws -> [Value: Int] {
        var counts: [Value: Int] = [:]
        for entity in try all(query) { counts[entity[keyPath: path], default: 0] += 1 }
        return counts
    }
}
