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
    /// The run that is going on, and the one after it.
    private var runs: [Run] = []
    private var runsMade = 0
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

    /// Runs one sync run.
    ///
    /// What was never answered is read back, every collection is pulled, every pending mutation is
    /// pushed. While a run is going on, one more is awaited, which all callers share: what was
    /// written before this call is part of it. What network and server do wrong is in the outcome.
    ///
    /// A run whose callers are all cancelled ends at the next step; the log stays whole.
    ///
    /// - Throws: ``TidemarkError``: `otherRemote` when the replica belongs to another origin, and
    ///   whatever the storage throws.
    public func sync(_ trigger: SyncTrigger = .userRequested) async throws -> SyncOutcome {
        let run = join(trigger)
        let task = run.task
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            Task { await self.leave(run.number) }
        }
    }

    /// One run; callers may join it until it begins.
    private struct Run {
        var number: Int
        var task: Task<SyncOutcome, any Error>
        var callers = 1
        var hasBegun = false
    }

    private func join(_ trigger: SyncTrigger) -> Run {
        if let index = runs.indices.last, !runs[index].hasBegun {
            runs[index].callers += 1
            return runs[index]
        }
        let before = runs.last?.task
        runsMade += 1
        let number = runsMade
        let task = Task {
            _ = await before?.result
            return try await self.run(trigger, number)
        }
        let run = Run(number: number, task: task)
        runs.append(run)
        return run
    }

    private func leave(_ number: Int) {
        guard let index = runs.firstIndex(where: { $0.number == number }) else { return }
        runs[index].callers -= 1
        if runs[index].callers == 0 { runs[index].task.cancel() }
    }

    /// What the engine is doing, from now on.
    public nonisolated var status: AsyncStream<EngineStatus> { broadcast.subscribe() }

    private func run(_ trigger: SyncTrigger, _ number: Int) async throws -> SyncOutcome {
        if let index = runs.firstIndex(where: { $0.number == number }) {
            runs[index].hasBegun = true
        }
        defer { runs.removeAll { $0.number == number } }
        do {
            let bound = try bind()
            let broadcast = broadcast
            let driver = SyncDriver(
                journal: replica.journal, model: bound.model, remote: bound.remote ?? remote,
                adapter: adapter,
                transport: transport, limits: limits, credentials: credentials,
                dependencies: replica.dependencies, rules: replica.rules,
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
    private func bind() throws -> ModelRegistration {
        guard let registered = try replica.registration else {
            throw TidemarkError(.noModel, "the replica has no model")
        }
        let wanted = try ModelRegistration(model: registered.model, remote: remote).checked()
        guard let known = registered.remote, let own = wanted.remote else {
            try replica.register(wanted)
            return wanted
        }
        guard known.origin == own.origin, known.parameters == own.parameters else {
            throw TidemarkError(
                .otherRemote,
                "the store is synced with \(known.origin), not with \(own.origin); "
                    + "another server needs a store of its own")
        }
        return wanted
    }
}
