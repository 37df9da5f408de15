// SyncPullTests.swift — fetching what the server changed, page by page.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

@Suite(.serialized) struct `pulling` {
    @Test func `brings what others made, changed and deleted, and nothing twice`() async throws {
        let world = SyncWorld()
        world.rivalPuts("lists/home", #"{"title":"Home"}"#)
        world.rivalPuts("tasks/t1", #"{"title":"tea"}"#)
        world.rivalPuts("tasks/t2", #"{"title":"milk"}"#)
        try await SyncDevice.with(world) { device in
            #expect(try await device.sync().counts.pulled == 3)
            #expect(try device.document("tasks/t1") == #"{"title":"tea"}"#)

            world.rivalPuts("tasks/t1", #"{"title":"green tea"}"#)
            world.rivalDeletes("tasks/t2")
            #expect(try await device.sync().counts.pulled == 2)
            #expect(try device.document("tasks/t1") == #"{"title":"green tea"}"#)
            #expect(try device.document("tasks/t2") == nil)
            #expect(try device.status("tasks/t2") == nil)

            #expect(try await device.sync().counts.pulled == 0)
            #expect(try device.status("tasks/t1") == .synced)
            try device.verify()
        }
    }

    @Test func `dates a deletion by its tombstone`() async throws {
        let world = SyncWorld()
        world.rivalPuts("tasks/t1", "{}")
        try await SyncDevice.with(world) { device in
            try await device.sync()
            world.clock.advance(by: .seconds(60))
            let deleted = world.clock.now
            world.rivalDeletes("tasks/t1")
            world.clock.advance(by: .seconds(60))

            try await device.sync()

            let said = try device.events().map(\.event).filter { $0.kind == .serverDeleted }
            #expect(said.map(\.serverTime) == [deleted])
        }
    }

    @Test func `does not log what a push has brought already`() async throws {
        try await SyncDevice.with(SyncWorld()) { device in
            try device.put("tasks/t1", #"{"title":"tea"}"#)
            try await device.sync()

            let outcome = try await device.sync()

            #expect(outcome.counts.pulled == 0)
            #expect(try device.kinds(of: "tasks/t1").filter { $0 == "server.upserted" }.count == 1)
        }
    }

    @Test func `takes the first page's version as the next cursor`() async throws {
        let world = SyncWorld.paging(2)
        for number in 1...5 { world.rivalPuts("tasks/t\(number)", #"{"n":\#(number)}"#) }
        try await SyncDevice.with(world) { device in
            device.wire.tap { _, number, pass in
                // Between the pages, the last one in the list moves to the front of it.
                if number == 3 { world.rivalPuts("tasks/t1", #"{"n":100}"#) }
                return await pass()
            }

            let first = try await device.sync()
            let cursor = try device.cursor("tasks")
            #expect(device.wire.count == 3)
            #expect(first.counts.pulled == 4)

            let second = try await device.sync()
            #expect(second.counts.pulled == 1)
            #expect(try device.document("tasks/t1") == #"{"n":100}"#)
            #expect(try device.cursor("tasks") != cursor)
            #expect(try await device.sync().counts.hasNews == false)
        }
    }

    @Test func `moves the cursor only with the last page`() async throws {
        let world = SyncWorld.paging(2)
        for number in 1...5 { world.rivalPuts("tasks/t\(number)", #"{"n":\#(number)}"#) }
        try await SyncDevice.with(world) { device in
            device.wire.tap { _, number, pass in
                number == 4 ? .failure(TransportError(.offline)) : await pass()
            }

            let outcome = try await device.sync()

            #expect(outcome.failure == .offline(""))
            #expect(outcome.counts.pulled == 4)
            #expect(try device.cursor("tasks") == nil)
            #expect(try device.document("tasks/t5") == #"{"n":5}"#)

            device.wire.tap(nil)
            #expect(try await device.sync().counts.pulled == 1)
            #expect(try device.cursor("tasks") != nil)
            try device.verify()
        }
    }

    @Test func `pauses a collection whose list leads in a circle`() async throws {
        let world = SyncWorld()
        world.rivalPuts("lists/home", #"{"title":"Home"}"#)
        try await SyncDevice.with(world) { device in
            device.wire.tap { request, _, pass in
                guard request.path?.contains("/lists/") == true else { return await pass() }
                return await pass().map { answer in
                    var answer = answer
                    let page = "http://kinto.test/v1/buckets/b/collections/lists/records?_token=1"
                    if let name = HTTPField.Name("Next-Page") {
                        answer.response.headerFields[name] = page
                    }
                    return answer
                }
            }

            let outcome = try await device.sync()

            #expect(outcome.failure == nil && outcome.failed["lists"]?.name == "malformed")
            #expect(device.wire.count == 3)
            #expect(try device.cursor("lists") == nil)
            #expect(try device.cursor("tasks") != nil)

            device.wire.tap(nil)
            #expect(try await device.sync().isSynced)
        }
    }

    @Test func `follows no page that is not the bucket's`() async throws {
        try await SyncDevice.with(SyncWorld()) { device in
            device.wire.tap { request, _, pass in
                #expect(request.authority == "kinto.test")
                return await pass().map { answer in
                    var answer = answer
                    if let name = HTTPField.Name("Next-Page") {
                        answer.response.headerFields[name] = "http://evil.test/v1/records"
                    }
                    return answer
                }
            }

            let outcome = try await device.sync()

            #expect(
                outcome.failed.mapValues(\.name) == ["lists": "malformed", "tasks": "malformed"])
            #expect(device.wire.count == 2)
        }
    }

    @Test(arguments: [
        "", #"{"data":{"id":"new"}}"#, #"{"data":[{"id":"new","last_modified":1}"#,
    ])
    func `takes nothing of a page that it can't understand as a whole`(_ body: String)
        async throws
    {
        let world = SyncWorld.paging(2)
        for number in 1...3 { world.rivalPuts("tasks/t\(number)", #"{"n":\#(number)}"#) }
        try await SyncDevice.with(world) { device in
            device.wire.tap { _, number, pass in
                await pass().map { number == 3 ? $0.with(body: body) : $0 }
            }

            let outcome = try await device.sync()

            #expect(outcome.failed["tasks"]?.name == "malformed")
            #expect(try device.cursor("tasks") == nil)
            #expect(try device.document("tasks/new") == nil)
            #expect(try device.document("tasks/t1") == nil)
            #expect(try device.document("tasks/t3") == #"{"n":3}"#)
            try device.verify()

            device.wire.tap(nil)
            #expect(try await device.sync().isSynced)
            #expect(try device.document("tasks/t1") == #"{"n":1}"#)
        }
    }

    @Test func `pushes nothing after a page that it can't understand`() async throws {
        let world = SyncWorld()
        try await SyncDevice.with(world) { device in
            try device.put("tasks/t1", #"{"title":"tea"}"#)
            device.wire.tap { _, _, pass in await pass().map { $0.with(body: "<html>") } }

            try await device.sync()

            #expect(world.writes == [])
            #expect(try device.outbox() == ["tasks/t1 pending"])
        }
    }

    @Test func `keeps what is pending on the fields that the server did not change`() async throws {
        let world = SyncWorld()
        world.rivalPuts("lists/home", #"{"title":"Home","colour":"red"}"#)
        try await SyncDevice.with(world) { device in
            try await device.sync()
            try device.patch("lists/home", #"{"title":"House"}"#)
            world.rivalPuts("lists/home", #"{"title":"Home","colour":"blue"}"#)

            let outcome = try await device.sync()

            #expect(outcome.isSynced)
            #expect(world.record("lists/home") == #"{"title":"House","colour":"blue"}"#)
            #expect(try device.document("lists/home") == #"{"title":"House","colour":"blue"}"#)
            #expect(try device.decisions() == [])
            #expect(world.writes == ["PUT lists/home = 200"])
        }
    }
}
