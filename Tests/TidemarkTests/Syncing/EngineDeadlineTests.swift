// EngineDeadlineTests.swift — runs that have little time, as in the background.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkRules
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

/// Notes how long each request may take.
private final class LimitedWire: Transport {
    let next: SyncWire
    let deadlines = SyncBox<[Duration]>()

    init(_ next: SyncWire) { self.next = next }

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        deadlines.value = (deadlines.value ?? []) + [limits.deadline]
        return try await next.send(request, body: body, limits: limits)
    }
}

@Suite(.serialized) struct `a run with a deadline` {
    /// Five edits on a server whose every answer takes ten seconds.
    private func scene(
        _ body: (SyncWorld, SyncDevice, LimitedWire, SyncEngine) async throws -> Void
    ) async throws {
        var model = SyncWorld.usualModel
        model.settings.batchSize = 1
        let world = SyncWorld(model: model)
        try await SyncDevice.with(world) { device in
            for number in 1...5 { try device.put("tasks/t\(number)", "{}") }
            let wire = LimitedWire(device.wire)
            device.wire.tap { _, _, pass in
                world.clock.advance(by: .seconds(10))
                return await pass()
            }
            let engine = SyncDevice.engine(
                device.replica, wire, adapter: try SyncWorld.remote.makeAdapter())
            try await body(world, device, wire, engine)
        }
    }

    @Test func `begins no request that can't end in time, and the next run goes on`() async throws {
        try await scene { world, device, wire, engine async throws in
            let outcome = try await engine.sync(.background, deadline: .seconds(35))

            #expect(outcome.failure == .deadline && outcome.pending == 3)
            #expect(
                wire.deadlines.value
                    == [.seconds(30), .seconds(30), .seconds(25), .seconds(15), .seconds(5)])
            #expect(try device.outcomes() == ["deadline"])
            #expect(try device.gates().backoff == nil)
            try device.verify()

            #expect(try await engine.sync(.background).isSynced)
            #expect(world.writes.count == 5 && device.wire.total == 5 + 3 + 3)
        }
    }

    @Test func `that a request used up is no failure of the server`() async throws {
        try await scene { world, device, wire, engine async throws in
            device.wire.tap { request, _, pass in
                guard request.isWrite else { return await pass() }
                world.clock.advance(by: .seconds(20))
                return .failure(TransportError(.timeout, detail: "deadline"))
            }

            let outcome = try await engine.sync(.background, deadline: .seconds(20))

            #expect(outcome.failure == .deadline)
            #expect(try device.outbox().first == "tasks/t1 unknown")
            #expect(try device.gates().backoff == nil)
        }
    }

    @Test(arguments: [TransportError.Code.connectionLost, .timeout])
    func `is not over when a request fails at once`(_ code: TransportError.Code) async throws {
        try await scene { world, device, wire, engine async throws in
            device.wire.tap { request, _, pass in
                request.path?.contains("/lists/records?") == true
                    ? .failure(TransportError(code)) : await pass()
            }

            let outcome = try await engine.sync(.background, deadline: .seconds(25))

            #expect(outcome.failure == nil && outcome.pending == 0)
            #expect(outcome.failed["lists"]?.name == "timeout")
        }
    }

    @Test func `that it does not need makes no difference`() async throws {
        try await scene { world, device, wire, engine async throws in
            let outcome = try await engine.sync(.background, deadline: .seconds(81))

            #expect(outcome.isSynced)
            #expect(wire.deadlines.value?.count == 8)
        }
    }

    @Test func `that leaves no time asks nothing`() async throws {
        try await scene { world, device, wire, engine async throws in
            for deadline in [Duration.zero, .seconds(-1), .milliseconds(999)] {
                let outcome = try await engine.sync(.background, deadline: deadline)
                #expect(outcome.failure == .deadline && outcome.pending == 5)
            }
            #expect(wire.deadlines.value == nil)
        }
    }

    @Test func `may be longer than any clock can wait`() async throws {
        let world = SyncWorld()
        var dependencies = Dependencies.seeded(1, clock: world.clock)
        dependencies.alarm = Dependencies.live.alarm
        dependencies.sleep = Dependencies.live.sleep
        let replica = try Replica.temporary(model: world.model, dependencies: dependencies)
        let engine = SyncDevice.engine(
            replica, world.server, adapter: try SyncWorld.remote.makeAdapter())

        let runs = (1...2).map { _ in
            Task { try await engine.sync(.background, deadline: .seconds(Int64.max)) }
        }

        for run in runs { #expect(try await run.value.isSynced) }
        try replica.deleteTemporary()
    }

    @Test func `counts by the clock that nobody sets`() async throws {
        try await scene { world, device, wire, engine async throws in
            device.wire.tap { _, number, pass in
                world.clock.adjust(by: .seconds(number % 2 == 0 ? 86_400 : -90_000))
                return await pass()
            }

            let outcome = try await engine.sync(.background, deadline: .seconds(20))

            #expect(outcome.failure == nil && outcome.pending == 0)
        }
    }

    @Test func `does not wait longer for its turn`() async throws {
        try await SyncWatch.with(SyncWorld()) { device, _ async throws in
            let (seconds, second) = AsyncStream.makeStream(of: Task<SyncOutcome, any Error>.self)
            let (released, release) = AsyncStream.makeStream(of: Void.self)
            device.wire.tap { _, number, pass in
                if number == 1 {
                    second.yield(
                        Task.immediate {
                            try await device.engine.sync(.background, deadline: .seconds(25))
                        })
                    for await _ in released { break }
                }
                return await pass()
            }
            let first = Task { try await device.sync() }

            #expect(await device.world.clock.firstSleep() == .seconds(25))
            device.world.clock.advance(by: .seconds(25))
            var outcomes = seconds.makeAsyncIterator()
            #expect(try await outcomes.next()?.value.failure == .deadline)
            release.finish()

            #expect(try await first.value.isSynced)
            #expect(try device.outcomes() == ["synced"])
        }
    }

    @Test(arguments: [0, 1])
    func `waits no longer for credentials, the first or others`(_ slow: Int) async throws {
        let world = SyncWorld([FaultRule(.answer(status: 401))])
        var dependencies = Dependencies.seeded(1, clock: world.clock, movesClock: false)
        // So that the clock tells when the closure's time has begun.
        dependencies.alarm = dependencies.sleep
        let device = try SyncDevice(
            of: world, over: SyncWire(world.server), model: world.model, dependencies: dependencies)
        try await device.lendAndVerify { device in
            let (clock, asked, ended) = (world.clock, SyncCounter(), SyncBox<Int64>())
            let engine = SyncEngine(
                device.replica, remote: SyncWorld.remote,
                adapter: try SyncWorld.remote.makeAdapter(), transport: device.wire
            ) {
                if asked.count() == slow {
                    // Whatever cancels the closure.
                    _ = await Task { try? await clock.sleep(for: .seconds(60)) }.value
                }
                return .basic(user: "me", password: "secret")
            }
            let run = Task {
                let outcome = try await engine.sync(.background, deadline: .seconds(25))
                ended.value = clock.elapsed
                return outcome
            }

            await Self.wait { await clock.firstSleep() == .seconds(25) }
            clock.advance(by: .seconds(25))
            await Self.wait { ended.value != nil }
            clock.advance(by: .seconds(60))

            #expect(try await run.value.failure == .deadline)
            #expect(ended.value == 25_000_000)
        }
    }

    /// Lets others run until something is so, or will never be.
    private static func wait(until isSo: @Sendable () async -> Bool) async {
        for _ in 1...1_000_000 {
            if await isSo() { return }
            await Task.yield()
        }
    }
}

/// Times out where a request has less time than its answer takes.
private final class SlowWire: Transport {
    let next: SyncWire
    let takes: @Sendable (HTTPRequest) -> Duration?
    let deadlines = SyncBox<[Duration]>()

    init(_ next: SyncWire, takes: @escaping @Sendable (HTTPRequest) -> Duration?) {
        (self.next, self.takes) = (next, takes)
    }

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        if let time = takes(request) {
            deadlines.value = (deadlines.value ?? []) + [limits.deadline]
            guard limits.deadline >= time else { throw TransportError(.timeout) }
        }
        return try await next.send(request, body: body, limits: limits)
    }
}

@Suite(.serialized) struct `on a slow link` {
    /// Runs so often as the requests of `takes` time out, and then to the end.
    private func deadlines(
        of document: String = "{}", timeouts: Int,
        _ takes: @escaping @Sendable (HTTPRequest) -> Duration?
    ) async throws -> [Duration]? {
        var deadlines: [Duration]?
        let world = SyncWorld()
        world.rivalPuts("tasks/theirs", "{}")
        try await SyncDevice.with(world) { device in
            try device.put("tasks/mine", document)
            let wire = SlowWire(device.wire, takes: takes)
            let engine = SyncDevice.engine(
                device.replica, wire, adapter: try SyncWorld.remote.makeAdapter())

            for _ in 0..<timeouts { #expect(try await engine.sync().isSynced == false) }
            #expect(try await engine.sync().isSynced)

            #expect(try device.document("tasks/theirs") != nil)
            #expect(world.writes == ["PUT tasks/mine * 201"])
            deadlines = wire.deadlines.value
            try device.verify()
        }
        return deadlines
    }

    @Test func `a list that timed out has twice the time in the next run`() async throws {
        let deadlines = try await deadlines(timeouts: 2) { request in
            request.path?.contains("/tasks/records?") == true ? .seconds(100) : nil
        }
        #expect(deadlines == [.seconds(30), .seconds(60), .seconds(120)])
    }

    @Test func `a write that timed out has twice the time in the next run`() async throws {
        let deadlines = try await deadlines(timeouts: 5) { request in
            request.isWrite ? .seconds(600) : nil
        }
        let seconds = [30, 60, 120, 240, 480, 600]
        #expect(deadlines == seconds.map { Duration.seconds($0) })
    }

    @Test func `what comes after one that had twice the time for nothing has the usual time`()
        async throws
    {
        var model = SyncWorld.usualModel
        model.settings.batchSize = 1
        try await SyncDevice.with(SyncWorld(model: model)) { device in
            for id in ["a", "b"] { try device.put("tasks/\(id)", "{}") }
            let wire = SlowWire(device.wire) { $0.isWrite ? .seconds(600) : nil }
            let engine = SyncDevice.engine(
                device.replica, wire, adapter: try SyncWorld.remote.makeAdapter())

            for _ in 1...2 { #expect(try await engine.sync().isSynced == false) }

            let seconds = [30, 30, 60, 30]
            #expect(wire.deadlines.value == seconds.map { Duration.seconds($0) })
        }
    }

    @Test func `a write has the time that its bytes take`() async throws {
        let text = String(repeating: "x", count: 512 << 10)
        let deadlines = try await deadlines(of: #"{"text":"\#(text)"}"#, timeouts: 0) { request in
            request.isWrite ? .seconds(60) : nil
        }
        #expect(deadlines == [.seconds(62)])
    }
}
