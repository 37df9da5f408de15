// TransportAnswerTests.swift — answers as they are, and requests as the server sees them.

import HTTPTypes
import Testing
import TidemarkHTTP
import TidemarkSync

@Suite struct `transport answers` {
    let transport = TestedTransport()

    @Test func `a plain answer has its status, fields and body`() async throws {
        let two = try #require(HTTPField.Name("X-Two"))
        let server = try RawServer { connection in
            _ = connection.readRequest()
            connection.write(
                answer("200 OK", ["ETag: \"7 é\"", "X-Two: a", "X-Two: b"], body: "hej"))
        }
        try await withServer(server) { server in
            let answer = try await transport.send(server.request())

            #expect(answer.response.status == .ok)
            #expect(answer.response.headerFields[.eTag] == "\"7 é\"")
            #expect(answer.response.headerFields[two] == "a, b")
            #expect(answer.text == "hej")
        }
    }

    @Test(arguments: [
        200, 201, 206, 207, 300, 400, 401, 403, 404, 407, 409, 412, 418, 422, 429, 500, 503, 599,
    ])
    func `any status is an answer`(_ code: Int) async throws {
        let server = try RawServer.answering { _ in
            answer(
                "\(code) X", ["WWW-Authenticate: Basic realm=\"r\"", "Retry-After: 7"], body: "why")
        }
        try await withServer(server) { server in
            let answer = try await transport.send(server.request(.put), body: [1])

            #expect(answer.response.status.code == code)
            #expect(answer.response.headerFields[.retryAfter] == "7")
            #expect(answer.text == "why")
            #expect(server.requests.count == 1)
        }
    }

    @Test(arguments: [
        "Basic realm=\"r\"", "Digest realm=\"r\", nonce=\"n\"", "Bearer", "Negotiate", "",
    ])
    func `a question for a password is an answer, for reads and writes`(
        _ question: String
    ) async throws {
        let server = try RawServer.answering { _ in
            answer("401 Unauthorized", ["WWW-Authenticate: \(question)"], body: "who?")
        }
        try await withServer(server) { server in
            let read = try await transport.send(server.request())
            let write = try await transport.send(server.request(.put), body: [1])

            #expect(read.response.status == .unauthorized)
            #expect(read.text == "who?")
            #expect(write.text == "who?")
            #expect(server.requests.flatMap { $0.values("Authorization") } == [])
        }
    }

    @Test func `interim answers are not the answer`() async throws {
        let server = try RawServer { connection in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 100 Continue\r\n\r\n")
            connection.write("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
            connection.write(answer("201 Created", ["ETag: \"1\""], body: "made"))
        }
        try await withServer(server) { server in
            let answer = try await transport.send(server.request(.put), body: [1])

            #expect(answer.response.status == .created)
            #expect(answer.response.headerFields[.eTag] == "\"1\"")
            #expect(answer.text == "made")
        }
    }

    @Test(arguments: [
        (HTTPRequest.Method.get, "HTTP/1.1 204 No Content\r\n\r\n"),
        (.get, "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\nETag: \"1\"\r\n\r\n"),
        (.head, "HTTP/1.1 200 OK\r\nContent-Length: 900000000\r\n\r\n"),
        (.delete, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
    ])
    func `an answer without a body is whole`(
        _ method: HTTPRequest.Method, _ text: String
    ) async throws {
        let server = try RawServer.answering { _ in text }
        try await withServer(server) { server in
            let first = try await transport.send(server.request(method))
            let second = try await transport.send(server.request(method))

            #expect(first.body.isEmpty)
            #expect(second == first)
        }
    }

    @Test func `a chunked answer is put together`() async throws {
        let server = try RawServer.answering { _ in
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
        }
        try await withServer(server) { server in
            let answer = try await transport.send(server.request())

            #expect(answer.text == "abcde")
        }
    }

    @Test func `an answer without a length ends with the connection`() async throws {
        let server = try RawServer { connection in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\n\r\nall of it")
        }
        try await withServer(server) { server in
            let answer = try await transport.send(server.request())

            #expect(answer.text == "all of it")
        }
    }

    @Test func `cookies are not sent back`() async throws {
        let server = try RawServer.answering { _ in answer("200 OK", ["Set-Cookie: a=b; Path=/"]) }
        try await withServer(server) { server in
            _ = try await transport.send(server.request())
            _ = try await transport.send(server.request())

            #expect(server.requests.map { $0.values("Cookie") } == [[], []])
        }
    }

    @Test func `nothing is cached`() async throws {
        let server = try RawServer.answering { _ in
            answer("200 OK", ["Cache-Control: max-age=3600", "ETag: \"1\""], body: "x")
        }
        try await withServer(server) { server in
            _ = try await transport.send(server.request())
            _ = try await transport.send(server.request())

            #expect(server.requests.map { $0.values("If-None-Match") } == [[], []])
        }
    }

    @Test func `thirty requests at once all get their own answer`() async throws {
        let server = try RawServer.answering { request in answer(body: request.target) }
        try await withServer(server) { server in
            let texts = try await withThrowingTaskGroup(of: String.self) { group in
                for index in 0..<30 {
                    group.addTask {
                        try await self.transport.send(server.request(.get, "/\(index)")).text
                    }
                }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }

            #expect(texts == Set((0..<30).map { "/\($0)" }))
        }
    }

    @Test func `the shared transport is one`() {
        func shared(_ transport: some Transport) -> some Transport { transport }

        #expect(
            shared(.urlSession) as? URLSessionTransport === URLSessionTransport.urlSession)
    }
}
