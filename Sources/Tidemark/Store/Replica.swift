// Replica.swift — the open store that an app holds.

public import TidemarkEvents
import TidemarkLog
import TidemarkStore
public import TidemarkSync
package import TidemarkViews

/// An open store: entities to read and write, and the log that they are folded from.
///
/// Every write appends to the log and is on disk when it returns.
public final class Replica: Sendable {
    /// The directory of the store.
    public let directory: String
    package let journal: Journal
    package let dependencies: Dependencies
    /// The app's conflict rules.
    let rules: [ConflictRule]
    let engines = RunningEngines()
    /// Whether it was opened for reading only.
    let isReader: Bool

    private init(
        _ directory: String, _ journal: Journal, _ rules: [ConflictRule],
        _ dependencies: Dependencies, isReader: Bool = false
    ) {
        self.isReader = isReader
        self.rules = rules
        self.directory = directory
        self.journal = journal
        self.dependencies = dependencies
    }

    /// The version of this library, as it is logged.
    public static let version = "0.1.0"

    // MARK: Opening

    /// Opens the store in a directory, or creates one.
    ///
    /// Only this process has it open for writing, until it is closed or the process ends; the
    /// process may open it several times. Before any data is returned, the store's files, its id
    /// and the end of its log are checked; a store that is refused is not changed.
    ///
    /// - Parameters:
    ///   - directory: the path of the store; its parent must exist.
    ///   - account: whose data it is, by a name that stays the same. The first account is
    ///     permanent, and any other is refused with `otherAccount`. With nil there is no check: the
    ///     store keeps its account, if it has one.
    ///   - model: what is synced and by which rules; logged when it differs from the last one.
    ///   - remote: the server to be synced with, if it is known already; the first one stays,
    ///     unless nothing came of it and an engine names another.
    ///   - rules: the app's own conflict rules, each with a name of its own, for collections whose
    ///     conflicts are `custom`; without its rule, such a collection is paused as soon as there
    ///     is a conflict.
    ///   - waiting: how long to block while another process has the store open.
    ///   - dependencies: clock, ids and randomness; the system's unless a test gives others.
    ///   - progress: called repeatedly while pages are checked and while tables are rebuilt. The
    ///     tables are rebuilt first when an earlier version's rules made them. If the process dies
    ///     meanwhile, the next opening begins again; incomplete tables are never used. Other stores
    ///     can be opened and closed meanwhile. Another opening of this one waits for it, so that
    ///     `progress` must not wait for a thread that opens it.
    /// - Throws: ``TidemarkError`` when the store can't be opened: any code except those about
    ///   entities. `invalidModel` when model or remote can't be taken, or a collection that has
    ///   entities becomes ``CollectionModel/localOnly``, or is so no more. `pendingChanges` when
    ///   the model lacks a collection with pending edits: nothing has changed then, and
    ///   `open(existing:account:rules:waiting:dependencies:progress:)`
    ///   opens the store with its own model, to sync or discard them.
    public static func open(
        at directory: String, account: String? = nil, model: SyncModel, remote: Remote? = nil,
        rules: [ConflictRule] = [], waiting: Duration = .zero, dependencies: Dependencies = .live,
        progress: (OpeningProgress) -> Void = { _ in }
    ) throws -> Replica {
        try opened(
            at: directory, create: true,
            StoreOpening(account: account, waiting: waiting, dependencies), rules,
            dependencies, progress
        ) { replica in
            let registered = try replica.registration
            let wanted = try ModelRegistration(model: model, remote: registered?.remote ?? remote)
                .checked(beside: registered)
            if registered != wanted { try replica.register(wanted) }
        }
    }

    /// The same without blocking the caller's thread; `progress` is called on another one.
    public static func open(
        at directory: String, account: String? = nil, model: SyncModel, remote: Remote? = nil,
        rules: [ConflictRule] = [], waiting: Duration = .zero, dependencies: Dependencies = .live,
        progress: @escaping @Sendable (OpeningProgress) -> Void = { _ in }
    ) async throws -> Replica {
        try await BlockingWork.run(waits: true) {
            try open(
                at: directory, account: account, model: model, remote: remote, rules: rules,
                waiting: waiting, dependencies: dependencies, progress: progress)
        }
    }

    /// Opens an existing store with the model that it holds; otherwise like
    /// `open(at:account:model:remote:rules:waiting:dependencies:progress:)`.
    ///
    /// - Throws: ``TidemarkError``: `noStore` when there is none, `noModel` when none was
    ///   registered, and others.
    public static func open(
        existing directory: String, account: String? = nil, rules: [ConflictRule] = [],
        waiting: Duration = .zero, dependencies: Dependencies = .live,
        progress: (OpeningProgress) -> Void = { _ in }
    ) throws -> Replica {
        try opened(
            at: directory, create: false,
            StoreOpening(account: account, waiting: waiting, dependencies), rules,
            dependencies, progress
        ) { replica in
            guard try replica.registration != nil else {
                throw TidemarkError(.noModel, "\(directory) has no model; it was never initialised")
            }
        }
    }

    /// The same without blocking the caller's thread; `progress` is called on another one.
    public static func open(
        existing directory: String, account: String? = nil, rules: [ConflictRule] = [],
        waiting: Duration = .zero, dependencies: Dependencies = .live,
        progress: @escaping @Sendable (OpeningProgress) -> Void = { _ in }
    ) async throws -> Replica {
        try await BlockingWork.run(waits: true) {
            try open(
                existing: directory, account: account, rules: rules, waiting: waiting,
                dependencies: dependencies, progress: progress)
        }
    }

    /// Opens an existing store for reading only, beside the process that has it open for writing.
    ///
    /// Reads, also those of the past, and ``changes(since:in:)`` see what was committed when they
    /// begin; nothing is told by itself. Writes fail with `readOnly`, and so do engines, and
    /// waiting for an outcome that is not known yet. What an entity's files are is told without
    /// their paths.
    ///
    /// As long as it is open so, opening it for writing in this process waits, or throws `busy`.
    ///
    /// Blocks; call it off the main thread.
    ///
    /// After an update the next opening for writing makes the tables anew. Until it has, what they
    /// hold is folded from the log, in memory.
    ///
    /// - Throws: ``TidemarkError``: `noStore`, `noModel`, and others; `otherVersion`, as reads do,
    ///   where more than 200,000 events would have to be folded, and `newerFormat` where it was a
    ///   newer version that made them.
    public static func open(
        reading directory: String, dependencies: Dependencies = .live
    ) throws -> Replica {
        try TidemarkError.mapped {
            var opening = StoreOpening()
            opening.mapBytes = dependencies.mapBytes
            let journal = try Journal.open(at: directory, readOnly: true, opening: opening)
            let replica = Replica(directory, journal, [], dependencies, isReader: true)
            do {
                guard try replica.registration == nil else { return replica }
                throw TidemarkError(.noModel, "\(directory) has no model; it was never initialised")
            } catch {
                try? journal.close()
                throw error
            }
        }
    }

    /// Opens a store and closes it again when `prepare` fails.
    private static func opened(
        at directory: String, create: Bool, _ opening: StoreOpening, _ rules: [ConflictRule],
        _ dependencies: Dependencies, _ progress: (OpeningProgress) -> Void,
        _ prepare: (Replica) throws -> Void
    ) throws -> Replica {
        try TidemarkError.mapped {
            let journal = try Journal.open(
                at: directory, create: create, opening: opening,
                checking: { progress(.checking(pages: $0, of: $1)) },
                progress: { progress(.rebuilding($0.done, of: $0.last)) })
            let replica = Replica(directory, journal, rules, dependencies)
            do {
                try prepare(replica)
                do {
                    try journal.settleContents(at: dependencies.now())
                } catch let error as StoreError where error.saysNoRoom {
                    // No reason not to open it: the next opening tells what is missing.
                }
            } catch {
                try? journal.close()
                throw error
            }
            return replica
        }
    }

    /// Closes the store and lets other processes open it.
    ///
    /// All acknowledged writes are already on disk. After many thousand events it takes a moment,
    /// because old events are sealed, which frees pages of the file, and a snapshot of the tables
    /// is kept, from which earlier positions can be read sooner.
    ///
    /// An engine that was started ends, and so does what is in flight: what the server answers from
    /// then on is not logged, and the next run asks for it again. ``SyncEngine/stop()`` before it
    /// has engines end in order; without that, requests may be open for a moment more, beside those
    /// of an engine that syncs the store after another opening.
    ///
    /// - Throws: ``TidemarkError``: `nested` inside a `read` or a `write` of the same store.
    public func close() throws {
        if !isReader { journal.keepTidy(at: dependencies.now()) }
        try TidemarkError.mapped { try journal.close() }
        engines.end()
    }

    /// The same without blocking the caller's thread.
    public func close() async throws {
        try await BlockingWork.run(waits: true) { [self] in try close() }
    }

    /// The model and the remote in the log.
    ///
    /// - Throws: what ``read(_:)`` throws.
    public var registration: ModelRegistration? {
        get throws { try TidemarkError.mapped { try journal.read { try $0.registration() } } }
    }

    /// Logs a model and remote, which are in force from then on.
    ///
    /// - Throws: `pendingChanges` when a collection that the model lacks has pending edits,
    ///   `invalidModel` when one that has entities becomes `localOnly`, or is so no more.
    package func register(_ registration: ModelRegistration) throws {
        try write { tx in
            let stranded = try tx.draft.fold.strandedEdits(by: registration.model)
            if !stranded.isEmpty { throw TidemarkError(strandedEdits: stranded, in: directory) }
            if let changed = try tx.draft.fold.localOnlyChanged(by: registration.model) {
                throw TidemarkError(localOnlyChanged: changed, in: directory)
            }
            try tx.draft.append(
                Event(.modelRegistered, recordedAt: tx.draft.now, json: registration.encoded))
        }
    }

    func checkWritable() throws {
        if isReader { throw readOnly }
    }

    var readOnly: TidemarkError {
        TidemarkError(.readOnly, "\(directory) was opened for reading only")
    }

    // MARK: Reading and writing

    /// Reads at one point in time.
    ///
    /// The context is not valid afterwards. Inside a `write` it shows the state before the write;
    /// the ``WriteContext`` sees its own changes.
    ///
    /// - Throws: what `body` throws, but a `JSONError` as ``TidemarkError`` `invalidDocument`, and
    ///   a `ModelError` as `invalidModel`; ``TidemarkError``: `closed`, `damaged`, and other
    ///   errors of the storage.
    public func read<R>(_ body: (ReadContext) throws -> R) throws -> R {
        try TidemarkError.mapped { try journal.read { try body(ReadContext($0)) } }
    }

    /// Writes one commit while the caller's thread waits: everything that `body` does, or nothing.
    ///
    /// It is on disk when this returns. `body` sees its own changes. It runs on another thread when
    /// somebody else writes just then, so that it may not touch what belongs to the main actor, or
    /// what others hold; and it may be run again when the store has to grow: it must have no
    /// effects outside the context.
    ///
    /// - Throws: what `body` throws, but a `JSONError` as ``TidemarkError`` `invalidDocument`, and
    ///   a `ModelError` as `invalidModel`; ``TidemarkError``: `nested` inside a `read` or a
    ///   `write` of the same store, `readOnly`, `closed`, `diskFull`, `fileTooLarge`, `storeFull`,
    ///   `poisoned`, `damaged`, and other errors of the storage.
    @discardableResult
    public func write<R: Sendable>(_ body: sending (WriteContext) throws -> R) throws -> R {
        try checkWritable()
        return try TidemarkError.mapped {
            try journal.write(at: dependencies.now()) { draft in
                try WriteContext.run(draft, dependencies, journal, body)
            }
        }
    }

    /// Writes one commit: everything that `body` does, or nothing.
    ///
    /// It is on disk when this returns.
    ///
    /// `body` may be run again when the store has to grow: it must have no effects outside the
    /// context.
    ///
    /// - Throws: what the `write` that blocks throws.
    @discardableResult
    public func write<R: Sendable>(
        _ body: @escaping @Sendable (WriteContext) throws -> R
    ) async throws -> R {
        try checkWritable()
        let (journal, dependencies) = (journal, dependencies)
        do {
            return try await journal.write(at: dependencies.now()) { draft in
                try WriteContext.run(draft, dependencies, journal, body)
            }
        } catch { throw TidemarkError.wrapping(error) }
    }
}

/// The progress of an opening that takes a moment.
@nonexhaustive public enum OpeningProgress: Sendable, Hashable {
    /// How many pages of the data file were checked, and of how many at most.
    ///
    /// After a restart of the device these are the pages of the log, and all pages after a process
    /// died while it opened the store.
    case checking(pages: UInt64, of: UInt64)
    /// The tables are being rebuilt: the last event that was folded, and the last one of the log.
    case rebuilding(Position, of: Position)
}

extension TidemarkError {
    /// A model lacks collections with pending edits.
    init(strandedEdits counts: [(collection: CollectionName, count: Int)], in directory: String) {
        let names = counts.map { name, count in
            "\(count) \(count == 1 ? "edit waits" : "edits wait") in \(name)"
        }
        self.init(
            .pendingChanges,
            "\(names.joined(separator: " and ")), which the new model does not have, so that "
                + "nothing could be sent of it any more; nothing was changed. Open \(directory) "
                + "with the model that it has (`Replica.open(existing:)`, or `tidemark sync`), and "
                + "sync or discard what waits; or keep the collection in the model")
    }

    /// Entities of a collection would be synced that were kept on the device alone, or the other
    /// way round.
    init(localOnlyChanged collection: CollectionModel, in directory: String) {
        // Deleting what is synced would delete it on the server.
        let (before, after, way) =
            collection.localOnly
            ? (
                "synced", "keeps it on this device alone",
                "sync, and drop what is here with `wipe(keeping:)`"
            )
            : ("kept on this device alone", "syncs it", "delete its entities")
        self.init(
            .invalidModel,
            "\(collection.name) has entities that are \(before), and the new model \(after); "
                + "nothing was changed. Give the new collection another name, and copy what it is "
                + "to have; or open \(directory) with a model in which it is \(before), and \(way)")
    }
}

extension StoreOpening {
    /// What the injected dependencies tell about this device.
    init(account: String?, waiting: Duration, _ dependencies: Dependencies) {
        self.init(
            account: account, device: dependencies.deviceID(),
            bootID: dependencies.uptime().bootID, waiting: waiting,
            makeID: dependencies.makeID)
        mapBytes = dependencies.mapBytes
    }
}
