// LiveQuery.swift — the result of a query, or of any read, for the main thread: views that show it
// are redrawn when it changes.

public import Observation

/// The entities of a query, for display.
///
/// They are read once when this is created, and again whenever a commit changed the result, for as
/// long as this object exists. Views of ``entities`` are redrawn only when these differ. After an
/// ``error``, too, the next commit that may change the result has them read again.
@MainActor @Observable public final class LiveQuery<T: Entity> {
    private let replica: Replica
    private let live: LiveValue<[T]>

    /// The query; a new one is read at once and then followed.
    public var query: EntityQuery<T> {
        didSet {
            if query != oldValue { live.follow(replica.source(query)) }
        }
    }

    /// Reads a query, and follows it.
    public init(_ replica: Replica, _ query: EntityQuery<T>) {
        self.replica = replica
        self.query = query
        live = LiveValue(replica.source(query), orElse: [])
    }

    /// The current entities; after an ``error`` the last ones that could be read.
    public var entities: [T] { live.value }

    /// Why the entities could not be read the last time; nil where they could.
    public var error: (any Error)? { live.error }
}

/// The entities of a query with their sync status, for display; otherwise like ``LiveQuery``.
@MainActor @Observable public final class LiveRows<T: Entity> {
    private let replica: Replica
    private let live: LiveValue<[Tracked<T>]>

    /// The query; a new one is read at once and then followed.
    public var query: EntityQuery<T> {
        didSet {
            if query != oldValue { live.follow(replica.source(rows: query)) }
        }
    }

    /// Reads a query, and follows it.
    public init(_ replica: Replica, _ query: EntityQuery<T>) {
        self.replica = replica
        self.query = query
        live = LiveValue(replica.source(rows: query), orElse: [])
    }

    /// The current rows; after an ``error`` the last ones that could be read.
    public var rows: [Tracked<T>] { live.value }

    /// Why the rows could not be read the last time; nil where they could.
    public var error: (any Error)? { live.error }
}

/// The result of any read, for display; otherwise like ``LiveQuery``.
///
/// It is read again, off the main thread, after each commit that changes an entity of a collection
/// that it read, or after every one where it read anything else: as `observe` of a closure.
@MainActor @Observable public final class LiveResult<Value: Equatable & Sendable> {
    private let live: LiveValue<Value>

    /// Reads a result, and follows it; `empty` stands in for one that can't be read at first.
    public init(
        _ replica: Replica, orElse empty: Value,
        _ read: @escaping @Sendable (ReadContext) throws -> Value
    ) {
        live = LiveValue(replica.source(read), orElse: empty)
    }

    /// The current result; after an ``error`` the last one that could be read.
    public var value: Value { live.value }

    /// Why the result could not be read the last time; nil where it could.
    public var error: (any Error)? { live.error }
}
