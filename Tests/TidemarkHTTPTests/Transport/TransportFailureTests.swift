// TransportFailureTests.swift — broken connections, and whether the request may have arrived.

import Foundation
import HTTPTypes
import Testing
import TidemarkHTTP
import TidemarkSync

@Suite struct `transport failures` {
    let transport = TestedTransport()

    @Test(arguments: [
        "", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345",
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n5\r\nab",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "no HTTP at all\r\n\r\n",
    ])
    func `half an answer is a lost connection`(_ half: String) async throws {
        let server = try RawServer { connection in
            _ = connection.readRequest()
            connection.write(half)
        }
        try await withServer(server) { server in
            let read = await transport.failure(server.request())
            let write = await transport.failure(server.request(.put), body: [1])

            #expect(read?.code == .connectionLost)
            #expect(write?.code == .connectionLost)
            #expect(write?.mayHaveArrived == true)
        }
    }

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345"])
    func `a reset is a lost connection`(_ half: String) async throws {
        let server = try RawServer { connection in
            _ = connection.readRequest()
            connection.write(half)
            connection.closeWithReset()
        }
        try await withServer(server) { server in
            let error = await transport.failure(server.request(.put), body: [1])

            #expect(error?.code == .connectionLost)
        }
    }

    @Test func `a refused connection means nothing arrived`() async throws {
        let request = HTTPRequest(
            method: .put, scheme: "http", authority: "127.0.0.1:\(try RawSocket.closedPort())",
            path: "/")

        let error = await transport.failure(request, body: [1])

        #expect(error?.code == .offline)
        #expect(error?.mayHaveArrived == false)
        #expect(error?.detail.isEmpty == false)
    }

    #if AsyncHTTP
        @Test func `a refused connection says nothing of where the server is`() async throws {
            let port = try RawSocket.closedPort()
            let request = HTTPRequest(
                method: .get, scheme: "http", authority: "localhost:\(port)", path: "/")

            let error = await transport.failure(request)

            #expect(error?.code == .offline)
            let detail = error?.detail ?? ""
            #expect(!detail.isEmpty)
            for place in ["[IPv", "127.0.0.1", "::1", "localhost", "\(port)"] {
                #expect(!detail.contains(place), "\(detail)")
            }
        }
    #endif

    @Test func `a connection refused after a redirect does not mean that nothing arrived`()
        async throws
    {
        let url = try #require(URL(string: "http://127.0.0.1/a"))
        let exchange = TransportExchange(
            method: .get, url: url, limits: TransportLimits(),
            receiver: try TransportReceiver())
        exchange.redirect(to: "/b") { #expect($0?.path() == "/b") }
        exchange.fail(platformCode: -1004, detail: "", bodyBytesSent: 0)
        let outcome = await withCheckedContinuation { #expect(!exchange.start($0)) }

        #expect(outcome == .failure(TransportError(.connectionLost)))
    }

    @Test func `TLS with a server that has none is no answer`() async throws {
        let server = try RawServer { connection in connection.write("HTTP/1.1 400 No\r\n\r\n") }
        try await withServer(server) { server in
            var request = server.request()
            request.scheme = "https"
            let error = await transport.failure(request)

            #expect(error?.code == .offline || error?.code == .connectionLost)
            #expect(server.requests.isEmpty)
        }
    }

    @Test(arguments: [
        (-1009, TransportError.Code.offline), (-1004, .offline), (-1003, .offline),
        (-1006, .offline), (-1200, .offline), (-1202, .offline), (-1206, .offline),
        (-1018, .offline), (-1019, .offline), (-1020, .offline), (-1021, .connectionLost),
        (-1022, .offline),
        (-1001, .timeout), (-999, .cancelled), (-1, .connectionLost), (-1011, .connectionLost),
        (-1005, .connectionLost), (-1017, .connectionLost), (-1002, .connectionLost),
        (-1199, .connectionLost), (-1207, .connectionLost), (7, .connectionLost),
    ])
    func `platform codes have one meaning each`(_ code: Int, _ expected: TransportError.Code) {
        #expect(TransportFailures.code(code, sent: false) == expected)
        #expect(
            TransportFailures.code(code, sent: true)
                == (expected == .offline ? .connectionLost : expected))
    }

    @Test(arguments: [
        (["Content-Length": "4"], HTTPRequest.Method.get, false),
        (["Content-Length": "3"], .get, true),
        ([:], .get, true), (["Content-Length": "4"], .head, true),
        (["Content-Length": "3, 3"], .get, true), (["Content-Length": "3, 4"], .get, false),
        (["Content-Length": "3,"], .get, false),
        (["Content-Length": "99999999999999999999"], .get, false),
        (["Content-Length": "4", "Content-Encoding": "gzip"], .get, true),
        (["Content-Length": "4", "Content-Encoding": "identity"], .get, false),
        (["Content-Length": "4", "Transfer-Encoding": "chunked"], .get, true),
    ])
    func `a body shorter than announced is a lost connection`(
        _ fields: [String: String], _ method: HTTPRequest.Method, _ whole: Bool
    ) async throws {
        var head = HTTPResponse(status: .ok)
        for (name, value) in fields {
            head.headerFields[try #require(HTTPField.Name(name))] = value
        }
        let url = try #require(URL(string: "http://127.0.0.1/"))
        let exchange = TransportExchange(
            method: method, url: url, limits: TransportLimits(),
            receiver: try TransportReceiver())
        exchange.receive(head: head)
        exchange.receive(body: [1, 2, 3])
        exchange.complete(head: nil)
        let outcome = await withCheckedContinuation { #expect(!exchange.start($0)) }

        switch outcome {
        case .success(let answer): #expect(whole && answer.body == [1, 2, 3])
        case .failure(let error): #expect(!whole && error.code == .connectionLost)
        }
    }
}
