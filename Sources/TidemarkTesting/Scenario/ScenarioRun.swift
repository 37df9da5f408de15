// ScenarioRun.swift — a running scenario: a store, its engine and a server on virtual time. The
// expectations are checked in ScenarioRun+Check.swift.

import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkInspect
import TidemarkSync
import TidemarkViews

/// One run of a scenario.
actor ScenarioRun {
    let scenario: Scenario
    let server: any ScenarioServer
    let wire: ScenarioWire
    var replica: Replica
    var mismatches: [ScenarioMismatch] = []
    /// The log's last position after the steps of `given`.
    var mark = Position.start
    var outcome: SyncOutcome?
    var progress: [JSONValue] = []
    var activity: [JSONValue] = []
    let device: ScenarioDevice
    private let clock: ManualClock
    private var engine: SyncEngine
    /// How many processes have ended before the current one.
    private var processesEnded = 0
    /// The engine's status and activities during the run that is waited for.
    private var statuses: AsyncStream<EngineStatus>?
    private var activities: AsyncStream<SyncActivity>?
    /// Runs that were requested during another run.
    private var asked: [AskedRun] = []

    private struct AskedRun {
        var step: ScenarioStep
        /// How many processes had ended when it was requested.
        var processesEnded: Int
        var task: Task<SyncOutcome, any Error>
    }

    init(_ scenario: Scenario) throws {
        let clock = ManualClock(start: scenario.clock)
        let server = scenario.server.make(scenario.model, scenario.setup, clock)
        let wire = ScenarioWire(server, clock)
        let device = ScenarioDevice(clock, seed: scenario.seed)
        let replica = try Replica.temporary(
            model: scenario.model, remote: scenario.remote,
            dependencies: device.dependencies)
        do {
            engine = try Self.engine(replica, scenario, wire)
        } catch {
            try replica.deleteTemporary()
            throw error
        }
        self.scenario = scenario
        self.clock = clock
        self.server = server
        self.wire = wire
        self.device = device
        self.replica = replica
        mismatches = scenario.setup.rows.compactMap { row in
            server.make(.put(row.key, row.document)).map { problem in
                ScenarioMismatch("server.rows", "\(row.key)", problem)
            }
        }
    }

    private static func engine(
        _ replica: Replica, _ scenario: Scenario, _ wire: ScenarioWire
    ) throws -> SyncEngine {
        try SyncEngine(
            replica, remote: scenario.remote, transport: wire.connectProcess()
        ) {
            .basic(user: "me", password: "secret")
        }
    }

    func run(
        inspecting inspect: @Sendable (Replica) async throws -> Void = { _ in }
    ) async throws -> ScenarioResult {
        // In a task of its own: a restart ends the run whose request it is.
        wire.connect { steps in await Task { await self.performInFlight(steps) }.value }
        do throws(ScenarioStop) {
            try await perform(scenario.given)
            try note { mark = try replica.read(\.position) }
            wire.clearRequests()
            device.clearWaits()
            (progress, activity) = ([], [])
            try await perform(scenario.steps)
            try check(scenario.expectation)
            try checkWhole()
        } catch {
            mismatches.append(error.mismatch)
        }
        wire.connect(nil)
        await engine.stop()
        do { try await inspect(replica) } catch {
            try replica.deleteTemporary()
            throw error
        }
        try replica.deleteTemporary()
        return ScenarioResult(scenario, mismatches)
    }

    /// Final checks: no hook and no fault is left over, and the store is whole.
    private func checkWhole() throws(ScenarioStop) {
        for hook in wire.waitingHooks {
            mismatches.append(
                ScenarioMismatch(
                    hook.path, "\(hook.request.text), \(hook.nth)×", "(no such request)"))
        }
        for fault in wire.unmetFaults {
            mismatches.append(
                ScenarioMismatch(
                    fault.path, "\(fault.request.text), after \(fault.skip)", "(no such request)"))
        }
        for line in wire.stuck {
            mismatches.append(
                ScenarioMismatch("answers", "an answer before that to\n\(line)", "(never came)"))
        }
        try note { try checkWords() }
        try note {
            for finding in try replica.journal.verify(.deep).findings {
                mismatches.append(
                    ScenarioMismatch("rebuild", "what a new fold of the log makes", finding))
            }
        }
    }

    // MARK: Steps

    private func performInFlight(_ steps: [ScenarioStep]) async {
        do throws(ScenarioStop) { try await perform(steps, inFlight: true) } catch {
            mismatches.append(error.mismatch)
        }
    }

    private func perform(
        _ steps: [ScenarioStep], inFlight: Bool = false
    ) async throws(ScenarioStop) {
        for step in steps { try await perform(step) { try await act(step, inFlight) } }
    }

    /// Performs a step, and notes it if it is not refused as expected.
    ///
    /// - Parameter body: performs it; returns false when its end is still to come.
    private func perform(
        _ step: ScenarioStep, _ body: () async throws -> Bool
    ) async throws(ScenarioStop) {
        do {
            guard try await body() else { return }
        } catch let stop as ScenarioStop {
            throw stop
        } catch {
            let code = (error as? TidemarkError)?.code
            if let code, code == step.refused { return }
            let expected = step.refused.map { "refused: \($0.rawValue)" } ?? "done"
            let actual = (code.map { "\($0.rawValue): " } ?? "") + "\(error)"
            throw ScenarioStop(mismatch: ScenarioMismatch(step.path, expected, actual))
        }
        if let refused = step.refused {
            mismatches.append(
                ScenarioMismatch(step.path, "refused: \(refused.rawValue)", "done"))
        }
    }

    private func act(_ step: ScenarioStep, _ inFlight: Bool) async throws -> Bool {
        switch step.action {
        case .create(let key, let document):
            let own = try replica.read { try $0.placed(document, in: key.collection) }
            try await replica.write { tx in _ = try tx.create(key, own) }
        case .edit(let named, let patch):
            let (key, own) = try replica.read {
                (try $0.named(named), try $0.placed(patch, in: named.collection))
            }
            try await replica.write { tx in _ = try tx.patch(key, own) }
        case .delete(let named):
            let key = try replica.read { try $0.named(named) }
            try await replica.write { tx in _ = try tx.delete(key) }
        case .request(let key, let action, let parameters, let document):
            try await request(action, of: key, parameters, making: document)
        case .retry(let named):
            let key = try replica.read { try $0.named(named) }
            try await replica.write { tx in try tx.retry(key) }
        case .discard(let named, let withBuiltOn):
            let key = try replica.read { try $0.named(named) }
            try await replica.write { tx in try tx.discard(key, withBuiltOn: withBuiltOn) }
        case .answer(let name, let answer): try self.answer(name, answer)
        case .server(let edit):
            if let problem = server.make(edit) {
                throw ScenarioStop(
                    mismatch: ScenarioMismatch("\(step.path).server", "done", problem))
            }
        case .serverFile(let path, let bytes): wire.serve(path, bytes)
        case .serverTakesFiles(let path): wire.takeFiles(below: path)
        case .attach(let attachment):
            let lists = scenario.model[attachment.key.collection]?.keyed ?? []
            var attachment = attachment
            attachment.key = try replica.read { [key = attachment.key] in try $0.named(key) }
            try await replica.attach(attachment, lists)
        case .want(let wish):
            var wish = wish
            wish.key = try replica.read { [key = wish.key] in try $0.named(key) }
            try await replica.want(wish)
        case .take(let take): try await replica.take(take)
        case .relay(let key, let channel, true): try await replica.markConfirmed(key, via: channel)
        case .relay(let key, let channel, false): try await replica.markRelayed(key, via: channel)
        case .wipe(let wipe):
            try await replica.wipe(keeping: wipe.kept, discardingPending: wipe.discardsPending)
        case .transfer: try await transfer()
        case .sweep: try replica.journal.sweepContents(at: device.dependencies.now())
        case .advance(let duration): clock.advance(by: duration)
        case .deviceClock(let duration): device.ahead = duration
        case .serverDate(let duration): wire.date(ahead: duration)
        case .fault(let fault): wire.add(fault)
        case .answers(let patterns): wire.order(patterns)
        case .sync(let sync): return try await self.sync(sync, step, inFlight)
        case .restart(let ofDevice): try await restart(inFlight, ofDevice)
        case .background: await engine.appDidLeave()
        case .foreground:
            guard await engine.takeReturn() else { return true }
            return try await sync(ScenarioSync(trigger: .timer), step, inFlight)
        case .midnight:
            clock.advance(by: device.leftOfDay)
            return try await sync(
                ScenarioSync(scope: .cleanUp, trigger: .timer), step, inFlight)
        case .during(let hook): wire.add(hook)
        case .expect(let expectation): try check(expectation)
        }
        return true
    }

    /// Has the server do something with an entity, or make it of another one.
    private func request(
        _ action: String, of named: EntityKey, _ parameters: [String: String],
        making document: [UInt8]?
    ) async throws {
        let (key, texts, own) = try replica.read { view in
            let source = scenario.model[named.collection]?.rule(of: action)?.source
            var texts = parameters
            if let source, let id = texts[source] {
                texts[source] = try view.named(EntityKey(named.collection, id)).id
            }
            return (
                try view.named(named), texts,
                try document.map { try view.placed($0, in: named.collection) }
            )
        }
        try await replica.write { tx in
            if let own {
                try tx.request(action, making: key, own, parameters: texts)
            } else {
                try tx.request(action, of: key, parameters: texts)
            }
        }
    }

    private func answer(_ name: String, _ answer: IssueAnswer) throws {
        let named = try EntityKey(name).map { key in try replica.read { try $0.named(key) } }
        let issues = try replica.issues().filter { issue in
            issue.collection.rawValue == name || issue.key.map { $0 == named } ?? false
        }
        guard !issues.isEmpty else {
            throw TidemarkError(.notFound, "there is no open issue about \(name)")
        }
        // One answer may settle several.
        for issue in issues where try replica.issues().contains(where: { $0.id == issue.id }) {
            try replica.answer(issue.id, answer)
        }
    }

    /// Ends the process, and lets another one open the store.
    ///
    /// A run in progress is cut off: its requests are never answered, and it writes nothing more.
    private func restart(_ inFlight: Bool, _ ofDevice: Bool) async throws {
        processesEnded += 1
        if inFlight { await listen() } else { await engine.stop() }
        try reopen(ofDevice)
        if inFlight { watch() }
    }

    /// Closes the store and opens it for the next process, before any other step sees either.
    private func reopen(_ ofDevice: Bool) throws {
        try replica.close()
        if ofDevice { clock.restart() }
        replica = try Replica.open(
            existing: replica.directory, dependencies: device.dependencies)
        engine = try Self.engine(replica, scenario, wire)
    }

    /// Fetches files; what comes of it is not known if its process ends meanwhile.
    private func transfer() async throws {
        let begun = processesEnded
        do { try await engine.transfer() } catch {
            guard begun == processesEnded else { return }
            throw error
        }
    }

    // MARK: Runs

    /// Makes a run; one that is requested during another run comes after it.
    ///
    /// - Returns: whether it has ended.
    private func sync(
        _ sync: ScenarioSync, _ step: ScenarioStep, _ inFlight: Bool
    ) async throws -> Bool {
        let scope = try replica.read { try $0.named(sync.scope) }
        if inFlight {
            let task = await engine.ask(sync.trigger, scope, sync.deadline, sync.mode)
            asked.append(AskedRun(step: step, processesEnded: processesEnded, task: task))
            return false
        }
        watch()
        let begun = processesEnded
        let first: Result<SyncOutcome, any Error>
        do {
            first = .success(
                try await engine.sync(
                    sync.trigger, scope: scope, deadline: sync.deadline,
                    full: sync.mode.isFull,
                    overwriting: sync.mode.overwrites))
        } catch { first = .failure(error) }
        var outcomes: [SyncOutcome] = []
        // The outcome of a run is not known if its process ended.
        if begun == processesEnded { outcomes.append(try first.get()) }
        while !asked.isEmpty {
            let run = asked.removeFirst()
            let result = await run.task.result
            guard run.processesEnded == processesEnded else { continue }
            try await perform(run.step) {
                outcomes.append(try result.get())
                return true
            }
        }
        await listen()
        progress += outcomes.map { .string($0.word) }
        outcome = outcomes.last
        return true
    }

    /// Listens to the engine from now on.
    private func watch() { (statuses, activities) = (engine.statuses, engine.activities) }

    /// Notes what the engine told since.
    private func listen() async {
        progress += await phases()
        guard let activities else { return }
        self.activities = nil
        let reader = Task {
            var texts: [JSONValue] = []
            for await activity in activities { texts.append(.string("\(activity)")) }
            return texts
        }
        reader.cancel()
        activity += await reader.value
    }

    /// The phases that have not been read yet.
    private func phases() async -> [JSONValue] {
        guard let statuses else { return [] }
        self.statuses = nil
        // The stream already holds everything; a cancelled reader gets exactly that.
        let reader = Task {
            var phases: [SyncProgress.Phase] = []
            for await case let progress? in statuses.map(\.progress)
            where phases.last != progress.phase {
                phases.append(progress.phase)
            }
            return phases
        }
        reader.cancel()
        return await reader.value.map { .string($0.rawValue) }
    }

    /// Runs a throwing closure, and stops the scenario if it throws.
    func note(_ body: () throws -> Void) throws(ScenarioStop) {
        do { try body() } catch {
            throw ScenarioStop(mismatch: ScenarioMismatch("", "done", "\(error)"))
        }
    }
}

/// Why a scenario is stopped.
struct ScenarioStop: Error {
    var mismatch: ScenarioMismatch
}
