// ReadContext+Queries.swift — asking the store at one point in time.

import TidemarkEvents
import TidemarkViews

extension ReadContext {
    /// The entities of a query, in its order.
    ///
    /// - Throws: ``TidemarkError``: `unknownField`, `noModel`, and `undecodable` for the first one
    ///   whose document is no such entity.
    public func all<T: Entity>(_ query: EntityQuery<T>) throws -> [T] {
        var entities: [T] = []
        let reader = try reader(T.self)
        try views.forEachFound(try documentQuery(query)) { found in
            entities.append(try found.entity(reader))
            return true
        }
        return entities
    }

    /// The first entity of a query, or nil; no more than that is read where an index has the order.
    ///
    /// - Throws: what ``all(_:)-(EntityQuery<T>)`` throws.
    public func first<T: Entity>(_ query: EntityQuery<T>) throws -> T? {
        try all(query.limit(min(1, query.terms.limit ?? 1))).first
    }

    /// How many entities a query is about; none is decoded.
    ///
    /// - Throws: ``TidemarkError``: `unknownField`, `noModel`.
    public func count<T: Entity>(_ query: EntityQuery<T>) throws -> Int {
        try views.count(try documentQuery(query))
    }

    /// How a query is answered: by which index, or by reading the whole collection.
    ///
    /// - Throws: ``TidemarkError``: `unknownField`, `noModel`.
    public func explain<T: Entity>(_ query: EntityQuery<T>) throws -> QueryExplanation {
        let query = try documentQuery(query)
        return QueryExplanation(query, try views.plan(query))
    }

    /// A query in terms of the documents of its collection.
    package func documentQuery<T: Entity>(_ query: EntityQuery<T>) throws -> DocumentQuery {
        try DocumentQuery(query.terms, of: T.collection, in: try views.model(), ids: views.ids(of:))
    }

    // MARK: References

    /// The entity that an id names, or nil: `try context.get(entry.project)`.
    ///
    /// - Throws: ``TidemarkError`` `undecodable` when the document is no such entity.
    public func get<T: Entity>(_ id: ID<T>?) throws -> T? {
        guard let id else { return nil }
        return try get(T.self, id)
    }

    /// The entities that ids name, in the order of the ids; an id that names none is left out.
    ///
    /// - Throws: ``TidemarkError`` `undecodable` when a document is no such entity.
    public func all<T: Entity>(_ ids: some Sequence<ID<T>>) throws -> [T] {
        try ids.compactMap { try get(T.self, $0) }
    }

    /// The entities that refer to one by a property, by id.
    ///
    /// A reference that the model declares is looked up, any other is found by reading all.
    ///
    /// - Throws: what ``all(_:)-(EntityQuery<T>)`` throws.
    public func referrers<T: Entity, Target: Entity>(
        of id: ID<Target>, _ path: KeyPath<T, ID<Target>>
    ) throws -> [T] {
        try all(T.where(path == id))
    }

    /// The entities that refer to one by a property, by id.
    ///
    /// A reference that the model declares is looked up, any other is found by reading all.
    ///
    /// - Throws: what ``all(_:)-(EntityQuery<T>)`` throws.
    public func referrers<T: Entity, Target: Entity>(
        of id: ID<Target>, _ path: KeyPath<T, ID<Target>?>
    ) throws -> [T] {
        try all(T.where(path == id))
    }
}
