// SyncWholeListTests.swift — lists of everything: when one is made, and what is concluded from what
// it does not name.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite(.serialized) struct `a list of everything` {
    private static let tasks = "/v1/buckets/b/collections/tasks"

    /// A device that has so many tasks of the server, in pages of ten.
    private func with(
        count: Int, _ body: (SyncWorld, SyncDevice) async throws -> Void
    ) async throws {
        let world = SyncWorld.paging(10)
        for number in 0..<count { world.rivalPuts("tasks/t\(number)", #"{"n":\#(number)}"#) }
        try await SyncDevice.with(world) { device in
            #expect(try await device.sync().isSynced)
            try await body(world, device)
            try device.verify()
        }
    }

    private func count(_ device: SyncDevice) throws -> Int {
        try device.replica.keys(in: "tasks").count
    }

    /// Drops the collection and makes it anew, as another client may.
    private func recreate(_ world: SyncWorld, keeping kept: [Int]) {
        world.server.request(.delete, Self.tasks)
        world.clock.advance(by: .seconds(1))
        world.server.request(.put, Self.tasks)
        for number in kept { world.rivalPuts("tasks/t\(number)", #"{"n":\#(number)}"#) }
    }

    @Test func `is made when the collection was dropped and made anew`() async throws {
        try await with(count: 5) { world, device async throws in
            recreate(world, keeping: [0, 1, 2])
            world.rivalPuts("tasks/new", "{}")

            #expect(try await device.sync().isSynced)

            #expect(try count(device) == 4)
            #expect(try device.document("tasks/t3") == nil)
            #expect(try await device.sync().counts.hasNews == false)
        }
    }

    @Test func `is made where the server names the collection on a later page`() async throws {
        try await with(count: 5) { world, device async throws in
            world.server.withModel { $0.pageRowsMax = 1 }
            recreate(world, keeping: [0, 1, 2])
            // The newest collection is named first.
            world.server.request(.put, "/v1/buckets/b/collections/others")
            world.server.clearRequestLog()

            #expect(try await device.sync().isSynced)

            #expect(try count(device) == 3)
            let pages = world.server.requestLog.filter { $0.path.contains("/collections?") }
            #expect(pages.count == 3)
        }
    }

    @Test func `finds after seven days of the server's time what was deleted and forgotten`()
        async throws
    {
        try await with(count: 5) { world, device async throws in
            world.rivalDeletes("tasks/t3")
            world.server.withModel { $0.purgeTombstones() }
            world.clock.advance(by: .seconds(7 * 86_400 - 60))
            #expect(try await device.sync().counts.pulled == 0)
            #expect(try device.document("tasks/t3") != nil)

            world.clock.advance(by: .seconds(60))
            #expect(try await device.sync().isSynced)
            #expect(try device.document("tasks/t3") == nil)
            #expect(try count(device) == 4)

            // The next one is due seven days later, not with each run.
            world.server.clearRequestLog()
            #expect(try await device.sync().counts.hasNews == false)
            #expect(world.requests == ["GET lists?_since 304", "GET tasks?_since 304"])
        }
    }

    @Test func `is made when it is asked for`() async throws {
        try await with(count: 5) { world, device async throws in
            world.rivalDeletes("tasks/t3")
            world.server.withModel { $0.purgeTombstones() }

            #expect(try await device.engine.sync(full: true).isSynced)

            #expect(try device.document("tasks/t3") == nil)
        }
    }

    @Test func `takes nothing for deleted that moved between its pages`() async throws {
        try await with(count: 25) { world, device async throws in
            device.wire.tap { request, number, pass in
                // Lists come first; then the pages of the tasks, from the newest on.
                if number == 3 { world.rivalPuts("tasks/t3", #"{"n":33}"#) }
                return await pass()
            }

            let outcome = try await device.engine.sync(full: true)

            #expect(outcome.isSynced)
            #expect(try count(device) == 25)
            #expect(try device.document("tasks/t3") == #"{"n":33}"#)
            #expect(try device.kinds(of: "tasks/t3").contains("server.deleted") == false)
        }
    }

    @Test func `sweeps many at once, and names itself as the cause`() async throws {
        try await with(count: 50) { world, device async throws in
            for number in 0..<20 { world.rivalDeletes("tasks/t\(number)") }
            world.server.withModel { $0.purgeTombstones() }
            device.wire.tap(nil)

            let outcome = try await device.engine.sync(full: true)

            #expect(outcome.isSynced && outcome.counts.pulled == 20)
            #expect(try count(device) == 30)
            // Three pages and what changed meanwhile; nothing is asked after one by one.
            #expect(device.wire.count == 1 + 3 + 1)
            let gone = try #require(
                try device.events(after: .start).last { $0.event.kind == .serverDeleted })
            let cause = try #require(gone.event.cause)
            let kind = try device.events(after: .start).first { $0.position == cause }?.event.kind
            #expect(kind == .pullCompleted)
        }
    }

    @Test func `that breaks off takes nothing for deleted`() async throws {
        try await with(count: 50) { world, device async throws in
            for number in 0..<20 { world.rivalDeletes("tasks/t\(number)") }
            world.server.withModel { $0.purgeTombstones() }
            device.wire.tap { _, number, pass in
                number == 4 ? .failure(TransportError(.timeout)) : await pass()
            }

            let outcome = try await device.engine.sync(full: true)
            #expect(outcome.failed["tasks"]?.name == "timeout")
            #expect(try count(device) == 50)

            device.wire.tap(nil)
            #expect(try await device.engine.sync(full: true).isSynced)
            #expect(try count(device) == 30)
        }
    }

    @Test func `that names less than half of what is here is believed only when the user says so`()
        async throws
    {
        try await with(count: 12) { world, device async throws in
            recreate(world, keeping: [0, 1])
            try device.patch("tasks/t5", #"{"mine":true}"#)

            let outcome = try await device.sync()

            #expect(!outcome.isSynced && outcome.held == ["tasks": 10])
            #expect(try count(device) == 12)
        }
    }

    @Test func `that is empty where there was much deletes nothing`() async throws {
        try await with(count: 12) { world, device async throws in
            device.wire.tap { request, _, pass in
                let answer = await pass()
                guard request.path?.contains("/tasks/") == true else { return answer }
                return answer.map { $0.with(body: #"{"data":[]}"#) }
            }

            let outcome = try await device.engine.sync(full: true)

            #expect(outcome.held == ["tasks": 12])
            #expect(try count(device) == 12)
        }
    }

    @Test func `is left out where nobody may ask for the collections`() async throws {
        let world = SyncWorld([
            FaultRule(.answer(status: 403), method: .get, pathContains: "/collections?")
        ])
        world.rivalPuts("tasks/t1", "{}")
        try await SyncDevice.with(world) { device async throws in
            #expect(try await device.sync().isSynced)
            #expect(try await device.sync().counts.hasNews == false)
            #expect(try device.document("tasks/t1") == "{}")
        }
    }

    @Test func `passes over what is no record, keeps its bytes, and takes the rest`() async throws {
        let world = SyncWorld()
        world.rivalPuts("tasks/t1", #"{"n":1}"#)
        try await SyncDevice.with(world) { device in
            device.wire.tap { request, _, pass in
                let answer = await pass()
                guard request.path?.contains("/tasks/") == true else { return answer }
                return answer.map {
                    $0.with(body: $0.text.replacing("[", with: #"[{"id":"bad","n": 1.0},"#))
                }
            }

            let outcome = try await device.sync()

            #expect(outcome.failure == nil && outcome.failed.isEmpty)
            #expect(try device.document("tasks/t1") == #"{"n":1}"#)
            let kept = try #require(
                try device.events(after: .start).first { $0.event.kind == .serverUnreadable })
            let text = String(decoding: kept.event.payload, as: UTF8.self)
            #expect(text.contains(#""body":{"id":"bad","n": 1.0}"#))
            #expect(text.contains("without last_modified"))
            // The same once more is nothing new.
            #expect(try await device.engine.sync(full: true).counts.pulled == 0)
            try device.verify()
        }
    }
}
