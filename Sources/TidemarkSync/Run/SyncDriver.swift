// SyncDriver.swift — a sync run from beginning to end. It carries out what the machine decides,
// step by step (SyncDriver+Steps.swift), and requests several lists at once where the model allows
// that (SyncDriver+Ahead.swift).

package import TidemarkEvents
import TidemarkRules
package import TidemarkViews

/// Carries out one sync run.
package struct SyncDriver: Sendable {
    package var journal: Journal
    /// Without what is kept on this device alone.
    package var model: SyncModel
    package var adapter: any ServerAdapter
    /// Answers the calls, and stores the commits.
    package var host: any SyncHost
    package var limits: TransportLimits
    package var dependencies: Dependencies
    package var rules: [ConflictRule]
    /// Told what the run does.
    package var tell: @Sendable (RunActivity) -> Void
    /// Whether the run's deadline limits a request, rather than ``limits``.
    private(set) var isLimited = false

    /// A driver whose calls go to a server.
    package init(
        journal: Journal, model: SyncModel, remote: Remote, adapter: any ServerAdapter,
        transport: any Transport, limits: TransportLimits = TransportLimits(),
        credentials: @escaping @Sendable () async throws -> Credentials,
        dependencies: Dependencies, rules: [ConflictRule] = [],
        sending: SendingFiles = SendingFiles(),
        tell: @escaping @Sendable (RunActivity) -> Void = { _ in }
    ) {
        let host = LiveHost(
            journal: journal, remote: remote, adapter: adapter, transport: transport,
            proof: credentials, dependencies: dependencies, tell: tell, sending: sending)
        self.init(
            journal: journal, model: model, adapter: adapter, host: host, limits: limits,
            dependencies: dependencies, rules: rules, tell: tell)
    }

    /// A driver whose calls are answered by another host than the network.
    package init(
        journal: Journal, model: SyncModel, adapter: any ServerAdapter, host: any SyncHost,
        limits: TransportLimits = TransportLimits(), dependencies: Dependencies,
        rules: [ConflictRule] = [],
        tell: @escaping @Sendable (RunActivity) -> Void = { _ in }
    ) {
        self.journal = journal
        self.model = model.synced
        self.adapter = adapter
        self.host = host
        self.limits = limits
        self.dependencies = dependencies
        self.rules = rules
        self.tell = tell
    }

    /// Runs once from beginning to end, unless a gate holds it back.
    ///
    /// Attempts that gates of the model count are on disk before anything else is done.
    ///
    /// - Parameters:
    ///   - triggers: why it runs, the highest first; at least one.
    ///   - scope: which parts of a run it does.
    ///   - mode: how it pulls.
    ///   - time: how much time it has.
    /// - Throws: errors of the store; failures of the network or the server are in the outcome.
    package func run(
        triggers: [SyncTrigger], scope: SyncScope = .all, mode: PullMode = .changes, time: SyncTime
    ) async throws -> SyncOutcome {
        let dependencies = dependencies
        // Decisions use only times that are logged.
        let begun = dependencies.moment
        let (gates, windows) = try host.read(journal) { views in
            (try views.gates(), try views.requests(model.settings.limits, at: begun))
        }
        let admission = try await admit(triggers, scope, gates, at: begun)
        let triggers = admission.admitted
        if triggers.isEmpty, let wait = admission.wait { return try gated(for: wait, at: begun) }
        tell(.started(triggers))
        var machine = SyncMachine(
            model: model, traits: adapter.traits, triggers: triggers, isFull: mode.isFull,
            scope: scope, begun: begun)
        let pace = RequestPace(windows, gates: gates.groups, begun: begun, time: time)
        let action = machine.begin(gates, pace, lists: groups(of: machine.unlisted))
        if machine.isHeld {
            // Nothing is done, so there is nothing to log.
            machine.takeStock(try host.read(journal) { views in try RunStock(views) })
            return machine.outcome
        }
        var run = SyncRun(
            machine: machine,
            recorder: SyncRecorder(
                triggers: triggers, scope: scope, mode: mode, at: begun,
                seed: dependencies.random(), rules: rules, settings: model.settings),
            proof: SyncProof { [self] in try await credentials(in: time) }, pace: pace)
        try await carryOut(action, &run)
        tell(
            .progress(
                SyncProgress(
                    step: .finish, outcome: run.machine.outcome, left: nil, scope: scope)))
        let ended = run.ended ?? dependencies.moment
        let last = run
        let cut = host.cut(at: run.machine.outcome.cut)
        return try await host.commit(journal, at: ended.now) { draft in
            var (machine, recorder) = (last.machine, last.recorder)
            machine.takeStock(try RunStock(draft.fold))
            var outcome = machine.outcome
            outcome.cut = cut
            // A run without requests and without news is not logged, unless a number that it was
            // asked for is to be remembered.
            let isSilent =
                scope != .all && scope.reservations == nil && outcome.failure == nil
                && outcome.counts.requests == 0 && recorder.start == nil
            for list in machine.unended { try recorder.left(list, draft) }
            if !isSilent { try recorder.finish(outcome, uptime: ended.uptime, draft) }
            return outcome
        }
    }

    /// Carries out what the machine asks for, until nothing is left to do.
    private func carryOut(_ first: SyncAction, _ run: inout SyncRun) async throws {
        var action = first
        if run.machine.scope != .cleanUp, let failure = await run.proof.begin() {
            action = run.machine.end(failure)
        }
        try await withThrowingTaskGroup(of: Arrival.self) { group in
            while let step = try next(action, &run) {
                action = try await carryOut(step, &run, &group)
                if case .perform(.renew(let refused)) = action {
                    action = await renew(refused, &run)
                }
            }
            try await drop(&run, &group)
        }
    }

    /// The step that an action leads to, once what it looks up is known; nil at the end.
    private func next(_ first: SyncAction, _ run: inout SyncRun) throws -> SyncStep? {
        var action = first
        if let failure = host.interruption() { action = run.machine.end(failure) }
        run.moment = dependencies.moment
        allowMore(&run)
        // One decision reads the views in one transaction.
        let step = try host.read(journal) { views in
            run.asOf = views.last
            run.recorder.decidedAt = views.last
            while true {
                switch action {
                case .look(let lookup):
                    let fact = try views.answer(lookup, model, adapter)
                    action = run.machine.learned(fact)
                case .perform(let step): return step
                }
            }
        }
        if step == .finish { return nil }
        if step.call != nil, run.pace.isOver(at: run.moment) {
            guard case .perform(.receive) = run.machine.end(.deadline) else { return nil }
            return .receive
        }
        let machine = run.machine
        tell(
            .progress(
                SyncProgress(
                    step: step, outcome: machine.outcome, left: machine.left(with: step),
                    scope: machine.scope)))
        return step
    }

    /// Carries out one step, from its turn to its end.
    private func carryOut(
        _ step: SyncStep, _ run: inout SyncRun,
        _ group: inout ThrowingTaskGroup<Arrival, any Error>
    ) async throws -> SyncAction {
        if case .receive = step { return try await receive(&run, &group) }
        if case .list = step, let list = run.machine.list { goOn(withFolders: list, &run) }
        if case .list = step, let list = run.machine.list, list.isUnasked {
            switch try await turn(of: list, &run, &group) {
            case .inLine: break
            case .anew(let action): return action
            case .held(let failure): return run.machine.held(failure)
            case .ended(let failure): return run.end(failure)
            case .answered(let answered): return try await take(answered, step, &run)
            }
        }
        if case .list = step, let list = run.machine.list, list.walk != nil,
            let answered = try await turn(ofFolder: list, &run, &group)
        {
            return try await take(answered, step, &run)
        }
        let seconds = if case .poll(_, let seconds) = step { seconds } else { run.machine.pause }
        if seconds > 0 {
            try await settle(&run, &group)
            do { try await host.pause(seconds: seconds) } catch { return run.end(.cancelled) }
            run.moment = dependencies.moment
            if run.pace.isOver(at: run.moment) { return run.end(.deadline) }
        }
        // What can't be asked waits for no limit, and counts for none.
        let request: ServerRequest?
        do throws(SyncFailure) { request = try self.request(for: step) } catch {
            return try await unsent(step, error, &run)
        }
        if let call = step.call {
            let counted = adapter.group(of: call)
            // Waiting moves the clock; no other request may read it at the same time.
            if case .wait = run.pace.verdict(at: run.moment, for: counted) {
                try await settle(&run, &group)
            }
            switch await wait(&run, { $0.verdict(at: $1, for: counted, slept: $2) }) {
            case .ended(let failure): return run.end(failure)
            case .held(let failure): return run.machine.held(failure)
            case .over(let waited):
                run.waited += waited
                // What to send is decided again, from the first collection on.
                if waited > 0, case .push = step { return run.machine.overtaken() }
            }
        }
        let driver = limited(for: step, in: run)
        if case .push(let items) = step {
            // Lists that nobody waits for any more are not mixed up with writes.
            if run.machine.mayFly(items), run.machine.inFlight.isEmpty {
                try await settle(&run, &group)
            }
            return try await driver.push(items, &run, &group)
        }
        return try await driver.carryOut(step, request, &run)
    }

    /// The request of a step; nil where it makes none, and for writes, each of which says by itself
    /// whether it can be sent.
    private func request(for step: SyncStep) throws(SyncFailure) -> ServerRequest? {
        switch step {
        case .push: return nil
        case .compare(let proof): return proof.asked
        default:
            guard let call = step.call else { return nil }
            return try adapter.request(for: call)
        }
    }

    /// Asks the app for other credentials than those that were refused.
    private func renew(_ refused: SyncStep, _ run: inout SyncRun) async -> SyncAction {
        let mayBeSame = run.machine.mayBeClosed(refused)
        if let failure = await run.proof.renew(mayBeSame: mayBeSame) {
            return run.machine.end(failure)
        }
        let collection = refused.call?.collection.map { PullTarget($0.name) }
        forgetRefused(&run, run.machine.list?.target ?? collection)
        return run.machine.renewed()
    }

    /// Asks the app for credentials, for no longer than the run has time: then the closure is
    /// cancelled, and nobody waits for it.
    private func credentials(in time: SyncTime) async throws -> Credentials {
        let (host, alarm) = (host, dependencies.alarm)
        guard let left = time.left(at: dependencies.moment) else {
            return try await host.credentials()
        }
        let (answers, answer) = AsyncStream.makeStream(of: Result<Credentials, any Error>.self)
        let asking = Task {
            do { answer.yield(.success(try await host.credentials())) } catch {
                answer.yield(.failure(error))
            }
        }
        let waiting = Task {
            try await alarm(left)
            answer.yield(.failure(CredentialsLate()))
        }
        defer {
            asking.cancel()
            waiting.cancel()
        }
        for await first in answers { return try first.get() }
        throw CancellationError()
    }

    /// A question at the run's current moment.
    func question(
        _ step: SyncStep, _ call: ServerCall, _ request: ServerRequest, asOf: Position,
        isAhead: Bool = false, in run: SyncRun
    ) -> SyncQuestion {
        SyncQuestion(
            step: step, call: call, request: request, group: adapter.group(of: call),
            sentAt: run.pace.now(at: run.moment), sentUptime: run.moment.uptime, asOf: asOf,
            isAhead: isAhead)
    }

    /// The group of requests that each of some lists counts for.
    func groups(of targets: [PullTarget]) -> [RequestGroup?] {
        targets.map { target in
            model[target.collection].flatMap {
                adapter.group(of: .list($0, after: nil, page: nil))
            }
        }
    }

    /// What came of a wait for the limits.
    enum Wait {
        /// It took so many microseconds.
        case over(Int64)
        /// The group of requests has no room for too long.
        case held(SyncFailure)
        /// The run ends instead.
        case ended(SyncFailure)
    }

    /// Waits until the model's limits allow what a verdict is about.
    ///
    /// - Parameter verdict: by the pace, at a moment, after so many microseconds of waiting.
    func wait(
        _ run: inout SyncRun, _ verdict: (RequestPace, Moment, Int64) -> RequestPace.Verdict
    ) async -> Wait {
        let first = run.moment
        var slept: Int64 = 0
        while true {
            switch verdict(run.pace, run.moment, slept) {
            case .go: return .over(run.moment.microseconds(since: first) ?? slept)
            case .hold(let failure): return .held(failure)
            case .end(let failure): return .ended(failure)
            case .wait(let wait):
                do { try await dependencies.sleep(.microseconds(wait)) } catch {
                    run.moment = dependencies.moment
                    return .ended(.cancelled)
                }
                slept += wait
                run.moment = dependencies.moment
            }
        }
    }

    /// Whether the answer is missing because the run's time was over, not that of the request.
    ///
    /// - Parameter sent: when the request began.
    func isCut(
        _ answer: ServerAnswer, _ record: AnswerRecord, to question: SyncQuestion,
        since sent: Moment
    ) -> Bool {
        guard case .failure(.timeout) = answer else { return false }
        guard isLimited, let uptime = record.uptime else { return host.isCut(question, false) }
        let passed = Duration.microseconds(uptime - sent.uptime)
        return host.isCut(question, passed > limits.deadline - SyncTime.requestTimeMin)
    }

    /// This driver, with the limits of a step's request, and no more time than the run has left.
    func limited(for step: SyncStep, in run: SyncRun) -> SyncDriver {
        var driver = self
        driver.limits = limits.of(step, timeouts: run.machine.timeouts(of: step))
        let left = run.pace.time.left(at: dependencies.moment)
        if let left, left < driver.limits.deadline {
            driver.limits.deadline = max(left, .zero)
            driver.isLimited = true
        }
        return driver
    }
}

/// The state of a run between its steps.
struct SyncRun {
    var machine: SyncMachine
    var recorder: SyncRecorder
    var proof: SyncProof
    var pace: RequestPace
    /// The prefetched lists; nil before the first one.
    var ahead: ListsAhead?
    /// How many lists were prefetched, and which of them have no answer yet.
    var asked = 0
    var open: [Int] = []
    /// What lists of one entity told of it whose word is taken together with that of another list.
    var told: [EntityKey: [ToldPart]] = [:]
    /// How long it has waited for the limits since the last step, in microseconds.
    var waited: Int64 = 0
    /// What waits for the rest of its set, by collection, and is not told of yet.
    var staged: [AppliedPage] = []
    /// The moment at which the current request is sent.
    var moment: Moment
    /// The log's last position when the next step was decided.
    var asOf = Position.start
    /// The moment at which its end was decided; nil where that is the moment of the end itself.
    private(set) var ended: Moment?

    /// When it began.
    var begun: Moment { pace.begun }

    init(
        machine: SyncMachine, recorder: SyncRecorder, proof: SyncProof, pace: RequestPace
    ) {
        moment = pace.begun
        self.machine = machine
        self.recorder = recorder
        self.proof = proof
        self.pace = pace
    }

    /// Notes that an answer says that the quota of a group is used up.
    mutating func hold(_ answer: AnswerRecord) {
        guard let group = answer.exhausted, let uptime = answer.uptime else { return }
        pace.hold(group, seconds: answer.answered?.retryAfter, uptime: uptime)
    }

    /// Ends the run because of a limit at its current moment.
    mutating func end(_ failure: SyncFailure) -> SyncAction {
        ended = moment
        return machine.end(failure)
    }
}
