// SendTests.swift — files of the user's that are sent before what names them.

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
    static let rule = ContentRule("photo", upload: "/files/{sha256}")

    /// Has a record name a file of the user's that holds a text.
    @discardableResult
    func attach(_ text: String, to id: String = "1") throws -> String {
        let path = folder / "attached"
        try Data(text.utf8).write(to: URL(filePath: path))
        guard case .file(let digest, let bytes) = try replica.importFile(at: path) else {
            return ""
        }
        let document: JSONValue = [
            "photo": ["sha256": .string(digest), "bytes": .number(JSONNumber(bytes))]
        ]
        try replica.write { tx in
            _ = try tx.put(EntityKey("tasks", id), document.encoded())
        }
        return digest
    }

    func takeFiles() { files.takeFiles(below: Self.origin + "/files") }

    func status(_ id: String = "1") throws -> EntityStatus? {
        try replica.read { try $0.status(of: EntityKey("tasks", id)) }
    }

    /// The requests about files, as `POST /files`.
    var sent: [String] {
        files.requests.map { "\($0.method.rawValue) \($0.path ?? "")" }
    }

    fileprivate func refusal(_ id: String = "1") throws -> String? {
        try replica.issues().first { $0.key == EntityKey("tasks", id) }?.message
    }
}

@Suite struct `a file of the user's` {
    @Test("is sent once, with its bytes, type and credentials, and what names it goes after it")
    func sent() async throws {
        let world = try TransferWorld(TransferWorld.rule)
        world.takeFiles()
        let digest = try world.attach("tea")
        try world.attach("tea", to: "2")
        let engine = try world.engine { .bearer("secret") }

        #expect(try await world.engine.sync().counts.pushed == 0)
        let outcome = try await engine.transfer()
        #expect(try await world.engine.sync().counts.pushed == 2)

        #expect(outcome.sent == 1 && outcome.nextAt == nil)
        #expect(world.sent == ["PUT /files/\(digest)"])
        let request = try #require(world.files.requests.first)
        #expect(request.headerFields[.authorization] == "Bearer secret")
        #expect(request.headerFields[.contentType] == "application/octet-stream")
        #expect(world.files[TransferWorld.origin + "/files/\(digest)"]?.bytes == Array("tea".utf8))
        #expect(try world.status() == .synced)
        #expect(try world.text() == "tea")
        try await world.expectSound(acts: 2)
    }

    @Test("is told of with what names it, which may be asked how it is called")
    func told() throws {
        let world = try TransferWorld(ContentRule("photo", upload: "/files"))
        let digest = try world.attach("tea")
        // The one that came to name it last does not any more.
        try world.attach("tea", to: "2")
        try world.replica.write { tx in _ = try tx.discard(EntityKey("tasks", "2")) }

        let file = try world.replica.journal.read { views in
            let plan = try #require(try views.nextSend(at: Timestamp(rawValue: 1)))
            return try views.file(of: plan)
        }
        #expect(file.sha256 == digest && file.entity == EntityKey("tasks", "1"))
        #expect(file.field == "photo" && file.document?.rawValue("photo") != nil)
    }

    @Test("can be dropped once it was sent, also where it was taken in more than once")
    func dropped() async throws {
        let world = try TransferWorld(TransferWorld.rule)
        world.takeFiles()
        try world.attach("tea")
        try world.attach("tea", to: "2")
        _ = try await world.engine.transfer()
        #expect(try await world.engine.sync().counts.pushed == 2)

        let key = EntityKey("tasks", "1")
        #expect(try await world.replica.dropFiles(of: key) == 1)
        #expect(try world.text() == nil)
    }

    @Test("is one of at most as many as the budget says, each of a request of its own")
    func several() async throws {
        let world = try TransferWorld(
            TransferWorld.rule, TransferBudgets(downloads: 1, uploads: 2, partBytes: 4))
        world.takeFiles()
        for number in 1...7 { try world.attach("tea \(number)", to: "\(number)") }

        let gate = TransferGate(world)
        #expect(try await gate.transfer(holding: 2, in: world).sent == 7)

        #expect(Set(world.sent).count == 7)
        var (open, most) = (0, 0)
        _ = try world.replica.journal.dump(EventFilter()) { _, event in
            if event.read(RequestSent.self)?.file.sentDigest != nil { open += 1 }
            if event.read(RequestAnswered.self)?.file.result != nil { open -= 1 }
            most = max(most, open)
        }
        #expect(most == 2 && open == 0 && gate.most == 2)
        try await world.expectSound(acts: 14)
    }

    @Test("has other credentials asked for once, where it is refused whatever they are")
    func unauthorized() async throws {
        let world = try TransferWorld(
            ContentRule("photo", when: .all, upload: "/files/{sha256}"),
            TransferBudgets(downloads: 1, uploads: 1, partBytes: 4))
        world.takeFiles()
        // Its parts are answered meanwhile.
        world.serve("/photos/1", String(repeating: "tea ", count: 12))
        try world.name("photos/1", by: "1")
        // Longer than a part: others go on beside it at once.
        try world.attach("milk and tea", to: "2")
        world.files.fault = { request, answer in
            guard request.method == .put else { return answer }
            return TransportResponse(response: HTTPResponse(status: .unauthorized), body: [])
        }
        let tokens = Tokens()

        let outcome = try await world.engine { tokens.next() }.transfer()

        #expect(outcome.failure == .unauthorized && outcome.sent == 0)
        #expect(tokens.count == 2 && world.sent.filter { $0.hasPrefix("PUT") }.count == 2)
    }

    @Test("is not sent where the budget is 0, and holds back only what names it")
    func budget() async throws {
        let world = try TransferWorld(TransferWorld.rule, TransferBudgets(uploads: 0))
        world.takeFiles()
        try world.attach("tea")
        try world.name("/files/1", by: "2")

        let outcome = try await world.engine.transfer()
        _ = try await world.engine.sync()

        #expect(outcome.sent == 0 && outcome.nextAt == nil && world.sent == [])
        #expect(try world.status() == .created && world.status("2") == .synced)
    }

    @Test("goes by what Location says where it is POSTed; an answer without it refuses")
    func posted() async throws {
        let world = try TransferWorld(ContentRule("photo", upload: "/files"))
        world.takeFiles()
        try world.attach("tea")
        try world.attach("milk", to: "2")
        let first = SeenCounts()
        world.files.fault = { _, answer in
            defer { first.note(1) }
            guard first.counts.isEmpty else { return answer }
            return TransportResponse(response: HTTPResponse(status: .created), body: [])
        }

        let outcome = try await world.engine.transfer()
        _ = try await world.engine.sync()

        #expect(outcome.sent == 1 && outcome.refused == 1)
        #expect(Set([try world.status(), try world.status("2")]) == [.synced, .error])
        try await world.expectSound()
    }

    @Test("that the server does not take refuses what names it, and is tried again after a day")
    func refused() async throws {
        let world = try TransferWorld(TransferWorld.rule)
        let digest = try world.attach("tea")
        world.takeFiles()
        world.files.fault = { _, _ in
            TransportResponse(response: HTTPResponse(status: .contentTooLarge), body: [])
        }

        #expect(try await world.engine.transfer().refused == 1)
        _ = try await world.engine.sync()

        #expect(try world.status() == .error)
        let said = "the server did not take the file that photo names (413): \(digest)"
        #expect(try world.refusal()?.contains(said) == true)
        world.files.fault = nil
        world.world.clock.advance(by: .seconds(23 * 3600))
        #expect(try await world.engine.transfer().sent == 0)
        world.world.clock.advance(by: .seconds(3600))
        #expect(try await world.engine.transfer().sent == 1)
        _ = try await world.engine.sync()
        #expect(try world.status() == .synced)
        try await world.expectSound()
    }

    @Test("that fails is what its record waits for, and not the next run")
    func failing() async throws {
        let world = try TransferWorld(TransferWorld.rule)
        try world.attach("tea")
        world.takeFiles()
        world.files.fault = { _, _ in
            TransportResponse(response: HTTPResponse(status: .internalServerError), body: [])
        }
        func next() throws -> String {
            let now = world.replica.dependencies.moment
            return try world.replica.journal.read { views in
                let run = NextRun(try views.gates(), at: now)
                return try OutboxExplanation.all(views).flatMap { $0.lines(run) }.last ?? ""
            }
        }

        #expect(try next() == "  next: once that was sent, which is tried at once")
        _ = try await world.engine.transfer()
        #expect(try next().hasPrefix("  next: once that was sent, which is tried again at "))
        world.world.clock.advance(by: .seconds(3600))
        #expect(try next() == "  next: once that was sent, which is tried at once")
        try await world.expectSound()
    }

    @Test("that somebody took away refuses what names it")
    func missing() async throws {
        let world = try TransferWorld(TransferWorld.rule)
        world.takeFiles()
        let digest = try world.attach("tea")
        let stored = try world.replica.read { try $0.files(of: EntityKey("tasks", "1")) }
        try FileManager.default.removeItem(atPath: #require(stored.first?.stored?.path))
        try world.reopen()

        _ = try await world.engine.transfer()
        _ = try await world.engine.sync()

        #expect(try world.status() == .error)
        let said = "photo names a file that is not here: \(digest)"
        #expect(try world.refusal()?.contains(said) == true)
        #expect(world.sent == [])
    }

    @Test("that is damaged is not sent, and refuses what names it until it is taken in again")
    func damaged() async throws {
        let world = try TransferWorld(TransferWorld.rule)
        world.takeFiles()
        try world.attach("tea")
        let key = EntityKey("tasks", "1")
        try damage(world.replica.read { try $0.files(of: key) }.first?.stored?.path)

        #expect(try await world.engine.transfer().failed == 1)
        _ = try await world.engine.sync()

        #expect(world.sent == [])
        #expect(try world.status() == .error)
        #expect(try world.refusal()?.contains("photo names a file that is not here") == true)
        var reasons: [AssetRemoved.Reason?] = []
        _ = try world.replica.journal.dump(EventFilter()) { _, event in
            if let removed = event.read(AssetRemoved.self) { reasons.append(removed.reason) }
        }
        #expect(reasons == [.damaged])

        _ = try await world.replica.importFile(at: world.folder / "attached")
        try await world.replica.write { tx in try tx.retry(key) }
        world.world.clock.advance(by: .seconds(3600))
        #expect(try await world.engine.transfer().sent == 1)
        _ = try await world.engine.sync()
        #expect(try world.status() == .synced)
        try await world.expectSound()
    }

    @Test("of another client, that its record names, is no matter of an edit of something else")
    func another() async throws {
        let world = try TransferWorld(TransferWorld.rule)
        world.takeFiles()
        let digest = String(repeating: "0f", count: 32)
        world.world.rivalPuts("tasks/1", #"{"photo":{"sha256":"\#(digest)","bytes":3},"n":1}"#)
        _ = try await world.engine.sync()
        try await world.replica.write { tx in
            _ = try tx.patch(
                EntityKey("tasks", "1"), Patch(set: [Patch.Field("n", Array("2".utf8))]))
        }

        #expect(try await world.engine.transfer().sent == 0)
        #expect(try await world.engine.sync().counts.pushed == 1)
    }

    @Test("is sent once the model says where")
    func model() async throws {
        let world = try TransferWorld(ContentRule("photo"))
        world.takeFiles()
        try world.attach("tea")
        #expect(try await world.engine.transfer().sent == 0)

        try world.reopen([TransferWorld.rule])
        #expect(try await world.engine.transfer().sent == 1)
        _ = try await world.engine.sync()

        #expect(try world.status() == .synced)
        try world.reopen([ContentRule("photo")])
        #expect(try world.problems() == [])
    }

    @Test("that nobody names any more is not sent; one on its way then is of no use")
    func forgotten() async throws {
        let world = try TransferWorld(TransferWorld.rule)
        world.takeFiles()
        try world.attach("tea")
        try await world.replica.write { tx in _ = try tx.delete(EntityKey("tasks", "1")) }
        #expect(try await world.engine.transfer().sent == 0)
        try world.attach("milk", to: "2")
        let replica = world.replica
        world.files.fault = { _, answer in
            try? replica.write { tx in _ = try tx.delete(EntityKey("tasks", "2")) }
            return answer
        }

        _ = try await world.engine.transfer()
        _ = try await world.engine.sync()

        #expect(world.sent.count == 1)
        #expect(try world.status("2") == nil)
        world.files.fault = nil
        try await world.expectSound()
    }

    @Test("is sent and pushed by an engine that was started, without a call")
    func automatic() async throws {
        let world = try TransferWorld(TransferWorld.rule)
        world.takeFiles()
        let engine = world.engine
        await engine.start(SyncTriggers(every: .zero, quiet: .zero, quietMax: .zero))
        try world.attach("tea")

        while try world.status() != .synced {
            await Task.yield()
            world.world.clock.advance(by: .seconds(1))
        }

        await engine.stop()
        #expect(world.sent.count == 1)
        try await world.expectSound()
    }

    @Test("with a hash that is none stops nothing of what is edited beside it")
    func oddHash() async throws {
        let world = try TransferWorld(TransferWorld.rule)
        world.takeFiles()
        let digest = String(repeating: "0f", count: 300)
        world.world.rivalPuts("tasks/1", #"{"photo":{"sha256":"\#(digest)","bytes":1},"n":1}"#)
        _ = try await world.engine.sync()
        try await world.replica.write { tx in
            _ = try tx.patch(
                EntityKey("tasks", "1"), Patch(set: [Patch.Field("n", Array("2".utf8))]))
        }

        #expect(try await world.engine.sync().counts.pushed == 1)
        #expect(try await world.engine.transfer().nextAt == nil)
    }

    @Test("is not sent where another one took its place before")
    func replaced() async throws {
        let world = try TransferWorld(TransferWorld.rule)
        world.takeFiles()
        try world.attach("tea")
        let digest = try world.attach("milk")

        #expect(try await world.engine.transfer().sent == 1)
        _ = try await world.engine.sync()

        #expect(world.sent == ["PUT /files/\(digest)"])
        #expect(try world.status() == .synced)
        try await world.expectSound()
    }

    @Test("is not taken by a page in the server's place, nor refused by one that comes once")
    func pages() async throws {
        let world = try TransferWorld(TransferWorld.rule)
        world.takeFiles()
        try world.attach("tea")
        let count = SeenCounts()
        world.files.fault = { _, answer in
            count.note(1)
            let fields: HTTPFields = [.contentType: "text/html; charset=utf-8"]
            switch count.counts.count {
            case 1:
                return TransportResponse(
                    response: HTTPResponse(status: .ok, headerFields: fields), body: [])
            case 2:
                return TransportResponse(
                    response: HTTPResponse(status: .forbidden, headerFields: fields), body: [])
            default: return answer
            }
        }

        for sent in [0, 0, 1] {
            #expect(try await world.engine.transfer().sent == sent)
            _ = try await world.engine.sync()
            #expect(try world.status() == (sent == 0 ? .created : .synced))
            world.world.clock.advance(by: .seconds(3600))
        }
        try await world.expectSound()
    }

    @Test("is tried again at once where the user has what was refused sent again")
    func retried() async throws {
        let world = try TransferWorld(TransferWorld.rule)
        world.takeFiles()
        try world.attach("tea")
        world.files.fault = { _, _ in
            TransportResponse(response: HTTPResponse(status: .contentTooLarge), body: [])
        }
        _ = try await world.engine.transfer()
        _ = try await world.engine.sync()
        #expect(try world.status() == .error)

        world.files.fault = nil
        try await world.replica.write { tx in try tx.retry(EntityKey("tasks", "1")) }
        #expect(try await world.engine.transfer().sent == 1)
        _ = try await world.engine.sync()

        #expect(try world.status() == .synced)
        try await world.expectSound()
    }

    @Test("goes by a Location that is read as HTTP says, and by none that is another file's")
    func locations() async throws {
        let world = try TransferWorld(
            ContentRule("photo", upload: "/files"), TransferBudgets(uploads: 1))
        world.takeFiles()
        let places = ["7", "/files/8", "http://kinto.test/files/9", "/files/9", "//else.test/1"]
        for number in places.indices { try world.attach("tea \(number)", to: "\(number)") }
        let count = SeenCounts()
        world.files.fault = { _, _ in
            defer { count.note(1) }
            let fields: HTTPFields = [.location: places[count.counts.count]]
            return TransportResponse(
                response: HTTPResponse(status: .created, headerFields: fields), body: [])
        }

        let outcome = try await world.engine.transfer()
        _ = try await world.engine.sync()

        #expect(outcome.sent == 3 && outcome.refused == 2)
        var names: Set<String> = []
        try world.replica.read { views in
            for number in places.indices {
                let key = EntityKey("tasks", "\(number)")
                guard try views.status(of: key) == .synced, let bytes = try views.document(key)
                else { continue }
                names.insert(try JSONDocument(parsing: bytes).value("photo")?.stringValue ?? "")
            }
        }
        #expect(names == ["/7", "/files/8", "/files/9"])
        try await world.expectSound()
    }

    @Test("holds the record of a field that another one of it names already")
    func otherField() async throws {
        let world = try TransferWorld(ContentRule("thumb"))
        world.takeFiles()
        let path = world.folder / "attached"
        try Data("tea".utf8).write(to: URL(filePath: path))
        guard case .file(let digest, _) = try await world.replica.importFile(at: path) else {
            return
        }
        @Sendable func document(_ field: String) -> String {
            #"{"\#(field)":{"sha256":"\#(digest)","bytes":3}}"#
        }
        try await world.replica.write { tx in
            _ = try tx.put(EntityKey("tasks", "1"), Array(document("thumb").utf8))
        }
        _ = try await world.engine.sync()
        #expect(try world.status() == .synced)
        try world.reopen([ContentRule("thumb"), TransferWorld.rule])
        #expect(try await world.engine.transfer().sent == 0)

        try await world.replica.write { tx in
            let value = Array(#"{"sha256":"\#(digest)","bytes":3}"#.utf8)
            _ = try tx.patch(
                EntityKey("tasks", "1"), Patch(set: [Patch.Field("photo", value)]))
        }
        _ = try await world.engine.sync()
        #expect(try world.status() == .updated)
        #expect(try await world.engine.transfer().sent == 1)
        _ = try await world.engine.sync()
        #expect(try world.status() == .synced)
        try await world.expectSound()
    }
}
