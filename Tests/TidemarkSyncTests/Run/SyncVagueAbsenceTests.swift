// SyncVagueAbsenceTests.swift — a server that tells by the same status that an entity is not there,
// and that its collection is out of reach.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite struct `an entity that is not there by an answer that may be about its collection` {
    /// A device with an edit and a deletion that are not sent yet.
    private func scene(_ body: (SyncWorld, SyncDevice) async throws -> Void) async throws {
        let world = SyncWorld()
        for name in ["edited", "deleted", "kept"] { world.rivalPuts("tasks/\(name)", #"{"n":1}"#) }
        var adapter = HookedAdapter(takesSeveral: false)
        adapter.hasVagueAbsence = true
        try await SyncDevice.with(world, adapter: adapter) { device in
            try await device.sync()
            try device.put("tasks/edited", #"{"n":2}"#)
            try device.delete("tasks/deleted")
            try await body(world, device)
            try device.verify()
        }
    }

    private func takeAway(_ device: SyncDevice) {
        device.wire.tap { request, _, pass in
            guard request.path?.contains("/tasks/") == true else { return await pass() }
            let body = Array(#"{"code":404,"errno":110,"error":"Not Found"}"#.utf8)
            return .success(TransportResponse(response: HTTPResponse(status: 404), body: body))
        }
    }

    @Test func `ends no write of which nothing is known`() async throws {
        try await scene { world, device in
            func isOpen() throws -> Bool {
                try device.replica.journal.read { views in
                    try views.entity(EntityKey("tasks", "edited"))?.attempt != nil
                }
            }
            device.wire.tap { request, _, pass in
                guard request.method == .put else { return await pass() }
                _ = await pass()
                return .failure(TransportError(.connectionLost))
            }
            _ = try await device.engine.sync(scope: .push)
            #expect(try isOpen())
            takeAway(device)
            _ = try await device.engine.sync(scope: .push)
            #expect(try isOpen())

            device.wire.tap { _, _, pass in await pass() }
            try await device.sync()
            #expect(try !isOpen() && device.status("tasks/edited") == .synced)
        }
    }

    @Test(arguments: [SyncScope.push, .all])
    func `is kept with its edit, and its deletion too, until the collection is back`(
        _ scope: SyncScope
    ) async throws {
        try await scene { world, device in
            takeAway(device)
            for _ in 1...2 { _ = try await device.engine.sync(scope: scope) }
            #expect(try device.status("tasks/edited") == .updated)
            #expect(try device.status("tasks/deleted") == .deleted)

            device.wire.tap { _, _, pass in await pass() }
            try await device.sync()

            #expect(world.record("tasks/edited") == #"{"n":2}"#)
            #expect(world.record("tasks/deleted") == nil)
        }
    }

    @Test func `is kept with its edit, also where the answer is one of a batch`() async throws {
        let model = SyncModel(name: "todo", collections: SyncWorld.usualModel.collections)
        let world = SyncWorld(model: model)
        for name in ["a", "b"] { world.rivalPuts("tasks/\(name)", #"{"n":1}"#) }
        var adapter = HookedAdapter()
        adapter.hasVagueAbsence = true
        try await SyncDevice.with(world, adapter: adapter) { device in
            try await device.sync()
            for name in ["a", "b"] { try device.put("tasks/\(name)", #"{"n":2}"#) }
            device.wire.tap { request, _, pass in
                guard request.method == .post else { return await pass() }
                let part = #"{"status":404,"body":{"code":404,"errno":110}}"#
                let body = Array(#"{"responses":[\#(part),\#(part)]}"#.utf8)
                return .success(TransportResponse(response: HTTPResponse(status: 200), body: body))
            }
            _ = try await device.engine.sync(scope: .push)
            for name in ["a", "b"] { #expect(try device.status("tasks/\(name)") == .updated) }

            device.wire.tap(nil)
            try await device.sync()

            #expect(world.record("tasks/a") == #"{"n":2}"#)
            #expect(world.record("tasks/b") == #"{"n":2}"#)
            try device.verify()
        }
    }

    @Test func `stays where it is asked for by itself, and goes with the next list`() async throws {
        try await scene { world, device in
            takeAway(device)
            _ = try await device.engine.sync(scope: .fetch([EntityKey("tasks", "kept")]))
            #expect(try device.document("tasks/kept") == #"{"n":1}"#)

            device.wire.tap { _, _, pass in await pass() }
            world.rivalDeletes("tasks/kept")
            try await device.sync()

            #expect(try device.document("tasks/kept") == nil)
        }
    }

    @Test func `is deleted once a list says so`() async throws {
        try await scene { world, device in
            world.rivalDeletes("tasks/deleted")
            _ = try await device.engine.sync(scope: .push)
            #expect(try device.status("tasks/deleted") == .deleted)

            #expect(try await device.sync().isSynced)

            #expect(try device.status("tasks/deleted") == nil)
        }
    }
}
