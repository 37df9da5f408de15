// EntityCondition.swift — the conditions of queries: operators on key paths, and how trees stand.

public import TidemarkEvents

/// A condition on the properties of an entity type, made by comparing key paths with values:
/// `\.duration == nil && \.start >= monday`.
///
/// - A null property and one that the document lacks are equal: `== nil` is true of both, and so is
///   `!= value`; `<`, `<=`, `>`, `>=`, ranges and prefixes are false of them.
/// - `<` and the other ordering operators are false of values of another type than the one compared
///   with.
/// - Numbers are compared by value, in any notation; dates as moments; strings by the bytes of
///   their UTF-8, in which composed and decomposed letters differ; `containsText` leaves
///   out case, accents and width.
/// - `!` inverts the result, also for a missing value.
///
/// With a key path that the type does not list, the query fails when it is run.
public struct EntityCondition<T: Entity>: Sendable {
    let term: QueryTerm

    init(_ term: QueryTerm) { self.term = term }

    fileprivate init<Value: QueryValue>(
        _ path: KeyPath<T, Value>, _ comparison: QueryComparison, _ value: QueryLiteral
    ) {
        self.init(.compare(FieldNames.term(path), comparison, value))
    }

    // MARK: One of several, ranges, prefixes, texts, lists

    /// The property has one of these values; a nil among them matches null and missing properties.
    public static func `in`<Value: QueryValue>(
        _ path: KeyPath<T, Value>, _ values: some Sequence<Value>
    ) -> Self {
        Self(.isIn(FieldNames.term(path), values.map(\.queryLiteral)))
    }

    /// The property lies in a half-open range.
    public static func `in`<Value: QueryValue & Comparable>(
        _ path: KeyPath<T, Value>, _ range: Range<Value>
    ) -> Self {
        Self(path, .greaterOrEqual, range.lowerBound.queryLiteral)
            && Self(path, .less, range.upperBound.queryLiteral)
    }

    /// The property lies in a closed range.
    public static func `in`<Value: QueryValue & Comparable>(
        _ path: KeyPath<T, Value>, _ range: ClosedRange<Value>
    ) -> Self {
        Self(path, .greaterOrEqual, range.lowerBound.queryLiteral)
            && Self(path, .lessOrEqual, range.upperBound.queryLiteral)
    }

    /// The property has a value, and it lies in a half-open range.
    public static func `in`<Value: QueryValue & Comparable>(
        _ path: KeyPath<T, Value?>, _ range: Range<Value>
    ) -> Self {
        Self(path, .greaterOrEqual, range.lowerBound.queryLiteral)
            && Self(path, .less, range.upperBound.queryLiteral)
    }

    /// The property has a value, and it lies in a closed range.
    public static func `in`<Value: QueryValue & Comparable>(
        _ path: KeyPath<T, Value?>, _ range: ClosedRange<Value>
    ) -> Self {
        Self(path, .greaterOrEqual, range.lowerBound.queryLiteral)
            && Self(path, .lessOrEqual, range.upperBound.queryLiteral)
    }

    /// The string begins with these bytes.
    public static func hasPrefix(_ path: KeyPath<T, String>, _ prefix: String) -> Self {
        Self(.hasPrefix(FieldNames.term(path), ExactString(prefix)))
    }

    /// The property has a string, and it begins with these bytes.
    public static func hasPrefix(_ path: KeyPath<T, String?>, _ prefix: String) -> Self {
        Self(.hasPrefix(FieldNames.term(path), ExactString(prefix)))
    }

    /// The string has this one in it, whatever the case, accents and width of both: what somebody
    /// types into a search field.
    ///
    /// Every string has the empty one. No index knows it: the documents are read.
    public static func containsText(_ path: KeyPath<T, String>, _ text: String) -> Self {
        Self(.hasText(FieldNames.term(path), ExactString(text)))
    }

    /// The property has a string, and that has this one in it, whatever the case, accents and width
    /// of both; the documents are read.
    public static func containsText(_ path: KeyPath<T, String?>, _ text: String) -> Self {
        Self(.hasText(FieldNames.term(path), ExactString(text)))
    }

    /// The list or set has this value as an element: `.contains(\.tags, tag)`.
    ///
    /// An entity is found by any of its ids. No index knows elements: the documents are read.
    public static func contains<List: Sequence & ExpressibleByArrayLiteral>(
        _ path: KeyPath<T, List>, _ value: List.Element
    ) -> Self where List.Element: QueryValue {
        Self(.contains(FieldNames<T>.term(path, List.Element.queryKind), value.queryLiteral))
    }

    /// The property has a list or set, and this value is an element of it; the documents are read.
    public static func contains<List: Sequence & ExpressibleByArrayLiteral>(
        _ path: KeyPath<T, List?>, _ value: List.Element
    ) -> Self where List.Element: QueryValue {
        Self(.contains(FieldNames<T>.term(path, List.Element.queryKind), value.queryLiteral))
    }
}

extension EntityCondition {
    /// The entity, or what counts in it by `rollUp` of the model's references, has this status.
    ///
    /// `.error` is true of trees in which something was refused, `.placeholder` of those with a
    /// placeholder. Trees don't tell in which way something waits for the server: `.created`,
    /// `.updated`, `.deleted` and `.uploading` are true of the same ones. `.synced` is true where
    /// none of these is.
    ///
    /// It is looked up, and costs what trees have that are not synced; trees that are cost nothing.
    public static func tree(has status: EntityStatus) -> Self { Self(.treeHas(status)) }
}

/// The property has this value; nil also matches a missing property.
public func == <T: Entity, Value: QueryValue>(
    path: KeyPath<T, Value>, value: Value
) -> EntityCondition<T> {
    EntityCondition(path, .equal, value.queryLiteral)
}

/// The property has another value or none; with nil, it has any value.
public func != <T: Entity, Value: QueryValue>(
    path: KeyPath<T, Value>, value: Value
) -> EntityCondition<T> {
    EntityCondition(path, .notEqual, value.queryLiteral)
}

/// The property has a value, and it is less.
public func < <T: Entity, Value: QueryValue>(
    path: KeyPath<T, Value>, value: Value
) -> EntityCondition<T> {
    EntityCondition(path, .less, value.queryLiteral)
}

/// The property has a value, and it is less or equal.
public func <= <T: Entity, Value: QueryValue>(
    path: KeyPath<T, Value>, value: Value
) -> EntityCondition<T> {
    EntityCondition(path, .lessOrEqual, value.queryLiteral)
}

/// The property has a value, and it is greater.
public func > <T: Entity, Value: QueryValue>(
    path: KeyPath<T, Value>, value: Value
) -> EntityCondition<T> {
    EntityCondition(path, .greater, value.queryLiteral)
}

/// The property has a value, and it is greater or equal.
public func >= <T: Entity, Value: QueryValue>(
    path: KeyPath<T, Value>, value: Value
) -> EntityCondition<T> {
    EntityCondition(path, .greaterOrEqual, value.queryLiteral)
}

/// Both are true.
public func && <T: Entity>(
    left: EntityCondition<T>, right: EntityCondition<T>
) -> EntityCondition<T> {
    EntityCondition(.and(left.term, right.term))
}

/// One is true, or both are.
public func || <T: Entity>(
    left: EntityCondition<T>, right: EntityCondition<T>
) -> EntityCondition<T> {
    EntityCondition(.or(left.term, right.term))
}

/// The condition is not true.
public prefix func ! <T: Entity>(condition: EntityCondition<T>) -> EntityCondition<T> {
    EntityCondition(.not(condition.term))
}
