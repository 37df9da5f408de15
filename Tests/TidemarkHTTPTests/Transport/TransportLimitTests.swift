// TransportLimitTests.swift — deadline, size limit and cancellation return at once.

import HTTPTypes
import Testing
import TidemarkHTTP
import TidemarkSync

@Suite struct `transport limits` {
    let transport = TestedTransport()
    let short = TransportLimits(deadline: .milliseconds(300))

    @Test func `a silent server meets the deadline`() async throws {
        let server = try RawServer { connection in
            _ = connection.readRequest()
            connection.waitForClose()
        }
        try await withServer(server) { server in
            let begin = ContinuousClock.now
            let error = await firstToFail(server)

            #expect(error?.code == .timeout)
            #expect(error?.mayHaveArrived == true)
            #expect(begin.duration(to: .now) >= .milliseconds(300))
        }
    }

    @Test(arguments: ["HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nX: ", ""])
    func `the deadline is total, so dripping bytes do not extend it`(
        _ head: String
    ) async throws {
        let (closed, closing) = AsyncStream.makeStream(of: Void.self)
        let server = try RawServer { connection in
            _ = connection.readRequest()
            connection.write(head)
            while connection.write(head.isEmpty ? "HTTP/1.1 100 Continue\r\n\r\n" : "x") {
                connection.wait(milliseconds: 20)
            }
            closing.yield()
        }
        try await withServer(server) { server in
            let error = await firstToFail(server)

            #expect(error?.code == .timeout)
            var closings = closed.makeAsyncIterator()
            _ = (await closings.next(), await closings.next())
        }
    }

    /// How the first of two exchanges fails that begin together: `timeout` for the one with the
    /// short deadline, `offline` when the one with the long deadline is not the last to end.
    ///
    /// Both have ended then.
    private func firstToFail(_ server: RawServer) async -> TransportError? {
        await withTaskGroup(of: TransportError?.self) { group in
            group.addTask {
                let error = await transport.failure(server.request())
                return error?.code == .timeout ? TransportError(.offline) : error
            }
            group.addTask { await transport.failure(server.request(), limits: short) }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
    }

    @Test(arguments: [Duration.zero, .seconds(-1)])
    func `a deadline that has passed sends nothing`(_ deadline: Duration) async throws {
        let server = try RawServer.answering { _ in answer() }
        try await withServer(server) { server in
            let limits = TransportLimits(deadline: deadline)
            let error = await transport.failure(server.request(), limits: limits)

            #expect(error?.code == .timeout)
            #expect(server.connections == 0)
        }
    }

    @Test func `the longest deadline is no deadline`() async throws {
        let server = try RawServer.answering { _ in answer(body: "x") }
        try await withServer(server) { server in
            let limits = TransportLimits(deadline: .seconds(Int64.max))

            let answer = try await transport.send(server.request(), body: nil, limits: limits)

            #expect(answer.text == "x")
        }
    }

    @Test func `an announced length over the limit ends the exchange before the body`() async throws
    {
        let server = try RawServer { connection in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n")
            connection.waitForClose()
        }
        try await withServer(server) { server in
            let limits = TransportLimits(deadline: .seconds(600), responseBytesMax: 1000)
            let error = await transport.failure(server.request(), limits: limits)

            #expect(error?.code == .tooLarge)
        }
    }

    @Test func `a body over the limit ends the exchange, with no length announced`() async throws {
        let server = try RawServer { connection in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\n\r\n")
            connection.write([UInt8](repeating: 0, count: 1001))
            connection.waitForClose()
        }
        try await withServer(server) { server in
            let limits = TransportLimits(deadline: .seconds(600), responseBytesMax: 1000)
            let error = await transport.failure(server.request(), limits: limits)

            #expect(error?.code == .tooLarge)
        }
    }

    @Test(arguments: [true, false])
    func `a body of exactly the limit is accepted`(_ announced: Bool) async throws {
        let server = try RawServer { connection in
            _ = connection.readRequest()
            connection.write(
                announced
                    ? "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" : "HTTP/1.1 200 OK\r\n\r\n")
            connection.write([UInt8](repeating: 0, count: 1000))
        }
        try await withServer(server) { server in
            let limits = TransportLimits(deadline: .seconds(600), responseBytesMax: 1000)

            let answer = try await transport.send(server.request(), body: nil, limits: limits)

            #expect(answer.body.count == 1000)
        }
    }

    @Test func `a task cancelled before sends nothing`() async throws {
        let server = try RawServer.answering { _ in answer() }
        try await withServer(server) { server in
            let error = await withTaskGroup(of: TransportError?.self) { group in
                group.cancelAll()
                group.addTask { await transport.failure(server.request()) }
                return await group.next() ?? nil
            }

            #expect(error?.code == .cancelled)
            #expect(server.connections == 0)
        }
    }

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"])
    func `a task cancelled during an exchange returns at once`(_ begun: String) async throws {
        let (arrived, arrival) = AsyncStream.makeStream(of: Void.self)
        let server = try RawServer { connection in
            _ = connection.readRequest()
            connection.write(begun)
            arrival.finish()
            connection.waitForClose()
        }
        try await withServer(server) { server in
            let sending = Task { await transport.failure(server.request()) }
            for await _ in arrived {}
            sending.cancel()
            let error = await sending.value

            #expect(error?.code == .cancelled)
        }
    }

    @Test func `an abandoned exchange closes its connection`() async throws {
        let (closed, closing) = AsyncStream.makeStream(of: Void.self)
        let server = try RawServer { connection in
            _ = connection.readRequest()
            connection.waitForClose()
            closing.finish()
        }
        try await withServer(server) { server in
            let limits = TransportLimits(deadline: .milliseconds(50))
            _ = await transport.failure(server.request(), limits: limits)

            for await _ in closed {}
        }
    }

    @Test func `racing cancellations leave the transport usable`() async throws {
        let server = try RawServer.answering { request in
            request.target == "/end"
                ? answer(body: "end") : answer("302 Found", ["Location: /again"], body: "go")
        }
        try await withServer(server) { server in
            for round in 0..<100 {
                let sending = Task { await transport.failure(server.request(.get, "/\(round)")) }
                for _ in 0..<(round % 50) * 20 { await Task.yield() }
                sending.cancel()
                let code = await sending.value?.code
                #expect(code == .cancelled || code == .redirectRefused)
            }

            let answer = try await transport.send(server.request(.get, "/end"))

            #expect(answer.text == "end")
        }
    }
}
