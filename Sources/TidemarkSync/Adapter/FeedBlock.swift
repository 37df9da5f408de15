// FeedBlock.swift — which block of a feed is asked for.

public import TidemarkEvents

/// A block of a feed: see ``ServerCall/feed(_:_:)``.
///
/// | bound | entities | sorted by |
/// |---|---|---|
/// | ``Bound/upTo(_:)`` | whose ``field`` is at most the key | the field, descending |
/// | ``Bound/before(_:)`` | whose field is less than the key | the field, descending |
/// | ``Bound/from(_:)`` | whose field is at least the key | the field, ascending |
/// | ``Bound/after(_:)`` | whose field is greater than the key | the field, ascending |
/// | ``Bound/equal(_:after:)`` | whose field is the key, after an id | the id, ascending |
/// | ``Bound/ids(after:)`` | all after an id: their ids, and ``keyField`` | the id, ascending |
///
/// It is paged by these keys alone: ``ListPage/next`` of the answer only says that the server gave
/// fewer than it was asked for and has more.
public struct FeedBlock: Sendable, Hashable {
    /// Which entities are asked for, and in which order.
    @nonexhaustive public enum Bound: Sendable, Hashable {
        /// Those whose field is at most the key, descending.
        case upTo(FeedKey)
        /// Those whose field is less than the key, descending.
        case before(FeedKey)
        /// Those whose field is at least the key, ascending.
        case from(FeedKey)
        /// Those whose field is greater than the key, ascending.
        case after(FeedKey)
        /// Those whose field is the key, behind an id, by ids; nil for all of them.
        case equal(FeedKey, after: String?)
        /// All behind an id, by ids; nil for all there are.
        case ids(after: String?)
    }

    /// The field that is compared; for ``Bound/ids(after:)`` the id.
    public var field: String
    /// Which entities are asked for, and in which order.
    public var bound: Bound
    /// How many entities the server is to list at most.
    public var limit: Int
    /// For ``Bound/ids(after:)`` the field whose values ``ServerReference/feedKey`` is to have,
    /// where the server tells it with the ids; nil for none.
    public var keyField: String?

    public init(_ field: String, _ bound: Bound, limit: Int, keyField: String? = nil) {
        self.field = field
        self.bound = bound
        self.limit = limit
        self.keyField = keyField
    }
}
