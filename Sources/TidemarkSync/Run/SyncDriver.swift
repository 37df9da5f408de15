// SyncDriver.swift — a sync run from its beginning to its end: carries out what the machine
// decides, step by step (SyncDriver+Steps.swift), and asks for several lists at once where the
// model lets it (SyncDriver+Ahead.swift).

package import TidemarkEvents
import TidemarkRules
package import TidemarkViews

/// Carries out one sync run.
package struct SyncDriver: Sendable {
    package var journal: Journal
    package var model: SyncModel
    package var adapter: any ServerAdapter
    /// Who answers, and takes the commits.
    package var host: any SyncHost
    package var limits: TransportLimits
    package var dependencies: Dependencies
    package var rules: [ConflictRule]
    package var progress: @Sendable (SyncProgress) -> Void
    /// Whether the run's time is what limits a request.
    private(set) var isLimited = false

    /// A driver that is answered by a server.
    package init(
        journal: Journal, model: SyncModel, remote: Remote, adapter: any ServerAdapter,
        transport: any Transport, limits: TransportLimits = TransportLimits(),
        credentials: @escaping @Sendable () async throws -> Credentials,
        dependencies: Dependencies, rules: [ConflictRule] = [],
        progress: @escaping @Sendable (SyncProgress) -> Void = { _ in }
    ) {
        let host = LiveHost(
            remote: remote, adapter: adapter, transport: transport, proof: credentials,
            dependencies: dependencies)
        self.init(
            journal: journal, model: model, adapter: adapter, host: host, limits: limits,
            dependencies: dependencies, rules: rules, progress: progress)
    }

    /// A driver that is answered by somebody else than the network.
    package init(
        journal: Journal, model: SyncModel, adapter: any ServerAdapter, host: any SyncHost,
        limits: TransportLimits = TransportLimits(), dependencies: Dependencies,
        rules: [ConflictRule] = [],
        progress: @escaping @Sendable (SyncProgress) -> Void = { _ in }
    ) {
        self.journal = journal
        self.model = model
        self.adapter = adapter
        self.host = host
        self.limits = limits
        self.dependencies = dependencies
        self.rules = rules
        self.progress = progress
    }

    /// Runs once from beginning to end, unless something says that it has to wait.
    ///
    /// - Parameters:
    ///   - triggers: why, the highest first; at least one.
    ///   - scope: what it is to do.
    ///   - isFull: whether every collection is listed whole.
    ///   - time: how much time it has.
    /// - Throws: what the store throws; what the network or the server does is in the outcome.
    package func run(
        triggers: [SyncTrigger], scope: SyncScope = .all, isFull: Bool = false, time: SyncTime
    ) async throws -> SyncOutcome {
        let dependencies = dependencies
        var machine = SyncMachine(
            model: model, traits: adapter.traits, isFull: isFull, scope: scope,
            isUrgent: triggers.contains(where: \.isUrgent))
        // Whatever is decided is decided by a time that the log tells.
        let begun = dependencies.moment
        try host.willDecide()
        let window = try journal.read { views in
            try views.requests(model.settings.limits, at: begun)
        }
        let hold = scope == .cleanUp ? nil : try hold(triggers, at: begun)
        if hold != nil || hasToWait(machine, window, at: begun) {
            // Nothing is done, so there is nothing to log.
            if let hold { machine.end(hold) }
            try journal.read { views in try machine.takeStock(views) }
            return machine.outcome
        }
        var run = SyncRun(
            machine: machine,
            recorder: SyncRecorder(
                triggers: triggers, scope: scope, isFull: isFull, at: begun,
                seed: dependencies.random(), rules: rules,
                hasLimits: !model.settings.limits.isEmpty),
            proof: SyncProof(ask: host.credentials), window: window, begun: begun, time: time)
        if scope != .cleanUp, let failure = await run.proof.begin() { run.machine.end(failure) }
        try await withThrowingTaskGroup(of: AnsweredList.self) { group in
            while try await goOn(&run, &group) {}
            try await drop(&run, &group)
        }
        progress(
            SyncProgress(
                step: .finish, outcome: run.machine.outcome, left: nil, scope: scope))
        try host.willEnd()
        try journal.read { views in try run.machine.takeStock(views) }
        let outcome = run.machine.outcome
        // A run that asked for nothing and found nothing to do has nothing to say.
        if scope != .all, outcome.failure == nil, outcome.counts.requests == 0,
            run.recorder.start == nil
        {
            return outcome
        }
        let end = run.recorder
        let ended = run.ended ?? dependencies.moment
        _ = try await host.commit(journal, at: ended.now) { draft in
            var end = end
            try end.finish(outcome, uptime: ended.uptime, draft)
        }
        return outcome
    }

    /// The next step of a run, from the decision to its end; false when there is none.
    private func goOn(
        _ run: inout SyncRun, _ group: inout ThrowingTaskGroup<AnsweredList, any Error>
    ) async throws -> Bool {
        guard let step = try next(&run) else { return false }
        if case .list = step, let list = run.machine.list, list.isUnasked {
            switch try await turn(of: list, &run, &group) {
            case .inLine: break
            case .anew: return true
            case .ended(let failure):
                run.end(failure)
                return true
            case .answered(let answered):
                try await take(answered, step, &run)
                try await afterwards(step, &run)
                return true
            }
        }
        if step.call != nil {
            // The clock that the wait moves is not to be read at the same time.
            if run.window.wait(at: now(in: run)) > 0 { try await settle(&run, &group) }
            switch await wait(&run) {
            case .failure(let failure):
                run.end(failure)
                return true
            case .success(let waited):
                let waited = host.waited(waited, for: step)
                run.waited += waited
                if waited > 0, case .push = step {
                    // What is to be sent is decided anew, from the first collection on.
                    run.machine.replan()
                    return true
                }
            }
            run.window.add(now(in: run))
        }
        let driver = limited(by: run.time)
        let isDone = try await driver.carryOut(step, &run)
        if !isDone { run.machine.replan() }
        try await afterwards(step, &run)
        return true
    }

    /// What an answer means for the run as a whole.
    private func afterwards(_ step: SyncStep, _ run: inout SyncRun) async throws {
        run.machine.pause(run.recorder.withheld)
        if run.isCut { run.machine.end(.deadline) }
        switch run.machine.outcome.failure {
        case .unauthorized?:
            if let failure = await run.proof.renew() {
                run.machine.end(failure)
            } else {
                run.machine.again(step)
                forgetRefused(&run, step.call?.collection?.name)
            }
        default: break
        }
    }

    /// What keeps the run from beginning: asked for by the server, or learnt from earlier runs.
    private func hold(_ triggers: [SyncTrigger], at now: Moment) throws -> SyncFailure? {
        let gates = try journal.read { views in try views.gates() }
        // The highest trigger waits least.
        let hold = triggers.min().flatMap { gates.hold($0, at: now) }
        return hold.map { SyncFailure($0) }
    }

    /// The next thing to do; nil at the end.
    private func next(_ run: inout SyncRun) throws -> SyncStep? {
        if let failure = host.interruption() { run.machine.end(failure) }
        run.moment = dependencies.moment
        try host.willDecide()
        // Where the server's clock is not known, the run's beginning is now.
        let step = try journal.read { views in try run.machine.next(views, at: run.begun) }
        if step == .finish { return nil }
        if step.call != nil, let left = run.time.left(at: run.moment),
            left < SyncTime.requestTimeMin
        {
            run.machine.end(.deadline)
            return nil
        }
        let machine = run.machine
        progress(
            SyncProgress(
                step: step, outcome: machine.outcome, left: machine.left(with: step),
                scope: machine.scope))
        return step
    }

    /// Whether a pull of some collections would have to wait before its first request: then it is
    /// left to a later one.
    private func hasToWait(
        _ machine: SyncMachine, _ window: RequestWindow, at begun: Moment
    ) -> Bool {
        machine.scope.isPartialPull
            && window.pullWait(at: begun.now, lists: machine.unlisted.count) > 0
    }

    /// The device's clock at the run's moment, as if nobody had set it since the run began: what
    /// limits look at.
    func now(in run: SyncRun) -> Timestamp {
        let passed = run.moment.microseconds(since: run.begun) ?? 0
        return run.begun.now.adding(from: 0, to: passed)
    }

    /// When a request is sent, at the run's moment.
    func asking(in run: SyncRun, asOf: Position) -> SyncAsking {
        SyncAsking(sentAt: now(in: run), sentUptime: run.moment.uptime, asOf: asOf)
    }

    /// Waits until one more request keeps the model's limits, or until a whole pull of so many
    /// lists does.
    ///
    /// - Returns: how long it had to wait, in microseconds, or why the run ends instead.
    func wait(_ run: inout SyncRun, lists: Int? = nil) async -> Result<Int64, SyncFailure> {
        var slept: Int64 = 0
        while true {
            let now = now(in: run)
            let wait =
                lists.map { run.window.pullWait(at: now, lists: $0) }
                ?? run.window.wait(at: now)
            guard wait > 0 else { return .success(slept) }
            let seconds = wait.inWholeSeconds
            if let left = run.time.left(at: run.moment), left < .microseconds(wait) {
                return .failure(.deadline)
            }
            guard wait <= Self.waitMax - slept else {
                return .failure(.tooManyRequests(retryAfterSeconds: seconds))
            }
            do { try await dependencies.sleep(.microseconds(wait)) } catch {
                run.moment = dependencies.moment
                return .failure(.cancelled)
            }
            slept += wait
            run.moment = dependencies.moment
        }
    }

    /// Whether no answer came because the run's time was over, and not the request's.
    ///
    /// - Parameter sent: when the request began.
    func isCut(_ answer: ServerAnswer, _ record: AnswerRecord, since sent: Moment) -> Bool {
        guard isLimited, case .failure(.timeout) = answer, let uptime = record.uptime else {
            return false
        }
        return .microseconds(uptime - sent.uptime) > limits.deadline - SyncTime.requestTimeMin
    }

    /// The longest that a run waits in its middle, in microseconds.
    private static let waitMax: Int64 = 60_000_000

    /// This driver with no more time for a request than the run has left.
    func limited(by time: SyncTime) -> SyncDriver {
        var driver = self
        if let left = time.left(at: dependencies.moment) {
            driver.limits.deadline = min(limits.deadline, max(left, .zero))
            driver.isLimited = driver.limits != limits
        }
        return driver
    }
}

/// What a run carries from step to step.
struct SyncRun {
    var machine: SyncMachine
    var recorder: SyncRecorder
    var proof: SyncProof
    var window: RequestWindow
    /// Lists that are asked for before their turn; nil before the first one.
    var ahead: ListsAhead?
    /// How many lists were asked for before their turn, and which of them have no answer yet.
    var asked = 0
    var open: [Int] = []
    /// Whether the last request was cut off because the run's time was over.
    var isCut = false
    /// How long it waited for the limits since the last step, in microseconds.
    var waited: Int64 = 0
    /// When it began.
    let begun: Moment
    /// The moment at which the request in hand is sent.
    var moment: Moment
    /// The moment at which it was found that it has to end; nil where that is the end's own.
    private(set) var ended: Moment?
    let time: SyncTime

    init(
        machine: SyncMachine, recorder: SyncRecorder, proof: SyncProof, window: RequestWindow,
        begun: Moment, time: SyncTime
    ) {
        self.begun = begun
        moment = begun
        self.machine = machine
        self.recorder = recorder
        self.proof = proof
        self.window = window
        self.time = time
    }

    /// Ends the run for what the limits say at its moment.
    mutating func end(_ failure: SyncFailure) {
        ended = moment
        machine.end(failure)
    }
}
