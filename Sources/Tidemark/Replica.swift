// Replica.swift — the open store that an app holds.

public import TidemarkEvents
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

    private init(_ directory: String, _ journal: Journal, _ dependencies: Dependencies) {
        self.directory = directory
        self.journal = journal
        self.dependencies = dependencies
    }

    /// The version of this library, as the log names it.
    public static let version = "0.1.0"

    // MARK: Opening

    /// Opens the store in a directory, or makes one that isn't there.
    ///
    /// - Parameters:
    ///   - directory: the path of the store; its parent must exist.
    ///   - model: what is synced and by which rules; logged when it differs from the last one.
    ///   - remote: the server to be synced with, if it is known already; a store stays with the
    /// first.
    ///   - dependencies: clock, ids and randomness; the system's unless a test gives others.
    /// - Throws: ``TidemarkError`` when the store can't be opened.
    public static func open(
        at directory: String, model: SyncModel, remote: Remote? = nil,
        dependencies: Dependencies = .live
    ) throws -> Replica {
        try TidemarkError.mapped {
            let journal = try Journal.open(at: directory, create: true)
            let replica = Replica(directory, journal, dependencies)
            let registered = try replica.registration
            let wanted = try ModelRegistration(model: model, remote: registered?.remote ?? remote)
                .checked()
            if registered != wanted { try replica.register(wanted) }
            return replica
        }
    }

    /// Opens a store that is there, with the model that it carries.
    ///
    /// - Throws: ``TidemarkError``: `noStore` when there is none, `noModel` when none was
    /// registered.
    public static func open(
        existing directory: String, dependencies: Dependencies = .live
    ) throws -> Replica {
        try TidemarkError.mapped {
            let journal = try Journal.open(at: directory)
            let replica = Replica(directory, journal, dependencies)
            guard try replica.registration != nil else {
                throw TidemarkError(.noModel, "\(directory) has no model; it was never initialised")
            }
            return replica
        }
    }

    /// Closes the store.
    ///
    /// What was acknowledged is on disk already.
    public func close() throws { try TidemarkError.mapped { try journal.close() } }

    /// The model and the remote that the log carries.
    public var registration: ModelRegistration? {
        get throws { try TidemarkError.mapped { try journal.read { try $0.registration() } } }
    }

    /// Logs a model and remote; from now on they decide.
    package func register(_ registration: ModelRegistration) throws {
        try write { tx in
            try tx.draft.append(
                Event(.modelRegistered, recordedAt: tx.draft.now, json: registration.encoded))
        }
    }

    // MARK: Reading and writing

    /// Reads at one point in time.
    ///
    /// The context can't be used after.
    public func read<R>(_ body: (ReadContext) throws -> R) throws -> R {
        try TidemarkError.mapped { try journal.read { try body(ReadContext($0)) } }
    }

    /// Writes one commit while the caller's thread waits: all of what `body` does, or nothing.
    ///
    /// On disk when it returns. `body` sees its own changes, runs on the store's writer thread, and
    /// may be run again when the store has to grow: it must have no effects but on the context.
    @discardableResult
    public func write<R: Sendable>(_ body: (WriteContext) throws -> R) throws -> R {
        try TidemarkError.mapped {
            try journal.write(at: dependencies.now()) { draft in
                try WriteContext.run(draft, dependencies, body)
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
        let dependencies = dependencies
        do {
            return try await journal.write(at: dependencies.now()) { draft in
                try WriteContext.run(draft, dependencies, body)
            }
        } catch { throw TidemarkError.wrapping(error) }
    }
}
