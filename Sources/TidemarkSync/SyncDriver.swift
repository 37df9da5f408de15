// SyncDriver.swift — a sync run from its beginning to its end: carries out what the machine
// decides, step by step (SyncDriver+Steps.swift).

package import TidemarkEvents
import TidemarkRules
package import TidemarkViews

/// Carries out one sync run.
package struct SyncDriver: Sendable {
    package var journal: Journal
    package var model: SyncModel
    package var remote: Remote
    package var adapter: any ServerAdapter
    package var transport: any Transport
    package var limits: TransportLimits
    package var credentials: @Sendable () async throws -> Credentials
    package var dependencies: Dependencies
    package var rules: [ConflictRule]
    package var progress: @Sendable (SyncProgress) -> Void

    package init(
        journal: Journal, model: SyncModel, remote: Remote, adapter: any ServerAdapter,
        transport: any Transport, limits: TransportLimits = TransportLimits(),
        credentials: @escaping @Sendable () async throws -> Credentials,
        dependencies: Dependencies, rules: [ConflictRule] = [],
        progress: @escaping @Sendable (SyncProgress) -> Void = { _ in }
    ) {
        self.journal = journal
        self.model = model
        self.remote = remote
        self.adapter = adapter
        self.transport = transport
        self.limits = limits
        self.credentials = credentials
        self.dependencies = dependencies
        self.rules = rules
        self.progress = progress
    }

    /// Runs once from beginning to end, unless something says that it has to wait.
    ///
    /// - Parameters:
    ///   - triggers: why, the highest first; at least one.
    ///   - isFull: whether every collection is listed whole.
    ///   - time: how much time it has.
    /// - Throws: what the store throws; what the network or the server does is in the outcome.
    package func run(
        triggers: [SyncTrigger], isFull: Bool = false, time: SyncTime
    ) async throws -> SyncOutcome {
        let dependencies = dependencies
        var machine = SyncMachine(model: model, traits: adapter.traits, isFull: isFull)
        if let hold = try hold(triggers) {
            // Nothing is done, so there is nothing to log.
            machine.end(hold)
            try journal.read { views in try machine.takeStock(views) }
            return machine.outcome
        }
        var recorder = SyncRecorder(
            triggers: triggers, at: dependencies.now(), seed: dependencies.random(),
            uptime: dependencies.uptime(), rules: rules,
            hasLimits: !model.settings.limits.isEmpty)
        var proof = SyncProof(ask: credentials)
        if let failure = await proof.begin() { machine.end(failure) }
        var window = try journal.read { views in try views.requests(model.settings.limits) }
        while let step = try next(&machine, time) {
            if step.call != nil, let failure = await wait(&window, time) {
                machine.end(failure)
                break
            }
            let driver = limited(by: time)
            let isDone = try await driver.carryOut(
                step, proof.credentials, &machine, &recorder)
            machine.pause(recorder.withheld)
            if !isDone { machine.replan() }
            switch machine.outcome.failure {
            case .unauthorized?:
                if let failure = await proof.renew() {
                    machine.end(failure)
                } else {
                    machine.again(step)
                }
            case .timeout? where driver.limits != limits: machine.end(.deadline)
            default: break
            }
        }
        progress(SyncProgress(step: .finish, outcome: machine.outcome, left: nil))
        try journal.read { views in try machine.takeStock(views) }
        let outcome = machine.outcome
        let end = recorder
        _ = try await journal.write(at: dependencies.now()) { draft in
            var end = end
            try end.finish(outcome, uptime: dependencies.uptime(), draft)
        }
        return outcome
    }

    /// What keeps the run from beginning: asked for by the server, or learnt from earlier runs.
    private func hold(_ triggers: [SyncTrigger]) throws -> SyncFailure? {
        let gates = try journal.read { views in try views.gates() }
        // The highest trigger waits least.
        let hold = triggers.min().flatMap { gates.hold($0, at: dependencies.moment) }
        return hold.map { SyncFailure($0) }
    }

    /// The next thing to do; nil at the end.
    private func next(_ machine: inout SyncMachine, _ time: SyncTime) throws -> SyncStep? {
        if Task.isCancelled { machine.end(.cancelled) }
        let step = try journal.read { views in try machine.next(views, at: dependencies.moment) }
        if step == .finish { return nil }
        if step.call != nil, let left = time.left(at: dependencies.moment),
            left < SyncTime.requestTimeMin
        {
            machine.end(.deadline)
            return nil
        }
        progress(
            SyncProgress(step: step, outcome: machine.outcome, left: machine.left(with: step)))
        return step
    }

    /// Waits until one more request keeps the model's limits.
    ///
    /// - Returns: why the run ends instead.
    private func wait(_ window: inout RequestWindow, _ time: SyncTime) async -> SyncFailure? {
        let wait = window.wait(at: dependencies.now())
        if wait > 0 {
            let seconds = (wait + 999_999) / 1_000_000
            if let left = time.left(at: dependencies.moment), left < .microseconds(wait) {
                return .deadline
            }
            guard wait <= Self.waitMax else {
                return .tooManyRequests(retryAfterSeconds: seconds)
            }
            do { try await dependencies.sleep(.microseconds(wait)) } catch { return .cancelled }
        }
        window.add(dependencies.now())
        return nil
    }

    /// The longest that a run waits in its middle, in microseconds.
    private static let waitMax: Int64 = 60_000_000

    /// This driver with no more time for a request than the run has left.
    private func limited(by time: SyncTime) -> SyncDriver {
        var driver = self
        if let left = time.left(at: dependencies.moment) {
            driver.limits.deadline = min(limits.deadline, max(left, .zero))
        }
        return driver
    }
}
