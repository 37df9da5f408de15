// EntityReading.swift — what can be asked both of a store and of a commit in the making.

import TidemarkEvents

/// What can be asked of a store, in a `read` and in a `write` alike.
///
/// Functions of yours that take one work in both: `func open(_ store: some EntityReading) throws`.
/// In a `write` everything is as it is with all changes of the commit so far, and every query reads
/// the whole collection; in a `read` an index is used where there is one.
public protocol EntityReading {
    /// The entity with an id, also by an id that the server gave it; nil when there is none.
    ///
    /// - Throws: ``TidemarkError`` `undecodable` when its document is no such entity.
    func get<T: Entity>(_ type: T.Type, _ id: ID<T>) throws -> T?

    /// The entities of a query, in its order.
    ///
    /// - Throws: ``TidemarkError``: `unknownField`, `noModel`, and `undecodable` for a document
    ///   that is no such entity.
    func all<T: Entity>(_ query: EntityQuery<T>) throws -> [T]

    /// How many entities a query is about; none is decoded.
    ///
    /// - Throws: ``TidemarkError``: `unknownField`, `noModel`.
    func count<T: Entity>(_ query: EntityQuery<T>) throws -> Int
}

extension EntityReading {
    /// All entities of a type, by id.
    ///
    /// - Throws: ``TidemarkError`` `undecodable` when a document is no such entity.
    public func all<T: Entity>(_ type: T.Type) throws -> [T] { try all(EntityQuery<T>()) }

    /// The first entity of a query, or nil; no more than that is read where an index has the order.
    ///
    /// - Throws: ``TidemarkError``: `unknownField`, `noModel`, `undecodable`.
    public func first<T: Entity>(_ query: EntityQuery<T>) throws -> T? {
        try all(query.limit(min(1, query.terms.limit ?? 1))).first
    }

    // MARK: References

    /// The entity that an id names, or nil: `try store.get(entry.project)`.
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
    /// In a `read` a reference that the model declares is looked up.
    ///
    /// - Throws: ``TidemarkError``: `unknownField`, `noModel`, `undecodable`.
    public func referrers<T: Entity, Target: Entity>(
        of id: ID<Target>, _ path: KeyPath<T, ID<Target>>
    ) throws -> [T] {
        try all(T.where(path == id))
    }

    /// The entities that refer to one by a property, by id.
    ///
    /// In a `read` a reference that the model declares is looked up.
    ///
    /// - Throws: ``TidemarkError``: `unknownField`, `noModel`, `undecodable`.
    public func referrers<T: Entity, Target: Entity>(
        of id: ID<Target>, _ path: KeyPath<T, ID<Target>?>
    ) throws -> [T] {
        try all(T.where(path == id))
    }
}
