// ServerLoopbackTests.swift — the same server over real sockets, asked by curl.

import HTTPTypes
import Testing
import TidemarkSync
import TidemarkTesting

@Suite struct `the loopback server` {
    @Test func `it is on this machine's loopback address only`() async throws {
        try await withServer { loopback, _ in
            #expect(loopback.origin.hasPrefix("http://127.0.0.1:"))
        }
    }

    @Test func `the whole script is answered over a socket as in memory`() async throws {
        let world = ServerWorld()
        let loopback = try await LoopbackServer.start(world.server)
        var run = ConformanceRun(
            scheme: "http", authority: String(loopback.origin.dropFirst("http://".count)),
            bucket: "conformance"
        ) { request, body in
            world.advance(milliseconds: 10)
            return try await ServerCurl.send(request, body)
        }

        for step in ConformanceStep.steps(of: conformanceScript) {
            let actual = try await run.answered(step)
            #expect(actual.text == step.text)
        }
        await loopback.stop()
    }

    @Test func `requests follow each other on one connection`() async throws {
        try await withServer { loopback, _ in
            let url = "\(loopback.origin)/v1/"
            let form = ["--output", "/dev/null", "--write-out", "%{http_code} %{num_connects} "]
            let output = try await ServerCurl.run(
                form + [url, "--next", "--silent"] + form + [url, "--next", "--silent"] + form
                    + [url])

            #expect(String(decoding: output, as: UTF8.self) == "200 1 200 0 200 0 ")
        }
    }

    @Test func `an answer dropped after handling breaks off, and the change is there`()
        async throws
    {
        let rule = FaultRule(.dropAfterHandling, method: .put, nth: 1)
        try await withServer(rule) { loopback, world in
            let error = await #expect(throws: ServerCurl.Failure.self) {
                try await put("a", loopback)
            }
            let again = try await put("a", loopback)

            #expect(error?.code == 18)
            #expect(again.response.status.code == 412)
            #expect(world.server.requestLog.map(\.isApplied) == [true, true])
        }
    }

    @Test func `a request dropped before handling looks the same`() async throws {
        let rule = FaultRule(.dropBeforeHandling, method: .put, nth: 1)
        try await withServer(rule) { loopback, world in
            let error = await #expect(throws: ServerCurl.Failure.self) {
                try await put("a", loopback)
            }
            let again = try await put("a", loopback)

            #expect(error?.code == 18)
            #expect(again.response.status.code == 201)
            #expect(world.server.requestLog.map(\.isApplied) == [false, true])
        }
    }

    @Test func `a dropped request is not sent again on a connection used before`() async throws {
        let rule = FaultRule(.dropAfterHandling, method: .put, nth: 1)
        try await withServer(rule) { loopback, world in
            let error = await #expect(throws: ServerCurl.Failure.self) {
                try await ServerCurl.run([
                    "\(loopback.origin)/v1/", "--next", "--silent", "--request", "PUT",
                    "--header", "Authorization: \(ServerWorld.credentials)",
                    "\(loopback.origin)\(ServerWorld.records)/a",
                ])
            }

            #expect(error?.code == 18)
            #expect(world.server.requestLog.map(\.method) == [.get, .put])
        }
    }

    @Test func `a dropped answer to HEAD is empty`() async throws {
        try await withServer(FaultRule(.dropAfterHandling)) { loopback, _ in
            let error = await #expect(throws: ServerCurl.Failure.self) {
                try await ServerCurl.run(["--head", "\(loopback.origin)/v1/"])
            }

            #expect(error?.code == 52)
        }
    }

    @Test func `a fault's fields and body go over the wire`() async throws {
        let rule = FaultRule(.tooManyRequests(retryAfterSeconds: 9), nth: 1)
        try await withServer(rule) { loopback, _ in
            let answer = try await put("a", loopback)

            #expect(answer.response.status.code == 429)
            #expect(answer.response.headerFields[.retryAfter] == "9")
            #expect(
                String(decoding: answer.body, as: UTF8.self)
                    == #"{"code":429,"errno":117,"error":"Too Many Requests"}"#)
        }
    }

    @Test func `a body of many packets arrives whole`() async throws {
        try await withServer { loopback, world in
            let long = String(repeating: "é", count: 30_000)
            let answer = try await put("a", loopback, body: #"{"data":{"x":"\#(long)"}}"#)

            #expect(answer.response.status.code == 201)
            #expect(world.server.requestLog[0].body?.count == 60_017)
        }
    }

    @Test func `after the end connections are refused`() async throws {
        let loopback = try await LoopbackServer.start(ServerWorld().server)
        await loopback.stop()

        let error = await #expect(throws: ServerCurl.Failure.self) { try await put("a", loopback) }

        // Refused, or taken by the system and reset: both are an end.
        #expect([7, 56].contains(error?.code))
    }

    private func put(
        _ id: String, _ loopback: LoopbackServer, body: String = "{}"
    ) async throws -> TransportResponse {
        let request = HTTPRequest(
            method: .put, scheme: "http",
            authority: String(loopback.origin.dropFirst("http://".count)),
            path: "\(ServerWorld.records)/\(id)",
            headerFields: [
                .authorization: ServerWorld.credentials, .ifNoneMatch: "*",
                .contentType: "application/json",
            ])
        return try await ServerCurl.send(request, Array(body.utf8))
    }

    private func withServer(
        _ rules: FaultRule..., body: (LoopbackServer, ServerWorld) async throws -> Void
    ) async throws {
        let world = ServerWorld.withCollection(rules: rules)
        let loopback = try await LoopbackServer.start(world.server)
        do {
            try await body(loopback, world)
        } catch {
            await loopback.stop()
            throw error
        }
        await loopback.stop()
    }
}
