// SyncDriver+Network.swift — the network as a sync run's outside: one request and its answer.

import HTTPTypes
import TidemarkEvents
import TidemarkViews

/// The network, and the store itself.
struct LiveHost: SyncHost {
    var remote: Remote
    var adapter: any ServerAdapter
    var transport: any Transport
    var proof: @Sendable () async throws -> Credentials
    var dependencies: Dependencies

    func interruption() -> SyncFailure? { Task.isCancelled ? .cancelled : nil }

    func willDecide() {}

    func willEnd() {}

    func willTake() {}

    func waited(_ waited: Int64, for step: SyncStep) -> Int64 { waited }

    func credentials() async throws -> Credentials { try await proof() }

    func asking(_ question: SyncQuestion, _ now: SyncAsking) -> SyncAsking { now }

    func answer(
        _ question: SyncQuestion, _ asking: SyncAsking, _ proof: Credentials,
        _ limits: TransportLimits
    ) async -> (ServerAnswer, AnswerRecord) {
        let (call, request) = (question.call, question.request)
        var head = HTTPRequest(
            method: request.method, url: remote.origin, path: request.path,
            headers: request.headers)
        for field in proof.headers { head.headerFields[field.name] = field.value }
        do {
            let response = try await transport.send(head, body: request.body, limits: limits)
            let uptime = dependencies.uptime().microseconds
            if let answered = question.answered { dependencies.reach(answered) }
            let judged = JudgedAnswer(response, to: call, by: adapter, proof.mask)
            let isRepeatable = transport.mayRepeat && call.isWriteOfOne && request.body == nil
            var record = AnswerRecord(
                judged.response, judged.answer, judged.effect, adapter.words, uptime: uptime,
                isRepeatable: isRepeatable)
            record.isExposing = judged.isExposing
            return (judged.answer, record)
        } catch {
            let uptime = dependencies.uptime().microseconds
            let error = TransportError(error.code, detail: proof.mask.masked(error.detail))
            return (ServerAnswer(error, to: call), AnswerRecord(error, uptime: uptime))
        }
    }

    func commit<R: Sendable>(
        _ journal: Journal, at now: Timestamp, _ body: @escaping @Sendable (Draft) throws -> R
    ) async throws -> R {
        try await journal.write(at: now, body)
    }
}

extension ServerAnswer {
    /// What it means for a call that there is no answer.
    package init(_ error: TransportError, to call: ServerCall) {
        // A request that can't be built from an entity is that entity's fault alone.
        let isEntitys = call.isWriteOfOne && error.code == .invalidRequest
        self =
            isEntitys
            ? .refused(ServerRefusal(status: 0, message: error.detail))
            : .failure(SyncFailure(error))
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
