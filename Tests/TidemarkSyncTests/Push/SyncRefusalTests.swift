// SyncRefusalTests.swift — records that the server refuses for what they are.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

@Suite(.serialized) struct `a refused entity` {
    private static let refusal = FaultAction.answer(
        status: 400, body: Array(#"{"code":400,"errno":107,"message":"title: too plain"}"#.utf8))

    /// A device whose list `bad` was refused, with a task in it, one in that, and one beside it.
    private func refuse(_ body: (SyncWorld, SyncDevice) async throws -> Void) async throws {
        let world = SyncWorld(
            [FaultRule(Self.refusal, method: .put, recordID: { $0 == "bad" })])
        try await SyncDevice.with(world) { device in
            try device.put("lists/bad", #"{"title":"x"}"#)
            try device.put("tasks/inside", #"{"list":"bad"}"#)
            try device.put("tasks/deeper", #"{"parent":"inside"}"#)
            try device.put("tasks/beside", #"{"title":"free"}"#)

            let outcome = try await device.sync()

            #expect(outcome.failure == nil && !outcome.isSynced)
            #expect(outcome.counts.rejected == 1 && outcome.counts.pushed == 1)
            #expect(outcome.refused == 1 && outcome.pending == 2)
            try await body(world, device)
            try device.verify()
        }
    }

    @Test func `waits with what depends on it, by name, and the rest goes on`() async throws {
        try await refuse { world, device in
            #expect(world.writes == ["PUT lists/bad * 400", "PUT tasks/beside * 201"])
            #expect(
                try device.outbox() == [
                    "lists/bad rejected", "tasks/inside blocked lists/bad",
                    "tasks/deeper blocked lists/bad",
                ])
            #expect(try device.status("lists/bad") == .error)
            #expect(try device.status("tasks/inside") == .created)
            let rejected = try #require(
                try device.events().first { $0.event.kind == .pushRejected })
            #expect(
                String(decoding: rejected.event.payload, as: UTF8.self)
                    == #"{"status":400,"message":"title: too plain"}"#)
        }
    }

    @Test func `is not sent again by itself`() async throws {
        try await refuse { world, device in
            for _ in 1...2 { #expect(try await device.sync().refused == 1) }

            #expect(world.writes.count == 2)
            #expect(try device.outbox().count == 3)
            try device.verify()
        }
    }

    @Test(arguments: ["edit", "retry"])
    func `goes again after an edit or a retry, and takes the others along`(_ how: String)
        async throws
    {
        try await refuse { world, device in
            if how == "edit" {
                try device.patch("lists/bad", #"{"title":"better"}"#)
            } else {
                try device.retry("lists/bad")
            }
            #expect(try device.status("lists/bad") == .created)
            world.server.faults = FaultPlan()

            #expect(try await device.sync().isSynced)

            #expect(
                world.writes.dropFirst(2) == [
                    "PUT lists/bad * 201", "PUT tasks/inside * 201", "PUT tasks/deeper * 201",
                ])
            #expect(Set(try device.mutations("lists/bad")) == ["accepted"])
            #expect(try device.outbox() == [])
        }
    }

    @Test func `is refused again when nothing became better`() async throws {
        try await refuse { world, device in
            try device.retry("lists/bad")

            #expect(try await device.sync().counts.rejected == 1)

            #expect(try device.status("lists/bad") == .error)
            #expect(try device.mutations("lists/bad") == ["rejected"])
        }
    }

    @Test func `that the server never had is gone when it is given up`() async throws {
        try await refuse { world, device in
            try device.discard("lists/bad")

            #expect(try device.document("lists/bad") == nil)
            #expect(try device.status("lists/bad") == nil)
            #expect(try device.mutations("lists/bad") == ["discarded"])
            #expect(try await device.sync().isSynced)
            #expect(world.writes.filter { $0.contains("bad") } == ["PUT lists/bad * 400"])
        }
    }

    @Test func `is what the server said last when it is given up`() async throws {
        let world = SyncWorld()
        world.rivalPuts("lists/bad", #"{"title":"fine","n":1.0}"#)
        try await SyncDevice.with(world) { device in
            try await device.sync()
            try device.patch("lists/bad", #"{"title":"x"}"#)
            try device.patch("lists/bad", #"{"m":2}"#)
            world.server.faults = FaultPlan([FaultRule(Self.refusal, method: .put)])
            try await device.sync()
            #expect(try device.status("lists/bad") == .error)

            try device.discard("lists/bad")

            #expect(try device.document("lists/bad") == #"{"title":"fine","n":1.0}"#)
            #expect(try device.status("lists/bad") == .synced)
            #expect(try device.mutations("lists/bad") == ["discarded", "discarded"])
            try device.verify()
        }
    }

    @Test func `is settled when the server's side wins a conflict over it`() async throws {
        let world = SyncWorld()
        world.rivalPuts("lists/bad", #"{"title":"fine"}"#)
        try await SyncDevice.with(world) { device in
            try await device.sync()
            try device.patch("lists/bad", #"{"title":"x"}"#)
            world.server.faults = FaultPlan([FaultRule(Self.refusal, method: .put)])
            try await device.sync()
            world.rivalPuts("lists/bad", #"{"title":"theirs"}"#)

            #expect(try await device.sync().isSynced)

            #expect(try device.document("lists/bad") == #"{"title":"theirs"}"#)
            #expect(try device.status("lists/bad") == .synced)
            #expect(try device.mutations("lists/bad") == ["superseded"])
        }
    }

    @Test func `with an id that the server can't have is never sent, and the rest goes on`()
        async throws
    {
        let world = SyncWorld()
        try await SyncDevice.with(world) { device in
            for id in ["a b", "..", "a/b", "fine"] { try device.put("tasks/\(id)", "{}") }

            let outcome = try await device.sync()

            #expect(outcome.counts.rejected == 3 && outcome.counts.pushed == 1)
            #expect(world.writes == ["PUT tasks/fine * 201"])
            #expect(try device.status("tasks/a/b") == .error)
            try device.verify()
        }
    }

    @Test func `goes again at once when it was edited while it was being refused`() async throws {
        let world = SyncWorld([FaultRule(Self.refusal, method: .put, nth: 1)])
        try await SyncDevice.with(world) { device in
            try device.put("tasks/t1", #"{"title":"x"}"#)
            let isFirst = SyncFlag()
            device.wire.tap { request, _, pass in
                if request.isWrite, isFirst.raise() {
                    try device.patch("tasks/t1", #"{"title":"better"}"#)
                }
                return await pass()
            }

            let outcome = try await device.sync()

            #expect(outcome.isSynced)
            #expect(world.writes == ["PUT tasks/t1 * 400", "PUT tasks/t1 * 201"])
            #expect(world.record("tasks/t1") == #"{"title":"better"}"#)
            try device.verify()
        }
    }

    @Test func `a deletion can be refused too`() async throws {
        let world = SyncWorld()
        world.rivalPuts("tasks/t1", #"{"title":"tea"}"#)
        try await SyncDevice.with(world) { device in
            try await device.sync()
            try device.delete("tasks/t1")
            world.server.faults = FaultPlan([FaultRule(Self.refusal, method: .delete)])

            #expect(try await device.sync().refused == 1)
            #expect(try device.status("tasks/t1") == .error)
            #expect(try device.document("tasks/t1") == nil)

            try device.discard("tasks/t1")
            #expect(try device.document("tasks/t1") == #"{"title":"tea"}"#)
        }
    }

    @Test func `retry and discard say when there is nothing to do`() async throws {
        let world = SyncWorld()
        world.rivalPuts("tasks/t1", #"{"title":"tea"}"#)
        try await SyncDevice.with(world) { device in
            try await device.sync()
            let position = try device.position()

            #expect(throws: TidemarkError.self) { try device.retry("tasks/t1") }
            #expect(throws: TidemarkError.self) { try device.discard("tasks/t1") }
            #expect(throws: TidemarkError.self) { try device.discard("tasks/none") }
            #expect(try device.position() == position)
        }
    }
}
