// EntityQuery.swift — a query for entities of a type: condition, order and limit.

/// A query for entities of one type: which ones, in which order, and how many.
///
/// It is a value; nothing is read until a context runs it.
///
/// ```swift
/// TimeEntry.where(\.duration == nil && \.start >= monday).order(by: \.start).limit(20)
/// ```
///
/// A query that fits an index of the collection reads only what it needs. Any other query reads the
/// whole collection, as ``ReadContext/explain(_:)`` tells. The result is the same.
public struct EntityQuery<T: Entity>: Sendable, Hashable {
    /// The direction of an order.
    public enum Direction: Sendable, Hashable {
        /// The least value first; null and missing values count as least.
        case ascending
        /// The greatest value first.
        case descending
    }

    /// Where null and missing values stand in an order.
    public enum Nulls: Sendable, Hashable {
        /// Before all others.
        case first
        /// Behind all others.
        case last
    }

    /// The place of an entity in any order; ``EntityReading/cursor(at:)`` tells it.
    ///
    /// It stays where it was, also when the entity is changed or deleted.
    public struct Cursor: Sendable, Hashable {
        package let place: QueryTerms.Place

        init(_ place: QueryTerms.Place) { self.place = place }
    }

    package var terms: QueryTerms

    /// All entities of the type, sorted by id.
    public init() { terms = QueryTerms() }

    init(_ condition: EntityCondition<T>) { terms = QueryTerms(condition: condition.term) }

    /// Adds a condition: both must be true.
    public func `where`(_ condition: EntityCondition<T>) -> Self {
        var query = self
        query.terms.condition = terms.condition.map { .and($0, condition.term) } ?? condition.term
        return query
    }

    /// Sorts by a property the entities that are equal in the order so far.
    ///
    /// The order is total: entities that are equal in all of it are sorted by id, in the direction
    /// of the last ``order(by:_:)``. Values of different types are ordered as in
    /// ``IndexField/Kind``; a reference to a collection where the server gives ids, or one entity
    /// has two, by the id that its entity keeps, however it is written.
    public func order<Value: QueryValue>(
        by path: KeyPath<T, Value>, _ direction: Direction = .ascending
    ) -> Self {
        var query = self
        query.terms.order.append(
            QueryTerms.Order(FieldNames.term(path), isDescending: direction == .descending))
        return query
    }

    /// The same with null and missing values before all others or behind them, whatever the
    /// direction: due dates, and then what has none.
    ///
    /// An index has this order, too, where the query sorts by it first, apart from fields that a
    /// condition gives one value, and by all others as usual.
    public func order<Value: QueryValue>(
        by path: KeyPath<T, Value?>, _ direction: Direction = .ascending, nulls: Nulls
    ) -> Self {
        var query = self
        query.terms.order.append(
            QueryTerms.Order(
                FieldNames.term(path), isDescending: direction == .descending,
                isNullGreatest: (nulls == .last) == (direction == .ascending)))
        return query
    }

    /// Sorts by a text, whatever its case, accents and width, the entities that are equal in the
    /// order so far: "apple", "Éclair", "fig".
    ///
    /// It is an order without a language: without these, letters are ordered by their Unicode
    /// numbers. No index has it, so that the result is sorted. Null and missing texts count as
    /// least.
    public func order(
        byText path: KeyPath<T, String>, _ direction: Direction = .ascending
    ) -> Self {
        ordered(byText: FieldNames.term(path), direction)
    }

    /// The same of a text that may be missing.
    public func order(
        byText path: KeyPath<T, String?>, _ direction: Direction = .ascending
    ) -> Self {
        ordered(byText: FieldNames.term(path), direction)
    }

    private func ordered(byText field: QueryField, _ direction: Direction) -> Self {
        var query = self
        query.terms.order.append(
            QueryTerms.Order(field, isDescending: direction == .descending, isFolded: true))
        return query
    }

    /// Limits the result to the first entities in order; the last of several limits counts.
    ///
    /// - Precondition: `count` is not negative.
    public func limit(_ count: Int) -> Self {
        precondition(count >= 0, "a query's limit can't be negative")
        var query = self
        query.terms.limit = count
        return query
    }

    /// Skips the first entities; the last of several offsets counts.
    ///
    /// - Precondition: `count` is not negative.
    public func offset(_ count: Int) -> Self {
        precondition(count >= 0, "a query's offset can't be negative")
        var query = self
        query.terms.offset = count
        return query
    }

    /// Begins behind a place in the order: the next page, whatever came or went before it.
    ///
    /// The last of several calls of this and of ``before(_:)`` counts.
    public func after(_ cursor: Cursor) -> Self {
        var query = self
        query.terms.bound = .after(cursor.place)
        return query
    }

    /// Ends before a place in the order: the previous page, of which a limit takes the entities
    /// that are nearest to the place, and an offset skips these.
    ///
    /// The last of several calls of this and of ``after(_:)`` counts.
    public func before(_ cursor: Cursor) -> Self {
        var query = self
        query.terms.bound = .before(cursor.place)
        return query
    }

    /// Leaves out the entities whose documents can't be read as the type; without this, one of them
    /// fails the query with `undecodable`.
    ///
    /// Limit and offset count those that can be read. Where the result has to be sorted, all that
    /// meets the condition is kept in memory meanwhile, whatever the limit.
    /// ``ReadContext/undecodable(_:)-(EntityQuery<T>)`` lists the others.
    public func decodable() -> Self {
        var query = self
        query.terms.isDecodable = true
        return query
    }
}

extension Entity {
    /// No names: queries can only use `\.id`.
    public static var fields: FieldNames<Self> { [:] }

    /// All entities of the type, sorted by id.
    public static var all: EntityQuery<Self> { EntityQuery() }

    /// The entities of the type that meet a condition, sorted by id.
    public static func `where`(_ condition: EntityCondition<Self>) -> EntityQuery<Self> {
        EntityQuery(condition)
    }
}
