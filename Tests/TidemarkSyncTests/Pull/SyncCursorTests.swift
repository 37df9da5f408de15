// SyncCursorTests.swift — lists whose cursor is not told, or not known where it comes from, and
// lists of what changed since one that are cut off.

import HTTPTypes
import Synchronization
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite(.serialized) struct `a list's cursor` {
    /// A device that has twenty-five tasks of the server, of which many were deleted unseen.
    private func with(
        _ adapter: HookedAdapter, _ body: (SyncDevice) async throws -> Void
    ) async throws {
        let world = SyncWorld()
        for number in 0..<25 { world.rivalPuts("tasks/t\(number)", #"{"n":\#(number)}"#) }
        try await SyncDevice.with(world, adapter: adapter) { device async throws in
            #expect(try await device.sync().isSynced)
            for number in 0..<11 { world.rivalDeletes("tasks/t\(number)") }
            world.server.withModel { $0.purgeTombstones() }
            try await body(device)
            try device.verify()
        }
    }

    @Test func `that is not told lets nothing be deleted, and nothing be counted as such`()
        async throws
    {
        try await with(HookedAdapter(hidesCursor: true)) { device async throws in
            let before = try device.position()

            let outcome = try await device.sync()

            #expect(outcome.isSynced && outcome.counts.pulled == 0)
            #expect(try device.document("tasks/t1") == #"{"n":1}"#)
            let kinds = try device.kinds(after: before)
            #expect(!kinds.contains("server.deleted") && !kinds.contains("pull.completed"))
        }
    }

    @Test func `that is forgotten in the middle of a whole list begins it anew`() async throws {
        let calls = Calls()
        let adapter = HookedAdapter(forgets: { call in
            guard case .list(let collection, _?, _) = call, collection.name == "tasks" else {
                return false
            }
            return calls.next() == 1
        })
        try await with(adapter) { device async throws in
            let outcome = try await device.engine.sync(full: true)

            #expect(outcome.isSynced && outcome.counts.pulled == 11)
            #expect(try device.document("tasks/t1") == nil)
            #expect(calls.count == 2)
        }
    }

    @Test func `that is forgotten again and again pauses the collection`() async throws {
        let calls = Calls()
        let adapter = HookedAdapter(forgets: { call in
            guard case .list(let collection, _?, _) = call, collection.name == "tasks" else {
                return false
            }
            return calls.next() > 0
        })
        try await with(adapter) { device async throws in
            let outcome = try await device.engine.sync(full: true)

            #expect(outcome.failed["tasks"]?.name == "malformed")
            #expect(calls.count == 3)
            #expect(try device.document("tasks/t1") == #"{"n":1}"#)
        }
    }

    /// How often something was asked.
    private final class Calls: Sendable {
        private let number = Atomic<Int>(0)
        var count: Int { number.load(ordering: .relaxed) }
        func next() -> Int { number.add(1, ordering: .relaxed).newValue }
    }
}

@Suite(.serialized) struct `a list of changes that is cut off` {
    /// A device whose list of six changes, a page each, was cut off after the third.
    private func withCutChanges(
        _ body: (SyncDevice, SyncWorld) async throws -> Void
    ) async throws {
        let world = SyncWorld.paging(1)
        for number in 0..<2 { world.rivalPuts("tasks/t\(number)", "{}") }
        try await SyncDevice.with(world) { device async throws in
            #expect(try await device.sync().isSynced)
            for number in 0..<6 { world.rivalPuts("tasks/n\(number)", #"{"n":\#(number)}"#) }
            let pages = SyncCounter()
            device.wire.tap { request, _, pass in
                guard request.path?.contains("_token") == true, pages.count() >= 2 else {
                    return await pass()
                }
                return .failure(TransportError(.offline))
            }
            #expect(try await device.sync().failure?.name == "offline")
            device.wire.tap(nil)
            world.server.clearRequestLog()
            try await body(device, world)
            for number in 0..<6 {
                #expect(try device.document("tasks/n\(number)") == #"{"n":\#(number)}"#)
            }
            #expect(try device.replica.journal.read { try $0.listing("tasks") } == nil)
            try device.verify()
        }
    }

    @Test func `goes on behind its pages`() async throws {
        try await withCutChanges { device, world async throws in
            #expect(try await device.sync().isSynced)

            let asked = world.server.requestLog.map(\.path).filter { $0.contains("/tasks/rec") }
            #expect(asked.count == 3 && asked.allSatisfy { $0.contains("_token") })
        }
    }

    @Test func `begins anew at its cursor where its page is refused`() async throws {
        try await withCutChanges { device, world async throws in
            let pages = SyncCounter()
            device.wire.tap { request, _, pass in
                guard request.path?.contains("_token") == true, pages.count() == 0 else {
                    return await pass()
                }
                return .success(
                    TransportResponse(
                        response: HTTPResponse(status: .badRequest),
                        body: Array(#"{"code":400}"#.utf8)))
            }

            #expect(try await device.sync().isSynced)

            #expect(!world.server.requestLog.contains { $0.path.contains("_since=0") })
        }
    }

    @Test func `begins anew at its cursor where it has too many pages`() async throws {
        var model = SyncWorld.usualModel
        for index in model.collections.indices {
            (model.collections[index].pageSize, model.collections[index].pagesMax) = (1, 3)
        }
        let world = SyncWorld(model: model)
        world.rivalPuts("tasks/t1", "{}")
        try await SyncDevice.with(world) { device async throws in
            #expect(try await device.sync().isSynced)
            for number in 0..<5 { world.rivalPuts("tasks/n\(number)", "{}") }
            #expect(try await device.sync().failed["tasks"]?.name == "malformed")
            #expect(try device.replica.journal.read { try $0.listing("tasks") } == nil)
            world.rivalPuts("tasks/new", "{}")

            #expect(try await device.sync().failed["tasks"]?.name == "malformed")

            #expect(try device.document("tasks/new") == "{}")
            try device.verify()
        }
    }

    /// Syncs twice a device whose own six edits come first in a list of changes, a page each, of
    /// which a run gets four pages.
    private func withOwnEdits(
        _ limits: [RequestLimit], _ adapter: HookedAdapter, failing status: Int?
    ) async throws {
        var model = SyncWorld.usualModel
        for index in model.collections.indices { model.collections[index].pageSize = 1 }
        model.settings.limits = limits
        let world = SyncWorld(model: model)
        world.rivalPuts("tasks/first", "{}")
        try await SyncDevice.with(world, adapter: adapter) { device async throws in
            #expect(try await device.sync().isSynced)
            world.rivalPuts("tasks/old", "{}")
            for number in 0..<6 { try device.put("tasks/t\(number)", "{}") }
            #expect(try await device.sync(.push).pending == 0)
            for isFirst in [true, false] {
                world.clock.advance(by: .seconds(3600))
                let pages = SyncCounter()
                device.wire.tap { request, _, pass in
                    guard request.path?.contains("_token") == true, pages.count() >= 3,
                        let status
                    else { return await pass() }
                    let head = HTTPResponse(status: HTTPResponse.Status(code: status))
                    return .success(TransportResponse(response: head, body: Array("{}".utf8)))
                }

                let outcome = try await device.sync()

                #expect(outcome.failure == nil && (outcome.failed["tasks"] != nil) == isFirst)
                #expect(try (device.document("tasks/old") == nil) == isFirst)
            }
            try device.verify()
        }
    }

    @Test func `goes on behind pages without news where one fails, or has no room`() async throws {
        try await withOwnEdits([], HookedAdapter(), failing: 500)
        let limit = RequestLimit(requests: 4, within: .hours(1), group: "tasks")
        let grouped = HookedAdapter(groupOf: { call in
            guard case .list(let collection, _, _) = call, collection.name == "tasks" else {
                return nil
            }
            return RequestGroup("tasks")
        })
        try await withOwnEdits([limit], grouped, failing: nil)
    }
}
