// SyncMachineGroupTests.swift — what a run leaves out, step by step: lists that are not due, and
// what a group of requests has no room for.

import Testing
import TidemarkEvents
import TidemarkRules
import TidemarkSync

@testable import TidemarkViews

@Suite struct `a run that leaves something out, step by step` {
    private static let busy = SyncFailure.tooManyRequests(retryAfterSeconds: 600)

    /// A run of two collections that are listed once an hour, one of them so long ago.
    private static func script(
        _ age: Int64 = 10, triggers: [SyncTrigger] = [.timer], combined: Set<CollectionName> = []
    ) -> MachineScript {
        let collections = ["lists", "tasks"].map {
            CollectionModel($0, listEvery: .hours(1))
        }
        var run = MachineScript(
            collections, traits: ServerTraits(combined: combined), triggers: triggers)
        let now = MachineScript.begun
        for (name, seconds) in [("lists", age), ("tasks", 10)] {
            run.earlier.listed[CollectionName(name)] = Moment(
                now: now.now.adding(seconds: -seconds), bootID: "", uptime: 0)
        }
        return run
    }

    // MARK: Lists that are not due

    private static let ages: [(Int64, [String])] = [
        (10, ["end"]), (3599, ["end"]), (3600, ["list lists", "end"]),
    ]

    @Test(arguments: ages)
    func `makes a list that is as old as the model says`(_ age: Int64, _ steps: [String]) {
        var run = Self.script(age)
        #expect(run.run() == steps)
        #expect(run.machine.outcome.notDue.contains("lists") == (steps.count == 1))
        #expect(run.machine.outcome.isSynced)
    }

    @Test(arguments: [
        [SyncTrigger.userRequested], [.credentialsChanged], [.remoteChange],
        [.remoteChange, .timer],
    ])
    func `makes every list where somebody asked, or something changed`(_ triggers: [SyncTrigger]) {
        var run = Self.script(triggers: triggers)
        #expect(run.run() == ["list lists", "list tasks", "end"])
        #expect(run.machine.outcome.listed == ["lists", "tasks"])
    }

    @Test func `makes a list again that failed`() {
        var run = Self.script()
        run.earlier.failing = [
            FailingCall(key: .list(of: "tasks"), row: FailingRow(first: Position(3)))
        ]
        #expect(run.run() == ["list tasks", "end"])
    }

    @Test func `makes a list where a clock was set back`() {
        var run = Self.script(-60)
        #expect(run.run() == ["list lists", "end"])
    }

    @Test func `makes the others, too, where an entity came into reach`() {
        var run = Self.script(3600)
        run.replies["list lists"] = [.gain]
        #expect(run.run() == ["list lists", "list lists", "list tasks", "end"])
    }

    @Test func `does not count a list as made that failed`() {
        var run = Self.script(3600)
        run.replies["list lists"] = [.answer(.failure(.client(status: 400, "")))]
        _ = run.run()
        #expect(run.machine.outcome.listed == [])
    }

    // MARK: Several lists together

    @Test func `asks for those together that are not due, where one request brings them`() {
        var run = Self.script(combined: ["lists", "tasks", "other"])
        #expect(run.run() == ["combine lists,tasks", "end"])
        #expect(run.machine.outcome.isSynced && run.machine.outcome.counts.requests == 1)
    }

    @Test(arguments: [Int64(10), 3600])
    func `spends no request on one of them alone`(_ age: Int64) {
        var run = Self.script(age, combined: age == 10 ? ["lists"] : ["lists", "tasks"])
        #expect(!run.run().contains { $0.hasPrefix("combine") })
    }

    @Test func `makes the lists themselves where that fails`() {
        var run = Self.script(combined: ["lists", "tasks"])
        run.replies["combine lists,tasks"] = [
            .answer(.failure(.server(status: 500, retryAfterSeconds: nil)))
        ]
        #expect(run.run() == ["combine lists,tasks", "list lists", "list tasks", "end"])
        var unsent = Self.script(combined: ["lists", "tasks"])
        unsent.replies["combine lists,tasks"] = [.unsent(.client(status: 0, ""))]
        #expect(unsent.run() == ["combine lists,tasks", "list lists", "list tasks", "end"])
    }

    @Test func `does without where its group has no room`() {
        var run = Self.script(combined: ["lists", "tasks"])
        run.replies["combine lists,tasks"] = [.held(Self.busy)]
        #expect(run.run() == ["combine lists,tasks", "end"])
    }

    @Test func `makes every list where that brought an entity into reach`() {
        var run = Self.script(combined: ["lists", "tasks"])
        run.replies["combine lists,tasks"] = [.gain]
        #expect(run.run() == ["combine lists,tasks", "list lists", "list tasks", "end"])
    }

    @Test func `asks again with other credentials`() {
        var run = Self.script(combined: ["lists", "tasks"])
        run.replies["combine lists,tasks"] = [.answer(.failure(.unauthorized))]
        #expect(
            run.run() == ["combine lists,tasks", "renew", "combine lists,tasks", "end"])
    }

    // MARK: Groups without room

    @Test func `goes on after a list whose group has no room, and sends what is pending`() {
        var run = Self.script(3600, triggers: [.userRequested])
        run.replies["list lists"] = [.held(Self.busy)]
        run.pending = [PendingWrite(EntityKey("lists", "1"), .update)]
        #expect(run.run() == ["list lists", "list tasks", "push lists/1", "end"])
        #expect(run.machine.outcome.paused == ["lists": Self.busy])
        #expect(run.machine.outcome.listed == ["tasks"])
    }

    @Test func `sends the others where a write's group has no room`() {
        var run = MachineScript()
        run.pending = [
            PendingWrite(EntityKey("lists", "1"), .update),
            PendingWrite(EntityKey("tasks", "1"), .update),
        ]
        run.replies["push lists/1"] = [.held(Self.busy)]
        let steps = run.run()
        #expect(steps.filter { $0 == "push lists/1" }.count == 1)
        #expect(steps.contains("push tasks/1") && steps.last == "end")
    }

    @Test func `does not complete a list of which something could not be fetched`() {
        var run = MachineScript()
        run.replies["list lists"] = [
            .answer(
                .page(
                    ListPage(
                        records: [], references: [ServerReference(id: "1", revision: nil)],
                        next: nil, cursor: Revision("2"))))
        ]
        run.replies["fetch lists/1"] = [.held(Self.busy)]
        #expect(run.run() == ["list lists", "fetch lists/1", "list tasks", "end"])
        #expect(run.machine.outcome.paused == ["lists": Self.busy])
    }
}
