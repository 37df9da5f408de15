// PoolMachineTests.swift — when a run has values reserved, and what comes of a failure.

import Testing
import TidemarkEvents
import TidemarkRules

@testable import TidemarkSync
@testable import TidemarkViews

@Suite struct `a run that fills pools` {
    private let key = PoolKey("numbers", ["A1"])
    private let other = PoolKey("numbers", ["A2"])

    private func script(
        _ left: Int, scope: SyncScope = .all, triggers: [SyncTrigger] = [.timer],
        pool: SyncModel.Pool = .init("numbers"), _ row: PoolRow? = nil
    ) -> MachineScript {
        var script = MachineScript(
            [CollectionModel("tasks")], triggers: triggers, scope: scope, pools: [pool])
        script.pools = [PoolFacts(key, left: left, row)]
        return script
    }

    private func asked(_ script: MachineScript) -> [String] {
        var script = script
        return script.run().filter { $0.hasPrefix("reserve") }
    }

    private func remembered(_ fill: Int) -> PoolRow {
        var row = PoolRow()
        row.fill = fill
        return row
    }

    @Test(arguments: [
        (0, 100), (3, 97), (49, 51), (50, 0), (99, 0), (100, 0), (120, 0),
    ])
    func `asks for what is missing where fewer are left than half`(_ left: Int, _ count: Int) {
        let wanted = count == 0 ? [] : ["reserve \(count) numbers of A1"]
        #expect(asked(script(left)) == wanted)
        // A run that was not given a number does the same.
        let scope = SyncScope.reserve([.init("numbers", ["A1"])])
        #expect(asked(script(left, scope: scope)) == wanted)
    }

    @Test(arguments: [(3, 20, 17), (99, 20, 0), (0, 100, 100), (19, 20, 1), (20, 20, 0)])
    func `that is given a number has so many in the end`(_ left: Int, _ given: Int, _ count: Int) {
        let scope = SyncScope.reserve([.init("numbers", ["A1"], count: given)])
        let wanted = count == 0 ? [] : ["reserve \(count) numbers of A1"]
        #expect(asked(script(left, scope: scope)) == wanted)
    }

    @Test func `goes by the number that was given last, and by the model's threshold`() {
        #expect(asked(script(9, remembered(20))) == ["reserve 11 numbers of A1"])
        #expect(asked(script(10, remembered(20))) == [])
        let pool = SyncModel.Pool("numbers", fill: 40, refillBelow: 30)
        #expect(asked(script(29, pool: pool)) == ["reserve 11 numbers of A1"])
        #expect(asked(script(30, pool: pool)) == [])
        #expect(asked(script(19, pool: pool, remembered(20))) == ["reserve 1 numbers of A1"])
        let never = SyncModel.Pool("numbers", fill: 40, refillBelow: 0)
        #expect(asked(script(0, pool: never)) == [])
    }

    @Test func `fills one that has a single value once that is taken`() {
        let single = SyncModel.Pool("numbers", fill: 1)
        #expect(asked(script(0, pool: single)) == ["reserve 1 numbers of A1"])
        #expect(asked(script(1, pool: single)) == [])
        #expect(asked(script(0, remembered(1))) == ["reserve 1 numbers of A1"])
    }

    @Test func `goes by the last number that can be had`() {
        let numbers = [20, 30, 5000].map {
            SyncScope.Reservation("numbers", ["A1"], count: $0)
        }
        var script = script(0, scope: .reserve(numbers))
        #expect(script.run().filter { $0.hasPrefix("reserve") } == ["reserve 30 numbers of A1"])
        #expect(script.machine.outcome.refills.count == 1)
    }

    @Test func `does so after everything was sent, once, and in no light pull`() {
        var script = script(0)
        script.pending = [PendingWrite(EntityKey("tasks", "t1"), .create)]
        let steps = script.run()
        #expect(
            steps.drop { !$0.hasPrefix("push") }
                == ["push tasks/t1", "reserve 100 numbers of A1", "end"])
        #expect(asked(self.script(0, scope: .push)) == ["reserve 100 numbers of A1"])
        #expect(asked(self.script(0, scope: .pull(["tasks"]))) == [])
        #expect(asked(self.script(0, scope: .cleanUp)) == [])
    }

    @Test func `asks for nothing else where it is asked for values only`() {
        var script = script(0, scope: .reserve([.init("numbers", ["A1"])]))
        #expect(script.run() == ["reserve 100 numbers of A1", "end"])
    }

    @Test func `of a model without pools looks nothing up`() {
        var script = MachineScript([CollectionModel("tasks")])
        script.pools = [PoolFacts(key, left: 0)]
        #expect(script.run().contains { $0.hasPrefix("reserve") } == false)
    }

    @Test func `that is refused values goes on, and tells`() {
        var script = script(0)
        script.pools.append(PoolFacts(other, left: 0))
        script.replies = [
            "reserve 100 numbers of A1": [.answer(.failure(.client(status: 409, "no more")))]
        ]
        let steps = script.run()

        #expect(
            steps.suffix(3) == [
                "reserve 100 numbers of A1", "reserve 100 numbers of A2", "end",
            ])
        let refills = script.machine.outcome.refills
        #expect(refills.map(\.failure) == [.client(status: 409, "no more")])
        #expect(refills.map(\.key) == [["A1"]])
        #expect(script.machine.outcome.failure == nil && script.machine.outcome.isSynced)
    }

    @Test func `whose server fails asks for no more of them, and fails nothing else`() {
        var script = script(0)
        script.pools.append(PoolFacts(other, left: 0))
        let failure = SyncFailure.server(status: 500, retryAfterSeconds: nil)
        script.replies = ["reserve 100 numbers of A1": [.answer(.failure(failure))]]

        #expect(script.run().suffix(2) == ["reserve 100 numbers of A1", "end"])
        #expect(script.machine.outcome.refills.map(\.failure) == [failure, failure])
        #expect(script.machine.outcome.failure == nil)
        // Of a run that is for nothing else it is the end.
        var only = self.script(0, scope: .reserve([.init("numbers", ["A1"])]))
        only.replies = script.replies
        only.replies["reserve 100 numbers of A1"] = [.answer(.failure(failure))]
        #expect(only.run().last == "end server")
    }

    @Test func `waits after a failure, unless the user asks`() {
        var row = PoolRow()
        row.gate = SyncGate(
            since: MachineScript.begun, microseconds: 9_000_000, failures: 1, reason: "server",
            position: Position(3))
        var held = script(0, row)
        _ = held.run()
        #expect(asked(script(0, row)) == [])
        #expect(held.machine.outcome.refills.map(\.failure) == [.backoff(seconds: 9)])
        #expect(
            asked(script(0, triggers: [.userRequested], row)) == ["reserve 100 numbers of A1"])
    }

    @Test func `is repeated with other credentials`() {
        var script = script(0)
        script.replies = ["reserve 100 numbers of A1": [.answer(.failure(.unauthorized))]]
        #expect(
            script.run().suffix(4) == [
                "reserve 100 numbers of A1", "renew", "reserve 100 numbers of A1", "end",
            ])
    }

    @Test(arguments: [
        ("codes", ["A1"], 5, "the model has no pool \"codes\"; it has numbers"),
        ("numbers", [], 5, "the key of numbers: 1 to 8 texts are needed"),
        ("numbers", ["A1"], 0, "0 values of numbers: 1 to 1000 can be had"),
        ("numbers", ["A1"], 1001, "1001 values of numbers: 1 to 1000 can be had"),
    ])
    func `that is asked for what can't be says what, and asks for the rest`(
        _ pool: String, _ key: [String], _ count: Int, _ problem: String
    ) {
        var script = script(
            0, scope: .reserve([.init(pool, key, count: count), .init("numbers", ["A2"])]))
        script.pools = [PoolFacts(other, left: 0)]
        #expect(script.run() == ["reserve 100 numbers of A2", "end"])
        let said = script.machine.outcome.refills.first?.failure?.detail
        #expect(said?.hasPrefix(problem) == true, "\(said ?? "")")
    }
}
