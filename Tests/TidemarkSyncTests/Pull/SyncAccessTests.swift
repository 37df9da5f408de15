// SyncAccessTests.swift — a server that refuses a collection, or the client.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

@Suite(.serialized) struct `access` {
    @Test func `that a collection refuses is that one's own, and the others go on`() async throws {
        let world = SyncWorld([FaultRule(.answer(status: 403), pathContains: "/lists/")])
        try await SyncDevice.with(world) { device in
            try device.put("lists/a", #"{"title":"A"}"#)
            try device.put("tasks/inside", #"{"list":"a"}"#)
            try device.put("tasks/beside", #"{"title":"free"}"#)

            let outcome = try await device.sync()

            #expect(outcome.failure == nil && outcome.failed == ["lists": .forbidden])
            #expect(!outcome.isSynced && outcome.pending == 1 && outcome.refused == 1)
            #expect(world.writes == ["PUT lists/a * 403", "PUT tasks/beside * 201"])
            #expect(
                try device.outbox() == ["lists/a rejected", "tasks/inside blocked lists/a"])

            world.server.faults = FaultPlan()
            try device.retry("lists/a")
            #expect(try await device.sync().isSynced)
            #expect(world.writes.dropFirst(2) == ["PUT lists/a * 201", "PUT tasks/inside * 201"])
            try device.verify()
        }
    }

    @Test func `that only writing is refused leaves each write to a person`() async throws {
        let world = SyncWorld(
            [FaultRule(.answer(status: 403), method: .put, pathContains: "/lists/")])
        try await SyncDevice.with(world) { device in
            for name in ["a", "b", "c"] { try device.put("lists/\(name)", "{}") }
            try device.put("tasks/t1", "{}")

            let outcome = try await device.sync()

            #expect(outcome.failed.isEmpty && outcome.refused == 3)
            #expect(world.writes.last == "PUT tasks/t1 * 201" && world.writes.count == 4)
            #expect(
                try device.outbox() == ["lists/a rejected", "lists/b rejected", "lists/c rejected"])
        }
    }

    @Test func `to a collection that is not there pauses it`() async throws {
        let world = SyncWorld()
        world.server.request(.delete, "/v1/buckets/b/collections/lists")
        try await SyncDevice.with(world) { device in
            try device.put("tasks/t1", "{}")

            let outcome = try await device.sync()

            #expect(outcome.failed["lists"]?.name == "client")
            #expect(world.writes == ["PUT tasks/t1 * 201"])
        }
    }

    @Test(arguments: [200, 410])
    func `ends before it is over, and the server says so`(_ status: Int) async throws {
        let notice = #"{"code":"soft-eol","message":"move on","url":"https://kinto.test/v2"}"#
        try await SyncDevice.with(SyncWorld()) { device in
            device.wire.tap { _, _, pass in
                await pass().map { answer in
                    var answer = answer
                    if let name = HTTPField.Name("Alert") {
                        answer.response.headerFields[name] = notice
                    }
                    answer.response.status = HTTPResponse.Status(code: status)
                    return answer
                }
            }

            let outcome = try await device.sync()

            #expect(outcome.alert == notice)
            #expect(outcome.failure == (status == 410 ? .apiDeprecated : nil))
        }
    }

    @Test func `without credentials that are accepted ends the run and pushes nothing`()
        async throws
    {
        let world = SyncWorld()
        try await SyncDevice.with(world) { device in
            try device.put("tasks/t1", "{}")
            world.server.withModel { $0.acceptedCredentials = ["Basic c29tZWJvZHk="] }

            let outcome = try await device.sync()

            #expect(outcome.failure == .unauthorized)
            #expect(world.server.requestLog.map(\.status) == [401])
            #expect(try device.outbox() == ["tasks/t1 pending"])
        }
    }

    @Test func `lost before a push leaves it pending, not unknown`() async throws {
        let world = SyncWorld([FaultRule(.answer(status: 401), method: .put, nth: 1)])
        try await SyncDevice.with(world) { device in
            try device.put("tasks/t1", "{}")
            try device.put("tasks/t2", "{}")

            #expect(try await device.sync().failure == .unauthorized)
            #expect(world.writes == ["PUT tasks/t1 * 401"])
            #expect(try device.outbox() == ["tasks/t1 pending", "tasks/t2 pending"])

            #expect(try await device.sync().isSynced)
            #expect(world.writes.count == 3)
        }
    }

    @Test func `is not asked for when there are no credentials to show`() async throws {
        let world = SyncWorld()
        try await SyncDevice.with(world) { device in
            struct Locked: Error {}
            let engine = SyncEngine(
                device.replica, remote: SyncWorld.remote,
                adapter: try SyncWorld.remote.makeAdapter(), transport: device.wire
            ) { throw Locked() }

            #expect(try await engine.sync().failure == .unauthorized)
            #expect(device.wire.count == 0)
        }
    }
}
