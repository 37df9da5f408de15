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

    @Test("leaves the edits of its record small, which go with the next write")
    func typedUnanswered() async throws {
        let world = try TransferWorld.takingPhotos(of: "1")
        try world.replica.make(EntityKey("tasks", "1"), "tea", in: world.folder)
        world.fault(.dropAfterHandling, of: "1")
        _ = try await world.round()
        let key = EntityKey("tasks", "1")
        #expect(try world.replica.journal.read { try $0.entity(key)?.attempt } != nil)

        for number in 1...100 { try world.set("body", .string("\(number)")) }
        #expect(try world.replica.read { try $0.outboxCount() } == 102)
        try await world.rounds()

        #expect(try world.replica.issues().isEmpty)
        #expect(try world.status() == .synced && world.text() == "tea")
        #expect(world.world.record("tasks/1")?.contains(#""body":"100""#) == true)
        try await world.expectSound()
    }

    @Test(
        "is pending still where all the edits went with the creation that got no answer",
        arguments: [
            ConflictPolicy.serverWins, .localWins, .mergeFields(.serverWins), .ask,
            .overwriteUnlessDirty,
        ])
    func editedBefore(_ policy: ConflictPolicy) async throws {
        let world = try TransferWorld.takingPhotos(of: "1", by: policy)
        let key = EntityKey("tasks", "1")
        try world.replica.make(key, "tea", in: world.folder)
        // One that is left whole, one of which a part is left, and one that goes whole.
        try world.give("milk")
        let path = world.folder / "both"
        try Data("coffee".utf8).write(to: URL(filePath: path))
        let photo = try await world.replica.importFile(at: path).json
        try world.edit(
            Patch(set: [
                Patch.Field("title", JSONValue.string("b").encoded()),
                Patch.Field("photo", photo.encoded()),
            ]))
        try world.set("done", true)
        world.fault(.dropAfterHandling, of: "1")

        _ = try await world.round()
        #expect(try world.replica.journal.read { try $0.entity(key)?.attempt } != nil)
        try await world.rounds()

        #expect(try world.replica.issues().isEmpty)
        #expect(world.sent == ["POST /tasks/1/photos"])
        #expect(try world.status() == .synced && world.text() == "coffee")
        #expect(try world.name() == .source("/tasks/1/photos/1"))
        let record = world.world.record("tasks/1")
        #expect(record?.contains(#""title":"b""#) == true && record?.contains("done") == true)
        let outcomes = try world.outcomes
        #expect(outcomes.allSatisfy { $0 == .accepted || $0 == .coalesced })
        try await world.expectSound()
    }

    @Test(
        "is pending still where another client changed the record whose creation got no answer",
        arguments: [
            ConflictPolicy.serverWins, .localWins, .mergeFields(.serverWins), .overwriteIfSynced,
            .overwriteUnlessDirty,
        ])
    func changedSince(_ policy: ConflictPolicy) async throws {
        let world = try TransferWorld.takingPhotos(of: "1", by: policy)
        try world.replica.make(EntityKey("tasks", "1"), "tea", in: world.folder)
        try world.set("title", "b")
        world.fault(.dropAfterHandling, of: "1")
        _ = try await world.round()
        world.world.rivalPuts("tasks/1", #"{"title":"c","photo":null}"#)

        try await world.rounds()

        #expect(try world.status() == .synced && world.text() == "tea")
        let record = world.world.record("tasks/1")
        let isOurs = [.localWins, .overwriteIfSynced, .overwriteUnlessDirty].contains(policy)
        #expect(record?.contains(isOurs ? #""title":"b""# : #""title":"c""#) == true)
        #expect(record?.contains("/tasks/1/photos/1") == true)
        try await world.expectSound()
    }

    @Test("is pending, and not refused, where its record is refused that the server has by now")
    func refusedAfter() async throws {
        let world = try TransferWorld.takingPhotos(of: "1")
        try world.replica.make(EntityKey("tasks", "1"), "tea", in: world.folder)
        world.world.server.faults = FaultPlan([
            FaultRule(.dropAfterHandling, method: .put, pathContains: "records/1", nth: 1),
            FaultRule(.answer(status: 404), method: .get, pathContains: "records/1", nth: 1),
            FaultRule(.answer(status: 400), method: .put, pathContains: "records/1", nth: 2),
        ])
        for _ in 1...3 where try world.status() != .error {
            _ = try await world.engine.sync(scope: .push)
            world.world.clock.advance(by: .seconds(3600))
        }
        #expect(try world.outcomes == [.rejected, .rejected])

        _ = try await world.engine.sync()

        #expect(try world.outcomes == [.accepted, nil] && world.status() == .updated)
        try await world.rounds()
        #expect(try world.status() == .synced && world.text() == "tea")
        try await world.expectSound()
    }

    @Test(
        "stays away where it was taken away before it was known that the server has its record",
        arguments: [
            ConflictPolicy.serverWins, .localWins, .mergeFields(.serverWins), .ask,
            .overwriteIfSynced, .overwriteUnlessDirty,
        ])
    func takenAway(_ policy: ConflictPolicy) async throws {
        let world = try TransferWorld.takingPhotos(of: "1", by: policy)
        try world.replica.make(EntityKey("tasks", "1"), "tea", in: world.folder)
        world.fault(.dropAfterHandling, of: "1")
        _ = try await world.round()
        try world.edit(
            Patch(set: [Patch.Field("done", JSONValue.bool(true).encoded())], unset: ["photo"]))

        try await world.rounds()

        #expect(try world.replica.issues().isEmpty && world.sent.isEmpty)
        #expect(try world.status() == .synced && world.name() == nil)
        let record = world.world.record("tasks/1")
        #expect(record?.contains("done") == true && record?.contains("photo") == false)
        try await world.expectSound()
    }

    @Test("of another client's is not replaced by one that was never sent, where the server wins")
    func another() async throws {
        let world = try TransferWorld.takingPhotos(of: "1")
        try world.replica.make(EntityKey("tasks", "1"), "tea", in: world.folder)
        world.fault(.answer(status: 400), of: "1")
        _ = try await world.round()
        #expect(try world.status() == .error)
        world.world.rivalPuts("tasks/1", #"{"title":"c","photo":"/b.png"}"#)

        try await world.rounds()

        #expect(world.sent.isEmpty)
        #expect(try world.status() == .synced && world.name() == .source("/b.png"))
        #expect(try world.outcomes == [.superseded, .superseded])
        try await world.expectSound()
    }

    @Test("goes with its record where that is deleted while it is made again, unheard")
    func deletedAgain() async throws {
        let world = try TransferWorld.takingPhotos(of: "1", by: .localWins)
        let key = EntityKey("tasks", "1")
        try world.replica.make(key, "tea", in: world.folder)
        #expect(try await world.round() == [0, 1])
        world.world.rivalDeletes("tasks/1")
        world.fault(.dropAfterHandling, of: "1")
        _ = try await world.engine.sync()
        #expect(try world.replica.journal.read { try $0.entity(key)?.attempt } != nil)
        try await world.replica.write { tx in _ = try tx.delete(key) }

        try await world.rounds()

        #expect(try world.status() == nil && world.sent.isEmpty)
        #expect(world.world.record("tasks/1") == nil)
        try await world.expectSound()
    }
}
