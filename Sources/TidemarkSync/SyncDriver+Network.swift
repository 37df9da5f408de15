// SyncDriver+Network.swift — one request and its answer.

import HTTPTypes
import TidemarkEvents

extension SyncDriver {
    func exchange(
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
