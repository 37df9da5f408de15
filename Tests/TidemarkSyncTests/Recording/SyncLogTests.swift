// SyncLogTests.swift — how a sync run stands in the log.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

private struct StampedTask: Entity {
    static let collection: CollectionName = "tasks"
    let id: Tidemark.ID<StampedTask>
    var title: String
    var lastModified: Int?

    enum CodingKeys: String, CodingKey { case id, title, lastModified = "last_modified" }
}

@Suite(.serialized) struct `a sync run in the log` {
    @Test func `with nothing new on either side it is one small event in one commit`() async throws
    {
        try await SyncDevice.with(SyncWorld()) { device in
            try await device.sync()
            let (position, commits) = (try device.position(), try device.commits())

            let outcome = try await device.sync()

            #expect(outcome.isSynced && !outcome.counts.hasNews)
            #expect(try device.kinds(after: position) == ["sync.finished"])
            #expect(try device.commits() == commits + 1)
            let event = try #require(try device.events(after: position).first?.event)
            #expect(event.sync == nil)
            let payload = try JSONDocument(parsing: event.payload)
            #expect(payload.value("outcome") == "synced" && payload.value("requests") == 3)
            #expect(payload.bytes.count < 250)
            try device.verify()
        }
    }

    @Test func `without news it begins with its start where the one before was cut off`()
        async throws
    {
        try await SyncDevice.with(SyncWorld()) { device in
            try await device.sync()
            device.fail(after: 1) { .failure(TransportError(.offline)) }
            #expect(try await device.sync().failure?.name == "offline")
            device.wire.tap(nil)
            let (position, commits) = (try device.position(), try device.commits())

            #expect(try await device.run(dyingAfter: 1) == nil)

            #expect(try device.kinds(after: position) == ["sync.started"])
            try await device.sync()
            let kinds = try device.kinds(after: position)
            #expect(kinds.prefix(2) == ["sync.started", "sync.started"])
            // Its reads tell the server's time, which its end tells only where that stands alone.
            #expect(kinds.contains("request.answered") && kinds.last == "sync.finished")
            try await device.sync()
            #expect(try device.kinds(after: position).last == "sync.finished")
            #expect(try device.commits() == commits + 4)
        }
    }

    @Test func `with news it begins with its start, and every event names it`() async throws {
        try await SyncDevice.with(SyncWorld()) { device in
            try await device.sync()
            try device.put("tasks/t1", #"{"title":"tea"}"#)
            let position = try device.position()

            try await device.sync()

            #expect(
                try device.kinds(after: position) == [
                    "sync.started", "request.sent", "request.answered", "request.sent",
                    "request.answered", "request.sent", "request.answered", "request.sent",
                    "request.answered", "push.accepted",
                    "server.upserted", "sync.finished",
                ])
            let events = try device.events(after: position)
            #expect(events.dropFirst().allSatisfy { $0.event.sync == position.next })
        }
    }

    @Test func `a run that brought nothing but failed says what it asked, and what came`()
        async throws
    {
        let world = SyncWorld()
        try await SyncDevice.with(world) { device in
            try await device.sync()
            let position = try device.position()
            world.server.faults = FaultPlan([FaultRule(.answer(status: 500))])

            try await device.sync()

            #expect(
                try device.kinds(after: position) == [
                    "sync.started", "request.sent", "request.answered", "request.sent",
                    "request.answered", "request.sent", "request.answered", "sync.finished",
                ])
        }
    }

    @Test func `what only the server sets is no edit, however it is written`() async throws {
        let world = SyncWorld()
        world.rivalPuts("tasks/t1", #"{"title":"tea"}"#)
        try await SyncDevice.with(world) { device in
            try await device.sync()
            let position = try device.position()
            let task = try #require(try device.replica.read { try $0.get(StampedTask.self, "t1") })
            #expect(task.lastModified != nil)
            let stale = StampedTask(id: task.id, title: task.title, lastModified: 1)
            let key = try device.key("tasks/t1")
            let patch = Patch(set: [.init("last_modified", Array("1".utf8))], unset: ["id"])

            try await device.replica.write { tx throws in
                try tx.save(stale)
                try tx.update(StampedTask.self, "t1") { $0.lastModified = nil }
                try tx.patch(key, patch)
            }
            #expect(try device.position() == position)
            let edited = StampedTask(id: task.id, title: "green tea", lastModified: 1)
            try await device.replica.write { tx throws in try tx.save(edited) }
            let payload = try #require(try device.events(after: position).last?.event.payload)
            #expect(payload == Array(#"{"set":{"title":"green tea"},"unset":[]}"#.utf8))

            try await device.sync()
            #expect(world.writes == ["PUT tasks/t1 = 200"])
            try device.verify()
        }
    }

    @Test(arguments: ["create", "update", "delete"])
    func `a write is on disk before it leaves`(_ what: String) async throws {
        let world = SyncWorld()
        try await SyncDevice.with(world) { device in
            if what != "create" {
                world.rivalPuts("tasks/t1", #"{"title":"tea"}"#)
                try await device.sync()
            }
            if what == "delete" {
                try device.delete("tasks/t1")
            } else {
                try device.put("tasks/t1", #"{"title":"green tea"}"#)
            }
            let mutation = try device.position()
            device.wire.tap { request, _, pass in
                if request.isWrite {
                    let last = try #require(try device.events(after: mutation).last)
                    #expect(last.event.kind == .requestSent)
                    #expect(last.event.key == EntityKey("tasks", "t1"))
                    #expect(last.event.mutation == mutation)
                    #expect(try device.status("tasks/t1") == .uploading)
                    let payload = try JSONDocument(parsing: last.event.payload)
                    #expect(payload.value("method")?.stringValue == request.method.rawValue)
                    #expect(payload.value("path")?.stringValue == request.path)
                    #expect(
                        payload.value("covers") == [.number(JSONNumber(mutation.rawValue))])
                }
                return await pass()
            }

            try await device.sync()

            #expect(device.wire.problem == nil)
            #expect(world.writes.count == 1)
            #expect(try device.mutations("tasks/t1").last == "accepted")
        }
    }

    @Test func `credentials are nowhere in the log`() async throws {
        try await SyncDevice.with(SyncWorld()) { device in
            try device.put("tasks/t1", #"{"title":"tea"}"#)
            try await device.sync()

            let dump = try device.dump().joined()
            #expect(!dump.contains("Basic") && !dump.contains("bWU6c2VjcmV0"))
            #expect(!dump.lowercased().contains("authorization"))
        }
    }

    @Test func `what the server sent is kept byte for byte`() async throws {
        let world = SyncWorld()
        let body = #"{"title":"d\u00e9j\u00e0","n":1.0,"big":123456789012345678901,"x":{"b":[ ]}}"#
        world.rivalPuts("tasks/t1", body)
        try await SyncDevice.with(world) { device in
            try await device.sync()

            let sent = try #require(world.record("tasks/t1"))
            #expect(sent == body)
            #expect(try device.document("tasks/t1") == body)
            let events = try device.events().filter { $0.event.kind == .serverUpserted }
            #expect(
                events.map { String(decoding: $0.event.payload, as: UTF8.self) }
                    == [
                        body.dropLast()
                            + #","id":"t1","last_modified":\#(world.clock.now.milliseconds)}"#
                    ])
        }
    }
}

@Suite(.serialized) struct `the same again` {
    /// Edits, a rival, lost answers, a refusal and a pause, from the first event to the last.
    private func play(
        seed: UInt64
    ) async throws -> (root: String, dump: [String], rows: [String: [UInt8]]) {
        let world = SyncWorld()
        world.server.faults = FaultPlan([
            FaultRule(.dropAfterHandling, method: .put, nth: 2),
            FaultRule(.answer(status: 400), method: .put, recordID: { $0 == "bad" }),
            FaultRule(.tooManyRequests(retryAfterSeconds: 5), method: .get, nth: 7),
        ])
        return try await SyncDevice.with(world, seed: seed) { device in
            world.rivalPuts("lists/home", #"{"title":"Home"}"#)
            try device.put("lists/work", #"{"title":"Work"}"#)
            try device.put("lists/bad", #"{"title":"Bad"}"#)
            let id = try await device.replica.write { $0.makeID() }
            try device.put("tasks/\(id)", #"{"title":"tea","list":"home"}"#)
            for round in 1...6 {
                try await device.sync()
                world.clock.advance(by: .seconds(2))
                world.rivalPuts("lists/home", #"{"title":"Home \#(round)"}"#)
                try device.put("lists/home", #"{"title":"House \#(round)"}"#)
                try device.patch("tasks/\(id)", #"{"round":\#(round)}"#)
            }
            return (try device.verify(), try device.dump(), try device.rows())
        }
    }

    @Test func `with equal seeds, clock and server it is the same log and the same rows`()
        async throws
    {
        let first = try await play(seed: 7)
        let second = try await play(seed: 7)

        #expect(first.root == second.root)
        #expect(first.dump == second.dump)
        #expect(first.rows == second.rows)
        #expect(first.dump.count > 70)
    }

    @Test func `with another seed it is another log`() async throws {
        let (first, second) = (try await play(seed: 7), try await play(seed: 8))

        #expect(first.root != second.root)
        #expect(first.dump.count == second.dump.count)
    }
}
