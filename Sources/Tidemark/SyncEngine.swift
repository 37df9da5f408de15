// SyncEngine.swift — syncs one replica with one server, one run at a time.

public import TidemarkEvents
public import TidemarkSync
import TidemarkViews

/// Why a sync run is started; logged with it.
public struct SyncTrigger: Sendable, Hashable {
    /// The word in the log.
    public let name: String

    /// The user asked for it.
    public static let userRequested = SyncTrigger(name: "userRequested")
    /// Something was written here.
    public static let localChange = SyncTrigger(name: "localChange")
    /// A timer of the app.
    public static let timer = SyncTrigger(name: "timer")
}

/// What an engine is doing.
public enum EngineStatus: Sendable, Hashable {
    /// Nothing; the last run, if any, ended so.
    case idle(SyncOutcome?)
    /// A sync run is going on.
    case syncing(SyncProgress)
}

/// Syncs one replica with one server, one run at a time.
public actor SyncEngine {
    private let replica: Replica
    private let remote: Remote
    private let adapter: any ServerAdapter
    private let transport: any Transport
    private let limits: TransportLimits
    private let credentials: @Sendable () async throws -> Credentials
    private var running: Task<SyncOutcome, any Error>?
    private let broadcast = StatusBroadcast()

    /// An engine for a replica.
    ///
    /// - Parameters:
    ///   - remote: where the server is; a replica stays with the origin it was first synced with.
    ///   - adapter: what the server speaks.
    ///   - transport: how requests are sent.
    ///   - limits: how long a request may take and how large an answer may be.
    ///   - credentials: asked once for each run; throwing ends the run as `unauthorized`.
    public init(
        _ replica: Replica, remote: Remote, adapter: any ServerAdapter, transport: any Transport,
        limits: TransportLimits = TransportLimits(),
        credentials: @escaping @Sendable () async throws -> Credentials
    ) {
        self.replica = replica
        self.remote = remote
        self.adapter = adapter
        self.transport = transport
        self.limits = limits
        self.credentials = credentials
    }

    /// Runs one sync run: what was never answered is read back, every collection is pulled, every
    /// pending mutation is pushed.
    ///
    /// While one is running, its outcome is awaited instead.
    ///
    /// What network and server do wrong is in the outcome. Cancelling the calling task ends the run
    /// at the next step; the log stays whole.
    ///
    /// - Throws: ``TidemarkError``: `otherRemote` when the replica belongs to another origin, and
    ///   whatever the storage throws.
    public func sync(_ trigger: SyncTrigger = .userRequested) async throws -> SyncOutcome {
        let task: Task<SyncOutcome, any Error>
        if let running {
            task = running
        } else {
            task = Task { try await self.run(trigger) }
            running = task
        }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// What the engine is doing, from now on.
    public nonisolated var status: AsyncStream<EngineStatus> { broadcast.subscribe() }

    private func run(_ trigger: SyncTrigger) async throws -> SyncOutcome {
        defer { running = nil }
        do {
            let model = try bind()
            let broadcast = broadcast
            let driver = SyncDriver(
                journal: replica.journal, model: model, remote: remote, adapter: adapter,
                transport: transport, limits: limits, credentials: credentials,
                dependencies: replica.dependencies,
                progress: { broadcast.send(.syncing($0)) })
            let outcome = try await driver.run(trigger: trigger.name)
            broadcast.send(.idle(outcome))
            return outcome
        } catch {
            broadcast.send(.idle(nil))
            throw TidemarkError.wrapping(error)
        }
    }

    /// Binds the replica to the remote with the first sync, and holds it to it ever after.
    private func bind() throws -> SyncModel {
        guard let registered = try replica.registration else {
            throw TidemarkError(.noModel, "the replica has no model")
        }
        if let known = registered.remote {
            guard known.origin == remote.origin, known.parameters == remote.parameters else {
                throw TidemarkError(
                    .otherRemote,
                    "the store is synced with \(known.origin), not with \(remote.origin); "
                        + "another server needs a store of its own")
            }
        } else {
            try replica.register(ModelRegistration(model: registered.model, remote: remote))
        }
        return registered.model
    }
}
