// TransportRequestTests.swift — what the server sees of a request, and what is never sent.

import HTTPTypes
import Testing
import TidemarkHTTP
import TidemarkSync

@Suite struct `transport requests` {
    let transport = TestedTransport()

    @Test(arguments: [HTTPRequest.Method.post, .put, .patch, .delete])
    func `method, fields and body arrive as given`(_ method: HTTPRequest.Method) async throws {
        let body = Array(0...255) as [UInt8]
        let fields: HTTPFields = [
            .authorization: "Bearer t", .ifMatch: "\"7 é\"", .contentType: "application/json",
            .userAgent: "tests/1",
        ]
        let server = try RawServer.answering { _ in answer() }
        try await withServer(server) { server in
            _ = try await transport.send(server.request(method, "/a", fields), body: body)

            let seen = try #require(server.requests.first)
            #expect(seen.line == "\(method) /a HTTP/1.1")
            #expect(seen.values("Authorization") == ["Bearer t"])
            #expect(seen.values("If-Match") == ["\"7 é\""])
            #expect(seen.values("Content-Type") == ["application/json"])
            #expect(seen.values("User-Agent") == ["tests/1"])
            #expect(seen.values("Accept-Encoding") == ["identity"])
            #expect(seen.values("Host") == ["127.0.0.1:\(server.port)"])
            #expect(seen.values("Expect") == [])
            #expect(seen.body == body)
        }
    }

    @Test(arguments: [
        "/", "/a%2Fb%20c", "/a%2fb", "/%E4%BD%A0", "/a//b/", "/a?", "/a?q=%22x%22&r=a+b&s=%2F%3D",
        "/a?since=2024-01-01T00:00:00Z&_sort=-last_modified", "/a;v=1,2/b@c:d!$&'()*", "/%25%2500",
        "/...", "/a?..=/../", "/a?x=1?y=/",
    ])
    func `the path arrives with its percent-encodings untouched`(_ path: String) async throws {
        let server = try RawServer.answering { _ in answer() }
        try await withServer(server) { server in
            _ = try await transport.send(server.request(.get, path))

            #expect(server.requests.map(\.target) == [path])
        }
    }

    @Test func `a request without a body sends none`() async throws {
        let server = try RawServer.answering { _ in answer() }
        try await withServer(server) { server in
            for method in [HTTPRequest.Method.get, .head, .post, .put, .delete] {
                _ = try await transport.send(server.request(method))
            }

            #expect(server.requests.map(\.method) == ["GET", "HEAD", "POST", "PUT", "DELETE"])
            #expect(server.requests.flatMap { $0.values("Transfer-Encoding") } == [])
            #expect(server.requests.flatMap { $0.values("Content-Type") } == [])
            #expect(server.requests.map(\.body) == [[], [], [], [], []])
        }
    }

    @Test func `an empty body is a body of no bytes`() async throws {
        let server = try RawServer.answering { _ in answer() }
        try await withServer(server) { server in
            _ = try await transport.send(server.request(.post), body: [])

            let seen = try #require(server.requests.first)
            #expect(seen.values("Content-Length") == ["0"])
            #expect(seen.body == [])
        }
    }

    @Test func `two mebibytes are sent at once, without asking first`() async throws {
        let body = [UInt8](repeating: 7, count: 2 << 20)
        let server = try RawServer.answering { _ in answer() }
        try await withServer(server) { server in
            _ = try await transport.send(server.request(.put), body: body)

            #expect(server.requests.first?.body == body)
            #expect(server.requests.first?.values("Expect") == [])
        }
    }

    @Test func `a body without a type is octets, and the caller's encodings are kept`() async throws
    {
        let server = try RawServer.answering { _ in answer() }
        try await withServer(server) { server in
            let request = server.request(.post, "/", [.acceptEncoding: "gzip"])
            _ = try await transport.send(request, body: [1])

            let seen = try #require(server.requests.first)
            #expect(seen.values("Content-Type") == ["application/octet-stream"])
            #expect(seen.values("Accept-Encoding") == ["gzip"])
        }
    }

    @Test(arguments: [
        "", "a", "*", "/a b", "/a#b", "/a|b", "/ä", "/a\\b", "/.", "/a/..", "/../a", "/a/./b",
        "/%2e%2E", "/a/.%2e?x", "/a%zz",
    ])
    func `a path that would change on the way is not sent`(_ path: String) async throws {
        let server = try RawServer.answering { _ in answer() }
        try await withServer(server) { server in
            let error = await transport.failure(server.request(.delete, path))

            #expect(error?.code == .invalidRequest)
            #expect(server.connections == 0)
        }
    }

    @Test(arguments: [
        HTTPRequest(method: .get, scheme: "file", authority: "localhost", path: "/etc/passwd"),
        HTTPRequest(method: .get, scheme: "ftp", authority: "127.0.0.1", path: "/"),
        HTTPRequest(method: .get, scheme: nil, authority: "127.0.0.1", path: "/"),
        HTTPRequest(method: .get, scheme: "http", authority: nil, path: "/"),
        HTTPRequest(method: .get, scheme: "http", authority: "", path: "/"),
        HTTPRequest(method: .get, scheme: "http", authority: "me:pw@127.0.0.1", path: "/"),
        HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1", path: nil),
        HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:x", path: "/"),
        HTTPRequest(method: .connect, scheme: "http", authority: "127.0.0.1", path: "/"),
    ])
    func `a request that names no HTTP resource is invalid`(_ request: HTTPRequest) async {
        let error = await transport.failure(request)

        #expect(error?.code == .invalidRequest)
        #expect(error?.mayHaveArrived == false)
    }

    @Test func `a read with a body is invalid`() async throws {
        let server = try RawServer.answering { _ in answer() }
        try await withServer(server) { server in
            let error = await transport.failure(server.request(.get), body: [1])

            #expect(error?.code == .invalidRequest)
            #expect(server.connections == 0)
        }
    }
}
