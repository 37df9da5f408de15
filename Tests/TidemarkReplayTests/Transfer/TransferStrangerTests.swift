// TransferStrangerTests.swift — files whose server fails for all of them, or in whose place another
// answers: a sign-in page, a redirect.

import Foundation
import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

/// Answers as the clients of platforms do: each ends an exchange.
private struct Exchanging: Transport {
    let files: InMemoryFiles

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        try await files.send(request, body: body, limits: limits)
    }

    func transfer(
        _ request: HTTPRequest, body: TransportBody?, into file: TransportFile?,
        limits: TransportLimits
    ) async throws(TransportError) -> TransportTransfer {
        let exchange = TransportExchange(
            method: request.method, url: URL(filePath: "/"), limits: limits,
            receiver: try TransportReceiver(into: file))
        let answer = try await files.send(
            request, body: try body?.bytes(), limits: TransportLimits())
        let outcome = await withCheckedContinuation { continuation in
            guard exchange.start(continuation) else { return }
            exchange.receive(head: answer.response)
            exchange.receive(body: answer.body)
            exchange.complete(head: nil)
        }
        return try outcome.get()
    }
}

extension TransferWorld {
    /// What comes in the place of the files, one answer or error after another; then they come.
    fileprivate func answer(_ others: [Result<TransportResponse, TransportError>]) {
        let seen = SeenCounts()
        files.fault = { _, answer throws(TransportError) in
            defer { seen.note(1) }
            let index = seen.counts.count
            return index < others.count ? try others[index].get() : answer
        }
    }

    fileprivate static func answer(
        _ status: Int, _ type: String? = nil, _ body: String = ""
    ) -> Result<TransportResponse, TransportError> {
        var fields = HTTPFields()
        fields[.contentType] = type
        return .success(
            TransportResponse(
                response: HTTPResponse(status: .init(code: status), headerFields: fields),
                body: Array(body.utf8)))
    }

    fileprivate static let page = answer(200, "text/html; charset=utf-8", "<p>Sign in")
    fileprivate static let redirect = Result<TransportResponse, TransportError>.failure(
        TransportError(.redirectRefused, detail: "to another origin"))

    /// Asks for files again and again, each time an hour later.
    fileprivate func transfer(times: Int) async throws {
        for _ in 0..<times {
            _ = try await engine.transfer()
            world.clock.advance(by: .seconds(3600))
        }
    }
}

@Suite struct `a file in whose server's place another answers` {
    // MARK: Redirects

    @Test("is sent later where a redirect came once, and the others at once")
    func redirectedOnce() async throws {
        let world = try TransferWorld(TransferWorld.rule, TransferBudgets(uploads: 1))
        world.takeFiles()
        for id in ["1", "2", "3"] { try world.attach("tea \(id)", to: id) }
        world.answer([TransferWorld.redirect])

        let outcome = try await world.engine.transfer()
        _ = try await world.engine.sync()
        world.world.clock.advance(by: .seconds(3600))
        #expect(outcome.sent == 2 && outcome.failed == 1 && outcome.refused == 0)
        #expect(try await world.engine.transfer().sent == 1)
        _ = try await world.engine.sync()

        for id in ["1", "2", "3"] { #expect(try world.status(id) == .synced) }
        world.files.fault = nil
        try await world.expectSound()
    }

    @Test("is never refused for redirects, and few of many are sent meanwhile")
    func redirectedForHours() async throws {
        let world = try TransferWorld(TransferWorld.rule)
        world.takeFiles()
        let ids = (1...20).map { "\($0)" }
        for id in ids { try world.attach("tea \(id)", to: id) }
        world.answer([Result](repeating: TransferWorld.redirect, count: 1_000))

        let outcome = try await world.engine.transfer()
        // Those that had begun by then come to their end.
        #expect((3...8).contains(outcome.failed) && outcome.refused == 0)
        #expect(outcome.failure?.kind == .foreign)
        for _ in 0..<8 {
            _ = try await world.engine.sync()
            world.world.clock.advance(by: .seconds(3600))
            _ = try await world.engine.transfer()
        }
        for id in ids { #expect(try world.status(id) == .created) }

        world.files.fault = nil
        world.world.clock.advance(by: .seconds(3600))
        #expect(try await world.engine.transfer().sent == 20)
        _ = try await world.engine.sync()
        for id in ids { #expect(try world.status(id) == .synced) }
        try await world.expectSound()
    }

    @Test("is fetched once no redirect comes any more")
    func fetchedLater() async throws {
        let world = try TransferWorld()
        world.serve("/files/1", "tea")
        try world.name("/files/1")
        world.answer([TransferWorld.redirect, TransferWorld.redirect])

        #expect(try await world.engine.transfer().refused == 0)
        world.world.clock.advance(by: .seconds(3600))
        #expect(try await world.engine.transfer().refused == 0)
        world.world.clock.advance(by: .seconds(3600))

        #expect(try await world.engine.transfer().stored == 1)
        #expect(try world.events.prefix(2) == ["foreign", "foreign"])
        try await world.expectSound()
    }

    @Test("is refused for a day where it lies behind a redirect for the third time")
    func behindRedirect() async throws {
        let world = try TransferWorld()
        try world.name("/files/1")
        world.answer([Result](repeating: TransferWorld.redirect, count: 9))

        try await world.transfer(times: 2)
        let outcome = try await world.engine.transfer()

        #expect(outcome.refused == 1)
        #expect(outcome.nextAt == world.world.clock.now.adding(.days(1)))
        #expect(try world.events == ["foreign", "foreign", "redirectRefused"])
        try await world.expectSound()
    }

    // MARK: Pages

    @Test("is no page that came once, whatever failed before")
    func pageAfterFailures() async throws {
        let world = try TransferWorld()
        world.serve("/files/1", "tea")
        try world.name("/files/1")
        world.answer([
            .failure(TransportError(.timeout)), TransferWorld.answer(502), TransferWorld.page,
            TransferWorld.answer(502), TransferWorld.page, TransferWorld.page,
        ])

        try await world.transfer(times: 6)
        #expect(try world.text() == nil)
        #expect(try await world.engine.transfer().stored == 1)

        #expect(try world.text() == "tea")
        try await world.expectSound()
    }

    @Test("is the page that comes three times in a row, minutes after each other")
    func pageThreeTimes() async throws {
        let world = try TransferWorld()
        try world.name("/files/1")
        world.answer([Result](repeating: TransferWorld.page, count: 9))

        for _ in 0..<2 {
            let outcome = try await world.engine.transfer()
            #expect(outcome.failed == 1)
            #expect(outcome.nextAt == world.world.clock.now.adding(seconds: 120))
            world.world.clock.advance(by: .seconds(120))
        }
        #expect(try await world.engine.transfer().stored == 1)

        #expect(try world.text() == "<p>Sign in")
        try await world.expectSound()
    }

    @Test("is not refused by a page that came once, whatever failed before")
    func refusalAfterFailures() async throws {
        let world = try TransferWorld(TransferWorld.rule)
        world.takeFiles()
        try world.attach("tea")
        world.answer([
            .failure(TransportError(.timeout)), .failure(TransportError(.timeout)),
            TransferWorld.answer(403, "text/html"),
        ])

        try await world.transfer(times: 3)
        _ = try await world.engine.sync()
        #expect(try world.status() == .created)
        #expect(try await world.engine.transfer().sent == 1)
        _ = try await world.engine.sync()

        #expect(try world.status() == .synced)
        try await world.expectSound()
    }

    // MARK: Answers that are longer than the file may be

    @Test("is not longer than it may be where an answer without it is", arguments: [500, 503])
    func longFailure(_ status: Int) async throws {
        let world = try TransferWorld(ContentRule("photo", when: .all, bytesMax: 9))
        world.serve("/files/1", "tea")
        try world.name("/files/1")
        world.answer([TransferWorld.answer(status, "text/plain", "twenty bytes of text")])
        let engine = try world.engine(over: Exchanging(files: world.files))

        #expect(try await engine.transfer().refused == 0)
        world.world.clock.advance(by: .seconds(3600))
        #expect(try await engine.transfer().stored == 1)

        #expect(try world.events == ["failed", "whole", "stored"])
        try await world.expectSound()
    }

    @Test("is asked for with other credentials after a long 401")
    func longRefusal() async throws {
        let world = try TransferWorld(ContentRule("photo", when: .all, bytesMax: 9))
        world.serve("/files/1", "tea")
        try world.name("/files/1")
        world.answer([TransferWorld.answer(401, "text/plain", "twenty bytes of text")])
        let tokens = Tokens()
        let engine = try world.engine(over: Exchanging(files: world.files)) { tokens.next() }

        #expect(try await engine.transfer().stored == 1)
        #expect(tokens.count == 2)
    }

    @Test("is refused where it is longer itself, whether the server says so or not")
    func longFile() async throws {
        for hasParts in [true, false] {
            let world = try TransferWorld(ContentRule("photo", when: .all, bytesMax: 9))
            world.serve("/files/1", "0123456789", hasParts: hasParts)
            try world.name("/files/1")
            let engine = try world.engine(over: Exchanging(files: world.files))

            #expect(try await engine.transfer().refused == 1)
            #expect(try world.events == [hasParts ? "refused" : "tooLarge"])
        }
    }
}

@Suite struct `a file of which its answer tells a checksum` {
    /// A server that tells the checksum of "tea", and gives something else some times.
    private func world(spoilt times: Int) throws -> TransferWorld {
        let world = try TransferWorld()
        world.serve("/files/1", "tea")
        try world.name("/files/1")
        let count = SyncCounter()
        world.files.fault = { _, answer in
            var answer = answer
            if let name = HTTPField.Name("OC-Checksum") {
                answer.response.headerFields[name] =
                    "ADLER32:02780140 SHA1:75490F32C06A50051804339453D3FE2F0CD5564B"
            }
            if count.count() < times { answer.body = Array("tee".utf8) }
            return answer
        }
        return world
    }

    @Test("is fetched anew where its bytes have another one")
    func spoiltOnce() async throws {
        let world = try world(spoilt: 1)

        #expect(try await world.engine.transfer().stored == 1)

        #expect(try world.text() == "tea")
        #expect(try world.events == ["anew", "whole", "stored"])
        try await world.expectSound(acts: 4)
    }

    @Test("can't be had where it has another one each time")
    func spoiltAlways() async throws {
        let world = try world(spoilt: .max)

        #expect(try await world.engine.transfer().refused == 1)

        #expect(try world.text() == nil)
        #expect(try world.events == ["anew", "anew", "anew", "refused"])
        #expect(try await world.engine.transfer().refused == 0)
        try await world.expectSound(acts: 8)
    }
}

@Suite struct `a server of files that fails` {
    @Test("is asked for few of many files", arguments: [500, 502, 504])
    func always(_ status: Int) async throws {
        let world = try TransferWorld()
        try world.serve(20)
        let failure = TransferWorld.answer(status)
        world.answer([Result](repeating: failure, count: 99))

        let outcome = try await world.engine.transfer()

        #expect(outcome.failed == (status == 500 ? 3 : 1))
        #expect(outcome.failure == .server(status: status, retryAfterSeconds: nil))
        #expect(outcome.nextAt == world.world.clock.now.adding(seconds: 5))
        world.files.fault = nil
        world.world.clock.advance(by: .seconds(5))
        #expect(try await world.engine.transfer().stored == 20)
        try await world.expectSound()
    }

    @Test("is asked for few of many files where only pages come")
    func pages() async throws {
        let world = try TransferWorld()
        try world.serve(20)
        world.answer([Result](repeating: TransferWorld.page, count: 99))

        let outcome = try await world.engine.transfer()

        #expect(outcome.failed == 3 && outcome.failure?.kind == .foreign)
        #expect(try world.events == ["failed", "failed", "failed"])
    }

    @Test("is asked for all others where it fails for some again and again")
    func some() async throws {
        let world = try TransferWorld()
        try world.serve(20)
        world.files.fault = { request, answer throws(TransportError) in
            let isBroken = ["/files/1", "/files/10", "/files/11"].contains(request.path)
            return isBroken ? try TransferWorld.answer(500).get() : answer
        }
        for _ in 0..<8 {
            _ = try await world.engine.transfer()
            world.world.clock.advance(by: .seconds(3600))
        }
        #expect(try world.text("20") == "tea")
        #expect(try await world.engine.transfer().failure == nil)

        world.files.fault = nil
        try await world.expectSound()
    }
}
