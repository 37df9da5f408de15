// TransferUnaskedTests.swift — files that nobody waits for leave room for those that somebody asks
// for.

import HTTPTypes
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkInspect
import TidemarkStore
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite struct `files that nobody waits for` {
    private func world(_ budgets: TransferBudgets) throws -> (TransferWorld, TransferGate) {
        let world = try TransferWorld(ContentRule("photo", when: .all), budgets)
        for number in 1...8 {
            world.serve("/files/\(number)", "tea")
            try world.name("/files/\(number)", by: "\(number)")
        }
        return (world, TransferGate(world))
    }

    @Test func `are fetched two at a time by the engine itself, and what is asked for comes next`()
        async throws
    {
        let (world, gate) = try world(TransferBudgets(downloads: 3))
        let engine = try world.engine(over: gate)
        await engine.start(.none)
        try await gate.settle(2)
        #expect(Set(gate.asked) == ["1", "2", "3"] && gate.open == 2)

        try await world.replica.write { tx in
            _ = try tx.wantFiles(of: EntityKey("tasks", "7"), by: "gallery")
        }
        // Nothing has ended meanwhile.
        try await gate.settle(3)
        #expect(gate.asked.last == "7" && gate.open == 3)
        gate.letGo()
        try await world.stores(1...8)

        #expect(gate.most <= 3)
        await engine.stop()
        try await world.expectSound(acts: 24)
    }

    /// An engine that fetches by itself, and somebody who came to wait for that.
    private func joined() async throws -> (
        TransferWorld, TransferGate, SyncEngine, Task<TransferOutcome, any Error>
    ) {
        let (world, gate) = try world(TransferBudgets(downloads: 4))
        let engine = try world.engine(over: gate)
        await engine.start(.none)
        try await gate.settle(2)
        let pass = Task { try await engine.transfer() }
        try await gate.settle(4)
        return (world, gate, engine, pass)
    }

    @Test func `begin at once where somebody comes to wait, who is told what came since`()
        async throws
    {
        let (world, gate, engine, pass) = try await joined()

        #expect(gate.open == 4)
        await engine.pause()
        gate.letGo()
        #expect(try await pass.value.stored == 7)
        #expect(try world.text("8") != nil && gate.most == 4)
        await engine.stop()
        try await world.expectSound(acts: 24)
    }

    @Test func `go on by themselves once who came to wait is cancelled`() async throws {
        let (world, gate, engine, pass) = try await joined()
        pass.cancel()

        // The pass has not ended by then.
        #expect(try await pass.value == TransferOutcome(.cancelled))
        #expect(gate.open == 4)
        gate.letGo()
        try await world.stores(1...8)
        await engine.stop()
        try await world.expectSound(acts: 24)
    }

    @Test func `end where the engine is paused once who came to wait is cancelled`() async throws {
        let (world, gate, engine, pass) = try await joined()
        pass.cancel()
        await engine.pause()

        #expect(try await pass.value.failure == .cancelled)
        while gate.open > 0 { await Task.yield() }
        #expect(try world.text("8") == nil)
        await engine.stop()
        try await world.expectSound()
    }

    @Test func `are looked for at once, too, where an edit names another one meanwhile`()
        async throws
    {
        let world = try TransferWorld(
            ContentRule("photo", when: .all), TransferBudgets(downloads: 3))
        let gate = TransferGate(world)
        try world.serve(2)
        let engine = try world.engine(over: gate)
        let pass = Task { try await engine.transfer() }
        try await gate.settle(1)
        world.serve("/files/9", "tea")
        try world.name("/files/9", by: "9")
        try await gate.settle(2)

        #expect(gate.asked == ["1", "2", "9"] && gate.open == 2)
        gate.letGo()
        #expect(try await pass.value.stored == 3)
        try await world.expectSound()
    }

    @Test func `come after what somebody asked for before, which has all of the room`()
        async throws
    {
        let (world, gate) = try world(TransferBudgets(downloads: 3))
        try await world.replica.write { tx in
            for id in ["5", "6", "8"] { _ = try tx.wantFiles(of: EntityKey("tasks", id)) }
            _ = try tx.wantFiles(of: EntityKey("tasks", "5"), isWanted: false)
        }
        let engine = try world.engine(over: gate)
        await engine.start(.none)
        try await gate.settle(3)

        #expect(gate.asked.first == "6" && Set(gate.asked) == ["6", "8", "1", "2"])
        gate.letGo()
        try await world.stores(1...8)
        await engine.stop()
        try await world.expectSound(acts: 24)
    }

    @Test func `come after what somebody asked for, also where that has failed before`()
        async throws
    {
        let world = try TransferWorld(
            ContentRule("photo", when: .all), TransferBudgets(downloads: 1))
        func name(_ number: Int) throws {
            world.serve("/files/\(number)", "tea")
            try world.name("/files/\(number)", by: "\(number)")
        }
        try name(9)
        try await world.replica.write { tx in _ = try tx.wantFiles(of: EntityKey("tasks", "9")) }
        world.files.fault = { _, _ in
            TransportResponse(response: HTTPResponse(status: .serviceUnavailable), body: [])
        }
        #expect(try await world.engine.transfer().failed == 1)
        world.files.fault = nil
        for number in 1...2 { try name(number) }
        world.world.clock.advance(by: .seconds(3600))

        let now = world.world.clock.now
        let next = try world.replica.journal.read { views in
            try [TransferOrder.neverFailedFirst, .failedLast].map { order in
                try views.nextTransfer(at: now, order: order) { _, _ in false }?
                    .source.text
            }
        }
        #expect(next == ["/files/9", "/files/1"])
        #expect(try await world.engine.transfer().stored == 3)
        let paths = world.files.requests.map { $0.path ?? "" }
        #expect(paths == ["/files/9", "/files/9", "/files/1", "/files/2"])
        try await world.expectSound()
    }

    @Test("come though what somebody asked for fails again and again", arguments: [false, true])
    func besideOneThatFails(_ isTimeout: Bool) async throws {
        let world = try TransferWorld(
            ContentRule("photo", when: .all), TransferBudgets(downloads: 3))
        for number in 1...8 {
            world.serve("/files/\(number)", "tea")
            try world.name("/files/\(number)", by: "\(number)")
        }
        try await world.replica.write { tx in _ = try tx.wantFiles(of: EntityKey("tasks", "8")) }
        world.files.fault = { request, answer throws(TransportError) in
            guard request.path == "/files/8" else { return answer }
            if isTimeout { throw TransportError(.timeout) }
            return TransportResponse(response: HTTPResponse(status: .serviceUnavailable), body: [])
        }

        var stored = 0
        for _ in 1...24 {
            let outcome = try await world.engine.transfer()
            stored += outcome.stored
            world.world.clock.advance(by: .seconds(3600))
        }

        #expect(stored == 7)
        // It is asked for still, and says nothing of its server any more.
        #expect(world.files.requests.count { $0.path == "/files/8" } == 24)
        let last = try await world.engine.transfer()
        #expect(last.failed == 1 && last.failure == nil)
        try await world.expectSound(acts: 24)
    }

    @Test func `are as many as the budget says where somebody waits for the pass`() async throws {
        let (world, gate) = try world(TransferBudgets(downloads: 4))
        let engine = try world.engine(over: gate)
        let pass = Task { try await engine.transfer() }
        try await gate.settle(4)

        #expect(gate.open == 4)
        gate.letGo()
        #expect(try await pass.value.stored == 8)
        try await world.expectSound(acts: 24)
    }

    @Test func `are as many as the model says`() async throws {
        let (world, gate) = try world(TransferBudgets(downloads: 4, unasked: 1))
        let engine = try world.engine(over: gate)
        await engine.start(.none)
        try await gate.settle(1)

        #expect(gate.open == 1)
        gate.letGo()
        try await world.stores(1...8)
        #expect(gate.most == 1)
        await engine.stop()
    }
}
