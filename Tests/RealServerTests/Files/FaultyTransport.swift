// FaultyTransport.swift — a bad network before a real server, by a plan; and what the server did
// with each request, whatever the client heard of it.

import HTTPTypes
import Synchronization
import TestSupport
import TidemarkHTTP
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

/// Sends over the network, but for what the plan says.
final class FaultyTransport: Transport {
    private struct State {
        var faults = FaultPlan()
        var exchanges: [PathExchange] = []
    }
    private let state = Mutex(State())
    private let next = URLSessionTransport()

    /// What fails from now on.
    func fail(_ faults: FaultPlan) { state.withLock { $0.faults = faults } }

    /// All requests since the transport was made.
    var exchanges: [PathExchange] { state.withLock(\.exchanges) }

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        switch state.withLock({ $0.faults.action(for: request) }) {
        case .offline: throw TransportError(.offline, detail: "nothing was sent")
        case .dropBeforeHandling:
            note(PathExchange(request: request, body: body))
            throw TransportError(.connectionLost, detail: "dropped before it was handled")
        case .cutOff(let count):
            note(PathExchange(request: request, body: body, isTorn: true))
            await tear(request, body ?? [], after: count)
            throw TransportError(.connectionLost, detail: "torn after \(count) bytes")
        case .answer(let status, let fields, let text):
            note(PathExchange(request: request, body: body))
            return TransportResponse(
                response: HTTPResponse(status: .init(code: status), headerFields: fields),
                body: text ?? [])
        case .dropAfterHandling:
            _ = try await pass(request, body, limits)
            throw TransportError(.connectionLost, detail: "dropped after it was handled")
        case nil: return try await pass(request, body, limits)
        }
    }

    private func note(_ exchange: PathExchange) { state.withLock { $0.exchanges.append(exchange) } }

    private func pass(
        _ request: HTTPRequest, _ body: [UInt8]?, _ limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        let answer = try await next.send(request, body: body, limits: limits)
        note(PathExchange(request: request, body: body, status: answer.response.status.code))
        return answer
    }

    /// Sends the beginning of a body; what the server answers nobody hears.
    private func tear(_ request: HTTPRequest, _ body: [UInt8], after count: Int) async {
        let fields = request.headerFields.map { (name: $0.name.rawName, value: $0.value) }
        _ = try? await PlainHTTP.inBackground {
            try PlainHTTP.tear(
                request.method.rawValue, authority: request.authority ?? "",
                path: request.path ?? "", fields: fields, body: body, after: count)
        }
    }
}
