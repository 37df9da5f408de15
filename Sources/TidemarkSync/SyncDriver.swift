// SyncDriver.swift — carries out what the machine decides: log, send, log the answer, go on.

import HTTPTypes
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
    package var progress: @Sendable (SyncProgress) -> Void

    package init(
        journal: Journal, model: SyncModel, remote: Remote, adapter: any ServerAdapter,
        transport: any Transport, limits: TransportLimits = TransportLimits(),
        credentials: @escaping @Sendable () async throws -> Credentials,
        dependencies: Dependencies, progress: @escaping @Sendable (SyncProgress) -> Void = { _ in }
    ) {
        self.journal = journal
        self.model = model
        self.remote = remote
        self.adapter = adapter
        self.transport = transport
        self.limits = limits
        self.credentials = credentials
        self.dependencies = dependencies
        self.progress = progress
    }

    /// Runs once from beginning to end, unless something says that it has to wait.
    ///
    /// - Parameters:
    ///   - triggers: why, the highest first; at least one.
    ///   - time: how much time it has.
    /// - Throws: what the store throws; what the network or the server does is in the outcome.
    package func run(triggers: [SyncTrigger], time: SyncTime) async throws -> SyncOutcome {
        let dependencies = dependencies
        var machine = SyncMachine(model: model)
        if let hold = try hold(triggers) {
            // Nothing is done, so there is nothing to log.
            machine.end(hold)
            try journal.read { views in try machine.takeStock(views) }
            return machine.outcome
        }
        var recorder = SyncRecorder(
            triggers: triggers, at: dependencies.now(), seed: dependencies.random(),
            uptime: dependencies.uptime())
        var proof = SyncProof(ask: credentials)
        if let failure = await proof.begin() { machine.end(failure) }
        while let step = try next(&machine, time) {
            let driver = limited(by: time)
            var answer = try await driver.carryOut(
                step.0, step.1, proof.credentials, &machine, &recorder)
            if case .failure(.unauthorized)? = answer {
                if let failure = await proof.renew() {
                    answer = .failure(failure)
                } else if !Task.isCancelled {
                    machine.repeats()
                    answer = try await limited(by: time).carryOut(
                        step.0, step.1, proof.credentials, &machine, &recorder)
                }
            }
            guard let answer else {
                machine.replan()
                continue
            }
            machine.took(answer, to: step.0)
            if case .failure(.timeout) = answer, driver.limits != limits { machine.end(.deadline) }
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
        let now = dependencies.moment
        // The highest trigger waits least.
        guard let trigger = triggers.min(), let hold = gates.hold(trigger, at: now) else {
            return nil
        }
        return SyncFailure(hold)
    }

    /// The next thing to do and its call; nil at the end.
    private func next(
        _ machine: inout SyncMachine, _ time: SyncTime
    ) throws -> (SyncStep, ServerCall)? {
        if Task.isCancelled { machine.end(.cancelled) }
        let step = try journal.read { views in try machine.next(views) }
        guard let call = step.call else { return nil }
        if let left = time.left(at: dependencies.moment), left < SyncTime.requestTimeMin {
            machine.end(.deadline)
            return nil
        }
        progress(
            SyncProgress(step: step, outcome: machine.outcome, left: machine.left(after: step)))
        return (step, call)
    }

    /// This driver with no more time for a request than the run has left.
    private func limited(by time: SyncTime) -> SyncDriver {
        var driver = self
        if let left = time.left(at: dependencies.moment) {
            driver.limits.deadline = min(limits.deadline, max(left, .zero))
        }
        return driver
    }

    private func carryOut(
        _ step: SyncStep, _ call: ServerCall, _ proof: Credentials, _ machine: inout SyncMachine,
        _ recorder: inout SyncRecorder
    ) async throws -> ServerAnswer? {
        let request: ServerRequest
        do { request = try adapter.request(for: call) } catch { return .failure(error) }
        switch step {
        case .push(let key, _, let covers):
            if let refusal = adapter.refusal(of: call) {
                let before = recorder
                recorder = try await journal.write(at: dependencies.now()) { draft in
                    var recorder = before
                    try recorder.refused(key, covers: covers, refusal, draft)
                    return recorder
                }
                return .refused(refusal)
            }
            return try await push(key, call, request, covers, proof, &recorder)
        case .list, .readBack, .finish:
            return try await read(step, call, request, proof, &machine, &recorder)
        }
    }

    // MARK: Writes: logged before they are sent

    private func push(
        _ key: EntityKey, _ call: ServerCall, _ request: ServerRequest, _ covers: [Position],
        _ proof: Credentials, _ recorder: inout SyncRecorder
    ) async throws -> ServerAnswer? {
        dependencies.reach(.beforeAppend)
        let before = recorder
        let (position, after) = try await journal.write(at: dependencies.now()) { draft in
            var recorder = before
            let position = try recorder.sending(key, call, request, covers: covers, draft)
            return (position, recorder)
        }
        // An edit came in between: what to send is decided anew.
        guard let position else { return nil }
        recorder = after
        dependencies.reach(.afterAppend)
        dependencies.reach(.beforeSend)
        let (answer, record) = await exchange(call, request, proof, answered: .afterSend)
        dependencies.reach(.beforeAnswer)
        recorder = try await journal.write(at: dependencies.now()) { draft in
            var recorder = after
            try recorder.answered(key, call: position, covers: covers, record, answer, draft)
            return recorder
        }
        dependencies.reach(.afterAnswer)
        return answer
    }

    // MARK: Reads: logged with what they brought

    private func read(
        _ step: SyncStep, _ call: ServerCall, _ request: ServerRequest, _ proof: Credentials,
        _ machine: inout SyncMachine, _ recorder: inout SyncRecorder
    ) async throws -> ServerAnswer {
        let asOf = try journal.read { views in views.last }
        let sentAt = dependencies.now()
        let (answer, record) = await exchange(call, request, proof)
        var exchange = ReadExchange(
            key: nil, collection: call.collection?.name, request: request, sentAt: sentAt,
            asOf: asOf, answer: record, settles: nil)
        let before = recorder
        switch (step, answer) {
        case (.list, .page(let page)):
            guard let list = machine.list else { return answer }
            let read = exchange
            let (after, news) = try await journal.write(at: dependencies.now()) { draft in
                var recorder = before
                let news = try recorder.page(page, list, read, draft)
                return (recorder, news)
            }
            recorder = after
            machine.pulled(news)
        case (.readBack(let key, _, let attempt), .record),
            (.readBack(let key, _, let attempt), .absent):
            var found: ServerRecord?
            if case .record(let record) = answer { found = record }
            exchange.key = key
            exchange.settles = attempt?.call
            let (read, record) = (exchange, found)
            recorder = try await journal.write(at: dependencies.now()) { draft in
                var recorder = before
                try recorder.readBack(key, read, record, draft)
                return recorder
            }
        default:
            recorder.note(exchange)
        }
        return answer
    }

    // MARK: The network

    private func exchange(
        _ call: ServerCall, _ request: ServerRequest, _ proof: Credentials,
        answered: Checkpoint? = nil
    ) async -> (ServerAnswer, AnswerRecord) {
        var head = HTTPRequest(
            method: request.method, url: remote.origin, path: request.path,
            headers: request.headers)
        for field in proof.headers { head.headerFields[field.name] = field.value }
        do {
            let response = try await transport.send(head, body: request.body, limits: limits)
            if let answered { dependencies.reach(answered) }
            let answer = adapter.answer(to: call, response.response, body: response.body)
            return (answer, AnswerRecord(response, answer, uptime: dependencies.uptime()))
        } catch {
            // A request that can't be built from an entity is that entity's fault alone.
            let isEntitys = call.isWrite && error.code == .invalidRequest
            let answer: ServerAnswer =
                isEntitys
                ? .refused(ServerRefusal(status: 0, message: error.detail))
                : .failure(SyncFailure(error))
            return (answer, AnswerRecord(error))
        }
    }
}

extension HTTPRequest {
    /// A request to an origin like `https://host:port/base`, with path and query kept verbatim.
    fileprivate init(method: Method, url origin: String, path: String, headers: HTTPFields) {
        let afterScheme = origin.firstRange(of: "://")
        let scheme = afterScheme.map { String(origin[..<$0.lowerBound]) }
        let rest = afterScheme.map { origin[$0.upperBound...] } ?? origin[...]
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        self.init(
            method: method, scheme: scheme, authority: String(rest[..<slash]),
            path: rest[slash...] + path, headerFields: headers)
    }
}
