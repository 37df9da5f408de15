// EngineStopTests.swift — an engine that is stopped, started and paused while something is under
// way, and from within the closure that gives credentials.

import Foundation
import HTTPTypes
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkRules
import TidemarkStore
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport
@testable import Tidemark
@testable import TidemarkViews

@Suite(.serialized) struct `an engine that is stopped or paused in the middle` {
    @Test func `goes on with what it was asked for where a pause ends before the run does`()
        async throws
    {
        let world = SyncWorld()
        try await SyncWatch.with(world, SyncTriggers()) { device, watch in
            device.wire.tap { _, number, pass in
                if number == 1 {
                    await device.engine.pause()
                    await device.engine.resume()
                }
                return await pass()
            }
            try device.put("tasks/t1", "{}")
            try await watch.until { $0.waitsFor == .quiet }
            await watch.wake()
            try await watch.until { $0.progress != nil }
            try await watch.until { $0.waitsFor == .quiet }
            await watch.wake()

            try await watch.until { $0.pending == 0 && $0.activity == .idle }

            #expect(try device.outcomes() == ["cancelled", "synced"])
            #expect(world.record("tasks/t1") != nil)
        }
    }

    @Test func `does not end what a caller waits for where it is paused twice`() async throws {
        try await SyncDevice.with(SyncWorld()) { device in
            device.wire.tap { _, number, pass in
                if number == 1 {
                    for _ in 1...2 { await device.engine.pause() }
                }
                return await pass()
            }

            let outcome = try await device.engine.runForTwo().value

            #expect(outcome.isSynced)
            #expect(device.wire.count == 2)
        }
    }

    @Test func `is stopped also where it is started while that waits`() async throws {
        try await SyncWatch.with(SyncWorld(), SyncTriggers.none) { device, watch in
            try await watch.until { $0.activity == .idle }
            let stopping = Lock<Task<Void, Never>?>(nil)
            device.wire.tap { _, number, pass in
                if number == 1 {
                    let task = Task { await device.engine.stop() }
                    stopping.withLock { $0 = task }
                    while await device.engine.isStarted { await Task.yield() }
                    await device.engine.start(.none)
                }
                return await pass()
            }

            #expect(try await device.engine.sync().failure == .cancelled)
            await stopping.withLock(\.self)?.value

            #expect(await device.engine.isStarted)
            #expect(try await device.engine.sync().isSynced)
        }
    }

    @Test func `stays stopped where a start that waits for its end is followed by a stop`()
        async throws
    {
        try await SyncWatch.with(SyncWorld(), SyncTriggers.none) { device, watch in
            try await watch.until { $0.activity == .idle }
            let tasks = SyncBox<[Task<Void, Never>]>()
            device.wire.tap { _, number, pass in
                if number == 1 {
                    tasks.value = [
                        Task.immediate { await device.engine.stop() },
                        Task.immediate { await device.engine.start(.none) },
                        Task.immediate { await device.engine.stop() },
                    ]
                    while await device.engine.stops < 2 { await Task.yield() }
                }
                return await pass()
            }
            await device.engine.trigger(.userRequested)
            try await watch.until { $0.activity == .stopped(nil) }

            for task in try #require(tasks.value) { await task.value }

            #expect(await !device.engine.isStarted)
        }
    }

    @Test func `is started as it was asked for last where several wait for its end`()
        async throws
    {
        try await SyncWatch.with(SyncWorld(), SyncTriggers.none) { device, watch in
            try await watch.until { $0.activity == .idle }
            let tasks = SyncBox<[Task<Void, Never>]>()
            device.wire.tap { _, number, pass in
                if number == 1 {
                    tasks.value = [
                        Task.immediate { await device.engine.stop() },
                        Task.immediate {
                            await device.engine.start(SyncTriggers(every: .seconds(2)))
                        },
                        Task.immediate {
                            await device.engine.start(SyncTriggers(every: .seconds(3)))
                        },
                    ]
                    while await device.engine.stops < 1 { await Task.yield() }
                }
                return await pass()
            }
            await device.engine.trigger(.userRequested)
            try await watch.until { $0.activity == .stopped(nil) }

            for task in try #require(tasks.value) { await task.value }

            #expect(await device.engine.schedule.automatic?.every == 3_000_000)
        }
    }

    @Test func `sleeps while it is paused over a midnight, and cleans up after that`()
        async throws
    {
        let world = SyncWorld()
        let triggers = SyncTriggers(localChanges: false, every: .zero, midnightUTCOffset: .zero)
        try await SyncWatch.with(world, triggers) { device, watch in
            try await watch.until { $0.waitsFor == .timer }
            await device.engine.pause()
            try await watch.until { $0.activity == .paused(.byApp) }
            world.clock.advance(by: .seconds(86_400))
            let before = world.clock.sleepsMade
            // Each edit has it look what to do.
            for number in 1...20 {
                try device.put("tasks/t\(number)", "{}")
                try await watch.until { $0.activity == .paused(.byApp) && $0.pending == number }
            }
            #expect(world.clock.sleepsMade <= before + 1)
            #expect(await device.engine.runsMade == 0)

            await device.engine.resume()
            let status = try await watch.run()

            #expect(status.waitsFor == .timer)
            #expect(await device.engine.runsMade == 1)
        }
    }

    @Test func `sends what is pending once it is started again with edits as a trigger`()
        async throws
    {
        let world = SyncWorld()
        try await SyncWatch.with(world, SyncTriggers.none) { device, watch in
            try await watch.until { $0.activity == .idle }
            try device.put("tasks/t1", "{}")
            try await watch.until { $0.pending == 1 && $0.activity == .idle }

            await device.engine.start(SyncTriggers())
            try await watch.until { $0.waitsFor == .quiet }
            await watch.wake()

            try await watch.until { $0.pending == 0 }
        }
    }

    @Test func `ends with its replica, so that the engine of another one may sync`() async throws {
        let folder = try SyncFolder()
        let world = SyncWorld()
        func open(_ seed: UInt64) throws -> (Replica, SyncEngine) {
            let replica = try Replica.open(
                at: folder / "store", model: world.model,
                dependencies: .seeded(seed, clock: world.clock))
            return (
                replica,
                SyncDevice.engine(
                    replica, world.server, adapter: try SyncWorld.remote.makeAdapter())
            )
        }
        let (first, idle) = try open(1)
        let (second, engine) = try open(2)
        await idle.start(.none)
        var statuses = idle.statuses.makeAsyncIterator()
        while await statuses.next()?.activity != .idle {}

        try await first.close()
        while await idle.isStarted { await Task.yield() }

        #expect(try await engine.sync().isSynced)
        try await second.close()
        folder.delete()
    }

    @Test func `ends also where it was started while its replica was signed out`() async throws {
        let folder = try SyncFolder()
        defer { folder.delete() }
        let world = SyncWorld()
        let replica = try await Replica.open(
            at: folder / "store", model: world.model,
            dependencies: .seeded(1, clock: world.clock))
        let engine = SyncDevice.engine(
            replica, world.server, adapter: try SyncWorld.remote.makeAdapter())
        let isTidy = Lock(false)
        // The closing waits for it.
        replica.journal.tidying.withLock { work in
            work = Background {
                while !isTidy.withLock(\.self) { Thread.sleep(forTimeInterval: 0.001) }
            }
        }
        let leaving = Task { try await replica.signOut(ifPending: .keep) }
        while replica.journal.tidying.withLock({ $0 != nil }) { await Task.yield() }
        await engine.start(.none)
        var statuses = engine.statuses.makeAsyncIterator()
        while await statuses.next()?.activity != .idle {}
        isTidy.withLock { $0 = true }
        try await leaving.value

        while await engine.isStarted { await Task.yield() }
    }

    @Test func `ends what is in flight when its replica is closed`() async throws {
        let folder = try SyncFolder()
        let world = SyncWorld()
        let replica = try await Replica.open(
            at: folder / "store", model: world.model,
            dependencies: .seeded(1, clock: world.clock))
        let wire = SyncWire(world.server)
        let engine = SyncDevice.engine(
            replica, wire, adapter: try SyncWorld.remote.makeAdapter())
        let key = try #require(EntityKey("tasks/t1"))
        try await replica.write { tx in _ = try tx.put(key, Array("{}".utf8)) }
        wire.tap { request, _, pass in
            guard request.isWrite else { return await pass() }
            try await replica.close()
            while !Task.isCancelled { await Task.yield() }
            return .failure(TransportError(.cancelled))
        }

        await #expect(throws: TidemarkError.self) { _ = try await engine.sync() }

        #expect(wire.problem == nil)
        #expect(world.record("tasks/t1") == nil)
        folder.delete()
    }
}

extension SyncEngine {
    /// A run that began automatically, and that a caller waits for.
    fileprivate func runForTwo() -> Task<SyncOutcome, any Error> {
        let run = join([.timer])
        (automaticRun, isRunPaused) = (run.number, false)
        return join([.userRequested]).task
    }
}

@Suite(.serialized) struct `within the closure that gives credentials` {
    @Test func `an engine is stopped at once, and its run ends`() async throws {
        try await SyncDevice.asking { engine, _ in
            await engine.stop()
            throw SyncFailure.unauthorized
        } _: { device, engine async throws in
            #expect(try await engine.sync().counts.requests == 0)
            #expect(device.world.record("tasks/t1") == nil)
        }
    }

    @Test func `an engine is stopped and started again by the run that asks`() async throws {
        let stopped = SyncCounter()
        try await SyncDevice.asking { engine, number in
            if number == 0 {
                await engine.stop()
                await engine.start(.none)
                _ = stopped.count()
                throw SyncFailure.unauthorized
            }
            return .basic(user: "new", password: "")
        } _: { device, engine async throws in
            await engine.start(.none)
            await engine.trigger(.userRequested)
            while stopped.value == 0 { await Task.yield() }
            while await !engine.isStarted { await Task.yield() }

            #expect(try await engine.sync().isSynced)
            #expect(await engine.isStarted)
            await engine.stop()
        }
    }

    @Test func `an engine is stopped and started again also where its loop has ended by then`()
        async throws
    {
        try await SyncDevice.asking { engine, number in
            if number == 0 {
                await engine.stop()
                // It does not wait for a run that the app began.
                while await engine.loop != nil { await Task.yield() }
                await engine.start(.none)
                throw SyncFailure.unauthorized
            }
            return .basic(user: "new", password: "")
        } _: { device, engine async throws in
            await engine.start(.none)

            #expect(try await !engine.sync().isSynced)

            #expect(await engine.isStarted)
            #expect(try await engine.sync().isSynced)
            await engine.stop()
            #expect(await !engine.isStarted)
        }
    }

    @Test func `no run and no pass over files is waited for`() async throws {
        try await SyncDevice.asking { engine, number in
            guard number == 0 else { return .basic(user: "new", password: "") }
            await #expect { _ = try await engine.sync() } throws: {
                ($0 as? TidemarkError)?.code == .nested
            }
            await #expect { _ = try await engine.transfer() } throws: {
                ($0 as? TidemarkError)?.code == .nested
            }
            return .basic(user: "new", password: "")
        } _: { _, engine async throws in
            #expect(try await engine.sync().isSynced)
            #expect(try await engine.sync().isSynced)
        }
    }

    @Test func `a cancellation of the app's own is no reason to try again at once`() async throws {
        try await SyncDevice.asking { _, _ in
            throw CancellationError()
        } _: { _, engine async throws in
            #expect(try await engine.sync().failure == .unauthorized)
        }
    }

    @Test func `what only a run can say of itself is taken for refused credentials`()
        async throws
    {
        for failure in [SyncFailure.cancelled, .deadline, .backoff(seconds: 1)] {
            try await SyncDevice.asking { _, _ in
                throw failure
            } _: { _, engine async throws in
                #expect(try await engine.sync().failure == .unauthorized)
            }
        }
    }
}
