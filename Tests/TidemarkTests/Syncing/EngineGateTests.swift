// EngineGateTests.swift — triggers that the app names, and the gates that the model has for them.

import HTTPTypes
import Synchronization
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkRules
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite(.serialized) struct `a trigger with a gate` {
    private let show = SyncTrigger.named("discover")

    private func world(_ count: Int, _ faults: [FaultRule] = []) -> SyncWorld {
        var model = SyncWorld.usualModel
        model.settings.gates = [.init("discover", count: count, window: .minutes(10))]
        return SyncWorld(model: model, faults)
    }

    private func until(_ world: SyncWorld, _ seconds: Int64) -> SyncFailure {
        .gated(until: world.clock.now.adding(seconds: seconds))
    }

    @Test func `that is held says until when, asks for nothing and logs nothing`() async throws {
        let world = world(1)
        try await SyncDevice.make(world).lendAndVerify { device in
            #expect(try await device.sync(.all, show).isSynced)
            #expect(try device.triggers() == ["discover"])
            let (before, requests) = (try device.position(), device.wire.total)
            world.clock.advance(by: .seconds(60))

            let outcome = try await device.sync(.all, show)

            #expect(outcome.failure == until(world, 540))
            #expect(outcome.failure?.description.contains("when the user asks") == true)
            #expect(try device.position() == before && device.wire.total == requests)
            world.clock.advance(by: .seconds(540))
            #expect(try await device.sync(.all, show).isSynced)
        }
    }

    @Test func `is on disk as an attempt before anything is asked`() async throws {
        try await SyncDevice.make(world(1)).lendAndVerify { device in
            _ = try await device.sync(.all, show)

            let kinds = try device.kinds().drop { $0 != "trigger.received" }
            #expect(kinds.prefix(2) == ["trigger.received", "sync.started"])
            let event = try #require(
                try device.events().first { $0.event.kind == .triggerReceived }?.event)
            #expect(event.payload == Array(#"{"trigger":"discover"}"#.utf8))
            #expect(event.bootID == "boot-1" && event.sync == nil)
        }
    }

    @Test func `counts where the run failed, and over restarts of the app`() async throws {
        let world = world(2, [FaultRule(.answer(status: 500))])
        try await SyncDevice.make(world).lendAndVerify { device in
            #expect(try await device.sync(.all, show).failure?.name == "server")
            world.server.faults = FaultPlan()
            try device.restart()
            world.clock.advance(by: .seconds(30))
            #expect(try await device.sync(.all, show).isSynced)
            try device.restart()

            #expect(try await device.sync(.all, show).failure == until(world, 570))
        }
    }

    @Test func `counts where the app was killed before its run`() async throws {
        let world = world(1)
        try await SyncDevice.make(world).lendAndVerify { device in
            for commits in 0...1 {
                let driver = try device.gatedDriver(dyingAfter: commits)
                await #expect(throws: ProcessDied.self) {
                    _ = try await driver.run(
                        triggers: [show],
                        time: SyncTime(from: device.replica.dependencies.moment, deadline: nil))
                }
                // What is not on disk asks for nothing.
                #expect(try device.count("trigger.received") == commits)
                if commits == 0 { #expect(device.wire.total == 0) }
            }
            #expect(try device.kinds().last == "trigger.received")
            try device.restart()

            #expect(try await device.sync(.all, show).failure == until(world, 600))
        }
    }

    @Test func `is no attempt while the server or failures keep runs from beginning`()
        async throws
    {
        let pause = FaultAction.answer(status: 503, fields: [.retryAfter: "30"])
        let world = world(1, [FaultRule(pause, nth: 1)])
        try await SyncDevice.make(world).lendAndVerify { device in
            #expect(try await device.sync(.all, .timer).failure?.name == "server")
            let held = try await device.sync(.all, show).failure
            #expect(held?.name == "tooManyRequests" || held?.name == "backoff")
            #expect(try device.count("trigger.received") == 0)
            world.clock.advance(by: .seconds(3600))

            #expect(try await device.sync(.all, show).isSynced)
            #expect(try device.count("trigger.received") == 1)
        }
    }

    @Test func `is held beside the user's requests, which are never held`() async throws {
        let world = world(1)
        try await SyncDevice.make(world).lendAndVerify { device async throws in
            for _ in 1...3 { #expect(try await device.sync().isSynced) }

            #expect(try await device.sync(.all, show).failure == until(world, 600))
            #expect(try device.count("trigger.received") == 3)
        }
    }

    @Test func `that the model has no gate for is never held, and not logged`() async throws {
        try await SyncDevice.make(SyncWorld()).lendAndVerify { device in
            for _ in 1...5 { #expect(try await device.sync(.all, show).isSynced) }
            _ = try await device.sync()

            #expect(try device.count("trigger.received") == 0)
            #expect(try device.kinds().suffix(2) == ["sync.finished", "sync.finished"])
        }
    }

    @Test func `of a started engine begins a run, or says until when it is held`() async throws {
        let world = world(1)
        try await SyncWatch.with(world, SyncTriggers.none) { device, watch in
            try await watch.until { $0.activity == .idle }
            #expect(await device.engine.trigger(show) == nil)
            try await watch.run()
            let requests = device.wire.total

            let until = await device.engine.trigger(show)

            #expect(until == world.clock.now.adding(seconds: 600))
            #expect(await device.engine.trigger(.named("other")) == nil)
            try await watch.run()
            #expect(try device.triggers() == ["discover", "other"])
            #expect(device.wire.total == 2 * requests)
        }
    }

    @Test func `that is held leaves the run to the other triggers`() async throws {
        try await SyncWatch.with(world(1), SyncTriggers.none) { device, watch in
            try await watch.until { $0.activity == .idle }
            await device.engine.pause()
            // Asked for before the user's request fills the gate.
            #expect(await device.engine.trigger(show) == nil)
            await device.engine.trigger(.reachability)
            _ = try await device.sync()
            await device.engine.resume()
            try await watch.until { $0.activity == .idle && $0.lastOutcome?.isSynced == true }

            #expect(try device.triggers() == ["userRequested", "reachability"])
        }
    }

    @Test func `whose run a pause ended has it made up for, as no other attempt`() async throws {
        let world = world(1)
        try await SyncWatch.with(world, SyncTriggers.none) { device, watch in
            try await watch.until { $0.activity == .idle }
            try device.put("tasks/t1", "{}")
            device.wire.tap { _, number, pass in
                if number == 1 { await device.engine.pause() }
                return await pass()
            }
            #expect(await device.engine.trigger(show) == nil)
            try await watch.until { $0.activity == .paused(.byApp) }
            await device.engine.resume()
            try await watch.run()

            #expect(try device.outcomes() == ["cancelled", "synced"])
            #expect(try device.triggers() == ["discover", "retry"])
            #expect(try device.count("trigger.received") == 1)
            #expect(world.writes == ["PUT tasks/t1 * 201"])
        }
    }

    @Test func `whose list of a folder a pause ended has it made up for as well`() async throws {
        try await SyncWatch.with(world(1), SyncTriggers.none) { device, watch in
            try await watch.until { $0.activity == .idle }
            device.wire.tap { _, number, pass in
                if number == 1 { await device.engine.pause() }
                return await pass()
            }
            await device.engine.trigger(show, in: SyncScope.Folder("tasks"))
            try await watch.until { $0.activity == .paused(.byApp) }
            await device.engine.resume()
            try await watch.run()

            #expect(try device.triggers() == ["discover", "retry"])
            #expect(try device.outcomes().count == 2)
        }
    }

    @Test func `whose run could send nothing has it made up for after a wait`() async throws {
        let world = world(1)
        try await SyncDevice.asking(world) { _, number in
            if number == 0 { throw SyncFailure.offline("no token") }
            return .basic(user: "me", password: "")
        } _: { device, engine async throws in
            let begun = world.clock.now
            await engine.start(.none)
            await engine.trigger(show)
            for await status in engine.statuses where status.lastOutcome?.isSynced == true { break }
            await engine.stop()

            #expect(world.clock.now >= begun.adding(seconds: 5))
            #expect(try device.triggers().last == "retry")
            #expect(try device.mutations("tasks/t1") == ["accepted"])
        }
    }

    @Test func `of a clock that was set is held by the time since the boot`() async throws {
        let world = world(1)
        let ahead = Mutex<Int64>(0)
        var dependencies = Dependencies.seeded(1, clock: world.clock)
        dependencies.now = { world.clock.now.adding(seconds: ahead.withLock(\.self)) }
        let device = try SyncDevice(
            of: world, over: SyncWire(world.server), model: world.model,
            dependencies: dependencies)
        try await device.lendAndVerify { device in
            #expect(try await device.sync(.all, show).isSynced)
            for seconds in [3600, -3600, 86_400, 0] as [Int64] {
                ahead.withLock { $0 = seconds }
                world.clock.advance(by: .seconds(100))
                let held = try await device.sync(.all, show).failure
                guard case .gated(let until)? = held else {
                    Issue.record("\(seconds): not held")
                    continue
                }
                #expect(until.rawValue > dependencies.now().rawValue)
            }
            world.clock.advance(by: .seconds(200))
            #expect(try await device.sync(.all, show).isSynced)
        }
    }
}

extension SyncDevice {
    /// What an engine's run is made by, whose process dies after so many commits.
    fileprivate func gatedDriver(dyingAfter commits: Int) throws -> SyncDriver {
        var driver = SyncDriver(
            journal: replica.journal, model: world.model, remote: SyncWorld.remote,
            adapter: try SyncWorld.remote.makeAdapter(), transport: wire,
            credentials: { .basic(user: "me", password: "secret") },
            dependencies: replica.dependencies)
        driver.host = DyingHost(driver.host, after: commits)
        return driver
    }
}
