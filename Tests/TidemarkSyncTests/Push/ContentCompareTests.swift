// ContentCompareTests.swift — what lies at the path of an upload without an answer: over a link on
// which a long file takes longer than a request may, and where lists tell wrong lengths.

import HTTPTypes
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkInspect
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

/// Brings so many bytes of a file within the time of a request, and the head of a longer one.
private struct SlowLink: Transport {
    let server: WebDAVServer
    let bytesMax: Int

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        try await server.send(request, body: body, limits: limits)
    }

    func transfer(
        _ request: HTTPRequest, body: TransportBody?, into file: TransportFile?,
        limits: TransportLimits
    ) async throws(TransportError) -> TransportTransfer {
        let answer = try await server.send(request, body: try body?.bytes(), limits: limits)
        var receiver = try TransportReceiver(into: file)
        try receiver.begin(answer.response)
        try receiver.check(length: answer.body.count)
        if file != nil, answer.body.count > bytesMax { throw TransportError(.timeout) }
        if !receiver.isOver { try receiver.take(answer.body) }
        return receiver.transfer(answer.response)
    }
}

/// A server whose lists say that files of three bytes have nine.
private struct WrongLengths: Transport {
    let server: WebDAVServer

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        var answer = try await server.send(request, body: body, limits: limits)
        let text = String(decoding: answer.body, as: UTF8.self)
        answer.body = Array(
            text.replacing("getcontentlength>3<", with: "getcontentlength>9<").utf8)
        if answer.response.headerFields[.contentLength] != nil {
            answer.response.headerFields[.contentLength] = "\(answer.body.count)"
        }
        return answer
    }
}

@Suite struct `a file at the path of an upload without an answer` {
    @Test func `is another client's where it is longer, which need not be fetched to know`()
        async throws
    {
        try await expectOther("what another client wrote meanwhile") {
            SlowLink(server: $0, bytesMax: 8)
        }
    }

    @Test func `is compared where it has the version that lists tell, and another length`()
        async throws
    {
        try await expectOther("six") { WrongLengths(server: $0) }
    }

    /// Has another client put a file in the place of an upload without an answer.
    private func expectOther(
        _ text: String, over link: (WebDAVServer) -> any Transport,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let clock = ManualClock()
        var options = WebDAVOptions()
        options.hasFileIDs = true
        let server = WebDAVServer(WebDAVServerModel(options), clock: clock)
        server.put("a.txt", "one")
        let remote = Remote.webdav(origin: "http://files.test", home: "/")
        let replica = try Replica.temporary(
            model: .files(.init("content", when: .all)), remote: remote,
            dependencies: .seeded(0, clock: clock))
        let engine = try SyncEngine(replica, remote: remote, transport: link(server)) {
            .basic(user: "me", password: "secret")
        }
        #expect(try await engine.sync().isSynced)
        #expect(try await engine.transfer().stored == 1)
        let key = try #require(try replica.keys(in: "files").first)

        let content = try replica.importText("two").encoded()
        try await replica.write { tx in
            _ = try tx.patch(key, Patch(set: [.init("content", content)]))
        }
        server.faults = FaultPlan([FaultRule(.dropBeforeHandling, method: .put, nth: 1)])
        _ = try await engine.sync(scope: .push)
        #expect(server.entry("a.txt")?.text == "one")
        server.put("a.txt", text)
        clock.advance(by: .seconds(7_200))

        let outcome = try await engine.sync()

        #expect(outcome.failure == nil, sourceLocation: sourceLocation)
        let outbox = try replica.read { try $0.views.outbox(all: false) }
        #expect(outbox.isEmpty, sourceLocation: sourceLocation)
        #expect(server.entry("a.txt")?.text == text, sourceLocation: sourceLocation)
        #expect(try replica.journal.verify(.deep).findings.isEmpty)
        await engine.stop()
        try replica.deleteTemporary()
    }
}
