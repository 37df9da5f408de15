// SendBelowLateTests.swift — files of the user's that are sent below a record, where the answer
// about that or about the file is lost or late, or where the server deletes the record meanwhile.

import Foundation
import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkStore
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

/// A server that takes files, of which the first answer is late.
private final class LateAnswer: Transport, Sendable {
    private let files: InMemoryFiles
    private let work = Lock<(@Sendable () async -> Void)?>(nil)

    init(_ files: InMemoryFiles) { self.files = files }

    /// What happens before that answer comes.
    func meanwhile(_ body: @escaping @Sendable () async -> Void) { work.withLock { $0 = body } }

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        let answer = try await files.send(request, body: body, limits: limits)
        guard request.method == .post else { return answer }
        let next = work.withLock { work in
            defer { work = nil }
            return work
        }
        // The request may be stopped by it.
        if let next { await Task { await next() }.value }
        return answer
    }
}

@Suite struct `a file of the user's below a record of which no answer came` {
    @Test("keeps its name for a write that got no answer, where the record was given another one")
    func givenAnother() async throws {
        let world = try TransferWorld.takingPhotos(of: "1", "2")
        try world.attach("tea")
        try world.attach("tea", to: "2")
        #expect(try await world.round() == [0, 2])
        world.fault(.dropAfterHandling, of: "1")
        #expect(try await world.engine.transfer().sent == 2)
        _ = try await world.engine.sync()
        #expect(world.world.record("tasks/1")?.contains("/tasks/1/photos/1") == true)

        try world.give("milk")
        try await world.rounds()

        #expect(try world.replica.issues().isEmpty)
        #expect(try world.status() == .synced && world.text() == "milk")
        #expect(try world.name() == .source("/tasks/1/photos/3"))
        #expect(try world.status("2") == .synced && world.text("2") == "tea")
        try await world.expectSound()
    }

    @Test(
        "is not lost to what the server fills in, where the creation of its record got no answer",
        arguments: ["null", #""/none.png""#])
    func unanswered(_ own: String) async throws {
        let world = try TransferWorld.takingPhotos(of: "1")
        try world.replica.make(EntityKey("tasks", "1"), "tea", in: world.folder)
        world.fault(.dropAfterHandling, of: "1")
        _ = try await world.round()
        world.world.rivalPuts("tasks/1", #"{"title":"a","photo":\#(own)}"#)

        try await world.rounds()

        #expect(try world.replica.issues().isEmpty)
        #expect(try world.status() == .synced && world.text() == "tea")
        #expect(try world.name() == .source("/tasks/1/photos/1"))
        try await world.expectSound()
    }

    /// A record that the server has, with a newer title here and a photo.
    private static func edited() async throws -> TransferWorld {
        let world = try TransferWorld.takingPhotos(of: "1", by: .localWins)
        try await world.replica.write { tx in
            _ = try tx.create(EntityKey("tasks", "1"), Array(#"{"title":"a"}"#.utf8))
        }
        #expect(try await world.round() == [0, 1])
        try world.set("title", "b")
        try world.give("tea")
        return world
    }

    @Test("is sent anew below a record that is made anew, as the server deleted it with its files")
    func madeAnew() async throws {
        let world = try await Self.edited()
        #expect(try await world.engine.transfer().sent == 1)
        world.world.rivalDeletes("tasks/1")

        try await world.rounds()

        #expect(world.sent == ["POST /tasks/1/photos", "POST /tasks/1/photos"])
        #expect(try world.status() == .synced && world.text() == "tea")
        #expect(try world.name() == .source("/tasks/1/photos/2"))
        #expect(world.world.record("tasks/1")?.contains(#""title":"b""#) == true)
        try await world.expectSound()
    }

    @Test("is sent anew also where the answer came after it was heard that its record is deleted")
    func answeredLate() async throws {
        let world = try await Self.edited()
        let wire = LateAnswer(world.files)
        let engine = try world.engine(over: wire) { .basic(user: "me", password: "secret") }
        let server = world.world
        wire.meanwhile {
            server.rivalDeletes("tasks/1")
            _ = try? await engine.sync()
        }

        _ = try await engine.transfer()
        try await world.rounds()

        #expect(world.sent == ["POST /tasks/1/photos", "POST /tasks/1/photos"])
        #expect(try world.status() == .synced && world.text() == "tea")
        #expect(try world.name() == .source("/tasks/1/photos/2"))
        try await world.expectSound()
    }

    @Test("leaves the edits of its record small: only the first one since it was sent goes with it")
    func typedUnanswered() async throws {
        let world = try TransferWorld.takingPhotos(of: "1")
        try world.replica.make(EntityKey("tasks", "1"), "tea", in: world.folder)
        world.fault(.dropAfterHandling, of: "1")
        _ = try await world.round()
        let key = EntityKey("tasks", "1")
        #expect(try world.replica.journal.read { try $0.entity(key)?.attempt } != nil)

        for number in 1...100 { try world.set("body", .string("\(number)")) }
        #expect(try world.replica.read { try $0.outboxCount() } == 103)
        try await world.rounds()

        #expect(try world.replica.issues().isEmpty)
        #expect(try world.status() == .synced && world.text() == "tea")
        #expect(world.world.record("tasks/1")?.contains(#""body":"100""#) == true)
        try await world.expectSound()
    }
}
