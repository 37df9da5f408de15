// WriteContext+Queries.swift — asking a commit in the making: what is committed, with everything
// that this commit has changed so far.
//
// Indexes know what is committed only, so the whole collection is read for every query.

import TidemarkEvents
import TidemarkViews

extension WriteContext {
    /// All entities of a type as they are now, by id.
    ///
    /// - Throws: ``TidemarkError`` `undecodable` when a document is no such entity.
    public func all<T: Entity>(_ type: T.Type) throws -> [T] { try all(EntityQuery<T>()) }

    /// The entities of a query as they are now, with everything of this commit, in its order.
    ///
    /// The whole collection is read.
    ///
    /// - Throws: what ``ReadContext/all(_:)-(EntityQuery<T>)`` throws.
    public func all<T: Entity>(_ query: EntityQuery<T>) throws -> [T] {
        var entities: [T] = []
        let collection = try draft.fold.model()[T.collection] ?? CollectionModel(T.collection)
        let reader = EntityReader(T.self, in: collection)
        try forEachFound(query) { found in
            entities.append(try found.entity(reader))
            return true
        }
        return entities
    }

    /// The first entity of a query as it is now, or nil; the whole collection is read.
    ///
    /// - Throws: what ``all(_:)-(EntityQuery<T>)`` throws.
    public func first<T: Entity>(_ query: EntityQuery<T>) throws -> T? {
        try all(query.limit(min(1, query.terms.limit ?? 1))).first
    }

    /// How many entities a query is about now; the whole collection is read.
    ///
    /// - Throws: ``TidemarkError``: `unknownField`, `noModel`.
    public func count<T: Entity>(_ query: EntityQuery<T>) throws -> Int {
        var count = 0
        try forEachFound(query) { _ in
            count += 1
            return true
        }
        return count
    }

    // MARK: References

    /// The entity that an id names, or nil.
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

    /// The entities that refer to one by a property, by id; the whole collection is read.
    ///
    /// - Throws: what ``all(_:)-(EntityQuery<T>)`` throws.
    public func referrers<T: Entity, Target: Entity>(
        of id: ID<Target>, _ path: KeyPath<T, ID<Target>>
    ) throws -> [T] {
        try all(T.where(path == id))
    }

    /// The entities that refer to one by a property, by id; the whole collection is read.
    ///
    /// - Throws: what ``all(_:)-(EntityQuery<T>)`` throws.
    public func referrers<T: Entity, Target: Entity>(
        of id: ID<Target>, _ path: KeyPath<T, ID<Target>?>
    ) throws -> [T] {
        try all(T.where(path == id))
    }

    private func forEachFound<T: Entity>(
        _ query: EntityQuery<T>, _ body: (FoundEntity) throws -> Bool
    ) throws {
        let query = try DocumentQuery(
            query.terms, of: T.collection, in: try draft.fold.model(), ids: draft.fold.ids(of:))
        guard query.limit != 0 else { return }
        let isInOrder = query.order.isEmpty && !query.isDescendingByID
        try withoutActuallyEscaping(body) { body in
            var found = FoundEntities(query, isInOrder: isInOrder, body)
            try draft.fold.forEachEntity(in: T.collection) { try found.take($0, $1) }
            _ = try found.end()
        }
    }
}
