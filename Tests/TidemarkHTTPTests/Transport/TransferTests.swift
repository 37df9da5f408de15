// TransferTests.swift — bodies in files, with servers that lie, break off and hang.

import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing
import TidemarkHTTP
import TidemarkSync

@Suite struct `transfers` {
    let transport = TestedTransport()
    let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    /// A server that sends this text for each request, and then closes.
    private func saying(_ text: String) throws -> RawServer {
        try RawServer { connection in
            _ = connection.readRequest()
            connection.write(text)
        }
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabcde", 0, "abcde"),
        ("HTTP/1.1 206 X\r\nContent-Length: 9\r\n\r\nabcde", 2, "12abcde"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n", 0, "abcde"),
    ])
    func `what came before the connection broke is in the file`(
        _ text: String, _ offset: Int, _ kept: String
    ) async throws {
        let target = try folder.file("1234".utf8)
        try await withServer(try saying(text)) { server in
            let error = await transport.transferFailure(
                server.request(), into: target, at: offset)

            #expect(error?.code == .connectionLost)
            let now = try bytes(of: target)
            #expect(now == Array(kept.utf8))
        }
    }

    @Test func `the whole file in answer to the request for a rest ends with its head`()
        async throws
    {
        let target = try folder.file("1234".utf8)
        let server = try RawServer { connection in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\nabcde")
            connection.waitForClose()
        }
        try await withServer(server) { server in
            let answer = try await transport.transfer(server.request(), into: target, at: 2)

            #expect(answer.response.status == .ok && answer.written == nil && answer.body == [])
            let now = try bytes(of: target)
            #expect(now == Array("1234".utf8))
        }
    }

    @Test func `bytes after the announced length are no part of the body`() async throws {
        let target = try folder.file([])
        let server = try saying("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcde")
        try await withServer(server) { server in
            let answer = try await transport.transfer(server.request(), into: target)

            #expect(answer.written == 3)
            let now = try bytes(of: target)
            #expect(now == Array("abc".utf8))
        }
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n", "1234"),
        ("HTTP/1.1 404 X\r\nContent-Length: 1001\r\n\r\n", "1234"),
        ("HTTP/1.1 404 X\r\n\r\n" + String(repeating: "x", count: 1001), "1234"),
    ])
    func `an answer over the limit ends the transfer, and the file stays as it was`(
        _ text: String, _ kept: String
    ) async throws {
        let target = try folder.file("1234".utf8)
        let server = try RawServer { connection in
            _ = connection.readRequest()
            connection.write(text)
            connection.waitForClose()
        }
        try await withServer(server) { server in
            let limits = TransportLimits(deadline: .seconds(600), responseBytesMax: 1000)
            let error = await transport.transferFailure(
                server.request(), into: target, limits: limits)

            #expect(error?.code == .tooLarge)
            let now = try bytes(of: target)
            #expect(now == Array(kept.utf8))
        }
    }

    @Test func `a file gets no more than the limit`() async throws {
        let target = try folder.file([])
        let server = try RawServer { connection in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\n\r\n")
            connection.write([UInt8](repeating: 0, count: 100_000))
            connection.waitForClose()
        }
        try await withServer(server) { server in
            let limits = TransportLimits(deadline: .seconds(600), responseBytesMax: 50_000)
            let error = await transport.transferFailure(
                server.request(), into: target, limits: limits)

            #expect(error?.code == .tooLarge)
            let now = try bytes(of: target)
            #expect(now.count <= 50_000)
        }
    }

    @Test func `what a redirect says is dropped, and its target's body is in the file`()
        async throws
    {
        let target = try folder.file("12".utf8)
        let server = try RawServer.answering { request in
            request.target == "/"
                ? answer("302 Found", ["Location: /b"], body: "moved")
                : answer("206 X", body: "here")
        }
        try await withServer(server) { server in
            let answer = try await transport.transfer(server.request(), into: target, at: 1)

            #expect(answer.written == 4)
            let now = try bytes(of: target)
            #expect(now == Array("1here".utf8))
        }
    }

    @Test(arguments: [true, false])
    func `a transfer that was given up writes nothing any more`(_ cancels: Bool) async throws {
        let target = try folder.file([])
        let returned = DispatchSemaphore(value: 0)
        let (ended, ending) = AsyncStream.makeStream(of: Void.self)
        let server = try RawServer { connection in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n")
            connection.write([UInt8](repeating: 1, count: 1000))
            returned.wait()
            connection.write([UInt8](repeating: 2, count: 100_000))
            connection.waitForClose()
            ending.finish()
        }
        try await withServer(server) { server in
            let limits = TransportLimits(deadline: cancels ? .seconds(600) : .milliseconds(500))
            let task = Task {
                await transport.transferFailure(server.request(), into: target, limits: limits)
            }
            if cancels {
                while try bytes(of: target).isEmpty { await Task.yield() }
                task.cancel()
            }
            let error = await task.value
            let kept = try bytes(of: target)
            returned.signal()
            for await _ in ended {}

            #expect(error?.code == (cancels ? .cancelled : .timeout))
            let now = try bytes(of: target)
            #expect(now == kept)
        }
    }

    @Test(.enabled(if: TinyDisk.isPossible, Comment(rawValue: TinyDisk.reason)))
    func `a full disk is said, and the transport goes on`() async throws {
        let disk = try #require(try TinyDisk())
        let target = disk.path + "/file"
        try Data().write(to: URL(filePath: target))
        let server = try RawServer { connection in
            while let request = connection.readRequest() {
                let count = request.target == "/large" ? 8 << 20 : 9
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n")
                connection.write([UInt8](repeating: 7, count: count))
            }
        }
        try await withServer(server) { server in
            let error = await transport.transferFailure(
                server.request(.get, "/large"), into: target)
            let answer = try await transport.transfer(server.request(), into: target)

            #expect(error?.code == .diskFull)
            #expect(error?.detail.contains(target) == true)
            #expect(answer.written == 9)
        }
    }

    @Test func `a file that can't be used is said before anything is sent`() async throws {
        let three = try folder.file([1, 2, 3])
        let missing = folder.path + "/missing"
        let server = try RawServer.answering { _ in answer() }
        try await withServer(server) { server in
            for (path, offset) in [(missing, 0), (three, 4), (folder.path, 0)] {
                let received = await transport.transferFailure(
                    server.request(), into: path, at: offset)
                let sent = await transport.transferFailure(
                    server.request(.put),
                    body: .file(TransportFile(path, offset: offset), count: 1))

                #expect(received?.code == .file)
                #expect(sent?.code == .file)
                #expect(sent?.detail.contains(path) == true)
            }
            #expect(server.connections == 0)
        }
    }

    @Test func `a file is sent with its length, and not in chunks`() async throws {
        let source = TransportFile(try folder.file(numbered(2_000_000)), offset: 17)
        let server = try RawServer.answering { _ in answer("201 Created", body: "made") }
        try await withServer(server) { server in
            let answer = try await transport.transfer(
                server.request(.put, "/a", [.ifNoneMatch: "*"]),
                body: .file(source, count: 1_500_000))

            let seen = try #require(server.requests.first)
            #expect(answer.response.status == .created)
            #expect(answer.body == Array("made".utf8))
            #expect(seen.line == "PUT /a HTTP/1.1")
            #expect(seen.values("Content-Length") == ["1500000"])
            #expect(seen.values("Transfer-Encoding") == [])
            #expect(seen.values("Expect") == [])
            #expect(seen.values("Content-Type") == ["application/octet-stream"])
            #expect(seen.values("If-None-Match") == ["*"])
            #expect(seen.body == Array(numbered(1_500_017)[17...]))
        }
    }

    @Test(arguments: [0, 1, 2_000_000])
    func `a file is sent between what stands around it`(_ count: Int) async throws {
        let source = TransportFile(try folder.file(numbered(count + 5)), offset: 5)
        let (before, after) = (Array("--a\r\n\r\n".utf8), Array("\r\n--a--\r\n".utf8))
        let body = TransportBody.framed(before: before, source, count: count, after: after)
        let server = try RawServer.answering { _ in answer("202 Accepted", body: "made") }
        try await withServer(server) { server in
            let answer = try await transport.transfer(
                server.request(.post, "/a", [.contentType: "multipart/form-data; boundary=a"]),
                body: body)

            let seen = try #require(server.requests.first)
            let whole = before + numbered(count + 5)[5...] + after
            #expect(answer.response.status == .accepted)
            #expect(seen.values("Content-Length") == ["\(whole.count)"])
            #expect(seen.values("Transfer-Encoding") == [])
            #expect(seen.values("Content-Type") == ["multipart/form-data; boundary=a"])
            #expect(seen.body == whole)
            #expect(try body.bytes() == whole && body.count == whole.count)
        }
    }

    @Test func `a file that becomes shorter while it is sent is said`() async throws {
        let count = 64 << 20
        let path = try folder.file([])
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try file.truncate(atOffset: UInt64(count))
        let server = try RawServer { connection in
            _ = connection.readHead()
            try? file.truncate(atOffset: 9)
            connection.waitForClose()
        }
        try await withServer(server) { server in
            let error = await transport.transferFailure(
                server.request(.put), body: .file(TransportFile(path), count: count))

            #expect(error?.code == .file)
            #expect(error?.mayHaveArrived == true)
        }
    }

    @Test func `an answer in the middle of a body ends the exchange`() async throws {
        let source = TransportFile(try folder.file(numbered(30_000_000)))
        let server = try RawServer { connection in
            _ = connection.readHead()
            connection.write(answer("507 Full", ["Connection: close"], body: "no room"))
            connection.waitForClose()
        }
        try await withServer(server) { server in
            let answer = try await transport.transfer(
                server.request(.put), body: .file(source, count: 30_000_000))

            #expect(answer.response.status.code == 507)
            #expect(answer.body == Array("no room".utf8))
        }
    }

    @Test(arguments: [true, false], [5, 5_000_000])
    func `a whole body is not sent twice when a reused connection closes`(
        _ inFile: Bool, _ count: Int
    ) async throws {
        let content = numbered(count)
        let body =
            inFile
            ? TransportBody.file(TransportFile(try folder.file(content)), count: count)
            : .bytes(content)
        let server = try RawServer { connection in
            guard let first = connection.readRequest() else { return }
            connection.write(answer(body: first.method))
            _ = connection.readHead()
            connection.waitForBody(5)
            connection.closeWithReset()
        }
        try await withServer(server) { server in
            _ = try await transport.send(server.request())
            let error = await transport.transferFailure(server.request(.put), body: body)

            #expect(error?.code == .connectionLost)
            #expect(server.requests.map(\.method) == ["GET"])
        }
    }
}
