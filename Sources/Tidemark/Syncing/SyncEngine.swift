// SyncEngine.swift — syncs one replica with one server, one run at a time: what an app calls.
//
//   SyncEngine+Runs.swift        runs and their callers, one after another
//   SyncEngine+Background.swift  an app that goes to the background and comes back
//   SyncEngine+Automatic.swift   the loop that begins runs by itself, as the schedule says

public import TidemarkEvents
import TidemarkRules
public import TidemarkSync
import TidemarkViews

/// Syncs one replica with one server, one run at a time.
///
/// ``sync(_:scope:deadline:full:)`` is one run that somebody waits for. After ``start(_:)`` runs
/// begin by themselves: after edits, every so often, after ``trigger(_:)``, and again after a
/// failure. What they wait for is computed from the log, so that it outlives the process.
public actor SyncEngine {
    let replica: Replica
    let remote: Remote
    let adapter: any ServerAdapter
    let transport: any Transport
    let limits: TransportLimits
    let credentials: @Sendable () async throws -> Credentials
    let broadcast = StatusBroadcast()
    let bell = EngineBell()
    /// The run that is going on, and those after it.
    var runs: [Run] = []
    var runsMade = 0
    var schedule = SyncSchedule()
    /// The run that the loop waits for.
    var automaticRun: Int?
    /// The loop; there is one from the start until it has ended.
    var loop: Task<Void, Never>?
    var isStarted = false
    /// When the app went to the background, and the log's last position then.
    var away: (moment: Moment, position: Position)?
    /// What the engine does while no run is going on and none begins by itself.
    var rest = EngineStatus.Activity.idle

    /// An engine for a replica; only one at a time may run for a store.
    ///
    /// - Parameters:
    ///   - replica: what is synced.
    ///   - remote: where the server is; a replica stays with the origin it was first synced with.
    ///   - adapter: what the server speaks.
    ///   - transport: how requests are sent.
    ///   - limits: how long a request may take and how large an answer may be.
    ///   - credentials: asked once for each run, and once more when the server does not accept
    ///     them; when they are the same then, the run ends as `unauthorized`. Throwing a
    ///     ``SyncFailure`` ends the run with that one, anything else as `unauthorized`.
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
        replica.engines.add(self)
    }

    // MARK: One run

    /// Runs one sync run and waits for its end; whether the engine was started or paused does not
    /// matter.
    ///
    /// What was never answered is read back, every collection is pulled, every pending mutation is
    /// pushed. While a run is going on, one more is awaited, which all callers share: what was
    /// written before this call is part of it. What network and server do wrong is in the outcome.
    /// A run that has to wait asks nothing and logs nothing: the outcome says for how long.
    ///
    /// A run whose callers are all cancelled ends at the next step; the log stays whole.
    ///
    /// Runs of other scopes get in line behind it, but for a pull of some collections, which goes
    /// before those that have not begun.
    ///
    /// - Parameters:
    ///   - trigger: why; those that are not urgent also wait after failures.
    ///   - scope: what it is to do. A pull of some collections sends nothing else; where it would
    ///     have to wait for the model's limits, it does nothing.
    ///   - deadline: how long it may take from now on, waiting for other runs included: no request
    ///     begins that can't end by then, and what was not done waits for the next run. Such a run
    ///     is not shared.
    ///   - full: whether every collection is listed whole, and not only what changed.
    /// - Throws: ``TidemarkError``: `otherRemote` when the replica belongs to another origin,
    ///   `engineRunning` when another engine syncs the same store, and whatever the storage throws.
    public func sync(
        _ trigger: SyncTrigger = .userRequested, scope: SyncScope = .all,
        deadline: Duration? = nil, full: Bool = false
    ) async throws -> SyncOutcome {
        let run = join([trigger], scope, deadline, full)
        let (task, number) = (run.task, run.number)
        let alarm = runs.first?.number == number ? nil : deadline.map { expire(number, after: $0) }
        defer { alarm?.cancel() }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            Task { await self.leave(number) }
        }
    }

    // MARK: Runs that begin by themselves

    /// Lets runs begin by themselves, until ``stop()``.
    ///
    /// What is pending already counts as an edit. Started twice, the later triggers hold.
    /// While another engine syncs the same store this one is `stopped`, with `engineRunning`.
    public func start(_ triggers: SyncTriggers = SyncTriggers()) async {
        while let loop, !isStarted {
            // Stopped, and not yet at its end.
            await loop.value
            if self.loop == loop { self.loop = nil }
        }
        schedule.automatic = triggers.automatic
        schedule.planCleanUp(after: replica.dependencies.now())
        guard !isStarted else {
            bell.ring()
            return
        }
        isStarted = true
        loop = Task { await self.follow() }
    }

    /// Asks for a run, which begins as soon as nothing keeps it from beginning; triggers that come
    /// until then are served by the same run.
    ///
    /// Of no effect unless the engine was started.
    public func trigger(_ trigger: SyncTrigger) {
        guard isStarted else { return }
        schedule.ask(trigger, at: replica.dependencies.moment)
        bell.ring()
    }

    /// Lets no run begin by itself, and ends one that did at its next step, until ``resume()``.
    ///
    /// Triggers are kept. A run that somebody waits for goes on.
    public func pause() {
        schedule.isPaused = true
        if let automaticRun { leave(automaticRun) }
        bell.ring()
    }

    /// Goes on after ``pause()``.
    public func resume() {
        schedule.isPaused = false
        bell.ring()
    }

    /// Ends every run at its next step, and lets none begin by itself any more.
    ///
    /// Returns when the last one has ended. Triggers that were not served are forgotten.
    /// Stopping twice, or without a start, does the same.
    public func stop() async {
        isStarted = false
        rest = .stopped(nil)
        bell.ring()
        for run in runs { cancel(run.number, as: .cancelled) }
        for task in runs.map(\.task) { _ = await task.result }
        if let loop {
            await loop.value
            if self.loop == loop { self.loop = nil }
        }
        if runs.isEmpty, !isStarted { publish(rest) }
    }

    // MARK: Status

    /// What the engine is doing: what it is doing now, then each change.
    ///
    /// Any number may listen, and take their time: who is slow misses the oldest of many. While the
    /// engine is not started, edits show with the next run.
    public nonisolated var status: AsyncStream<EngineStatus> {
        broadcast.subscribe(try? replica.journal.read { try OutboxCounts($0) })
    }

    /// Tells what the engine is doing.
    func publish(_ activity: EngineStatus.Activity, _ outcome: SyncOutcome? = nil) {
        let counts = try? replica.journal.read { try OutboxCounts($0) }
        broadcast.send { status in
            status.activity = activity
            if let outcome { status.lastOutcome = outcome }
            if let counts { status.set(counts) }
        }
    }
}
