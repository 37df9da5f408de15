// SyncDriver.swift — carries out what the machine decides: log, send, log the answer, go on.

import HTTPTypes
public import TidemarkEvents
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

    /// Runs once from beginning to end.
    ///
    /// - Throws: what the store throws; what the network or the server does is in the outcome.
    package func run(trigger: String) async throws -> SyncOutcome {
        let dependencies = dependencies
        var machine = SyncMachine(model: model)
        var recorder = SyncRecorder(
            trigger: trigger, at: dependencies.now(), seed: dependencies.random(),
            uptime: dependencies.uptime())
        var proof = Credentials.none
        if let pause = try pauseAskedFor() {
            machine.end(pause)
        } else {
            do { proof = try await credentials() } catch {
                machine.end(error is CancellationError ? .cancelled : .unauthorized)
            }
        }
        while true {
            if Task.isCancelled { machine.end(.cancelled) }
            let step = try journal.read { views in try machine.next(views) }
            guard let call = step.call else { break }
            progress(SyncProgress(step: step, outcome: machine.outcome))
            guard let answer = try await carryOut(step, call, proof, &machine, &recorder) else {
                machine.replan()
                continue
            }
            machine.took(answer, to: step)
        }
        try journal.read { views in try machine.takeStock(views) }
        let outcome = machine.outcome
        let end = recorder
        _ = try await journal.write(at: dependencies.now()) { draft in
            var end = end
            try end.finish(outcome, draft)
        }
        return outcome
    }

    /// The pause that the server asked for earlier, while it lasts.
    private func pauseAskedFor() throws -> SyncFailure? {
        guard let gate = try journal.read({ views in try views.gate() }) else { return nil }
        let left = gate.notBefore.rawValue - dependencies.now().rawValue
        // More than was asked for is left only where the clock was set back.
        guard left > 0, left <= gate.seconds * 1_000_000 else { return nil }
        return .tooManyRequests(retryAfterSeconds: (left + 999_999) / 1_000_000)
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
            return (answer, AnswerRecord(response, answer))
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

/// How far a sync run is.
public struct SyncProgress: Sendable, Hashable {
    /// What the run is doing.
    public enum Phase: String, Sendable {
        /// Asking after writes whose outcome is not known.
        case readingBack
        /// Fetching what the server changed.
        case pulling
        /// Sending what is pending.
        case pushing
    }
    /// What the run is doing.
    public var phase: Phase
    /// With which collection.
    public var collection: CollectionName
    /// What was done so far.
    public var counts: SyncCounts

    init(step: SyncStep, outcome: SyncOutcome) {
        switch step {
        case .readBack: phase = .readingBack
        case .list, .finish: phase = .pulling
        case .push: phase = .pushing
        }
        collection = step.call?.collection?.name ?? ""
        counts = outcome.counts
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
