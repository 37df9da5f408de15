// LiveQuery.swift — a query's result for the main thread: whatever shows it is redrawn when it
// changes.

public import Observation

/// The entities of a query, to be shown.
///
/// Read at once when it is made, and again whenever a commit changed the result, for as long as it
/// is kept. What shows ``entities`` is redrawn only when they differ.
@MainActor @Observable public final class LiveQuery<T: Entity> {
    private let replica: Replica
    private let live: LiveValue<[T]>

    /// Which entities; when it is set to another one, that is read at once and followed.
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

    /// The entities as they are now; the last ones that could be read after an ``error``.
    public var entities: [T] { live.value }

    /// Why the entities could not be read, which ends the following; nil while all is well.
    public var error: (any Error)? { live.error }
}

/// The entities of a query and how each stands with the server, to be shown; else like
/// ``LiveQuery``.
@MainActor @Observable public final class LiveRows<T: Entity> {
    private let replica: Replica
    private let live: LiveValue<[Tracked<T>]>

    /// Which entities; when it is set to another one, that is read at once and followed.
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

    /// The rows as they are now; the last ones that could be read after an ``error``.
    public var rows: [Tracked<T>] { live.value }

    /// Why the rows could not be read, which ends the following; nil while all is well.
    public var error: (any Error)? { live.error }
}
