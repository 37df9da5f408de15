// SyncEngine+Runs.swift — runs and their callers: one run at a time, the others queue.

import TidemarkEvents
import TidemarkRules
import TidemarkSync
import TidemarkViews

extension SyncEngine {
    /// One run; callers may join it until it begins.
    struct Run {
        var number: Int
        /// Why it runs, the highest trigger first.
        var triggers: [SyncTrigger]
        var scope: SyncScope
        var hasDeadline: Bool
        /// How it pulls.
        var mode: PullMode
        var task: Task<SyncOutcome, any Error>
        var callers = 1
        var hasBegun = false
        /// Why it is to end before it has begun.
        var ending: SyncFailure?
        /// Wakes it at its turn.
        var waiter: CheckedContinuation<Void, Never>?
    }

    /// The run that the next caller joins: one that has not begun, or a new one.
    func join(
        _ triggers: [SyncTrigger], _ scope: SyncScope = .all, _ deadline: Duration? = nil,
        _ mode: PullMode = .changes
    ) -> Run {
        let open = runs.lastIndex {
            !$0.hasBegun && $0.ending == nil && !$0.hasDeadline && $0.scope == scope
        }
        if let index = open, deadline == nil {
            runs[index].callers += 1
            runs[index].mode = max(runs[index].mode, mode)
            runs[index].triggers = Set(runs[index].triggers).union(triggers).sorted()
            return runs[index]
        }
        runsMade += 1
        let number = runsMade
        let time = SyncTime(from: replica.dependencies.moment, deadline: deadline)
        let run = Run(
            number: number, triggers: triggers, scope: scope, hasDeadline: deadline != nil,
            mode: mode, task: Task { try await self.perform(number, time) })
        // The first run is in progress, or is about to begin.
        let place =
            runs.isEmpty
            ? 0 : 1 + SyncQueue.place(of: scope, among: runs.dropFirst().map(\.scope))
        runs.insert(run, at: place)
        return run
    }

    /// Requests a run without waiting for it; it is queued when this returns.
    package func ask(
        _ trigger: SyncTrigger, _ scope: SyncScope, _ deadline: Duration?, _ mode: PullMode
    ) -> Task<SyncOutcome, any Error> {
        join([trigger], scope, deadline, mode).task
    }

    private func index(_ number: Int) -> Int? { runs.firstIndex { $0.number == number } }

    /// Notes that a caller no longer waits.
    func leave(_ number: Int) {
        guard let index = index(number) else { return }
        runs[index].callers -= 1
        if runs[index].callers == 0 { cancel(number, as: .cancelled) }
    }

    /// Ends a run: at its next step, or at once if it has not begun.
    func cancel(_ number: Int, as failure: SyncFailure) {
        guard let index = index(number) else { return }
        if runs[index].hasBegun {
            runs[index].task.cancel()
        } else {
            runs[index].ending = failure
            wake(index)
        }
    }

    /// Ends all runs, and the pass over the files, at their next step.
    func endAll() {
        for run in runs { cancel(run.number, as: .cancelled) }
        transfers?.cancel()
    }

    /// Ends a run that has not begun by its deadline.
    func expire(_ number: Int, after deadline: Duration) -> Task<Void, any Error> {
        let sleep = replica.dependencies.sleep
        return Task {
            try await sleep(deadline.withinCentury)
            if let index = index(number), !runs[index].hasBegun { cancel(number, as: .deadline) }
        }
    }

    private func wake(_ index: Int) {
        runs[index].waiter?.resume()
        runs[index].waiter = nil
    }

    /// One run from its turn to its end.
    private func perform(_ number: Int, _ time: SyncTime) async throws -> SyncOutcome {
        defer {
            runs.removeAll { $0.number == number }
            if !runs.isEmpty { wake(0) } else if !isStarted { publish(rest) }
            bell.ring()
        }
        if runs.first?.number != number, let index = index(number), runs[index].ending == nil {
            await withCheckedContinuation { runs[index].waiter = $0 }
        }
        guard let index = index(number) else { preconditionFailure("a run was lost") }
        if let failure = runs[index].ending { return try outcome(failure) }
        runs[index].hasBegun = true
        let begun = runs[index]
        do {
            let outcome = try await syncing { try await run(begun, time) }
            // What a gate of the model holds is no run.
            if case .gated? = outcome.failure {
                ended(nil)
                return outcome
            }
            try noteLimits(outcome, begun.scope)
            ended(outcome)
            // The server can be had.
            if outcome.failure == nil, outcome.counts.requests > 0 {
                transferPauses.reachAll()
            }
            replica.journal.keepTidyLater(at: replica.dependencies.now())
            activityBroadcast.end(begun.triggers, .success(outcome))
            return outcome
        } catch {
            let error = TidemarkError.wrapping(error)
            ended(nil)
            activityBroadcast.end(begun.triggers, .failure(TidemarkError(ending: error)))
            throw error
        }
    }

    /// Does something with the right to sync.
    func syncing<R: Sendable>(_ body: () async throws -> R) async throws -> R {
        try beginSyncing()
        defer { replica.journal.shared.endSyncing() }
        return try await body()
    }

    /// Tells of a run's end; while others wait it is not the end of syncing.
    ///
    /// What comes next is the loop's to tell, while there is one.
    private func ended(_ outcome: SyncOutcome?) {
        if !isStarted, runs.count == 1 { return publish(rest, outcome) }
        broadcast.send { status in
            if let outcome { status.lastOutcome = outcome }
        }
    }

    /// The outcome of a run that did not begin.
    private func outcome(_ failure: SyncFailure) throws -> SyncOutcome {
        do {
            let counts = try replica.journal.read { try OutboxCounts($0) }
            var outcome = SyncOutcome()
            outcome.failure = failure
            outcome.pending = counts.pending
            outcome.refused = counts.refused
            outcome.held = counts.held
            return outcome
        } catch { throw TidemarkError.wrapping(error) }
    }

    private func run(_ run: Run, _ time: SyncTime) async throws -> SyncOutcome {
        let bound = try bind()
        let (broadcast, activities, journal) = (broadcast, activityBroadcast, replica.journal)
        let driver = SyncDriver(
            journal: journal, model: bound.model, remote: bound.remote ?? remote, adapter: adapter,
            transport: transport, limits: limits, credentials: credentials,
            dependencies: replica.dependencies, rules: replica.rules, sending: sending,
            tell: { activity in
                guard case .progress(let progress) = activity else {
                    return activities.send(activity)
                }
                // What waits is counted when a phase begins: it may be much.
                let isNew = broadcast.current.progress?.phase != progress.phase
                let counted = isNew ? try? journal.read { try CountedOutbox($0) } : nil
                broadcast.send(counted) { $0.activity = .syncing(progress) }
            })
        return try await driver.run(
            triggers: run.triggers, scope: run.scope, mode: run.mode, time: time)
    }

    /// Binds the replica to the remote with the first sync, and holds it to it once something was
    /// sent there, or was answered.
    func bind() throws -> ModelRegistration {
        guard let registered = try replica.registration else {
            throw TidemarkError(.noModel, "the replica has no model")
        }
        let wanted = try ModelRegistration(model: registered.model, remote: remote)
            .checked(beside: registered)
        var bound = registered.remote
        if let known = bound, let own = wanted.remote,
            let member = known.placeMember(differingFrom: own, place: adapter.place)
        {
            guard try !replica.journal.tellsOfServer() else {
                throw TidemarkError(.otherRemote, Self.otherRemote(own, than: known, by: member))
            }
            // A wrong address, of which nothing came.
            bound = nil
        }
        try adapter.check(wanted, isBound: bound != nil)
        guard let known = bound, let own = wanted.remote else {
            try replica.register(wanted)
            return wanted
        }
        if wanted.model != registered.model || known.parameters != own.parameters {
            try replica.register(wanted)
        }
        return wanted
    }

    private static func otherRemote(
        _ own: Remote, than known: Remote, by member: String
    ) -> String {
        if member == "origin" {
            return "the store is synced with \(known.origin), not with \(own.origin); another "
                + "server needs a store of its own"
        }
        func named(_ remote: Remote) -> String {
            remote.parameters[member].map { "\(member) \"\($0)\"" } ?? "no \(member)"
        }
        return "the store is synced with \(named(known)) of \(known.origin), not with "
            + "\(named(own)); that needs a store of its own"
    }
}
