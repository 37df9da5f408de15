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
    package let snapshots: Snapshots
    /// Watches over a store that is open for writing.
    let guardian: StoreGuard?
    /// Whether this opening of the store still goes on; the environment below may be shared with
    /// another one.
    let phase = Lock(Phase.open)
    let models = ModelCache()
    /// Whether the table with the answers that are kept can be used: a commit does without it where
    /// it is damaged.
    let keepsAnswers = Lock(true)
    /// What ``keepTidyLater(at:)`` began last.
    let tidying = Lock<Background<Void>?>(nil)
    /// Commits that wait for the writer thread, in the order they came.
    let requests = Lock<[CommitRequest]>([])
    /// What it shares with all who have the store open in this process.
    package let shared: SharedStore
    /// The files of the store; nil where it is open read-only.
    package let contentFiles: ContentFiles?

    /// The tables of a store.
    package static let tableNames =
        EventLog.tableNames + ViewTables.tableNames + Snapshots.tableNames

    /// How to open a store: its tables, and which of them are checked.
    package static func options(
        mapBytes: Int = Environment.Options.mapBytesUsual, readOnly: Bool = false,
        create: Bool = true
    ) -> Environment.Options {
        var options = Environment.Options(
            tables: tableNames, checkedTables: ViewTables.checkedTables, mapBytes: mapBytes,
            readOnly: readOnly, create: create)
        options.formerTables = EventLog.formerTableNames
        return options
    }

    /// A journal over an open environment; see ``open(at:readOnly:create:opening:progress:)``.
    package init(_ environment: Environment, guardian: StoreGuard? = nil) {
        self.environment = environment
        self.guardian = guardian
        log = EventLog(environment)
        views = ViewTables(environment, beside: log)
        snapshots = Snapshots(environment)
        shared = SharedStore.of(environment)
        contentFiles = guardian.map { ContentFiles(of: $0.directory, at: $0.place) }
    }

    /// How far an opening of a store is.
    enum Phase: Sendable {
        case open
        /// It takes no more writes.
        case leaving
        case closed
    }

    // MARK: Reading

    /// Reads at one point of the log.
    ///
    /// `reader` must not be kept.
    package func read<R>(_ body: (ViewReader) throws -> R) throws -> R {
        guard phase.withLock(\.self) != .closed else { throw Self.closed("read") }
        // A writer of this process may have closed the store since, and let others in.
        return try environment.read(isOwner: guardian != nil) { transaction in
            try ViewReader.with(self, transaction, body)
        }
    }

    /// Whether this thread is inside of a read, so that another one sees what that one does.
    package var isReadingHere: Bool { environment.isReadingHere }

    /// How many reads of the store this thread has begun within its outermost one.
    package var nestedReads: Int { environment.nestedReads }

    // MARK: Writing

    /// Writes one commit: the events that `body` appends, and what they change in the views.
    ///
    /// Runs while the caller waits; when `body` throws, nothing of it stays.
    /// When this returns, the commit is on disk, together with those of other callers that waited
    /// at the same time: each sees what those before it wrote, and fails alone. `body` may be run
    /// again when the store has to grow or another's commit could not be stored.
    ///
    /// - Throws: what `body` throws; ``StoreError``, `nested` inside a read or a write of the
    ///   store.
    package func write<R: Sendable>(
        at now: Timestamp, _ body: (Draft) throws -> R
    ) throws -> R {
        // Before anybody may take it up: nobody could wait for it here.
        try environment.checkNotInside("write")
        return try withoutActuallyEscaping(body) { body in
            let request = TypedCommitRequest(at: now, body)
            requests.withLock { $0.append(request) }
            do {
                try environment.perform { writer in self.commitWaiting(writer, with: request) }
            } catch {
                guard withdraw(request) else { throw error }
            }
            return try told(request).result()
        }
    }

    /// The same without blocking the caller's thread.
    package func write<R: Sendable>(
        at now: Timestamp, _ body: @escaping @Sendable (Draft) throws -> R
    ) async throws -> R {
        let request = TypedCommitRequest(at: now, body)
        requests.withLock { $0.append(request) }
        do {
            try await environment.perform { writer in self.commitWaiting(writer, with: request) }
        } catch {
            guard withdraw(request) else { throw error }
        }
        return try told(request).result()
    }

    /// Announces a commit that is on disk, on the thread of its caller.
    private func told<R>(_ request: TypedCommitRequest<R>) -> TypedCommitRequest<R> {
        if let news = request.news, request.isStored { shared.feed.tell(news) }
        return request
    }
}
