// EntityReading.swift — queries that both a read and a write can make.

import TidemarkEvents

/// Queries of a store, the same in a `read` and in a `write`.
///
/// A function that takes one works in both: `func open(_ store: some EntityReading) throws`. In a
/// `write`, the result includes all changes of the commit so far. In both an index is used where
/// there is one: a `write` reads what it names, and puts what the commit wrote in its place.
public protocol EntityReading {
    /// The entity with an id, which may also be its id on the server; nil when there is none.
    ///
    /// - Throws: ``TidemarkError``: `noModel`, and `undecodable` when its document can't be read as
    ///   the type.
    func get<T: Entity>(_ type: T.Type, _ id: ID<T>) throws -> T?

    /// The entities of a query, in its order.
    ///
    /// - Throws: ``TidemarkError``: `unknownField`, `noModel`, and `undecodable` for a document
    ///   that can't be read as the type, unless the query is ``EntityQuery/decodable()``.
    func all<T: Entity>(_ query: EntityQuery<T>) throws -> [T]

    /// The number of entities that meet a query; none is decoded, unless the query leaves out those
    /// that can't be.
    ///
    /// - Throws: ``TidemarkError``: `unknownField`, `noModel`.
    func count<T: Entity>(_ query: EntityQuery<T>) throws -> Int

    /// How many entities of a query have each value of a property, such as the open ones of each
    /// list; values that none has are not in it.
    ///
    /// ```swift
    /// let perList = try replica.read { try $0.counts(Todo.where(\.done == nil), by: \.list) }
    /// print(perList[home] ?? 0, "open at home")
    /// ```
    ///
    /// Of the entities with one value one is decoded, unless the query leaves out those that can't
    /// be. Values that queries take for equal count as one: decimals that are the same `Double`.
    ///
    /// - Throws: ``TidemarkError``: `unknownField`, `noModel`, and `undecodable` when the one that
    ///   shows a value can't be read as the type.
    func counts<T: Entity, Value: QueryValue & Hashable>(
        _ query: EntityQuery<T>, by path: KeyPath<T, Value>
    ) throws -> [Value: Int]

    /// The place of an entity in any order, for ``EntityQuery/after(_:)`` and
    /// ``EntityQuery/before(_:)``; nil when there is none.
    ///
    /// - Throws: ``TidemarkError`` `noModel`.
    func cursor<T: Entity>(at id: ID<T>) throws -> EntityQuery<T>.Cursor?
}

extension EntityReading {
    /// The same by reading all entities of the query, for a type of the app's own that conforms.
    public func counts<T: Entity, Value: QueryValue & Hashable>(
        _ query: EntityQuery<T>, by path: KeyPath<T, Value>
    ) throws -> [Value: Int] {
        try countsRead(query, by: path)
    }

    /// All entities of a type, sorted by id.
    ///
    /// - Throws: ``TidemarkError``: `noModel`, and `undecodable` when a document can't be read as
    ///   the type.
    public func all<T: Entity>(_ type: T.Type) throws -> [T] { try all(EntityQuery<T>()) }

    /// The first entity of a query, or nil; where an index has the order, only that one is read.
    ///
    /// Of a query that ends before a cursor all are read, up to its limit.
    ///
    /// - Throws: ``TidemarkError``: `unknownField`, `noModel`, `undecodable`.
    public func first<T: Entity>(_ query: EntityQuery<T>) throws -> T? {
        // Before a cursor a limit takes the last ones.
        if case .before? = query.terms.bound { return try all(query).first }
        return try all(query.limit(min(1, query.terms.limit ?? 1))).first
    }

    // MARK: References

    /// The entity with an id, or nil: `try store.get(entry.project)`.
    ///
    /// - Throws: ``TidemarkError``: `noModel`, and `undecodable` when the document can't be read as
    ///   the type.
    public func get<T: Entity>(_ id: ID<T>?) throws -> T? {
        guard let id else { return nil }
        return try get(T.self, id)
    }

    /// The entities with these ids, in the same order; ids without an entity are left out.
    ///
    /// - Throws: ``TidemarkError``: `noModel`, and `undecodable` when a document can't be read as
    ///   the type.
    public func all<T: Entity>(_ ids: some Sequence<ID<T>>) throws -> [T] {
        try ids.compactMap { try get(T.self, $0) }
    }

    /// The entities that refer to one by a property, sorted by id.
    ///
    /// An index is used for a reference that the model declares.
    ///
    /// - Throws: ``TidemarkError``: `unknownField`, `noModel`, `undecodable`.
    public func referrers<T: Entity, Target: Entity>(
        of id: ID<Target>, _ path: KeyPath<T, ID<Target>>
    ) throws -> [T] {
        try all(T.where(path == id))
    }

    /// The entities that refer to one by a property, sorted by id.
    ///
    /// An index is used for a reference that the model declares.
    ///
    /// - Throws: ``TidemarkError``: `unknownField`, `noModel`, `undecodable`.
    public func referrers<T: Entity, Target: Entity>(
        of id: ID<Target>, _ path: KeyPath<T, ID<Target>?>
    ) throws -> [T] {
        try all(T.where(path == id))
    }

    /// The entities that refer to one in a list or a set, sorted by id; the documents are read.
    ///
    /// - Throws: ``TidemarkError``: `unknownField`, `noModel`, `undecodable`.
    public func referrers<
        T: Entity, Target: Entity, List: Sequence<ID<Target>> & ExpressibleByArrayLiteral
    >(of id: ID<Target>, _ path: KeyPath<T, List>) throws -> [T] {
        try all(T.where(.contains(path, id)))
    }

    /// The entities that refer to one in a list or a set, sorted by id; the documents are read.
    ///
    /// - Throws: ``TidemarkError``: `unknownField`, `noModel`, `undecodable`.
    public func referrers<
        T: Entity, Target: Entity, List: Sequence<ID<Target>> & ExpressibleByArrayLiteral
    >(of id: ID<Target>, _ path: KeyPath<T, List?>) throws -> [T] {
        try all(T.where(.contains(path, id)))
    }
}
