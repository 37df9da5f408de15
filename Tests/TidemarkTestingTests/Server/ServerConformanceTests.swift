// ServerConformanceTests.swift — the model and, where there is one, the real server.

import Foundation
import HTTPTypes
import Testing
import TidemarkSync
import TidemarkTesting

@Suite struct `the server's conformance` {
    @Test func `the model answers the script as Kinto does`() async throws {
        let world = ServerWorld()
        var run = ConformanceRun(
            scheme: "http", authority: "kinto.test", bucket: "conformance"
        ) { request, body in
            world.advance(milliseconds: 10)
            return try await world.server.send(request, body: body, limits: TransportLimits())
        }

        for step in ConformanceStep.steps(of: conformanceScript) {
            let actual = try await run.answered(step)
            #expect(actual.text == step.text)
        }
    }

    @Test(.enabled(if: ServerCurl.kintoURL != nil, "TIDEMARK_KINTO names no real server"))
    func `the real server answers the script`() async throws {
        let url = try #require(ServerCurl.kintoURL.flatMap(URL.init))
        let host = try #require(url.host)
        let authority = url.port.map { "\(host):\($0)" } ?? host
        let scheme = url.scheme ?? "http"
        var cleaning = ConformanceRun(
            scheme: scheme, authority: authority, bucket: "conformance", send: ServerCurl.send)
        _ = try await cleaning.answered(ConformanceStep(request: "DELETE $b"))
        _ = try await cleaning.answered(ConformanceStep(request: "DELETE /v1/buckets/default"))

        var run = ConformanceRun(
            scheme: scheme, authority: authority, bucket: "conformance", send: ServerCurl.send)
        for step in ConformanceStep.steps(of: conformanceScript) {
            let actual = try await run.answered(step)
            #expect(actual.text == step.text)
        }
    }
}
