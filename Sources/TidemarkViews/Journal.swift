// Journal.swift — one store: the log and the views over it, changed together or not at all.

package import TidemarkEvents
package import TidemarkLog
package import TidemarkStore

/// An open store.
///
/// Events, the rows they change in every view, and the record of the commit are written in one
/// transaction.
package final class Journal: Sendable {
    package let environment: Environment
    package let log: EventLog
    package let views: ViewTables
    /// Watches over a store that is open for writing.
    let guardian: StoreGuard?
    /// Whether nobody has closed it; the environment below may be shared with another one.
    let isOpen = Lock(true)
    private let models = ModelCache()

    /// The tables of a store.
    package static let tableNames = EventLog.tableNames + ViewTables.tableNames

    /// A journal over an open environment; see ``open(at:readOnly:create:opening:progress:)``.
    package init(_ environment: Environment, guardian: StoreGuard? = nil) {
        self.environment = environment
        self.guardian = guardian
        log = EventLog(environment)
        views = ViewTables(environment)
    }

    // MARK: Reading

    /// Reads at one point of the log.
    ///
    /// `reader` must not be kept.
    package func read<R>(_ body: (ViewReader) throws -> R) throws -> R {
        try environment.read { transaction in
            try ViewReader.with(self, transaction, body)
        }
    }

    // MARK: Writing

    /// Writes one commit: the events that `body` appends, and what they change in the views.
    ///
    /// Runs on the writer thread while the caller waits; when `body` throws, nothing of it stays.
    /// When this returns, the commit is on disk. `body` may be run again when the store has to
    /// grow.
    package func write<R: Sendable>(
        at now: Timestamp, _ body: (Draft) throws -> R
    ) throws -> R {
        try environment.perform { writer in try self.commit(writer, now, body) }
    }

    /// The same without blocking the caller's thread.
    package func write<R: Sendable>(
        at now: Timestamp, _ body: @escaping @Sendable (Draft) throws -> R
    ) async throws -> R {
        try await environment.perform { writer in try self.commit(writer, now, body) }
    }

    private func commit<R>(
        _ writer: borrowing Writer, _ now: Timestamp, _ body: (Draft) throws -> R
    ) throws -> R {
        let (result, record) = try writer.transaction { transaction in
            try self.commit(transaction, now, body)
        }
        if let record { guardian?.committed(last: record.last, root: record.root, at: now) }
        return result
    }

    private func commit<R>(
        _ transaction: borrowing WriteTransaction, _ now: Timestamp, _ body: (Draft) throws -> R
    ) throws -> (R, CommitRecord?) {
        var edge = try log.edge(transaction)
        let state = try views.state(transaction)
        if let state, !state.isCurrent {
            throw LogError(
                .newerFormat, at: .start,
                "another version of Tidemark made the store's tables; open the store again")
        }
        let generation = (state ?? ViewTables.State()).generation
        func run(_ load: (RowKey) throws -> [UInt8]?) throws -> (R, Draft) {
            try withoutActuallyEscaping(load) { load in
                let fold = Fold(models: self.models, load: load)
                let draft = Draft(now: now, after: Position(edge.size), fold)
                let result = try body(draft)
                draft.end()
                return (result, draft)
            }
        }
        let (result, draft) = try run { key in
            try transaction.get(self.views.table(key.tree, generation), key.bytes)
        }
        guard !draft.events.isEmpty else { return (result, nil) }
        if state == nil { try views.setState(ViewTables.State(), transaction) }
        try views.write(draft.changes, generation, transaction)
        let record = try log.append(
            draft.events, views: ViewDigest.of(draft.changes), edge: &edge, transaction)
        return (result, record)
    }
}

/// A commit in the making: events appended to it are folded at once, so that what is read from it
/// is as if they were committed.
package final class Draft {
    /// What every event of the commit is recorded at.
    package let now: Timestamp
    package private(set) var events: [Event] = []
    /// The rows that changed, in order; filled when the draft has ended.
    package private(set) var changes: RowChanges = []
    private var last: Position
    private var current: Fold?

    init(now: Timestamp, after last: Position, _ fold: Fold) {
        self.now = now
        self.last = last
        current = fold
    }

    /// The views as they are with everything appended so far.
    package var fold: Fold {
        guard let current else { preconditionFailure("a transaction was used after it had ended") }
        return current
    }

    /// The position that the next event will get.
    package var nextPosition: Position { last.next }

    /// Appends an event and folds it.
    @discardableResult
    package func append(_ event: Event) throws -> Position {
        // Folded is what will be read: an empty name or a zero position, for one, is not written.
        let event = try Event(header: event.headerBytes, payload: event.payload)
        last = last.next
        events.append(event)
        try fold.apply(event, at: last)
        return last
    }

    /// Takes the rows and lets go of the transaction; the draft can't be used after.
    func end() {
        changes = fold.sortedChanges
        current = nil
    }
}
