// SyncEngine.swift — syncs one replica with one server, one run at a time: the API for an app.
//
//   SyncEngine+Runs.swift        runs and their callers, one after another
//   SyncEngine+Background.swift  an app that moves to the background and returns
//   SyncEngine+Automatic.swift   the loop that begins runs automatically, by the schedule
//   SyncEngine+Transfers.swift   files beside entities

public import TidemarkEvents
import TidemarkRules
public import TidemarkSync
import TidemarkViews

/// Syncs one replica with one server, one run at a time.
///
/// ``sync(_:scope:deadline:full:overwriting:)`` makes one run and waits for it. After
/// ``start(_:)``, runs begin automatically: after edits, at intervals, after ``trigger(_:)``, and
/// again after a failure. The waiting times are computed from the log, so they outlive the process.
public actor SyncEngine {
    let replica: Replica
    let remote: Remote
    let adapter: any ServerAdapter
    let transport: any Transport
    let limits: TransportLimits
    let credentials: @Sendable () async throws -> Credentials
    let asking = CredentialsAsking()
    let broadcast = StatusBroadcast()
    let activityBroadcast = ActivityBroadcast()
    let sending: SendingFiles
    let bell = EngineBell()
    /// The run in progress, and those queued behind it.
    var runs: [Run] = []
    var runsMade = 0
    var schedule = SyncSchedule()
    /// The run that the loop waits for.
    var automaticRun: Int?
    /// Whether a pause ended it.
    var isRunPaused = false
    /// How it was to be started last.
    private var wanted = SyncTriggers()
    /// Whether it was started again from within a run of the loop that ends.
    var startsAgain = false
    /// The loop; it exists from the start until it has ended.
    var loop: Task<Void, Never>?
    var isStarted = false
    /// Whether it was started before.
    var wasStarted = false
    /// The files that are being fetched; one pass at a time.
    var transfers: Task<TransferOutcome, any Error>?
    /// What the pass is told while it goes on.
    var transferSignal: TransferSignal?
    /// Whether they are fetched without anybody having asked for it.
    var areTransfersAutomatic = false
    /// How long files are not fetched and sent automatically.
    var transferPauses = TransferPauses()
    /// How often the engine was stopped.
    var stops = 0
    /// When the app went to the background, and the log's last position then.
    var away: (moment: Moment, position: Position)?
    /// The activity while no run is in progress and none begins automatically.
    var rest = EngineStatus.Activity.idle

    /// An engine for a replica; only one engine at a time may sync a store.
    ///
    /// - Parameters:
    ///   - replica: what is synced.
    ///   - remote: the server's address; a replica stays with the first origin that it sent a
    ///     change to, or that answered.
    ///   - adapter: the translation to the server's protocol.
    ///   - transport: sends the requests.
    ///   - limits: how long a request may take and how large an answer may be. One that sends much
    ///     has more time, and so has one that timed out in the run before: twice as much each time,
    ///     up to ten minutes.
    ///   - credentials: called once for each run, and once more when the server does not accept
    ///     them, each time that they expire; if it returns the same ones again, or others that are
    ///     refused at once, the run ends as `unauthorized`. If it throws a
    ///     ``SyncFailure``, the run ends with that failure; with `offline` or `timeout` where it
    ///     is an error of the network, `URLError` or ``TransportError``; after any other error as
    ///     `unauthorized`. At the deadline of a run it is cancelled, and not waited for. Within it
    ///     ``sync(_:scope:deadline:full:overwriting:)`` and ``transfer()`` throw `nested`, as the
    ///     run waits for it, and ``stop()`` does not wait for the run.
    public init(
        _ replica: Replica, remote: Remote, adapter: any ServerAdapter, transport: any Transport,
        limits: TransportLimits = TransportLimits(),
        credentials: @escaping @Sendable () async throws -> Credentials
    ) {
        self.replica = replica
        self.remote = remote
        self.adapter = adapter
        self.transport = transport
        sending = SendingFiles { [broadcast] files in broadcast.send { $0.set(files) } }
        self.limits = limits
        let asking = asking
        self.credentials = { try await asking.during(credentials) }
        replica.engines.add(self)
    }

    // MARK: One run

    /// Makes one sync run and waits for its end, whether or not the engine was started or paused.
    ///
    /// Without a trigger it is for what the user asks for: such a run goes ahead after failures,
    /// while the server is busy and where the credentials were refused, and counts as an attempt of
    /// every gate. From a timer, a task in the background or a screen, give the trigger.
    ///
    /// Writes without an answer are read back, every collection is pulled, and every pending
    /// mutation is pushed. While a run is in progress, all callers share the next one, so that
    /// everything written before this call is part of it. Failures of network and server are in the
    /// outcome. A run that has to wait sends nothing and logs nothing: the outcome tells for how
    /// long.
    ///
    /// If all callers of a run are cancelled, it ends at the next step; the log stays consistent.
    /// One that is cancelled while others wait for the same run waits for its end with them.
    ///
    /// A trigger that the app names is held by the gate of its name in the model: then nothing is
    /// requested, nothing is logged, and the outcome's failure is `gated`, with the time from which
    /// on it may begin a run.
    ///
    /// Runs of other scopes queue behind it, except that a pull of single collections goes before
    /// the runs that have not begun.
    ///
    /// - Parameters:
    ///   - trigger: why it runs; triggers that are not urgent also wait after failures.
    ///   - scope: which parts of a run it does. A pull of single collections sends no writes; if it
    ///     would have to wait for limits with `wholePulls`, it does nothing, which is no failure:
    ///     the outcome's `notDue` names its collections.
    ///   - deadline: how long it may take from now on, including the wait for other runs. No
    ///     request begins with less than a second left, and one that is on its way at the deadline
    ///     is cut off: a write of which that is true is read back by the next run. What was not
    ///     done waits for that. Such a run is not shared.
    ///   - full: whether every collection is listed whole, from its first page on, instead of only
    ///     its changes.
    ///   - overwriting: whether the server's word stands against everything that is pending,
    ///     whatever the conflict policies: every collection is listed whole, and of an entity that
    ///     the server sends the pending mutations are given up: the last edit of each field is
    ///     `superseded`, those that it overtook are `coalesced`. What was made here and the server
    ///     does not have stays, and is pushed. Callers of the same run share this.
    /// - Throws: ``TidemarkError``: `otherRemote` when the replica belongs to another origin,
    ///   `invalidModel` when the adapter can't do what the model asks for, `engineRunning` when
    ///   another engine syncs the same store, `nested` within the closure that gives credentials,
    ///   `readOnly`, and errors of the storage.
    public func sync(
        _ trigger: SyncTrigger = .userRequested, scope: SyncScope = .all,
        deadline: Duration? = nil, full: Bool = false, overwriting: Bool = false
    ) async throws -> SyncOutcome {
        check(trigger)
        try asking.refuse("a sync run")
        let mode = PullMode(isFull: full, overwrites: overwriting)
        let run = join([trigger], scope, deadline, mode)
        let (task, number) = (run.task, run.number)
        let alarm = runs.first?.number == number ? nil : deadline.map { expire(number, after: $0) }
        defer { alarm?.cancel() }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            Task { await self.leave(number) }
        }
    }

    // MARK: Automatic runs

    /// Lets runs begin automatically, until ``stop()``.
    ///
    /// What is already pending counts as an edit. If it is called again, the new triggers replace
    /// the old ones. Where it waits for the end of what was stopped before, a later ``stop()``
    /// revokes it. While another engine syncs the same store, this one is `stopped`, with
    /// `engineRunning`.
    ///
    /// Where the server refused the API or the version of the app before, the first start of an
    /// engine tries once more, as after `trigger(.credentialsChanged)`: the app may be another one
    /// by now.
    public func start(_ triggers: SyncTriggers = SyncTriggers()) async {
        wanted = triggers
        if loop != nil, !isStarted, asking.isInside {
            startsAgain = true
            return
        }
        await start(since: stops)
    }

    /// Starts it as it was to be started last.
    ///
    /// - Parameter stops: how often it was stopped by then; it stays stopped where it was since.
    func start(since stops: Int) async {
        while let loop, !isStarted, stops == self.stops {
            // It was stopped, but the loop has not ended yet.
            await loop.value
        }
        guard stops == self.stops else { return }
        let usual = (try? replica.registration)?.model.settings.runEvery ?? .zero
        schedule.automatic = wanted.automatic(every: usual)
        schedule.planCleanUp(after: replica.dependencies.now())
        guard !isStarted else {
            bell.ringForEdit()
            return
        }
        isStarted = true
        transferPauses = TransferPauses()
        loop = Task { await self.follow() }
    }

    /// Requests a run, which begins as soon as nothing prevents it; triggers that come until then
    /// are served by the same run.
    ///
    /// Has no effect unless the engine was started.
    ///
    /// - Returns: where a gate of the model holds the trigger, the time of the device's clock from
    ///   which on it may begin a run: then it is dropped, and nothing is requested. Nil otherwise.
    @discardableResult
    public func trigger(_ trigger: SyncTrigger) -> Timestamp? { ask(trigger, in: nil) }

    /// Requests a list of one folder of a tree, as ``trigger(_:)`` requests a run: where the server
    /// lets it be known that something changed in it, or the user opens it.
    ///
    /// Folders that are asked for until a run begins are listed by the same run, and a run of
    /// everything serves them as well. ``SyncScope/folders(_:)`` says what is listed, and
    /// ``sync(_:scope:deadline:full:overwriting:)`` with that scope waits for it.
    ///
    /// Has no effect unless the engine was started.
    ///
    /// - Returns: as ``trigger(_:)``.
    @discardableResult
    public func trigger(_ trigger: SyncTrigger, in folder: SyncScope.Folder) -> Timestamp? {
        ask(trigger, in: folder)
    }

    private nonisolated func check(_ trigger: SyncTrigger) {
        precondition(
            trigger.isToldByName,
            "every app has the trigger \(trigger.rawValue); choose another name for the app's own")
    }

    private func ask(_ trigger: SyncTrigger, in folder: SyncScope.Folder?) -> Timestamp? {
        check(trigger)
        guard isStarted else { return nil }
        let now = replica.dependencies.moment
        if case .named = trigger {
            // What fails here fails in the run as well, which tells it.
            let held = try? replica.journal.read { views in
                try views.admission(of: [trigger], try views.model().settings.gates, at: now).wait
            }
            if let wait = held ?? nil { return now.now.adding(from: 0, to: wait) }
        }
        schedule.ask(trigger, in: folder, at: now)
        bell.ring()
        return nil
    }

    /// Lets no run begin automatically, and ends an automatic run at its next step, until
    /// ``resume()``.
    ///
    /// Files are not fetched automatically either. Triggers are kept. What a caller waits for goes
    /// on.
    public func pause() {
        schedule.isPaused = true
        if let automaticRun, !isRunPaused {
            isRunPaused = true
            leave(automaticRun)
        }
        endTransfersWhilePaused()
        bell.ring()
    }

    /// Goes on after ``pause()``.
    public func resume() {
        schedule.isPaused = false
        bell.ring()
    }

    /// Ends every run at its next step, and lets none begin automatically any more.
    ///
    /// Returns when the last one has ended; within the closure that gives credentials at once, as
    /// a run waits for that. Triggers that were not served are dropped. It may be
    /// called twice, or without a start.
    public func stop() async {
        isStarted = false
        stops += 1
        // Others may begin while this waits.
        let (ending, pass) = (loop, transfers)
        startsAgain = false
        rest = .stopped(nil)
        bell.ring()
        endAll()
        guard !asking.isInside else {
            if runs.isEmpty { publish(rest) }
            return
        }
        for task in runs.map(\.task) { _ = await task.result }
        _ = await pass?.result
        await ending?.value
        if runs.isEmpty, !isStarted { publish(rest) }
    }

    // MARK: Status

    /// The engine's status: the current one, then each change.
    ///
    /// Any number of tasks may listen; a slow listener misses only the oldest of many statuses.
    /// While the engine is not started, edits show with the next run. To listen costs what waits:
    /// the outbox is counted, on the caller's thread.
    public nonisolated var statuses: AsyncStream<EngineStatus> {
        broadcast.subscribe(try? replica.journal.read { try CountedOutbox($0) })
    }

    /// What runs do, one thing after another, from now on.
    ///
    /// Any number of tasks may listen, each to a sequence of its own; every one of them gets
    /// everything, in the same order. What a task has not read yet is kept for it without a limit,
    /// so that a slow one misses nothing and no run waits for it: a sequence that nobody reads any
    /// more is to be let go. A run that ends before its turn, or that a gate of the model holds,
    /// tells nothing.
    ///
    /// ``statuses`` tells how things stand now, this what happened on the way.
    public nonisolated var activities: AsyncStream<SyncActivity> { activityBroadcast.subscribe() }

    /// Publishes the engine's activity.
    func publish(_ activity: EngineStatus.Activity, _ outcome: SyncOutcome? = nil) {
        broadcast.send(try? replica.journal.read { try CountedOutbox($0) }) { status in
            status.activity = activity
            if let outcome { status.lastOutcome = outcome }
        }
    }
}
