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

    /// Does what a step asks for; false when it was overtaken by an edit, and nothing was done.
    private func carryOut(
        _ step: SyncStep, _ proof: Credentials, _ machine: inout SyncMachine,
        _ recorder: inout SyncRecorder
    ) async throws -> Bool {
        guard let call = step.call else {
            if case .complete(let list) = step {
                let absent = try await log(&recorder) { recorder, draft in
                    let absent = try list.absentAtEnd(draft.fold.entity)
                    return try recorder.complete(list, absent, draft)
                }
                machine.completed(list, absent)
            }
            return true
        }
        if case .push(let call, let items) = step {
            return try await push(call, items, proof, &machine, &recorder)
        }
        try await read(step, call, proof, &machine, &recorder)
        return true
    }

    /// Writes one commit of the run.
    private func log<R: Sendable>(
        _ recorder: inout SyncRecorder,
        _ body: @escaping @Sendable (inout SyncRecorder, Draft) throws -> R
    ) async throws -> R {
        let before = recorder
        let (result, after) = try await journal.write(at: dependencies.now()) { draft in
            var recorder = before
            return (try body(&recorder, draft), recorder)
        }
        recorder = after
        return result
    }

    // MARK: Writes: logged before they are sent

    private func push(
        _ call: ServerCall, _ items: [PushItem], _ proof: Credentials,
        _ machine: inout SyncMachine, _ recorder: inout SyncRecorder
    ) async throws -> Bool {
        var sendable: [PushItem] = []
        for item in items {
            guard let refusal = adapter.refusal(of: item.call) else {
                sendable.append(item)
                continue
            }
            let isRefused = try await log(&recorder) {
                try $0.refusedUnsent(item, refusal, $1)
            }
            guard isRefused else { return false }
            machine.refused(item)
        }
        let items = sendable
        guard let first = items.first else { return true }
        let call = items.count == 1 ? first.call : .batch(items.map(\.call))
        let request: ServerRequest
        let parts: [ServerRequest]
        do throws(SyncFailure) {
            request = try adapter.request(for: call)
            parts = try items.map { (item) throws(SyncFailure) in
                try adapter.request(for: item.call)
            }
        } catch {
            machine.took(.failure(error), to: .push(call, items), date: nil)
            return true
        }
        dependencies.reach(.beforeAppend)
        let sent = try await log(&recorder) { try $0.sending(items, request, parts, $1) }
        // An edit came in between: what to send is decided anew.
        guard let sent else { return false }
        dependencies.reach(.afterAppend)
        dependencies.reach(.beforeSend)
        var (answer, record) = await exchange(call, request, proof, answered: .afterSend)
        if case .batch(let answers) = answer, answers.count != items.count {
            answer = .failure(.malformed("a batch of \(items.count) with \(answers.count) answers"))
        }
        dependencies.reach(.beforeAnswer)
        let outcome = answer
        try await log(&recorder) { [record] in
            try $0.answered(items, sent, record, outcome, $1)
        }
        dependencies.reach(.afterAnswer)
        machine.took(outcome, to: .push(call, items), date: record.serverTime, alert: record.alert)
        return true
    }

    // MARK: Reads: logged with what they brought

    private func read(
        _ step: SyncStep, _ call: ServerCall, _ proof: Credentials, _ machine: inout SyncMachine,
        _ recorder: inout SyncRecorder
    ) async throws {
        let request: ServerRequest
        do { request = try adapter.request(for: call) } catch {
            machine.took(.failure(error), to: step, date: nil)
            return
        }
        let asOf = try journal.read { views in views.last }
        let sentAt = dependencies.now()
        let (answer, record) = await exchange(call, request, proof)
        let exchange = ReadExchange(
            key: nil, collection: call.collection?.name, request: request, sentAt: sentAt,
            asOf: asOf, answer: record, settles: nil)
        let news = try await note(exchange, step, answer, machine.list, &recorder)
        machine.took(answer, to: step, news: news, date: record.serverTime, alert: record.alert)
    }

    private func note(
        _ exchange: ReadExchange, _ step: SyncStep, _ answer: ServerAnswer, _ list: Listing?,
        _ recorder: inout SyncRecorder
    ) async throws -> PullNews {
        switch (step, answer) {
        case (.list, .page(let page)):
            guard let list else { return PullNews() }
            return try await log(&recorder) { try $0.page(page, list, exchange, $1) }
        case (.fetch(let call, let ids), .records(let records)):
            guard let name = call.collection?.name else { return PullNews() }
            return try await log(&recorder) {
                try $0.fetched(records, of: ids, name, exchange, $1)
            }
        case (.readBack(let key, _, let attempt), .record),
            (.readBack(let key, _, let attempt), .absent):
            var found: ServerRecord?
            if case .record(let record) = answer { found = record }
            var own = exchange
            own.key = key
            own.settles = attempt?.call
            try await log(&recorder) { [own, found] in try $0.readBack(key, own, found, $1) }
        case (.describe, .description(let list)):
            let own = list.filter { model[$0.name] != nil }
            try await log(&recorder) { try $0.described(own, exchange, $1) }
        default:
            recorder.note(exchange)
        }
        return PullNews()
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
            let uptime = dependencies.uptime().microseconds
            if let answered { dependencies.reach(answered) }
            let answer = adapter.answer(to: call, response.response, body: response.body)
            return (answer, AnswerRecord(response, answer, uptime: uptime))
        } catch {
            // A request that can't be built from an entity is that entity's fault alone.
            let isEntitys = call.isWriteOfOne && error.code == .invalidRequest
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
