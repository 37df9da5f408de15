// EntityQuery.swift — which entities of a type, in which order, how many.

/// Entities of one type: which, in which order, and how many.
///
/// A value; nothing is read until a context is asked for it.
///
/// ```swift
/// TimeEntry.where(\.duration == nil && \.start >= monday).order(by: \.start).limit(20)
/// ```
///
/// A query that an index of the collection fits looks up what it needs; any other reads the whole
/// collection, and says so in ``ReadContext/explain(_:)``. The answer is the same.
public struct EntityQuery<T: Entity>: Sendable, Hashable {
    /// Which way an order goes.
    public enum Direction: Sendable, Hashable {
        /// The least value first; what is null or missing is least.
        case ascending
        /// The greatest value first.
        case descending
    }

    package var terms: QueryTerms

    /// All entities of the type, by id.
    public init() { terms = QueryTerms() }

    init(_ condition: EntityCondition<T>) { terms = QueryTerms(condition: condition.term) }

    /// Only those of which a condition is true too.
    public func `where`(_ condition: EntityCondition<T>) -> Self {
        var query = self
        query.terms.condition = terms.condition.map { .and($0, condition.term) } ?? condition.term
        return query
    }

    /// By the values of a property, among those that are equal so far.
    ///
    /// The order is total: what is equal in all of it is ordered by id, in the direction of the
    /// last ``order(by:_:)``. Values of different types are ordered as in ``IndexField/Kind``.
    public func order<Value: QueryValue>(
        by path: KeyPath<T, Value>, _ direction: Direction = .ascending
    ) -> Self {
        var query = self
        query.terms.order.append(
            QueryTerms.Order(FieldNames.term(path), isDescending: direction == .descending))
        return query
    }

    /// At most so many, the first ones in order; of several limits the last counts.
    public func limit(_ count: Int) -> Self {
        precondition(count >= 0, "a query's limit can't be negative")
        var query = self
        query.terms.limit = count
        return query
    }

    /// Without the first so many; of several offsets the last counts.
    public func offset(_ count: Int) -> Self {
        precondition(count >= 0, "a query's offset can't be negative")
        var query = self
        query.terms.offset = count
        return query
    }
}

extension Entity {
    /// No names: only `\.id` can be asked about.
    public static var fields: FieldNames<Self> { [:] }

    /// All entities of the type, by id.
    public static var all: EntityQuery<Self> { EntityQuery() }

    /// The entities of the type of which a condition is true, by id.
    public static func `where`(_ condition: EntityCondition<Self>) -> EntityQuery<Self> {
        EntityQuery(condition)
    }
}
