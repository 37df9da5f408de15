// RedecideLimitTests.swift — runs that wait for limits while something else happens, decided once
// more: nothing differs.

import Testing
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkHTTP
import TidemarkReplay
import TidemarkSync
import TidemarkTesting

@testable import CapsuleSupport
@testable import SyncSupport

@Suite(.serialized) struct `runs that wait for limits decided once more` {
    /// Two collections, and so many requests in any ten seconds.
    private func model(_ requests: Int) -> SyncModel {
        var model = SyncWorld.usualModel
        model.settings.limits = [RequestLimit(requests: requests, within: .seconds(10))]
        return model
    }

    /// Has a device with such dependencies make a log, and decides it once more.
    ///
    /// - Parameter dependencies: changes those that the device would have.
    private func expectSame(
        _ model: SyncModel, _ dependencies: (inout Dependencies, SyncWorld) -> Void,
        _ body: (SyncDevice) async throws -> Void
    ) async throws {
        let world = SyncWorld(model: model)
        var doors = Dependencies.seeded(1, clock: world.clock)
        dependencies(&doors, world)
        let device = try SyncDevice(
            of: world, over: SyncWire(world.server), model: model, dependencies: doors)
        try await device.lend { device in
            try await body(device)
            await device.engine.stop()
            let report = try await decided(
                try await capsule(of: device.replica.journal),
                adapter: try SyncWorld.remote.makeAdapter())
            if let found = report.divergence { Issue.record("\(found.text)") }
            #expect(report.notDecided.map(\.why) == [])
        }
    }

    @Test func `are the same where an edit is discarded amid the last wait`() async throws {
        let recording = SyncBox<SyncDevice>()
        let isDiscarded = SyncFlag()
        try await expectSame(model(1)) { dependencies, world in
            let sleep = dependencies.sleep
            dependencies.sleep = { duration in
                if let device = recording.value, device.world.writes.count == 1,
                    isDiscarded.raise()
                {
                    try device.discard("tasks/t2")
                }
                try await sleep(duration)
            }
        } _: { device in
            recording.value = device
            defer { recording.value = nil }
            try await device.mustSync()
            for name in ["t1", "t2"] { try device.create("tasks/\(name)", "{}") }
            #expect(try await device.sync(.push).isSynced)
            #expect(device.world.writes.count == 1)
            #expect(!isDiscarded.raise())
        }
    }

    /// As one step with others, and as a step of its own.
    @Test(arguments: [(1, 25), (3, 1)])
    func `are the same where a wait took longer than asked and an edit was refused after it`(
        _ requests: Int, _ batchSize: Int
    ) async throws {
        var model = model(requests)
        model.settings.batchSize = batchSize
        model.collections[1].pushes = [.create, .delete]
        try await expectSame(model) { dependencies, _ in
            let sleep = dependencies.sleep
            dependencies.sleep = { try await sleep($0 + .microseconds(700)) }
        } _: { device in
            device.world.server.put("tasks/t1", #"{"title":"there"}"#)
            try await device.mustSync()
            for name in ["a", "b"] { try device.create("tasks/\(name)", "{}") }
            try device.patch("tasks/t1", #"{"title":"mine"}"#)
            try device.create("tasks/c", "{}")
            #expect(try await device.sync(.push).refused == 1)
            #expect(device.world.record("tasks/c") != nil)
        }
    }

    @Test func `are the same where a list is requested while answers lie there unread`()
        async throws
    {
        let names = ["a", "b", "c", "d", "e"]
        let model = SyncModel(
            name: "five",
            collections: names.map {
                CollectionModel(CollectionName($0), lastChangeField: "last_modified")
            },
            // The question after the collections comes first.
            settings: SyncSettings(
                limits: [RequestLimit(requests: 4, within: .seconds(1))], parallel: 3))
        let (areThere, isWritten) = (SyncBox<Bool>(), SyncFlag())
        try await expectSame(model) { dependencies, world in
            let uptime = dependencies.uptime
            dependencies.uptime = {
                if areThere.value == true, isWritten.raise() {
                    world.clock.advance(by: .milliseconds(120))
                }
                return uptime()
            }
        } _: { device in
            let clock = device.world.clock
            for name in names { device.world.server.put("\(name)/1", "{}") }
            device.wire.tap { _, number, pass in
                if number == 1 { clock.advance(by: .milliseconds(900)) }
                let answer = await pass()
                if number == 3 { areThere.value = true }
                return answer
            }
            try await device.mustSync()
            #expect(!isWritten.raise())
        }
    }

    @Test func `are the same where the boot is not known and time passes`() async throws {
        try await expectSame(model(2)) { dependencies, world in
            let uptime = dependencies.uptime
            dependencies.uptime = {
                world.clock.advance(by: .microseconds(1))
                return Uptime(bootID: "", microseconds: uptime().microseconds)
            }
        } _: { device in
            device.world.server.put("tasks/t1", #"{"title":"there"}"#)
            try await device.mustSync()
            for name in ["a", "b", "c"] { try device.create("tasks/\(name)", "{}") }
            try await device.mustSync()
            #expect(device.world.writes.count == 3)
        }
    }
}
