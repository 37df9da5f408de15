// TransportRedirectTests.swift — redirects stay within the origin, and only reads follow them.

import Foundation
import HTTPTypes
import Testing
import TidemarkHTTP
import TidemarkSync

@Suite struct `transport redirects` {
    let transport = TestedTransport()
    let secret: HTTPFields = [.authorization: "Bearer secret", .accept: "application/json"]

    @Test(arguments: [
        ("/a/b", "/c%2Fd%20e?q=%2F", "/c%2Fd%20e?q=%2F"), ("/a/b", "c", "/a/c"),
        ("/a/b", "../c", "/c"), ("/a/b", "?x=1", "/a/b?x=1"), ("/a/b", "/c#part", "/c"),
    ])
    func `a redirect within the origin is followed with the same fields`(
        _ path: String, _ location: String, _ target: String
    ) async throws {
        let server = try RawServer.answering { request in
            request.target == path
                ? answer("302 Found", ["Location: \(location)"], body: "moved")
                : answer(body: "here")
        }
        try await withServer(server) { server in
            let answer = try await transport.send(server.request(.get, path, secret))

            #expect(answer.text == "here")
            #expect(server.requests.map(\.target) == [path, target])
            #expect(
                server.requests.map { $0.values("Authorization") } == [
                    ["Bearer secret"], ["Bearer secret"],
                ])
            #expect(
                server.requests.map { $0.values("Accept") } == [
                    ["application/json"], ["application/json"],
                ])
        }
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `every kind of redirect is followed for reads, to an absolute target too`(
        _ code: Int
    ) async throws {
        let server = try RawServer.answering { request in
            let host = request.values("Host").first ?? ""
            return request.target == "/"
                ? answer("\(code) X", ["Location: HTTP://\(host)/b"]) : answer()
        }
        try await withServer(server) { server in
            let head = try await transport.send(server.request(.head))
            let get = try await transport.send(server.request(.get))

            #expect(head.response.status == .ok)
            #expect(get.response.status == .ok)
            #expect(server.requests.map(\.method) == ["HEAD", "HEAD", "GET", "GET"])
        }
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `a redirect to another port is refused, and that server hears nothing`(
        _ code: Int
    ) async throws {
        let other = try RawServer.answering { _ in answer() }
        let server = try RawServer.answering { [port = other.port] _ in
            answer("\(code) X", ["Location: http://127.0.0.1:\(port)/"])
        }
        try await withServer(other) { other in
            try await withServer(server) { server in
                let error = await transport.failure(server.request(.get, "/", secret))

                #expect(error?.code == .redirectRefused)
                #expect(other.connections == 0)
            }
        }
    }

    @Test(arguments: [
        "http://localhost:PORT/", "https://127.0.0.1:PORT/", "//localhost:PORT/", "//127.0.0.1/",
        "http://u:p@127.0.0.1:PORT/b", "file:///etc/passwd", "ftp://127.0.0.1:PORT/",
        "data:text/plain,x", "http://", "http:///b", "http://127.0.0.1:99999/", "//", "",
        "http://127.0.0.1:PORT@localhost/", "http://[::1", "javascript:x", ":80/x",
    ])
    func `a redirect to anything but the origin is refused`(_ location: String) async throws {
        let server = try RawServer.answering { request in
            let port = request.values("Host").first?.split(separator: ":").last ?? ""
            let target = location.replacingOccurrences(of: "PORT", with: port)
            return answer("302 Found", ["Location: \(target)"])
        }
        try await withServer(server) { server in
            let error = await transport.failure(server.request(.get, "/", secret))

            #expect(error?.code == .redirectRefused)
            #expect(server.requests.count == 1)
        }
    }

    @Test func `a loop ends after five redirects`() async throws {
        let server = try RawServer.answering { _ in answer("302 Found", ["Location: /"]) }
        try await withServer(server) { server in
            let error = await transport.failure(server.request())

            #expect(error?.code == .redirectRefused)
            #expect(server.requests.count == 6)
        }
    }

    @Test func `five redirects are followed`() async throws {
        let server = try RawServer.answering { request in
            request.target == "/xxxxx"
                ? answer(body: "end") : answer("307 X", ["Location: \(request.target)x"])
        }
        try await withServer(server) { server in
            let answer = try await transport.send(server.request())

            #expect(answer.text == "end")
        }
    }

    @Test(arguments: [HTTPRequest.Method.put, .post, .patch, .delete], [301, 302, 303, 307, 308])
    func `a write is never redirected`(_ method: HTTPRequest.Method, _ code: Int) async throws {
        let server = try RawServer.answering { _ in answer("\(code) X", ["Location: /b"]) }
        try await withServer(server) { server in
            let error = await transport.failure(server.request(method), body: [1])

            #expect(error?.code == .redirectRefused)
            #expect(error?.mayHaveArrived == true)
            #expect(server.requests.map(\.target) == ["/"])
        }
    }

    @Test(arguments: [
        "/a%20b/c%C3%A9/", "/a%20b/c%c3%a9/", "c%C3%A9/", "http://HOST/a%20b/c%C3%A9/",
        "https://other.test:8443/a%20b/c%C3%A9/",
    ])
    func `a question for the properties of a folder is followed to its slash`(
        _ location: String
    ) async throws {
        let path = "/a%20b/c%C3%A9"
        let server = try RawServer.answering { request in
            let host = request.values("Host").first ?? ""
            let target = location.replacingOccurrences(of: "HOST", with: host)
            return request.target == path
                ? answer("301 X", ["Location: \(target)"]) : answer(body: "here")
        }
        let method = try #require(HTTPRequest.Method("PROPFIND"))
        try await withServer(server) { server in
            let request = server.request(method, path, secret)
            let found = try await transport.send(request, body: Array("<find/>".utf8))

            #expect(found.text == "here")
            #expect(server.requests.map(\.target) == [path, path + "/"])
            #expect(server.requests.map(\.method) == ["PROPFIND", "PROPFIND"])
            let body = Array("<find/>".utf8)
            #expect(server.requests.map(\.body) == [body, body])
        }
    }

    @Test(arguments: ["/b/", "/a/b/", "/a/?x=1", "/a", "/A/", "http://other.test/b/"])
    func `a question for properties is followed nowhere else`(_ location: String) async throws {
        let server = try RawServer.answering { _ in answer("301 X", ["Location: \(location)"]) }
        let method = try #require(HTTPRequest.Method("PROPFIND"))
        try await withServer(server) { server in
            let error = await transport.failure(server.request(method, "/a"), body: [1])

            #expect(error?.code == .redirectRefused)
            #expect(server.requests.map(\.target) == ["/a"])
        }
    }

    @Test func `a question for properties is followed to one slash, and not to another`()
        async throws
    {
        let server = try RawServer.answering { request in
            answer("301 X", ["Location: \(request.target)/"])
        }
        let method = try #require(HTTPRequest.Method("PROPFIND"))
        try await withServer(server) { server in
            let error = await transport.failure(server.request(method, "/a"), body: [1])

            #expect(error?.code == .redirectRefused)
            #expect(server.requests.map(\.target) == ["/a", "/a/"])
        }
    }

    @Test func `a redirect without a target is an answer`() async throws {
        let server = try RawServer.answering { _ in answer("302 Found", body: "where?") }
        try await withServer(server) { server in
            let answer = try await transport.send(server.request())

            #expect(answer.response.status == .found)
            #expect(server.requests.count == 1)
        }
    }

    @Test(arguments: ["http://cloud.example.org/a/", "http://cloud.example.org:8080/a/", "a/"])
    func `a folder behind a proxy is asked for at its own address, whatever the server calls it`(
        _ location: String
    ) throws {
        let from = try #require(URL(string: "https://cloud.example.org/a"))
        let method = try #require(HTTPRequest.Method("PROPFIND"))
        let target = try TransportRedirects.target(
            location: location, from: from, method: method, followed: 0)

        #expect(target.absoluteString == "https://cloud.example.org/a/")
    }

    @Test(arguments: [
        (
            "http://cloud.example.org:80/a%20b?q=1", "https://cloud.example.org/a%20b?q=1",
            "to https://cloud.example.org, as the server wants https: give its address so"
        ),
        ("https://example.org/a", "https://www.example.org/a", "to https://www.example.org"),
        (
            "http://example.org/a", "https://u:p@login.example.org:8443/?back=secret",
            "to https://login.example.org:8443"
        ),
        ("http://example.org/a", "http://u:p@example.org/b", "to an address with a user in it"),
        ("http://example.org/a", "file:///etc", "to another origin"),
    ])
    func `a redirect that is refused tells to which server it leads, and no more of it`(
        _ address: String, _ location: String, _ detail: String
    ) throws {
        let from = try #require(URL(string: address))
        let methods: [HTTPRequest.Method?] = [.get, HTTPRequest.Method("PROPFIND")]
        for method in methods {
            let method = try #require(method)
            do throws(TransportError) {
                _ = try TransportRedirects.target(
                    location: location, from: from, method: method, followed: 0)
                Issue.record("it is followed")
            } catch {
                #expect(error == TransportError(.redirectRefused, detail: detail))
            }
        }
    }

    @Test func `origins compare without case and with default ports`() throws {
        let from = try #require(URL(string: "https://Example.org/a"))
        let target = try TransportRedirects.target(
            location: "HTTPS://example.ORG:443/b", from: from, method: .get, followed: 4)

        #expect(target.path() == "/b")
        for location in [
            "http://example.org/b", "https://example.org:80/", "https://example.org./",
        ] {
            #expect(throws: TransportError.self) {
                try TransportRedirects.target(
                    location: location, from: from, method: .get, followed: 0)
            }
        }
    }
}
