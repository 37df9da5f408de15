// WriteContext+Queries.swift — queries within a write: the committed data with all changes that the
// commit has made so far.
//
// Indexes only hold committed data, so every query reads the whole collection.

import TidemarkEvents
import TidemarkViews

extension WriteContext: EntityReading {
    /// The entities of a query, with the changes of this commit so far, in the query's order.
    ///
    /// The whole collection is read.
    ///
    /// - Throws: what ``ReadContext/all(_:)-(EntityQuery<T>)`` throws.
    public func all<T: Entity>(_ query: EntityQuery<T>) throws -> [T] {
        var entities: [T] = []
        let reader = try reader(T.self)
        try forEachFound(query, reading: { try $0.entity(reader) }) { entity in
            entities.append(entity)
            return true
        }
        return entities
    }

    /// The number of entities that meet a query now; the whole collection is read.
    ///
    /// - Throws: ``TidemarkError``: `unknownField`, `noModel`.
    public func count<T: Entity>(_ query: EntityQuery<T>) throws -> Int {
        if query.terms.isDecodable { return try all(query).count }
        var count = 0
        // Which ones come first is nothing to the number.
        try forEachFound(query, isSorted: false, reading: { $0.key }) { _ in
            count += 1
            return true
        }
        return count
    }

    /// How many entities of a query have each value of a property now; the whole collection is
    /// read.
    ///
    /// - Throws: what ``ReadContext/counts(_:by:)`` throws.
    public func counts<T: Entity, Value: QueryValue & Hashable>(
        _ query: EntityQuery<T>, by path: KeyPath<T, Value>
    ) throws -> [Value: Int] {
        if query.terms.isDecodable { return try countsRead(query, by: path) }
        let documents = try draft.fold.documentQuery(query.terms, of: T.collection)
        var counts = FieldCounts(
            of: try documents.documentField(FieldNames.term(path)), in: documents.collection)
        try forEachFound(query, isSorted: !documents.isWhole, reading: { $0 }) { entity in
            counts.add(entity.key, entity.document)
            return true
        }
        return try counts.values(of: path, in: self)
    }

    /// The place of an entity in any order, with the changes of this commit so far; nil when there
    /// is none.
    ///
    /// - Throws: ``TidemarkError`` `noModel`.
    public func cursor<T: Entity>(at id: ID<T>) throws -> EntityQuery<T>.Cursor? {
        let collection = try collection(T.self)
        let key = try draft.fold.resolve(T.key(id))
        guard let document = try draft.fold.entity(key).document(in: collection) else { return nil }
        return EntityQuery<T>.Cursor(QueryTerms.Place(key, document))
    }

    private func forEachFound<T: Entity, Value>(
        _ query: EntityQuery<T>, isSorted: Bool = true,
        reading read: (FoundEntity) throws -> Value, _ body: (Value) throws -> Bool
    ) throws {
        let query = try draft.fold.documentQuery(query.terms, of: T.collection)
        guard query.limit != 0 else { return }
        let isInOrder = !isSorted || query.order.isEmpty && !query.isDescendingByID
        try withoutActuallyEscaping(read) { read in
            try withoutActuallyEscaping(body) { body in
                let fold = draft.fold
                var found = FoundEntities(
                    query, isInOrder: isInOrder, tree: { try fold.tree(of: $0, $1) },
                    key: { try fold.resolve($0) }, reading: read, body)
                try fold.forEachEntity(in: T.collection) { try found.take($0, $1) }
                try found.finish()
            }
        }
    }
}
