// Replica.swift — the open store that an app holds.

public import TidemarkEvents
import TidemarkLog
public import TidemarkSync
package import TidemarkViews

/// An open store: entities to read and write, and the log that everything is folded from.
///
/// Every write appends to the log and is on disk when it returns. Every entity is what the log
/// says.
public final class Replica: Sendable {
    /// Where the store is.
    public let directory: String
    package let journal: Journal
    package let dependencies: Dependencies
    /// The rules of the app that decide conflicts.
    let rules: [ConflictRule]
    let engines = RunningEngines()

    private init(
        _ directory: String, _ journal: Journal, _ rules: [ConflictRule],
        _ dependencies: Dependencies
    ) {
        self.rules = rules
        self.directory = directory
        self.journal = journal
        self.dependencies = dependencies
    }

    /// The version of this library, as the log names it.
    public static let version = "0.1.0"

    // MARK: Opening

    /// Opens the store in a directory, or makes one that isn't there.
    ///
    /// This process alone has it open for writing, until it is closed or the process ends; it may
    /// open it several times. Before anything of the store is handed out, its files, its id and the
    /// end of its log are checked; a refused store stays as it is.
    ///
    /// - Parameters:
    ///   - directory: the path of the store; its parent must exist.
    ///   - account: whose data it is, in a name that stays the same. The first one given is the
    ///     store's for ever, and another one is refused with `otherAccount`. With nil nothing is
    ///     asked: the store keeps the account it has, if any.
    ///   - model: what is synced and by which rules; logged when it differs from the last one.
    ///   - remote: the server to be synced with, if it is known already; a store stays with the
    /// first.
    ///   - rules: the app's own rules, each with a name of its own, for collections whose
    ///     conflicts are `custom`; without its rule such a collection is paused as soon as there
    ///     is a conflict.
    ///   - waitSeconds: how long to block while another process has the store open.
    ///   - dependencies: clock, ids and randomness; the system's unless a test gives others.
    ///   - progress: told again and again how far it is while pages are checked and while tables
    ///     are folded anew, which an opening does first when another version's rules made them. A
    ///     process that dies meanwhile begins again at its next opening; half-made tables are never
    ///     handed out.
    /// - Throws: ``TidemarkError`` when the store can't be opened: each code but those about
    ///   entities. `pendingChanges` when the model lacks a collection in which edits wait: nothing
    ///   has changed then, and
    ///   ``open(existing:account:rules:waitSeconds:dependencies:progress:)`` opens the store with
    ///   the model that it has, to sync or discard them.
    public static func open(
        at directory: String, account: String? = nil, model: SyncModel, remote: Remote? = nil,
        rules: [ConflictRule] = [], waitSeconds: Double = 0, dependencies: Dependencies = .live,
        progress: (OpeningProgress) -> Void = { _ in }
    ) throws -> Replica {
        try opened(
            at: directory, create: true,
            StoreOpening(account: account, waitSeconds: waitSeconds, dependencies), rules,
            dependencies, progress
        ) { replica in
            let registered = try replica.registration
            let wanted = try ModelRegistration(model: model, remote: registered?.remote ?? remote)
                .checked(beside: registered)
            if registered != wanted { try replica.register(wanted) }
        }
    }

    /// Opens a store that is there, with the model that it carries; else like
    /// ``open(at:account:model:remote:rules:waitSeconds:dependencies:progress:)``.
    ///
    /// - Throws: ``TidemarkError``: `noStore` when there is none, `noModel` when none was
    ///   registered, and others.
    public static func open(
        existing directory: String, account: String? = nil, rules: [ConflictRule] = [],
        waitSeconds: Double = 0, dependencies: Dependencies = .live,
        progress: (OpeningProgress) -> Void = { _ in }
    ) throws -> Replica {
        try opened(
            at: directory, create: false,
            StoreOpening(account: account, waitSeconds: waitSeconds, dependencies), rules,
            dependencies, progress
        ) { replica in
            guard try replica.registration != nil else {
                throw TidemarkError(.noModel, "\(directory) has no model; it was never initialised")
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
            do { try prepare(replica) } catch {
                try? journal.close()
                throw error
            }
            return replica
        }
    }

    /// Closes the store and lets other processes open it.
    ///
    /// What was acknowledged is on disk already. After many thousand events it takes a moment: a
    /// snapshot of the tables is kept, from which the past can be read sooner.
    public func close() throws {
        journal.keepSnapshots()
        try TidemarkError.mapped { try journal.close() }
    }

    /// The model and the remote that the log carries.
    public var registration: ModelRegistration? {
        get throws { try TidemarkError.mapped { try journal.read { try $0.registration() } } }
    }

    /// Logs a model and remote; from now on they decide.
    ///
    /// - Throws: `pendingChanges` when edits wait in a collection that the model does not have.
    package func register(_ registration: ModelRegistration) throws {
        try write { tx in
            let stranded = try tx.draft.fold.strandedEdits(by: registration.model)
            if !stranded.isEmpty { throw TidemarkError(strandedEdits: stranded, in: directory) }
            try tx.draft.append(
                Event(.modelRegistered, recordedAt: tx.draft.now, json: registration.encoded))
        }
    }

    // MARK: Reading and writing

    /// Reads at one point in time.
    ///
    /// The context can't be used after. Inside a `write` it sees what was there before that; the
    /// ``WriteContext`` sees its own changes.
    public func read<R>(_ body: (ReadContext) throws -> R) throws -> R {
        try TidemarkError.mapped { try journal.read { try body(ReadContext($0)) } }
    }

    /// Writes one commit while the caller's thread waits: all of what `body` does, or nothing.
    ///
    /// On disk when it returns. `body` sees its own changes, runs on this thread or on another, and
    /// may be run again when the store has to grow: it must have no effects but on the context.
    ///
    /// - Throws: what `body` throws, and ``TidemarkError``: `nested` inside a `read` or a `write`
    ///   of the same store.
    @discardableResult
    public func write<R: Sendable>(_ body: (WriteContext) throws -> R) throws -> R {
        try TidemarkError.mapped {
            try journal.write(at: dependencies.now()) { draft in
                try WriteContext.run(draft, dependencies, journal.account, body)
            }
        }
    }

    /// Writes one commit: all of what `body` does, or nothing.
    ///
    /// On disk when it returns.
    ///
    /// `body` may be run again when the store has to grow: it must have no effects but on the
    /// context.
    @discardableResult
    public func write<R: Sendable>(
        _ body: @escaping @Sendable (WriteContext) throws -> R
    ) async throws -> R {
        let (journal, dependencies) = (journal, dependencies)
        do {
            return try await journal.write(at: dependencies.now()) { draft in
                try WriteContext.run(draft, dependencies, journal.account, body)
            }
        } catch { throw TidemarkError.wrapping(error) }
    }
}

/// How far an opening is that takes a moment.
public enum OpeningProgress: Sendable, Hashable {
    /// So many pages of the data file were looked at, of so many at most: after another start of
    /// the device those of the log, after a process that died while it opened the store all.
    case checking(pages: UInt64, of: UInt64)
    /// The tables are being rebuilt: the last event that was folded, and the last one of the log.
    case rebuilding(Position, of: Position)
}

extension TidemarkError {
    /// A model lacks collections in which edits wait.
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
}

extension StoreOpening {
    /// What the injected doors say about this device.
    init(account: String?, waitSeconds: Double, _ dependencies: Dependencies) {
        self.init(
            account: account, device: dependencies.deviceID(),
            bootID: dependencies.uptime().bootID, waitSeconds: waitSeconds,
            makeID: dependencies.makeID)
    }
}
