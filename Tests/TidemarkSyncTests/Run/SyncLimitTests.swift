// SyncLimitTests.swift — no more requests than the model allows, whatever happens in between.

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

@Suite(.serialized) struct `limits on requests` {
    /// A world whose clients may send so many requests in any ten seconds.
    private func world(_ requests: Int) -> SyncWorld {
        var model = SyncWorld.usualModel
        model.settings.limits = [RequestLimit(requests: requests, within: .seconds(10))]
        return SyncWorld(model: model)
    }

    /// The most requests in any ten seconds of a list of times.
    private func densest(_ times: [Int64]) -> Int {
        times.map { start in times.count { $0 >= start && $0 < start + 10_000_000 } }.max() ?? 0
    }

    @Test func `are kept within a run, which waits`() async throws {
        let world = world(4)
        try await SyncDevice.with(world) { device async throws in
            let times = TimeList()
            device.wire.tap { _, _, pass in
                times.add(world.clock.now.rawValue)
                return await pass()
            }
            for number in 0..<9 { try device.put("tasks/t\(number)", "{}") }

            #expect(try await device.sync().isSynced)

            // The question after the collections comes first and is not seen here.
            #expect(times.all.count == 2 + 9)
            #expect(densest(times.all) <= 4)
            try device.verify()
        }
    }

    @Test func `are kept over several runs, and over a restart`() async throws {
        let world = world(4)
        let doors = Dependencies.seeded(1, clock: world.clock)
        let adapter = try SyncWorld.remote.makeAdapter()
        var replica = try Replica.temporary(
            model: world.model, remote: SyncWorld.remote, dependencies: doors)
        let wire = SyncWire(world.server)
        let times = TimeList()
        wire.tap { _, _, pass in
            times.add(world.clock.now.rawValue)
            return await pass()
        }
        for _ in 0..<6 {
            // Nothing is new: what was asked is in the run's only event.
            #expect(try await SyncDevice.engine(replica, wire, adapter: adapter).sync().isSynced)
            try await replica.close()
            replica = try await Replica.open(existing: replica.directory, dependencies: doors)
        }

        #expect(times.all.count == 12 && densest(times.all) <= 4)
        try replica.deleteTemporary()
    }

    @Test func `are not waited for, and not used up, by what no request can be made of`()
        async throws
    {
        let world = world(4)
        let adapter = HookedAdapter(cannotSend: { call in
            if case .read = call { true } else { false }
        })
        for number in 0..<5 { world.rivalPuts("tasks/t\(number)", "{}") }
        try await SyncDevice.with(world, adapter: adapter) { device async throws in
            #expect(try await device.sync().isSynced)
            for number in 1...2 { world.rivalDeletes("tasks/t\(number)") }
            world.server.withModel { $0.purgeTombstones() }
            world.clock.advance(by: .seconds(10))
            let before = world.clock.now

            // Collections, lists, tasks and what changed meanwhile; nobody is asked about the two.
            let outcome = try await device.engine.sync(full: true)

            #expect(outcome.isSynced && outcome.counts.requests == 4)
            #expect(world.clock.now == before)
            #expect(try device.document("tasks/t1") == nil)
            try device.verify()
            let log = try device.replica.journal.capsule(last: 1000, note: "", namesRemote: true)
            try await Replay(.capsule(log), adapter: adapter).run()
        }
    }

    @Test func `end a run that would have to wait for long, and the next one sends first`()
        async throws
    {
        var model = SyncWorld.usualModel
        model.settings.limits = [RequestLimit(requests: 3, within: .seconds(3600))]
        let world = SyncWorld(model: model)
        try await SyncDevice.with(world) { device async throws in
            try device.put("tasks/t1", "{}")

            let outcome = try await device.sync()

            #expect(outcome.failure == .tooManyRequests(retryAfterSeconds: 3600))
            #expect(try device.outbox() == ["tasks/t1 pending"])
            world.clock.advance(by: .seconds(3600))
            #expect(try await device.sync().failure?.name == "tooManyRequests")
            #expect(world.writes == ["PUT tasks/t1 * 201"])
            try device.verify()
        }
    }
}

/// When requests were sent.
private final class TimeList: Sendable {
    private let times = Mutex<[Int64]>([])

    var all: [Int64] { times.withLock { $0 } }

    func add(_ time: Int64) { times.withLock { $0.append(time) } }
}

@Suite struct `a window of requests` {
    private func at(_ seconds: Int64) -> Timestamp { Timestamp(rawValue: seconds * 1_000_000) }

    @Test func `lets so many through, and the next when the first is old enough`() {
        var window = RequestWindow([RequestLimit(requests: 2, within: .seconds(10))])
        #expect(window.wait(at: at(0)) == 0)
        window.add(at(0))
        #expect(window.wait(at: at(1)) == 0)
        window.add(at(1))
        #expect(window.wait(at: at(1)) == 9_000_000)
        #expect(window.wait(at: at(10)) == 0)
    }

    @Test func `keeps the strictest of several limits`() {
        var window = RequestWindow([
            RequestLimit(requests: 1, within: .seconds(1)),
            RequestLimit(requests: 2, within: .seconds(60)),
        ])
        window.add(at(0))
        #expect(window.wait(at: at(0)) == 1_000_000)
        window.add(at(1))
        #expect(window.wait(at: at(1)) == 59_000_000)
    }

    @Test func `never makes anybody wait longer than itself, whatever the clock does`() {
        var window = RequestWindow([RequestLimit(requests: 1, within: .seconds(10))])
        window.add(at(1_000_000))
        #expect(window.wait(at: at(0)) == 10_000_000)
        #expect(window.wait(at: at(2_000_000)) == 0)
    }

    @Test func `remembers no more than it looks at, in order`() {
        var window = RequestWindow([RequestLimit(requests: 3, within: .seconds(10))])
        for second in [5, 1, 4, 2, 3] as [Int64] { window.add(at(second)) }
        #expect(window.times == [at(3), at(4), at(5)])
        #expect(RequestWindow([], [at(1)]).wait(at: at(1)) == 0)
    }

    private func window(_ requests: Int, _ seconds: Int, at times: [Int64]) -> RequestWindow {
        RequestWindow([RequestLimit(requests: requests, within: .seconds(seconds))], times.map(at))
    }

    @Test func `RL-01: lets no sixty-first through within a minute`() {
        let window = window(60, 60, at: Array(repeating: 0, count: 60))
        #expect(window.wait(at: at(0)) == 60_000_000)
    }

    @Test func `RL-02: lets no fourth through within a second`() {
        let window = window(3, 1, at: [0, 0, 0])
        #expect(window.wait(at: Timestamp(rawValue: 250_000)) == 750_000)
    }

    @Test func `RL-03: says when the next slot is free`() {
        #expect(window(2, 10, at: [0, 6]).wait(at: at(8)) == 2_000_000)
    }

    @Test func `RL-04: gives several slots together or none`() {
        #expect(window(4, 10, at: [0, 3, 6]).wait(at: at(8), slots: 3) == 5_000_000)
        #expect(window(4, 10, at: [0, 3, 6]).wait(at: at(8), slots: 1) == 0)
        #expect(window(4, 10, at: [0, 3, 6]).wait(at: at(8), slots: 9) == 8_000_000)
    }

    @Test func `RL-06: has the seventh pull of nine lists wait, where pulls are whole`() {
        let times = Array(repeating: at(0), count: 54)
        let limit = RequestLimit(requests: 60, within: .seconds(60), wholePulls: true)
        #expect(RequestWindow([limit], times).pullWait(at: at(5), lists: 9) == 55_000_000)
        #expect(RequestWindow([limit], times).pullWait(at: at(5), lists: 6) == 0)
        #expect(RequestWindow([limit], times).pullWait(at: at(5), lists: 61) == 0)
        let plain = RequestLimit(requests: 60, within: .seconds(60))
        #expect(RequestWindow([plain], times).pullWait(at: at(5), lists: 9) == 0)
    }

    @Test func `RL-07: never has evenly spread requests wait`() {
        var window = window(2, 10, at: [])
        for number in 0..<19 as Range<Int64> {
            #expect(window.wait(at: at(number * 5)) == 0)
            window.add(at(number * 5))
        }
    }

    @Test func `RL-12: lets a burst through, and then one after another`() {
        var window = RequestWindow([RequestLimit(requests: 1, within: .seconds(10), burst: 3)])
        for _ in 0..<4 {
            #expect(window.wait(at: at(0)) == 0)
            window.add(at(0))
        }
        #expect(window.wait(at: at(0)) == 10_000_000)
        #expect(window.wait(at: at(10)) == 0)
        window.add(at(10))
        #expect(window.wait(at: at(10)) == 10_000_000)
        #expect(window.wait(at: at(1000)) == 0)
    }

    @Test func `RL-12: without a burst lets one through in each step`() {
        var window = RequestWindow([RequestLimit(requests: 80, within: .seconds(60), burst: 0)])
        window.add(at(0))
        #expect(window.wait(at: at(0)) == 750_000)
        #expect(window.wait(at: at(1)) == 0)
    }
}
