// EngineFaultTests.swift — an engine that runs by itself, against a server and a network that fail:
// never in a tight loop, and on its way again when they are well.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkRules
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite(.serialized) struct `an engine whose server fails` {
    @Test(arguments: [500, 502, 503, 504])
    func `ten times in a row asks ten times in more than half an hour, then syncs`(_ status: Int)
        async throws
    {
        let world = SyncWorld([FaultRule(.answer(status: status), occurrences: 1...30)])
        try await SyncWatch.with(world, SyncTriggers()) { device, watch in
            try device.put("tasks/t1", "{}")
            try await watch.until { $0.waitsFor == .quiet }
            await watch.wake()
            var waits: [Duration] = []
            for failures in 1...10 {
                try await watch.until { $0.waitsFor == .failures(failures) }
                #expect(device.wire.total == 3 * failures)
                // Other triggers change nothing.
                await device.engine.trigger(.reachability)
                waits.append(await watch.wake())
            }
            try await watch.until { $0.activity == .idle }

            for (number, wait) in waits.enumerated() {
                let most = Duration.seconds(min(3600, 5 << number))
                #expect(wait >= most / 2 && wait <= most, "\(number): \(wait)")
            }
            #expect(device.wire.total == 34, "\(world.requests)")
            #expect(world.writes == ["PUT tasks/t1 * 201"])
            #expect(try device.outcomes() == Array(repeating: "server", count: 10) + ["synced"])
            #expect(try device.gates() == SyncGates())
        }
    }

    @Test func `waits as long after a restart, and the next failure counts on`() async throws {
        let world = SyncWorld([FaultRule(.answer(status: 500))])
        let device = try SyncDevice.make(world, movesClock: false)
        let watch = SyncWatch(device)
        await device.engine.start(SyncTriggers(every: .seconds(60)))
        for failures in 1...5 {
            try await watch.until { $0.waitsFor == .failures(failures) }
            if failures < 5 { await watch.wake() }
        }
        let left = await world.clock.firstSleep()
        #expect(left >= .seconds(40))
        await device.engine.stop()
        try await device.replica.close()

        // Of another boot, so far as is known: by the device's clock.
        world.clock.advance(by: .seconds(10))
        let replica = try await Replica.open(
            existing: device.replica.directory,
            dependencies: .seeded(9, clock: world.clock, movesClock: false))
        let engine = SyncDevice.engine(
            replica, device.wire, adapter: try SyncWorld.remote.makeAdapter())
        await engine.start(SyncTriggers(every: .seconds(60)))
        #expect(await world.clock.firstSleep() == left - .seconds(10))

        #expect(try await engine.sync(.background).failure?.name == "backoff")
        #expect(device.wire.total == 15)
        #expect(try await engine.sync(.userRequested).failure?.name == "server")
        #expect(device.wire.total == 18)
        #expect(try replica.journal.read { try $0.gates().backoff?.failures } == 6)
        await engine.stop()
        try replica.deleteTemporary()
    }

    @Test func `lets the user's own run pass, but not what the server asked for`() async throws {
        let pause = FaultAction.answer(status: 503, fields: [.retryAfter: "30"])
        let world = SyncWorld([FaultRule(pause, nth: 1)])
        try await SyncWatch.with(world, SyncTriggers.none) { device, watch in
            await device.engine.trigger(.userRequested)
            try await watch.until { $0.waitsFor == .serverAsked }
            await device.engine.trigger(.userRequested)
            #expect(try await device.sync().failure == .tooManyRequests(retryAfterSeconds: 30))
            #expect(device.wire.total == 1)
            try await watch.until { $0.waitsFor == .serverAsked }

            #expect(await watch.wake() == .seconds(30))
            try await watch.until { $0.activity == .idle }
            #expect(try device.outcomes() == ["server", "synced"])
            #expect(try device.triggers() == ["userRequested", "userRequested retry"])
        }
    }

    @Test func `asks a busy server for nothing that nobody needs`() async throws {
        let world = SyncWorld()
        try await SyncWatch.with(world, SyncTriggers(every: .seconds(60))) { device, watch in
            device.wire.tap { _, _, pass in
                await pass().map { answer in
                    var answer = answer
                    if let name = HTTPField.Name("Backoff") {
                        answer.response.headerFields[name] = "900"
                    }
                    return answer
                }
            }
            try await watch.until { $0.waitsFor == .serverBusy }
            let before = try device.commits()
            #expect(try await device.sync().isSynced)
            #expect(try device.commits() == before + 1, "an idle run is one commit")
            try await watch.until { $0.waitsFor == .serverBusy }
            device.wire.tap(nil)

            #expect(await watch.wake() == .seconds(900))
            try await watch.until { $0.waitsFor == .timer }
            #expect(try device.triggers() == ["timer", "userRequested", "timer"])
        }
    }

    @Test(arguments: [(401, SyncPauseReason.unauthorized), (410, .apiDeprecated)])
    func `for good is asked no more until the user asks`(_ it: (Int, SyncPauseReason)) async throws
    {
        let world = SyncWorld([FaultRule(.answer(status: it.0), occurrences: 1...2)])
        let triggers = SyncTriggers(every: .seconds(60))
        try await SyncWatch.with(world, triggers) { device, watch in
            try device.put("tasks/t1", "{}")
            try await watch.until { $0.activity == .paused(it.1) }
            for trigger in [SyncTrigger.remoteChange, .reachability, .background] {
                await device.engine.trigger(trigger)
            }
            world.clock.advance(by: .seconds(86_400))
            #expect(try await device.engine.sync(.timer).failure?.name == it.1.rawValue)
            #expect(device.wire.total == 1)
            #expect(try device.outbox() == ["tasks/t1 pending"])

            #expect(try await device.sync().failure?.name == it.1.rawValue)
            #expect(device.wire.total == 2)

            await device.engine.trigger(.credentialsChanged)
            try await watch.until { $0.waitsFor == .timer }
            #expect(world.writes == ["PUT tasks/t1 * 201"])
        }
    }

    @Test func `as the app is too old is asked once more by each new process`() async throws {
        let world = SyncWorld([FaultRule(.answer(status: 410), occurrences: 1...2)])
        try await SyncDevice.make(world, movesClock: false).lendAndVerify { device in
            try device.put("tasks/t1", "{}")
            for process in 1...2 {
                let watch = SyncWatch(device)
                await device.engine.start(SyncTriggers(every: .seconds(60)))
                try await watch.until { $0.activity == .paused(.apiDeprecated) }
                await device.engine.trigger(.reachability)
                #expect(device.wire.total == process)
                await device.engine.stop()
                try await watch.until { $0.activity == .stopped(nil) }
                await device.engine.start(SyncTriggers(every: .seconds(60)))
                try await watch.until { $0.activity == .paused(.apiDeprecated) }
                #expect(device.wire.total == process, "the same process asks no more")
                await device.engine.stop()
                try device.restart()
            }

            let watch = SyncWatch(device)
            await device.engine.start(SyncTriggers(every: .seconds(60)))
            try await watch.until { $0.waitsFor == .timer }

            #expect(world.writes == ["PUT tasks/t1 * 201"])
        }
    }

    @Test(arguments: [403, 418])
    func `for one collection is asked again by a backoff of its own`(_ status: Int) async throws {
        let world = SyncWorld([FaultRule(.answer(status: status), pathContains: "/lists/")])
        try await SyncWatch.with(world, SyncTriggers.none) { device, watch in
            try device.put("lists/a", "{}")
            try device.put("tasks/t1", "{}")
            await device.engine.trigger(.remoteChange)
            try await watch.until { $0.waitsFor == .failures(1) }

            #expect(watch.last?.refused == 1)
            #expect(watch.last?.lastOutcome?.failed["lists"]?.isTransient == false)
            #expect(device.wire.total == 5)
            #expect(try device.outbox() == ["lists/a rejected"])
        }
    }
}

@Suite(.serialized) struct `an engine whose network flaps` {
    @Test func `a hundred times asks as often as it fails, and converges`() async throws {
        let world = SyncWorld.paging(2)
        for number in 1...9 { world.rivalPuts("tasks/theirs\(number)", #"{"n":\#(number)}"#) }
        try await SyncWatch.with(world, SyncTriggers()) { device, watch in
            for number in 1...9 { try device.put("tasks/mine\(number)", #"{"n":\#(number)}"#) }
            let failed = SyncCounter()
            device.wire.tap { _, number, pass in
                guard number % 3 != 0, failed.value < 100 else {
                    return await pass()
                }
                _ = failed.count()
                // Every other one had arrived.
                if number % 3 == 1 { _ = await pass() }
                return .failure(TransportError(.connectionLost, detail: "flap"))
            }
            var wakes = 0
            while try await watch.until({
                $0.waitsFor != nil || $0.activity == .idle && $0.lastOutcome != nil
            }).waitsFor != nil {
                wakes += 1
                await watch.wake()
            }

            #expect(failed.value == 100)
            #expect(wakes <= 102 && device.wire.count <= 200, "\(wakes) \(device.wire.count)")
            for number in 1...9 {
                #expect(world.record("tasks/mine\(number)") == #"{"n":\#(number)}"#)
                #expect(try device.document("tasks/theirs\(number)") == #"{"n":\#(number)}"#)
            }
            #expect(try device.outbox() == [])
            let applied = world.server.requestLog.filter { $0.method == .put && $0.isApplied }
            #expect(applied.count == 9, "nothing was written twice")
        }
    }

    @Test func `tries again when the user asks, without waiting`() async throws {
        try await SyncWatch.with(SyncWorld(), SyncTriggers(every: .seconds(60))) { device, watch in
            device.wire.tap { _, number, pass in
                number <= 3 ? .failure(TransportError(.offline)) : await pass()
            }
            try await watch.until { $0.waitsFor == .failures(1) }
            for failures in 2...3 {
                await device.engine.trigger(.userRequested)
                try await watch.until { $0.waitsFor == .failures(failures) }
            }
            await device.engine.trigger(.userRequested)
            try await watch.until { $0.waitsFor == .timer }

            #expect(device.wire.count == 5)
            #expect(device.world.clock.elapsed == 0)
        }
    }

    @Test func `tries again as soon as it is back, with the edits since`() async throws {
        let world = SyncWorld()
        try await SyncWatch.with(world, SyncTriggers()) { device, watch in
            device.wire.tap { _, _, _ in .failure(TransportError(.offline)) }
            try device.put("tasks/t1", "{}")
            try await watch.until { $0.waitsFor == .quiet }
            for failures in 1...10 {
                await watch.wake()
                try await watch.until { $0.waitsFor == .failures(failures) }
            }
            await device.engine.trigger(.reachability)
            try await watch.until { $0.waitsFor == .failures(11) }
            let elapsed = world.clock.elapsed

            device.wire.tap(nil)
            try device.put("tasks/t2", "{}")
            await device.engine.trigger(.reachability)
            try await watch.until { $0.activity == .idle }

            #expect(world.clock.elapsed == elapsed)
            let triggers = try device.triggers().suffix(2)
            #expect(triggers == ["reachability", "localChange reachability"])
            #expect(world.writes == ["PUT tasks/t1 * 201", "PUT tasks/t2 * 201"])
            #expect(try device.gates() == SyncGates())
        }
    }
}
