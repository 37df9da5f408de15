// EngineTriggerTests.swift — runs that begin by themselves: after edits, regularly, when triggered.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

@Suite(.serialized) struct `an engine that was started` {
    @Test func `syncs an edit once it has been quiet`() async throws {
        let world = SyncWorld()
        try await SyncWatch.with(world, SyncTriggers()) { device, watch in
            try await watch.until { $0.activity == .idle }
            try device.put("tasks/t1", "{}")
            try await watch.until { $0.waitsFor == .quiet && $0.pending == 1 }
            #expect(device.wire.count == 0)

            #expect(await watch.wake() == .seconds(1))
            let status = try await watch.run()

            #expect(status.activity == .idle && status.pending == 0)
            #expect(status.lastOutcome?.isSynced == true)
            #expect(world.writes == ["PUT tasks/t1 * 201"])
            #expect(try device.triggers() == ["localChange"])
        }
    }

    @Test func `sleeps while it waits, also when what it waits for was put off`() async throws {
        let world = SyncWorld()
        try await SyncWatch.with(world, SyncTriggers()) { device, watch in
            try await watch.until { $0.activity == .idle }
            let before = world.clock.sleepsMade
            // What is put off by one edit has its time to ring before the next one is stored.
            for number in 1...50 {
                try device.put("tasks/t\(number)", "{}")
                try await watch.until { $0.waitsFor == .quiet && $0.pending == number }
            }
            _ = await world.clock.firstSleep()

            // One for each edit, and not another one for each that was put off.
            #expect(world.clock.sleepsMade <= before + 60)
        }
    }

    @Test func `syncs what was pending before it was started`() async throws {
        let world = SyncWorld()
        try await SyncWatch.with(world) { device, watch in
            try device.put("tasks/t1", "{}")
            await device.engine.start()

            try await watch.until { $0.waitsFor == .quiet }
            await watch.wake()
            try await watch.run()

            #expect(world.writes == ["PUT tasks/t1 * 201"])
        }
    }

    @Test func `begins runs as often as the model says, unless the app says otherwise`()
        async throws
    {
        var model = SyncWorld.usualModel
        model.settings.runEvery = .minutes(15)
        try await SyncWatch.with(SyncWorld(model: model), SyncTriggers()) { device, watch in
            let first = try await watch.run()

            #expect(first.waitsFor == .timer)
            #expect(await watch.wake() == .seconds(900))
            try await watch.run()
            #expect(try device.triggers().last == "timer")
            await device.engine.start(.none)
            try await watch.until { $0.activity == .idle }
        }
    }

    @Test func `leaves edits alone where they are no trigger`() async throws {
        try await SyncWatch.with(SyncWorld(), SyncTriggers.none) { device, watch in
            try await watch.until { $0.activity == .idle }
            try device.put("tasks/t1", "{}")

            try await watch.until { $0.pending == 1 }
            #expect(watch.last?.activity == .idle && device.wire.count == 0)
        }
    }

    @Test func `makes one run of ten triggers, and names them`() async throws {
        try await SyncWatch.with(SyncWorld(), SyncTriggers.none) { device, watch in
            try await watch.until { $0.activity == .idle }
            await device.engine.pause()
            for trigger in [SyncTrigger.reachability, .remoteChange, .userRequested, .background] {
                for _ in 1...3 { await device.engine.trigger(trigger) }
            }
            await device.engine.resume()
            try await watch.run()

            #expect(
                try device.triggers() == ["userRequested remoteChange reachability background"])
            #expect(device.wire.total == 3)
        }
    }

    @Test func `lists only the folders that it is asked for, and after a pause as well`()
        async throws
    {
        let world = SyncWorld()
        try await SyncWatch.with(world, SyncTriggers.none) { device, watch in
            try await watch.until { $0.activity == .idle }
            try device.put("tasks/t1", "{}")
            device.wire.tap { _, number, pass in
                if number == 1 { await device.engine.pause() }
                return await pass()
            }
            await device.engine.trigger(.remoteChange, in: SyncScope.Folder("tasks"))
            await device.engine.trigger(.remoteChange, in: SyncScope.Folder("tasks", "t9"))
            try await watch.until { $0.activity == .paused(.byApp) }
            await device.engine.resume()
            try await watch.run()

            #expect(try device.outcomes() == ["cancelled", "incomplete"])
            #expect(try device.triggers() == ["remoteChange", "remoteChange"])
            #expect(world.writes.isEmpty)
            let scopes = try device.events().filter { $0.event.kind == .syncStarted }.map {
                try JSONDocument(parsing: $0.event.payload).value("scope")?.description
            }
            #expect(scopes.allSatisfy { $0?.hasPrefix(#"{"folders":["#) == true })
            let last = scopes.last ?? nil
            #expect(last?.contains(#""tasks""#) == true && last?.contains("tasks/t9") == true)
        }
    }

    @Test func `makes one more run of what is triggered while one is going on`() async throws {
        try await SyncWatch.with(SyncWorld(), SyncTriggers.none) { device, watch async throws in
            device.wire.tap { _, number, pass in
                if number == 1 {
                    for _ in 1...10 { await device.engine.trigger(.remoteChange) }
                }
                return await pass()
            }
            await device.engine.trigger(.reachability)
            #expect(try await watch.run().activity == .idle)

            #expect(try device.triggers() == ["reachability", "remoteChange"])
            #expect(device.wire.total == 6)
        }
    }

    @Test func `does not sync again for an edit that the run in hand has pushed`() async throws {
        let world = SyncWorld()
        try await SyncWatch.with(world, SyncTriggers()) { device, watch in
            device.wire.tap { _, number, pass in
                if number == 1 { try device.put("tasks/t1", "{}") }
                return await pass()
            }
            await device.engine.trigger(.userRequested)
            let status = try await watch.run()

            #expect(status.activity == .idle && status.pending == 0)
            #expect(try device.triggers() == ["userRequested"])
            #expect(device.wire.problem == nil && world.writes == ["PUT tasks/t1 * 201"])
        }
    }

    @Test func `syncs regularly, counted from the end of the last run`() async throws {
        try await SyncWatch.with(SyncWorld(), SyncTriggers(every: .seconds(600))) {
            device, watch async throws in
            try await watch.until { $0.waitsFor == .timer }
            #expect(await watch.wake() == .seconds(600))
            #expect(try await watch.run().waitsFor == .timer)
            let before = try device.commits()
            device.world.clock.advance(by: .seconds(300))
            try await device.sync()
            try await watch.until { $0.waitsFor == .timer }
            #expect(await watch.wake() == .seconds(600))
            try await watch.run()

            #expect(try device.triggers() == ["timer", "timer", "userRequested", "timer"])
            #expect(try device.commits() == before + 2, "an idle run is one commit")
        }
    }

    @Test func `syncs as regularly where only a part is synced in between`() async throws {
        try await SyncWatch.with(SyncWorld(), SyncTriggers(every: .seconds(600))) {
            device, watch async throws in
            try await watch.until { $0.waitsFor == .timer }
            device.world.clock.advance(by: .seconds(300))
            try await device.sync(.pull(["tasks"]))
            try await watch.until { $0.waitsFor == .timer }
            #expect(await watch.wake() == .seconds(300))
            try await watch.run()

            #expect(try device.triggers() == ["timer", "userRequested", "timer"])
        }
    }

    @Test func `keeps the time of the next regular run over a restart`() async throws {
        let world = SyncWorld()
        try await SyncWatch.with(world, SyncTriggers(every: .seconds(600))) { device, watch in
            try await watch.run()
            await device.engine.stop()
            world.clock.advance(by: .seconds(200))
            let engine = SyncDevice.engine(
                device.replica, device.wire, adapter: try SyncWorld.remote.makeAdapter())
            await engine.start(SyncTriggers(every: .seconds(600)))

            #expect(await world.clock.firstSleep() == .seconds(400))
            await engine.stop()
        }
    }

    @Test func `takes later triggers when it is started twice`() async throws {
        try await SyncWatch.with(SyncWorld(), SyncTriggers.none) { device, watch in
            try await watch.until { $0.activity == .idle }

            await device.engine.start(SyncTriggers(every: .seconds(60)))

            try await watch.until { $0.waitsFor == .timer }
            #expect(try device.triggers() == ["timer"])
        }
    }

    @Test func `goes on when the clock is set, either way`() async throws {
        for hours in [-24, 24 * 3650] {
            let world = SyncWorld()
            world.server.faults = FaultPlan([FaultRule(.answer(status: 503), occurrences: 1...6)])
            try await SyncWatch.with(world, SyncTriggers(every: .seconds(600))) { device, watch in
                try await watch.until { $0.waitsFor == .failures(1) }
                world.clock.adjust(by: .seconds(3600 * hours))
                #expect(await watch.wake() <= .seconds(5))
                try await watch.until { $0.waitsFor == .failures(2) }
                #expect(await watch.wake() <= .seconds(10))
                try await watch.until { $0.waitsFor == .timer }

                #expect(device.wire.total == 9)
                #expect(try device.outcomes() == ["server", "server", "synced"])
            }
        }
    }
}

@Suite(.serialized) struct `an engine that is stopped` {
    @Test func `in a run ends it at its next step, and returns when it has ended`() async throws {
        let world = SyncWorld()
        try await SyncWatch.with(world, SyncTriggers.none) { device, watch in
            try device.put("tasks/t1", "{}")
            let stop = SyncBox<Task<Void, Never>>()
            device.wire.tap { _, number, pass in
                if number == 1 {
                    stop.value = Task.immediate { await device.engine.stop() }
                    await device.engine.trigger(.userRequested)
                }
                return await pass()
            }
            await device.engine.trigger(.userRequested)
            try await watch.until { $0.activity == .stopped(nil) }
            await stop.value?.value

            #expect(device.wire.count == 1)
            #expect(try device.outcomes() == ["cancelled"])
            #expect(try device.outbox() == ["tasks/t1 pending"])
        }
    }

    @Test func `ends also the run that somebody waits for, and those behind it`() async throws {
        try await SyncWatch.with(SyncWorld()) { device, watch in
            let others = SyncBox<[Task<SyncOutcome, any Error>]>()
            let stop = SyncBox<Task<Void, Never>>()
            device.wire.tap { _, number, pass in
                if number == 1 {
                    others.value = [
                        Task.immediate { try await device.engine.sync() },
                        Task.immediate {
                            try await device.engine.sync(.background, deadline: .seconds(9))
                        },
                    ]
                    stop.value = Task.immediate { await device.engine.stop() }
                    while !Task.isCancelled { await Task.yield() }
                }
                return await pass()
            }

            #expect(try await device.sync().failure == .cancelled)
            for other in try #require(others.value) {
                #expect(try await other.value.failure == .cancelled)
            }
            await stop.value?.value
            #expect(device.wire.count == 1)
            #expect(try device.outcomes() == ["cancelled"])
            try await watch.until { $0.activity == .stopped(nil) }
        }
    }

    @Test func `twice, or without a start, is stopped`() async throws {
        try await SyncWatch.with(SyncWorld()) { device, watch in
            await device.engine.stop()
            await device.engine.stop()
            try await watch.until { $0.activity == .stopped(nil) }

            await device.engine.trigger(.userRequested)
            #expect(try await device.sync().isSynced)
            #expect(device.wire.total == 3)
        }
    }

    @Test func `can be started again, and has forgotten what it was asked for`() async throws {
        try await SyncWatch.with(SyncWorld(), SyncTriggers.none) { device, watch in
            try await watch.until { $0.activity == .idle }
            await device.engine.pause()
            await device.engine.trigger(.userRequested)
            try await watch.until { $0.activity == .paused(.byApp) }
            await device.engine.stop()
            await device.engine.resume()

            await device.engine.start(.none)
            try await watch.until { $0.activity == .stopped(nil) }
            try await watch.until { $0.activity == .idle }
            await device.engine.trigger(.reachability)
            try await watch.run()

            #expect(try device.triggers() == ["reachability"])
        }
    }

    @Test func `by a store that fails says why`() async throws {
        try await SyncWatch.with(SyncWorld()) { device, watch in
            try await device.sync()
            device.wire.tap(nil)
            let other = Remote.kinto(origin: "http://elsewhere.test", bucket: "b")
            let engine = SyncDevice.engine(
                device.replica, device.wire, remote: other, adapter: try other.makeAdapter())
            await engine.start(SyncTriggers(every: .seconds(60)))
            await engine.trigger(.reachability)

            for await status in engine.statuses {
                guard case .stopped(let error) = status.activity else { continue }
                #expect(error?.code == .otherRemote)
                break
            }
            #expect(device.wire.count == 0)
        }
    }
}

@Suite(.serialized) struct `an engine that is paused` {
    @Test func `in a run ends it, and does its work when it goes on`() async throws {
        let world = SyncWorld()
        try await SyncWatch.with(world, SyncTriggers.none) { device, watch in
            try device.put("tasks/t1", "{}")
            device.wire.tap { _, number, pass in
                if number == 1 { await device.engine.pause() }
                return await pass()
            }
            await device.engine.trigger(.remoteChange)
            try await watch.until { $0.activity == .paused(.byApp) }
            #expect(device.wire.count == 1)

            await device.engine.resume()
            try await watch.run()

            #expect(try device.outcomes() == ["cancelled", "synced"])
            #expect(try device.triggers() == ["remoteChange", "remoteChange"])
            #expect(world.writes == ["PUT tasks/t1 * 201"])
        }
    }

    @Test func `lets a run go on that somebody waits for`() async throws {
        try await SyncWatch.with(SyncWorld(), SyncTriggers.none) { device, watch in
            device.wire.tap { _, number, pass in
                if number == 1 { await device.engine.pause() }
                return await pass()
            }
            #expect(try await device.sync().isSynced)
            #expect(try await device.sync().isSynced)
            try await watch.until { $0.activity == .paused(.byApp) }
        }
    }
}
