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
    static let below = ContentRule("photo", upload: "/tasks/{id}/photos")

    /// A server that takes photos below some records, one after another.
    static func takingPhotos(
        of ids: String..., by conflict: ConflictPolicy = .serverWins
    ) throws -> TransferWorld {
        let world = try TransferWorld(
            below, TransferBudgets(downloads: 1, uploads: 1, partBytes: 4),
            change: { model in
                model.settings.batchSize = 1
                model.collections[0].conflict = conflict
            })
        for id in ids { world.files.takeFiles(below: origin + "/tasks/\(id)/photos") }
        return world
    }

    fileprivate func haveModelSendBelow() throws { try reopen([Self.below]) }

    /// Sends what can be, and pushes then.
    ///
    /// - Returns: how many files, and how many records.
    func round() async throws -> [Int] {
        [try await engine.transfer().sent, try await engine.sync().counts.pushed]
    }

    func edit(_ patch: Patch, of id: String = "1") throws {
        try replica.write { tx in _ = try tx.patch(EntityKey("tasks", id), patch) }
    }

    func set(_ field: String, _ value: JSONValue, of id: String = "1") throws {
        try edit(Patch(set: [Patch.Field(field, value.encoded())]), of: id)
    }

    /// Gives a record another photo, and leaves the rest of it as it is.
    func give(_ text: String, to id: String = "1") throws {
        let path = folder / "given"
        try Data(text.utf8).write(to: URL(filePath: path))
        try set("photo", try replica.importFile(at: path).json, of: id)
    }

    /// Has the next write of a record fail.
    func fault(_ action: FaultAction, of id: String) {
        world.server.faults = FaultPlan([
            FaultRule(action, method: .put, pathContains: "records/\(id)", nth: 1)
        ])
    }

    /// Goes on as after the longest pause.
    func rounds() async throws {
        for _ in 1...3 {
            world.clock.advance(by: .seconds(3600))
            _ = try await round()
        }
    }

    /// Makes a record, and adds photos to its list, each by an edit of all of it.
    func list(_ count: Int) throws {
        try replica.write { tx in
            _ = try tx.create(EntityKey("tasks", "1"), Array(#"{"title":"a"}"#.utf8))
        }
        var photos: [JSONValue] = []
        for number in 1...count {
            let path = folder / "listed"
            try Data("\(number)".utf8).write(to: URL(filePath: path))
            photos.append(["url": try replica.importFile(at: path).json])
            try set("files", .array(photos))
        }
    }

    func explained(_ id: String = "1") throws -> [OutboxExplanation] {
        try replica.journal.read(OutboxExplanation.all).filter { $0.entry.mutation.key.id == id }
    }

    /// What became of all that was done, in its order.
    var outcomes: [MutationOutcome?] {
        get throws { try replica.journal.read { try $0.outbox(all: true) }.map(\.mutation.outcome) }
    }

    func name(of id: String = "1") throws -> ContentName? {
        try files(of: id).first?.name
    }
}

extension Replica {
    /// Makes a record that names a file of the user's by `photo`.
    func make(_ key: EntityKey, _ text: String, in folder: SyncFolder) throws {
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
        let replica = try await Replica.open(
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
        #expect(try await world.round() == [2, 2])

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

    @Test("keeps no other record with the same bytes waiting, where its own is refused with it")
    func refusedWithIt() async throws {
        let world = try TransferWorld.takingPhotos(of: "1", "2")
        try world.attach("tea")
        try world.attach("tea", to: "2")
        #expect(try await world.round() == [0, 2])

        world.fault(.answer(status: 400), of: "1")
        #expect(try await world.round() == [2, 1])
        #expect(try world.status() == .error && world.status("2") == .synced)
        try await world.replica.write { tx in try tx.retry(EntityKey("tasks", "1")) }
        #expect(try await world.round() == [1, 1])

        #expect(try world.status() == .synced)
        try await world.expectSound()
    }

    @Test("is sent again by a retry of its record, also where the same bytes were sent for another")
    func retried() async throws {
        let world = try TransferWorld.takingPhotos(of: "1", "2")
        try world.attach("tea")
        try world.attach("tea", to: "2")
        #expect(try await world.round() == [0, 2])
        world.files.fault = { request, answer in
            guard request.path == "/tasks/1/photos" else { return answer }
            return TransportResponse(response: HTTPResponse(status: .forbidden), body: [])
        }
        #expect(try await world.round() == [1, 1])
        #expect(try world.status() == .error && world.status("2") == .synced)

        world.files.fault = nil
        try await world.replica.write { tx in try tx.retry(EntityKey("tasks", "1")) }
        #expect(try await world.round() == [1, 1])

        #expect(world.sent == ["1", "2", "1"].map { "POST /tasks/\($0)/photos" })
        #expect(try world.status() == .synced)
        try await world.expectSound()
    }

    @Test("leaves the edits of a record that the server does not have as small as those of others")
    func typed() async throws {
        let world = try TransferWorld.takingPhotos(of: "1")
        try world.replica.make(EntityKey("tasks", "1"), "tea", in: world.folder)
        let text = String(repeating: "word ", count: 1_000)
        for number in 1...100 { try world.set("body", .string("\(number) \(text)")) }

        #expect(try world.replica.read { try $0.outboxCount() } == 102)
        let row = try world.replica.journal.read { views in
            try views.get(.entity(EntityKey("tasks", "1"))) ?? []
        }
        #expect((1..<60_000).contains(row.count))
        let told = try world.explained()
        try #require(told.count == 102)
        #expect(told.prefix(2).allSatisfy { $0.leader == nil })
        #expect(told.dropFirst(2).allSatisfy { $0.leader == told[0].entry.position })
        #expect(try await world.round() == [0, 1])
        #expect(world.world.record("tasks/1")?.contains(#""body":"100 word"#) == true)
        #expect(try world.replica.read { try $0.outboxCount() } == 1)
        #expect(try await world.round() == [1, 1])
        #expect(try world.status() == .synced && world.text() == "tea")
        try await world.expectSound()
    }

    @Test("lies in a list that edits set again and again, behind a record that the model refuses")
    func listed() async throws {
        let world = try TransferWorld(
            ContentRule("/files/*/url", upload: "/tasks/{id}/photos"),
            change: { model in model.collections[0].pushes = [.update, .delete] })
        try world.list(6)
        let row = try world.replica.journal.read { try $0.entity(EntityKey("tasks", "1")) }
        #expect(row?.pending.contains(where: \.isOvertaken) == true)

        let told = try world.explained()
        try #require(told.count == 7)
        #expect(told[0].leader == nil && told[6].leader == nil)
        #expect(told[1...5].allSatisfy { $0.leader == told[0].entry.position })
        #expect(told.prefix(6).allSatisfy { $0.holds.isEmpty } && !told[6].holds.isEmpty)

        // A run that finds it as it was before would decide the same again, and come to no end.
        #expect(try await world.round() == [0, 0])
        let waiting = try world.replica.read { try $0.outbox() }
        #expect(waiting.allSatisfy { $0.state == .refused })
        try await world.expectSound(acts: 0)
    }

    @Test("is named by an edit of its own, also where an action makes the record")
    func byAction() throws {
        let world = try TransferWorld(
            TransferWorld.below,
            change: { model in
                model.collections[0].actions = [ActionRule("copy", source: "of")]
            })
        try world.attach("tea")
        let document = try #require(
            try world.replica.read { try $0.document(EntityKey("tasks", "1")) })

        let position = try world.replica.write { tx in
            try tx.request(
                "copy", making: EntityKey("tasks", "2"), document, parameters: ["of": "1"])
        }

        let entries = try world.replica.read { try $0.outbox() }.filter { $0.key.id == "2" }
        #expect(entries.map(\.kind) == [.requested, .updated])
        #expect(entries.map(\.fields) == [[], ["photo"]])
        #expect(entries.first?.position == position)
        let told = try world.explained("2")
        #expect(told.map(\.next) == [.run, .after(EntityKey("tasks", "2"))])
        #expect(told.map(\.holds.count) == [0, 1])
        #expect(try world.replica.read { try $0.document(EntityKey("tasks", "2")) } == document)
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

    @Test("that fails is explained to be tried again after a pause")
    func failing() async throws {
        let world = try TransferWorld.takingPhotos(of: "1")
        try world.attach("tea")
        #expect(try await world.round() == [0, 1])
        #expect(try world.explained().map(\.next) == [.files(until: nil)])
        world.files.fault = { _, _ in
            TransportResponse(response: HTTPResponse(status: .internalServerError), body: [])
        }

        _ = try await world.engine.transfer()

        let now = world.world.clock.now
        guard case .files(let until?)? = try world.explained().first?.next else {
            Issue.record("it is explained to be tried at once")
            return
        }
        #expect(until > now)
        try await world.expectSound()
    }

    @Test("goes after a record that is refused, which an edit mends")
    func mended() async throws {
        let world = try TransferWorld.takingPhotos(of: "1")
        try world.attach("tea")
        world.world.server.faults = FaultPlan([
            FaultRule(.answer(status: 400), method: .put, nth: 1)
        ])

        #expect(try await world.round() == [0, 0])
        #expect(try world.status() == .error)
        let waiting = try world.replica.read { try $0.outbox() }
        #expect(waiting.map(\.state) == [.refused, .refused])
        #expect(try await world.round() == [0, 0])
        try world.set("title", "b")
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

    @Test("is left of a record that was made with it before the model said so")
    func older() async throws {
        let world = try TransferWorld(ContentRule("photo"))
        try world.attach("tea")
        try world.set("title", "b")
        try world.haveModelSendBelow()
        world.files.takeFiles(below: TransferWorld.origin + "/tasks/1/photos")
        let told = try world.explained()
        #expect(told.map(\.holds.count) == [0, 0] && told.map(\.next) == [.run, .run])

        #expect(try await world.round() == [0, 1])
        #expect(world.world.record("tasks/1")?.contains(#""title":"b""#) == true)
        let left = try world.explained().map(\.entry.mutation)
        #expect(left.map(\.kind) == [.localCreated] && left.map(\.attempts) == [1])
        #expect(try await world.round() == [1, 1])

        #expect(try world.status() == .synced && world.text() == "tea")
        #expect(try world.name() == .source("/tasks/1/photos/1"))
        #expect(try world.problems() == [])
    }

    @Test("keeps nothing waiting that is edited before its record is made, nor what replaces it")
    func editedBefore() async throws {
        let world = try TransferWorld.takingPhotos(of: "1")
        let key = EntityKey("tasks", "1")
        try world.replica.make(key, "tea", in: world.folder)
        try world.set("title", "b")
        try world.give("milk")
        try world.set("done", true)

        #expect(try await world.round() == [0, 1])
        let record = world.world.record("tasks/1")
        #expect(record?.contains(#""title":"b""#) == true && record?.contains("done") == true)
        #expect(record?.contains("photo") == false)
        let outcomes = try world.outcomes
        #expect(outcomes == [.accepted, .coalesced, .accepted, nil, .accepted])
        #expect(try world.text() == "milk")

        #expect(try await world.round() == [1, 1])
        #expect(world.sent == ["POST /tasks/1/photos"])
        #expect(try world.status() == .synced && world.text() == "milk")
        try await world.expectSound()
    }

    @Test("is sent below a record that is made again, where it was all that was pending of it")
    func madeAgain() async throws {
        let world = try TransferWorld.takingPhotos(of: "1", by: .ask)
        try world.replica.make(EntityKey("tasks", "1"), "tea", in: world.folder)
        #expect(try await world.round() == [0, 1])
        world.world.rivalDeletes("tasks/1")
        _ = try await world.engine.sync()
        let issue = try #require(try world.replica.issues().first)
        try await world.replica.answer(issue.id, .keepMine)

        #expect(try world.explained().map(\.next) == [.run])
        #expect(try await world.round() == [0, 1])
        #expect(world.world.record("tasks/1")?.contains(#""title":"a""#) == true)
        #expect(try await world.round() == [1, 1])

        #expect(world.sent == ["POST /tasks/1/photos"])
        #expect(try world.status() == .synced && world.text() == "tea")
        try await world.expectSound()
    }

    @Test("that was refused, and is taken later, has what names it be sent by itself")
    func takenLater() async throws {
        for rule in [TransferWorld.below, ContentRule("photo", upload: "/files")] {
            let world = try TransferWorld(rule, change: { $0.settings.batchSize = 1 })
            world.files.takeFiles(below: TransferWorld.origin + "/tasks/1/photos")
            world.files.takeFiles(below: TransferWorld.origin + "/files")
            try await world.replica.write { tx in
                _ = try tx.create(EntityKey("tasks", "1"), Array(#"{"title":"a"}"#.utf8))
            }
            #expect(try await world.round() == [0, 1])
            try world.give("tea")
            world.files.fault = { _, _ in
                TransportResponse(response: HTTPResponse(status: .forbidden), body: [])
            }
            #expect(try await world.round() == [0, 0])
            #expect(try world.status() == .error)

            world.files.fault = nil
            world.world.clock.advance(by: .seconds(25 * 3600))
            #expect(try await world.round() == [1, 1])

            #expect(try world.status() == .synced && world.text() == "tea")
            try await world.expectSound()
        }
    }
}
