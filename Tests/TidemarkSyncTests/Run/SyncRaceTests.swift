// SyncRaceTests.swift — what happens between two steps of a run.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkInspect
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite(.serialized) struct `between deciding a write and logging it` {
    /// A run that pushes `tasks/t1`; at its first decision `edit` comes in between.
    private func sync(_ edit: @escaping @Sendable (WriteContext) throws -> Void) async throws
        -> (writes: [String], documents: [String], isSynced: Bool)
    {
        let world = SyncWorld()
        let box = SyncBox<Replica>()
        let isDone = SyncBox<Bool>()
        var dependencies = Dependencies.seeded(1, clock: world.clock)
        dependencies.reach = { place in
            guard place == .beforeAppend, isDone.value == nil else { return }
            isDone.value = true
            do { try box.value?.write { tx in try edit(tx) } } catch {
                Issue.record("the edit failed: \(error)")
            }
        }
        let replica = try Replica.temporary(
            model: world.model, remote: SyncWorld.remote, dependencies: dependencies)
        box.value = replica
        defer { box.value = nil }
        try await replica.write { tx in try tx.create(EntityKey("tasks", "t1"), Array("{}".utf8)) }
        let engine = SyncDevice.engine(
            replica, world.server, adapter: try SyncWorld.remote.makeAdapter())
        let outcome = try await engine.sync()
        #expect(isDone.value == true)
        #expect(try replica.journal.verify(.deep).findings == [])
        let documents = try replica.read { context in
            var keys: [String] = []
            try context.forEachDocument { key, _, _ in
                keys.append("\(key)")
                return true
            }
            return keys
        }
        try replica.deleteTemporary()
        return (world.writes, documents, outcome.isSynced)
    }

    @Test func `an entity deleted meanwhile is never sent`() async throws {
        let result = try await sync { tx in try tx.delete(EntityKey("tasks", "t1")) }

        #expect(result.writes == [])
        #expect(result.documents == [])
        #expect(result.isSynced)
    }

    @Test func `an entity whose changes were discarded meanwhile is never sent`() async throws {
        let result = try await sync { tx in try tx.discard(EntityKey("tasks", "t1")) }

        #expect(result.writes == [])
        #expect(result.documents == [])
        #expect(result.isSynced)
    }

    @Test func `a further edit goes in a write of its own`() async throws {
        let result = try await sync { tx in
            try tx.put(EntityKey("tasks", "t1"), Array(#"{"title":"tea"}"#.utf8))
        }

        #expect(result.writes.count == 2)
        #expect(result.documents == ["tasks/t1"])
        #expect(result.isSynced)
    }
}

@Suite(.serialized) struct `a list that is older than what is known` {
    @Test func `changes nothing and leaves the cursor, so that the next one brings it all`()
        async throws
    {
        let world = SyncWorld()
        try await SyncDevice.with(world) { device in
            try device.put("tasks/t1", #"{"title":"tea"}"#)
            try await device.sync()
            try await device.sync()
            let cursor = try device.cursor("tasks")
            try device.patch("tasks/t1", #"{"title":"green tea"}"#)
            // Only one engine may run for a store; its driver alone does not ask.
            let other = try device.driver(world.server)
            device.wire.tap { request, _, pass in
                guard request.path?.contains("/tasks/") == true, world.writes.count == 1 else {
                    return await pass()
                }
                // Asked, and not yet answered: another engine pushes, then a rival writes.
                let time = SyncTime(from: device.replica.dependencies.moment, deadline: nil)
                _ = try await other.run(triggers: [.userRequested], time: time)
                world.rivalPuts("tasks/t1", #"{"title":"black tea"}"#)
                return await pass()
            }

            try await device.sync()

            #expect(device.wire.problem == nil)
            #expect(try device.document("tasks/t1") == #"{"title":"green tea"}"#)
            device.wire.tap(nil)
            try await device.sync()
            #expect(try device.document("tasks/t1") == #"{"title":"black tea"}"#)
            #expect(try device.cursor("tasks") != cursor)
            try device.verify()
        }
    }
}

extension SyncDevice {
    /// What an engine's run is made by.
    fileprivate func driver(_ transport: any Transport) throws -> SyncDriver {
        SyncDriver(
            journal: replica.journal, model: world.model, remote: SyncWorld.remote,
            adapter: try SyncWorld.remote.makeAdapter(), transport: transport,
            limits: TransportLimits(),
            credentials: { .basic(user: "me", password: "secret") },
            dependencies: replica.dependencies, rules: [], tell: { _ in })
    }
}
