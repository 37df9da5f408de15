// SendBelowTests.swift — files of the user's that are sent below the record that names them.

import Foundation
import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

extension TransferWorld {
    private static let below = ContentRule("photo", upload: "/tasks/{id}/photos")

    /// A server that takes photos below some records.
    fileprivate static func takingPhotos(of ids: String...) throws -> TransferWorld {
        let world = try TransferWorld(below)
        for id in ids { world.files.takeFiles(below: origin + "/tasks/\(id)/photos") }
        return world
    }

    fileprivate func haveModelSendBelow() throws { try reopen([Self.below]) }

    fileprivate var sent: [String] {
        files.requests.map { "\($0.method.rawValue) \($0.path ?? "")" }
    }

    /// Sends what can be, and pushes then.
    ///
    /// - Returns: how many files, and how many records.
    fileprivate func round() async throws -> [Int] {
        [try await engine.transfer().sent, try await engine.sync().counts.pushed]
    }

    fileprivate func edit(_ patch: Patch, of id: String = "1") throws {
        try replica.write { tx in _ = try tx.patch(EntityKey("tasks", id), patch) }
    }

    fileprivate func name(of id: String = "1") throws -> ContentName? {
        try files(of: id).first?.name
    }
}

extension Replica {
    /// Makes a record that names a file of the user's by `photo`.
    fileprivate func make(_ key: EntityKey, _ text: String, in folder: SyncFolder) throws {
        let path = folder / "attached"
        try Data(text.utf8).write(to: URL(filePath: path))
        let document: JSONValue = ["title": "a", "photo": try importFile(at: path).json]
        try write { tx in _ = try tx.create(key, document.encoded()) }
    }
}

@Suite struct `a file of the user's below its record` {
    @Test("is sent once the server has the record, which names it after that")
    func below() async throws {
        let world = try TransferWorld.takingPhotos(of: "1")
        try world.attach("tea")

        #expect(try await world.round() == [0, 1])
        #expect(try world.status() == .updated && world.text() == "tea")
        #expect(world.world.record("tasks/1")?.contains("photo") == false)
        #expect(try await world.round() == [1, 1])

        #expect(world.sent == ["POST /tasks/1/photos"])
        #expect(try world.status() == .synced && world.text() == "tea")
        #expect(try world.name() == .source("/tasks/1/photos/1"))
        try await world.expectSound(acts: 2)
    }

    @Test("goes by the id that the server gave the record")
    func numbered() async throws {
        var items = CollectionModel("items", lastChangeField: "at", conflict: .localWins)
        items.ids = .serverNumber
        items.match = ["title"]
        items.absence = .keeps
        items.contents = [ContentRule("photo", upload: "/items/{id}/photos/{sha256}")]
        let server = NumberedServer()
        let files = InMemoryFiles(beside: server)
        files.takeFiles(below: "http://numbers.test/items/13/photos")
        let folder = try SyncFolder()
        defer { folder.delete() }
        let replica = try Replica.open(
            at: folder / "store",
            model: SyncModel(
                name: "m", collections: [items],
                settings: SyncSettings(fullPullEvery: .zero, batchSize: 1)),
            dependencies: .seeded(1, clock: server.clock, movesClock: false))
        let engine = SyncDevice.engine(
            replica, files, remote: server.remote, adapter: NumberedAdapter())
        let key = EntityKey("items", "new")
        try replica.make(key, "tea", in: folder)

        _ = try await engine.sync()
        #expect(try await engine.transfer().sent == 1)
        _ = try await engine.sync()

        #expect(server.writes == ["POST items", "PUT items/13"])
        #expect(files.requests.first?.path?.hasPrefix("/items/13/photos/") == true)
        let status = try replica.read { try $0.status(of: key) }
        #expect(status == .synced)
    }

    @Test("is sent below each of several records that name it, and is each time another's name")
    func shared() async throws {
        let world = try TransferWorld.takingPhotos(of: "1", "2")
        try world.attach("tea")
        try world.attach("tea", to: "2")

        #expect(try await world.round() == [0, 2])
        #expect(try await world.round() == [1, 1])
        #expect(try await world.round() == [1, 1])

        #expect(world.sent == ["POST /tasks/1/photos", "POST /tasks/2/photos"])
        #expect(try world.name() == .source("/tasks/1/photos/1"))
        #expect(try world.name(of: "2") == .source("/tasks/2/photos/2"))
        #expect(try world.status() == .synced && world.status("2") == .synced)
        try await world.expectSound()
    }

    @Test("is sent below a record that the server has, where it refused another that names it")
    func besideRefused() async throws {
        let world = try TransferWorld.takingPhotos(of: "1", "2")
        world.world.server.faults = FaultPlan([
            FaultRule(.answer(status: 400), method: .put, nth: 1)
        ])
        try world.attach("tea")
        #expect(try await world.round() == [0, 0])
        try world.attach("tea", to: "2")

        #expect(try await world.round() == [0, 1])
        #expect(try await world.round() == [1, 1])
        #expect(try world.status() == .error && world.status("2") == .synced)
        try await world.replica.write { tx in try tx.retry(EntityKey("tasks", "1")) }
        #expect(try await world.round() == [0, 1])
        #expect(try await world.round() == [1, 1])

        #expect(world.sent == ["POST /tasks/2/photos", "POST /tasks/1/photos"])
        #expect(try world.status() == .synced && world.status("2") == .synced)
        try await world.expectSound()
    }

    @Test("is explained to wait for its record, which waits for nothing")
    func explained() throws {
        let world = try TransferWorld.takingPhotos(of: "1")
        let digest = try world.attach("tea")
        let now = world.replica.dependencies.moment

        let lines = try world.replica.journal.read { views in
            let run = NextRun(try views.gates(), at: now)
            return try OutboxExplanation.all(views).map { $0.lines(run) }
        }

        let waits = "photo names a file that is sent below the entity, once the server has that: "
        #expect(
            lines == [
                ["  never sent", "  next: with the next run, which may begin at once"],
                [
                    "  " + waits + digest, "  never sent",
                    "  next: after tasks/1, with the next run, which may begin at once",
                ],
            ])
    }

    @Test("waits for a record that is refused, which an edit mends without it")
    func mended() async throws {
        let world = try TransferWorld.takingPhotos(of: "1")
        try world.attach("tea")
        world.world.server.faults = FaultPlan([
            FaultRule(.answer(status: 400), method: .put, nth: 1)
        ])

        #expect(try await world.round() == [0, 0])
        #expect(try world.status() == .error)
        #expect(try await world.round() == [0, 0])
        try world.edit(Patch(set: [Patch.Field("title", Array(#""b""#.utf8))]))
        #expect(try await world.round() == [0, 1])
        #expect(world.world.record("tasks/1")?.contains("photo") == false)
        #expect(world.world.record("tasks/1")?.contains("title") == true)
        #expect(try await world.round() == [1, 1])

        #expect(try world.status() == .synced && world.text() == "tea")
        try await world.expectSound()
    }

    @Test("is not sent where its record is deleted before")
    func deleted() async throws {
        let world = try TransferWorld.takingPhotos(of: "1")
        try world.attach("tea")
        #expect(try await world.round() == [0, 1])
        try await world.replica.write { tx in _ = try tx.delete(EntityKey("tasks", "1")) }

        #expect(try await world.round() == [0, 1])

        #expect(world.sent == [])
        #expect(try world.status() == nil)
        try await world.expectSound()
    }

    @Test("refuses a record that was made with it before the model said so, until it is set anew")
    func older() async throws {
        let world = try TransferWorld(ContentRule("photo"))
        try world.attach("tea")
        try world.haveModelSendBelow()
        world.files.takeFiles(below: TransferWorld.origin + "/tasks/1/photos")

        #expect(try await world.round() == [0, 0])
        #expect(try world.status() == .error)
        let message = try world.replica.issues().first?.message
        #expect(message?.contains("sent below the entity, which the server does not have") == true)
        try world.edit(Patch(unset: ["photo"]))
        try world.attach("tea")
        #expect(try await world.round() == [0, 1])
        #expect(try await world.round() == [1, 1])

        #expect(try world.status() == .synced)
        #expect(try world.problems() == [])
    }
}
