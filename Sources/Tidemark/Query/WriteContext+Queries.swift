// WriteContext+Queries.swift — queries within a write: the committed data with all changes that the
// commit has made so far.
//
// Indexes are read as this commit will leave them (WrittenRecords.swift), so that every query is
// carried out as a `read` will do it.

import TidemarkEvents
import TidemarkViews

extension WriteContext: EntityReading {
    /// The entities of a query, with the changes of this commit so far, in the query's order.
    ///
    /// - Throws: what ``ReadContext/all(_:)-(EntityQuery<T>)`` throws.
    public func all<T: Entity>(_ query: EntityQuery<T>) throws -> [T] {
        var entities: [T] = []
        let reader = try reader(T.self)
        try draft.fold.forEachFound(
            try documentQuery(query), reading: { try $0.entity(reader) }
        ) { entity in
            entities.append(entity)
            return true
        }
        return entities
    }

    /// The number of entities that meet a query now.
    ///
    /// - Throws: ``TidemarkError``: `unknownField`, `noModel`.
    public func count<T: Entity>(_ query: EntityQuery<T>) throws -> Int {
        if query.terms.isDecodable { return try all(query).count }
        return try draft.fold.count(try documentQuery(query))
    }

    /// How many entities of a query have each value of a property now.
    ///
    /// - Throws: what ``ReadContext/counts(_:by:)`` throws.
    public func counts<T: Entity, Value: QueryValue & Hashable>(
        _ query: EntityQuery<T>, by path: KeyPath<T, Value>
    ) throws -> [Value: Int] {
        if query.terms.isDecodable { return try countsRead(query, by: path) }
        let documents = try documentQuery(query)
        let field = try documents.documentField(FieldNames.term(path))
        return try draft.fold.counts(documents, by: field).values(of: path, in: self)
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

    /// How a query is carried out in this commit: by which index, or by reading the whole
    /// collection.
    ///
    /// - Throws: ``TidemarkError``: `unknownField`, `noModel`.
    public func explain<T: Entity>(_ query: EntityQuery<T>) throws -> QueryExplanation {
        let query = try documentQuery(query)
        return QueryExplanation(query, try draft.fold.plan(query))
    }

    private func documentQuery<T: Entity>(_ query: EntityQuery<T>) throws -> DocumentQuery {
        try draft.fold.documentQuery(query.terms, of: T.collection)
    }
}
