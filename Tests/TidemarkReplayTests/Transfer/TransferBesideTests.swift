// TransferBesideTests.swift — what one file's answers mean for the others, and what an answer tells
// of the bytes that it brings.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

extension TransferWorld {
    /// Has a file's requests answered by a status that asks for a pause of ten minutes.
    fileprivate func pause(_ path: String, by status: Int) {
        files.fault = { request, answer in
            guard request.path == path else { return answer }
            var fields = HTTPFields()
            fields[.retryAfter] = "600"
            return TransportResponse(
                response: HTTPResponse(status: .init(code: status), headerFields: fields), body: [])
        }
    }
}

@Suite struct `files beside one that is not given` {
    @Test("are fetched where that is locked, for as long as its answer says")
    func locked() async throws {
        let world = try TransferWorld(
            ContentRule("photo", when: .all), TransferBudgets(downloads: 1))
        for number in 1...3 {
            world.serve("/files/\(number)", "tea")
            try world.name("/files/\(number)", by: "\(number)")
        }
        world.pause("/files/1", by: 423)

        let outcome = try await world.engine.transfer()

        #expect(outcome.stored == 2 && outcome.failed == 1 && outcome.failure == nil)
        #expect(outcome.nextAt == world.world.clock.now.adding(seconds: 600))
        world.files.fault = nil
        try await world.expectSound()
    }

    @Test("wait where the server asks for a pause, however often that one failed before")
    func pauseAsked() async throws {
        let world = try TransferWorld()
        world.serve("/files/1", "tea")
        try world.name("/files/1")
        world.files.fault = { _, _ throws(TransportError) in throw TransportError(.timeout) }
        for _ in 1...3 {
            #expect(try await world.engine.transfer().failed == 1)
            world.world.clock.advance(by: .seconds(3600))
        }
        world.pause("/files/1", by: 503)

        let outcome = try await world.engine.transfer()

        #expect(outcome.failed == 1)
        #expect(outcome.failure == .server(status: 503, retryAfterSeconds: 600))
        world.files.fault = nil
        try await world.expectSound()
    }

    @Test("come before what failed again and again, though not by each version's order")
    func orders() async throws {
        let world = try TransferWorld(
            ContentRule("photo", when: .all), TransferBudgets(downloads: 1))
        func name(_ number: Int) throws {
            world.serve("/files/\(number)", "tea")
            try world.name("/files/\(number)", by: "\(number)")
        }
        try name(9)
        try await world.replica.write { tx in _ = try tx.wantFiles(of: EntityKey("tasks", "9")) }
        world.files.fault = { _, _ in
            TransportResponse(response: HTTPResponse(status: .serviceUnavailable), body: [])
        }
        for _ in 1...3 {
            #expect(try await world.engine.transfer().failed == 1)
            world.world.clock.advance(by: .seconds(3600))
        }
        world.files.fault = nil
        for number in 1...2 { try name(number) }
        world.world.clock.advance(by: .seconds(3600))

        let now = world.world.clock.now
        let next = try world.replica.journal.read { views in
            try [TransferOrder.neverFailedFirst, .askedFirst, .failedLast].map { order in
                try views.nextTransfer(at: now, order: order) { _, _ in false }?.source.text
            }
        }

        // A log of a version that had another order is decided again by that.
        #expect(next == ["/files/1", "/files/9", "/files/1"])
        #expect(try await world.engine.transfer().stored == 3)
        try await world.expectSound()
    }
}

@Suite struct `a checksum in the answer to a request for a file` {
    /// The SHA-256 of "tea".
    private static let ofTea =
        "a9f74d1ec36ebdeb2da3f6e5868090cd2a2d20b3dcca7b62f60304b1d3d9ef42"

    /// A server that tells a checksum of "tea", which it may give in another form.
    private func world(_ checksum: String, encoding: String? = nil) throws -> TransferWorld {
        let world = try TransferWorld()
        world.serve("/files/1", "tea")
        try world.name("/files/1")
        let name = try #require(HTTPField.Name("OC-Checksum"))
        world.files.fault = { _, answer in
            var answer = answer
            answer.response.headerFields[name] = checksum
            answer.response.headerFields[.contentEncoding] = encoding
            return answer
        }
        return world
    }

    @Test("is compared also by the hash by which files are named", arguments: [true, false])
    func bySHA256(_ isRight: Bool) async throws {
        let digits = isRight ? Self.ofTea : String(Self.ofTea.reversed())
        let world = try world("SHA256:\(digits)")

        let outcome = try await world.engine.transfer()

        #expect(outcome.stored == (isRight ? 1 : 0) && outcome.refused == (isRight ? 0 : 1))
        #expect(try world.text() == (isRight ? "tea" : nil))
        world.files.fault = nil
        try await world.expectSound()
    }

    @Test("is none of what came in another form, nor one that makes no sense")
    func ofOtherForm() async throws {
        let other = "SHA1:75490f32c06a50051804339453d3fe2f0cd5564c"
        for (checksum, encoding) in [(other, "br"), ("SHA1:7549", nil)] as [(String, String?)] {
            let world = try world(checksum, encoding: encoding)

            #expect(try await world.engine.transfer().stored == 1)

            #expect(try world.text() == "tea")
            world.files.fault = nil
            try await world.expectSound()
        }
    }
}
