// ReadContext+Queries.swift — queries of the store at one point in time.

import TidemarkEvents
import TidemarkViews

extension ReadContext: EntityReading {
    /// The entities of a query, in its order.
    ///
    /// - Throws: ``TidemarkError``: `unknownField`, `noModel`, and `undecodable` for the first
    ///   entity whose document can't be read as the type.
    public func all<T: Entity>(_ query: EntityQuery<T>) throws -> [T] {
        var entities: [T] = []
        let reader = try reader(T.self)
        try views.forEachFound(
            try documentQuery(query), reading: { try $0.entity(reader) }
        ) { entity in
            entities.append(entity)
            return true
        }
        return entities
    }

    /// The number of entities that meet a query; none is decoded, unless the query leaves out those
    /// that can't be: ``EntityQuery/decodable()``.
    ///
    /// - Throws: ``TidemarkError``: `unknownField`, `noModel`.
    public func count<T: Entity>(_ query: EntityQuery<T>) throws -> Int {
        if query.terms.isDecodable { return try all(query).count }
        return try views.count(try documentQuery(query))
    }

    /// How many entities of a query have each value of a property; values that none has are not in
    /// it.
    ///
    /// Where an index has the property and answers all of the query, only its entries are read.
    /// Else the documents are; of the entities with one value one is decoded, unless the query
    /// leaves out those that can't be: ``EntityQuery/decodable()``.
    ///
    /// - Throws: ``TidemarkError``: `unknownField`, `noModel`, and `undecodable` when the one that
    ///   shows a value can't be read as the type.
    public func counts<T: Entity, Value: QueryValue & Hashable>(
        _ query: EntityQuery<T>, by path: KeyPath<T, Value>
    ) throws -> [Value: Int] {
        if query.terms.isDecodable { return try countsRead(query, by: path) }
        let documents = try documentQuery(query)
        let field = try documents.documentField(FieldNames.term(path))
        return try views.counts(documents, by: field).values(of: path, in: self)
    }

    /// The place of an entity in any order, for ``EntityQuery/after(_:)`` and
    /// ``EntityQuery/before(_:)``; nil when there is none.
    ///
    /// - Throws: ``TidemarkError`` `noModel`.
    public func cursor<T: Entity>(at id: ID<T>) throws -> EntityQuery<T>.Cursor? {
        let collection = try collection(T.self)
        guard let (key, row) = try views.found(T.key(id)),
            let document = try row.document(in: collection)
        else { return nil }
        return EntityQuery<T>.Cursor(QueryTerms.Place(key, document))
    }

    /// How a query is carried out: by which index, or by reading the whole collection.
    ///
    /// - Throws: ``TidemarkError``: `unknownField`, `noModel`.
    public func explain<T: Entity>(_ query: EntityQuery<T>) throws -> QueryExplanation {
        // Indexes are made and dropped without a change of any entity.
        views.noteEverything()
        let query = try documentQuery(query)
        return QueryExplanation(query, try views.plan(query))
    }

    /// A query in terms of the documents of its collection.
    package func documentQuery<T: Entity>(_ query: EntityQuery<T>) throws -> DocumentQuery {
        try views.documentQuery(query.terms, of: T.collection)
    }
}
