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
        _ adapter: HookedAdapter, _ count: Int = 25, deleted: Int = 11,
        _ body: (SyncDevice, SyncWorld) async throws -> Void
    ) async throws {
        let world = SyncWorld()
        for number in 0..<count { world.rivalPuts("tasks/t\(number)", #"{"n":\#(number)}"#) }
        try await SyncDevice.with(world, adapter: adapter) { device async throws in
            #expect(try await device.sync().isSynced)
            for number in 0..<deleted { world.rivalDeletes("tasks/t\(number)") }
            world.server.withModel { $0.purgeTombstones() }
            world.server.clearRequestLog()
            try await body(device, world)
            try device.verify()
        }
    }

    /// The reads of one task since the last call.
    private func reads(_ world: SyncWorld) -> [String] {
        defer { world.server.clearRequestLog() }
        return world.server.requestLog.map(\.path).filter { $0.contains("/tasks/records/") }
    }

    @Test func `that is not told has what is not named asked for, and more while all is gone`()
        async throws
    {
        try await with(HookedAdapter(hidesCursor: true)) { device, world async throws in
            let before = try device.position()

            let outcome = try await device.sync()

            #expect(outcome.isSynced && reads(world).count == 11)
            for number in 0..<25 {
                let isThere = try device.document("tasks/t\(number)") != nil
                #expect(isThere == (number >= 11))
            }
            let kinds = try device.kinds(after: before)
            #expect(kinds.filter { $0 == "server.deleted" }.count == 11)
            #expect(!kinds.contains("pull.completed"))
        }
    }

    @Test func `that is not told has ten asked for, and no more where one of them is there`()
        async throws
    {
        let omitted = Set((11..<23).map { "t\($0)" })
        let isOmitting = SyncBox<Bool>()
        let adapter = HookedAdapter(
            hidesCursor: true,
            omits: { isOmitting.value == true && omitted.contains($0) })
        try await with(adapter, deleted: 0) { device, world async throws in
            isOmitting.value = true
            for number in 11..<20 { world.rivalDeletes("tasks/t\(number)") }
            world.server.withModel { $0.purgeTombstones() }
            #expect(try await device.sync().isSynced)
            // Of twelve any ten have one of the three that are there.
            #expect(reads(world).count == 10)
            let left = try (0..<25).filter { try device.document("tasks/t\($0)") != nil }
            #expect(left.count < 25 && Set(left).isSuperset(of: 0..<11))
            #expect(Set(left).isSuperset(of: 20..<25))
        }
    }

    @Test(arguments: [15, 20, 25])
    func `that is not told has others asked for with each list, so that none stays unseen`(
        _ count: Int
    ) async throws {
        // By their ids these come before those that are gone.
        let hidden = Set((10..<count + 5).map { "t\($0)" })
        let isHiding = SyncBox<Bool>()
        let adapter = HookedAdapter(
            hidesCursor: true, omits: { isHiding.value == true && hidden.contains($0) })
        try await with(adapter, 60, deleted: 0) { device, world async throws in
            isHiding.value = true
            for number in 5..<10 { world.rivalDeletes("tasks/t\(number)") }
            world.server.withModel { $0.purgeTombstones() }
            var runs = 0
            var left = Array(0..<60)
            while left.count > 55, runs < 30 {
                #expect(try await device.sync().isSynced)
                #expect(reads(world).count <= 10)
                left = try left.filter { try device.document("tasks/t\($0)") != nil }
                runs += 1
            }
            #expect(left == Array(0..<5) + Array(10..<60))
        }
    }

    @Test func `that is told has its list believed of what no request can ask about`() async throws
    {
        let adapter = HookedAdapter(cannotSend: { call in
            if case .read = call { true } else { false }
        })
        try await with(adapter, deleted: 3) { device, world async throws in
            let before = try device.position()

            #expect(try await device.engine.sync(full: true).isSynced)

            #expect(reads(world).isEmpty)
            let left = try (0..<25).filter { try device.document("tasks/t\($0)") != nil }
            #expect(left == Array(3..<25))
            let kinds = try device.kinds(after: before)
            #expect(kinds.filter { $0 == "server.deleted" }.count == 3)
            let log = try device.replica.journal.capsule(last: 1000, note: "", namesRemote: true)
            try await Replay(.capsule(log), adapter: adapter).run()
        }
    }

    @Test func `that is told has the others asked about, and one that is there proves them all`()
        async throws
    {
        let isOmitting = SyncBox<Bool>()
        let adapter = HookedAdapter(
            cannotSend: { call in if case .read(_, "t1") = call { true } else { false } },
            omits: { isOmitting.value == true && $0 == "t9" })
        try await with(adapter, deleted: 3) { device, world async throws in
            isOmitting.value = true

            #expect(try await device.engine.sync(full: true).isSynced)

            #expect(reads(world).count == 3)
            for (id, isThere) in [("t0", false), ("t1", true), ("t2", false), ("t9", true)] {
                let document = try device.document("tasks/\(id)")
                #expect((document != nil) == isThere, "\(id)")
            }
        }
    }

    @Test func `that is not told deletes nothing that no request can ask about`() async throws {
        let adapter = HookedAdapter(
            hidesCursor: true,
            cannotSend: { call in if case .read = call { true } else { false } })
        try await with(adapter, deleted: 3) { device, world async throws in
            #expect(try await device.sync().isSynced)
            #expect(reads(world).isEmpty)
            #expect(try device.document("tasks/t1") != nil)
        }
    }

    @Test func `that is not told has a hundred asked for in a run, and the others in the next one`()
        async throws
    {
        let adapter = HookedAdapter(hidesCursor: true)
        try await with(adapter, 250, deleted: 115) { device, world async throws in
            for gone in [100, 15, 0] {
                #expect(try await device.sync().isSynced)
                #expect(reads(world).count == gone)
            }
            let left = try (0..<250).filter { try device.document("tasks/t\($0)") != nil }
            #expect(left == Array(115..<250))
        }
    }

    @Test func `that is not told has the user asked about more than half, once`() async throws {
        let adapter = HookedAdapter(hidesCursor: true)
        try await with(adapter, deleted: 13) { device, world async throws in
            #expect(try await device.sync().held == ["tasks": 13])
            #expect(reads(world).isEmpty)
            #expect(try device.replica.issues().map(\.kind) == [.absent])
            #expect(try device.document("tasks/t1") != nil)

            let before = try device.position()
            #expect(try await device.sync().held == ["tasks": 13])
            #expect(try !device.kinds(after: before).contains("pull.completed"), "asked already")

            for number in 0..<5 { world.rivalPuts("tasks/t\(number)", #"{"n":\#(number)}"#) }
            #expect(try await device.sync().isSynced)
            #expect(try device.replica.issues().isEmpty, "it is less than half")
            #expect(reads(world).count == 8)
            #expect(try device.document("tasks/t1") != nil)
            #expect(try device.document("tasks/t12") == nil)
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
        try await with(adapter) { device, _ async throws in
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
        try await with(adapter) { device, _ async throws in
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
