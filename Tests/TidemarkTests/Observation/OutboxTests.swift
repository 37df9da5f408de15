// OutboxTests.swift — what waits: each change with how it stands, and what holds it back.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkTesting

@testable import SyncSupport

@Suite(.serialized) struct `the outbox` {
    /// What waits, each in a line: `tasks/t updated pending title`, with `<` before what holds it
    /// back.
    private static func lines(_ replica: Replica) throws -> [String] {
        try replica.read { try $0.outbox() }.map { entry in
            let words = [entry.key.description, entry.kind.rawValue, entry.state.rawValue]
            return (words + entry.fields + entry.blockedBy.map { "< \($0)" })
                .joined(separator: " ")
        }
    }

    @Test func `has what was made, changed and deleted, in that order`() async throws {
        let world = SyncWorld()
        world.rivalPuts("tasks/a", #"{"title":"a"}"#)
        world.rivalPuts("tasks/gone", #"{"title":"gone"}"#)
        try await SyncDevice.with(world) { device in
            try await device.sync()
            #expect(try Self.lines(device.replica) == [])
            try device.delete("tasks/gone")
            try device.put("tasks/b", "{}")
            try device.patch("tasks/a", #"{"title":"mine"}"#)
            try device.patch("tasks/b", #"{"done":true}"#)

            #expect(
                try Self.lines(device.replica) == [
                    "tasks/gone deleted pending", "tasks/b created pending",
                    "tasks/a updated pending title", "tasks/b updated pending done",
                ])
            let entries = try device.replica.read { try $0.outbox() }
            #expect(entries.map(\.position) == entries.map(\.position).sorted())
            #expect(entries.last?.position == (try device.replica.position))
            #expect(try device.replica.read { try $0.outboxCount() } == 4)
            try await device.sync()
            #expect(try Self.lines(device.replica) == [])
        }
    }

    @Test func `has what the server is to do`() throws {
        var model = SyncWorld.usualModel
        model.collections[1].actions = [.init("archive")]
        try withReplica(model) { replica in
            let key = EntityKey("tasks", "t")
            let change = try replica.write { tx in try tx.request("archive", of: key) }

            let entry = try #require(try replica.read { try $0.outbox() }.first)
            #expect(entry.key == key && entry.kind == .requested && entry.state == .pending)
            #expect(entry.position == change && entry.fields == [])
        }
    }

    @Test func `tells what was refused, and what waits for that, until the issue is answered`()
        async throws
    {
        let refusal = FaultRule(.answer(status: 400), method: .put, pathContains: "lists/", nth: 1)
        try await SyncDevice.with(SyncWorld([refusal])) { device in
            try device.put("lists/l", "{}")
            try device.put("tasks/t", #"{"list":"l"}"#)
            try await device.sync()
            #expect(
                try Self.lines(device.replica)
                    == ["lists/l created refused", "tasks/t created blocked < lists/l"])

            let issue = try #require(try device.replica.issues().first)
            try await device.replica.answer(issue.id, .retry)
            #expect(
                try Self.lines(device.replica)
                    == ["lists/l created pending", "tasks/t created pending"])
        }
    }

    @Test func `tells as refused about what a person is asked`() async throws {
        let world = SyncWorld.notes(.ask)
        world.rivalPuts("notes/a", #"{"title":"old"}"#)
        try await SyncDevice.with(world) { device in
            try await device.sync()
            try device.patch("notes/a", #"{"title":"mine"}"#)
            world.rivalPuts("notes/a", #"{"title":"theirs"}"#)
            try await device.sync()

            #expect(try Self.lines(device.replica) == ["notes/a updated refused title"])
            #expect(try device.replica.issues().map(\.isAsked) == [true])
        }
    }

    @Test func `tells what is on its way from what a run got no answer to`() async throws {
        let lost = FaultRule(.dropAfterHandling, method: .put, nth: 1)
        try await SyncDevice.with(SyncWorld([lost])) { device in
            try device.put("tasks/t", "{}")
            let (replica, seen) = (device.replica, SyncBox<[String]>())
            device.wire.tap { request, _, pass in
                if request.method == .put { seen.value = try Self.lines(replica) }
                return await pass()
            }
            try await device.sync()
            device.wire.tap(nil)

            #expect(seen.value == ["tasks/t created uploading"])
            #expect(try Self.lines(replica) == ["tasks/t created unknown"])
            try await device.sync()
            #expect(try Self.lines(replica) == [])
        }
    }
}
