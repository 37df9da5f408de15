// FaultyTransportTests.swift — the faults and the log of a server of one's own.

import HTTPTypes
import Synchronization
import Testing
import TidemarkSync
import TidemarkTesting

@Suite struct `a faulty transport` {
    private let clock = ManualClock()
    private let handled = Handled()

    private final class Handled: Sendable {
        private let paths = Mutex<[String]>([])
        var all: [String] { paths.withLock { $0 } }
        func add(_ path: String) { paths.withLock { $0.append(path) } }
    }

    private func transport(_ rules: FaultRule...) -> FaultyTransport {
        let handled = handled
        return FaultyTransport(faults: FaultPlan(rules), clock: clock) { request, body in
            handled.add(request.path ?? "")
            return TransportResponse(
                status: 200, body: String(decoding: body.reversed(), as: UTF8.self))
        }
    }

    private func send(
        _ transport: FaultyTransport, _ method: HTTPRequest.Method = .put, _ path: String = "/n1"
    ) async throws -> TransportResponse {
        let fields: HTTPFields = [
            .authorization: "Bearer token", .ifMatch: "7", .userAgent: "Todo",
        ]
        return try await transport.send(
            HTTPRequest(
                method: method, scheme: "https", authority: "api.test", path: path,
                headerFields: fields),
            body: Array("ab".utf8), limits: TransportLimits())
    }

    @Test func `hands on what does not fail, and gives the answer the clock's date`() async throws {
        let answer = try await send(transport())

        #expect(answer.response.status == .ok)
        #expect(answer.response.headerFields[.date] == "Wed, 18 Nov 2026 11:06:40 GMT")
        #expect(answer.body == Array("ba".utf8))
    }

    @Test func `fails as its rules say, and logs what came without credentials`() async throws {
        let transport = self.transport(
            FaultRule(.offline, method: .get, nth: 1),
            FaultRule(.dropBeforeHandling, method: .put, nth: 1),
            FaultRule(.dropAfterHandling, method: .put, nth: 2),
            FaultRule(.tooManyRequests(retryAfterSeconds: 7), method: .put, nth: 3),
            FaultRule(.cutOff(afterBytes: 1), method: .put, nth: 4))

        let offline = await #expect(throws: TransportError.self) {
            try await send(transport, .get)
        }
        for _ in 1...2 {
            let lost = await #expect(throws: TransportError.self) { try await send(transport) }
            #expect(lost?.code == .connectionLost)
        }
        let paused = try await send(transport)
        await #expect(throws: TransportError.self) { try await send(transport) }
        _ = try await send(transport)

        #expect(offline?.code == .offline)
        #expect(paused.response.headerFields[.retryAfter] == "7")
        let log = transport.requestLog
        #expect(log.map(\.status) == [nil, nil, 429, nil, 200])
        #expect(log.map(\.isApplied) == [false, true, false, false, true])
        #expect(log.allSatisfy { $0.fields == [.ifMatch: "7", .userAgent: "Todo"] })
        #expect(log.allSatisfy { $0.path == "/n1" && $0.body == Array("ab".utf8) })
        #expect(handled.all == ["/n1", "/n1"])
        transport.clearRequestLog()
        #expect(transport.requestLog.isEmpty)
    }

    @Test func `stands before another transport, whose failures it passes on`() async throws {
        let inner = self.transport(
            FaultRule(.dropBeforeHandling, nth: 1), FaultRule(.offline, nth: 2))
        let transport = FaultyTransport(inner)

        await #expect(throws: TransportError.self) { try await send(transport) }
        await #expect(throws: TransportError.self) { try await send(transport) }
        _ = try await send(transport)
        transport.faults = .offline
        await #expect(throws: TransportError.self) { try await send(transport) }

        #expect(transport.requestLog.map(\.status) == [nil, 200])
        #expect(handled.all == ["/n1"])
    }

    @Test func `an answer over the client's limit is too large`() async throws {
        let transport = self.transport(
            FaultRule(.answer(status: 500, body: Array(repeating: 0x20, count: 9))))
        let request = HTTPRequest(
            method: .get, scheme: "https", authority: "api.test", path: "/n1")

        let error = await #expect(throws: TransportError.self) {
            try await transport.send(
                request, body: nil, limits: TransportLimits(responseBytesMax: 8))
        }

        #expect(error?.code == .tooLarge)
    }
}
