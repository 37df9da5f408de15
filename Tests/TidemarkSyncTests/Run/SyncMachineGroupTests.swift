// SyncMachineGroupTests.swift — what a run leaves out, step by step: lists that are not due, what a
// group of requests has no room for, and what comes later as the run before was cut off there.

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

    @Test func `makes them from where the run before was cut off, where that fails`() {
        var run = Self.script(combined: ["lists", "tasks"])
        run.earlier.cut = .list("tasks")
        run.replies["combine lists,tasks"] = [.answer(.failure(.forbidden))]
        #expect(run.run() == ["combine lists,tasks", "list tasks", "list lists", "end"])
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
        #expect(run.machine.outcome.failed == ["lists": Self.busy])
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
        #expect(run.machine.outcome.failed == ["lists": Self.busy])
    }
}

@Suite struct `a run after one that was cut off, step by step` {
    private static let three = ["a", "b", "c"].map { CollectionModel($0) }

    /// A run of three lists with one write, of the first collection.
    private static func run(after cut: CutPlace?) -> MachineScript {
        var run = MachineScript(three)
        run.pending = [PendingWrite(EntityKey("a", "1"), .update)]
        run.earlier.cut = cut
        return run
    }

    @Test func `goes on there, and sends before it makes the lists before that`() {
        var run = Self.run(after: .list("b"))
        #expect(run.run() == ["list b", "list c", "push a/1", "list a", "end"])
        run = Self.run(after: .push)
        #expect(run.run() == ["push a/1", "list a", "list b", "list c", "end"])
        run = Self.run(after: .list("none"))
        #expect(run.run() == ["list a", "list b", "list c", "push a/1", "end"])
        #expect(!run.hasStarted)
    }

    @Test func `begins one place further for each run since then whose process died`() {
        let orders = [
            ["list b", "list c", "push a/1", "list a", "end"],
            ["list c", "push a/1", "list a", "list b", "end"],
            ["push a/1", "list a", "list b", "list c", "end"],
            ["list a", "list b", "list c", "push a/1", "end"],
        ]
        for died in 0..<8 {
            var run = Self.run(after: .list("b"))
            run.earlier.diedSinceCut = died
            #expect(run.run() == orders[died % orders.count])
            // Where its process dies, too, the next one is to know.
            #expect(run.hasStarted)
        }
    }

    @Test func `begins at its first list where it is asked for everything`() {
        for cut in [CutPlace.push, .list("b")] {
            var run = MachineScript(Self.three, isFull: true)
            run.pending = [PendingWrite(EntityKey("a", "1"), .update)]
            run.earlier.cut = cut
            #expect(run.run() == ["list a", "list b", "list c", "push a/1", "end"])
        }
    }

    @Test func `makes the list first that a write without a version waits for`() {
        var run = MachineScript(Self.three, traits: ServerTraits(hasVersions: false))
        run.pending = [PendingWrite(EntityKey("b", "1"), .update)]
        run.earlier.cut = .push
        #expect(run.run() == ["list b", "push b/1", "list a", "list c", "end"])
    }

    @Test(arguments: [
        SyncFailure.offline(""), .tooManyRequests(retryAfterSeconds: 9), .deadline, .cancelled,
    ])
    func `says where it is cut off, but at its first list`(_ failure: SyncFailure) {
        let places: [(String, CutPlace?)] = [
            ("list a", nil), ("list b", .list("b")), ("push a/1", .push),
        ]
        for (step, place) in places {
            var run = Self.run(after: nil)
            run.replies[step] = [.answer(.failure(failure))]
            #expect(run.run().suffix(2) == [step, "end \(failure.kind)"])
            #expect(run.machine.outcome.cut == place)
        }
        var run = Self.run(after: .list("c"))
        run.replies["list b"] = [.answer(.failure(failure))]
        #expect(run.run().prefix(4) == ["list c", "push a/1", "list a", "list b"])
        #expect(run.machine.outcome.cut == .list("b"))
    }

    @Test func `leaves a list for the end amid which it is cut off again`() {
        let page = ListPage(records: [], next: "2", cursor: Revision("1"))
        func cut(after place: CutPlace?, amid name: String) -> CutPlace? {
            var run = Self.run(after: place)
            run.replies["list \(name)"] = [.answer(.page(page))]
            run.replies["list \(name) page 2"] = [.answer(.failure(.deadline))]
            _ = run.run()
            return run.machine.outcome.cut
        }
        #expect(cut(after: nil, amid: "a") == .list("a"))
        #expect(cut(after: .list("a"), amid: "a") == .list("b"))
        // It came last there, and is the first one of the next run.
        #expect(cut(after: .list("b"), amid: "a") == .list("a"))
        #expect(cut(after: .list("c"), amid: "c") == .push)
    }

    @Test func `goes on at a part of a collection, once its parts are known`() {
        var tasks = CollectionModel("tasks")
        tasks.lists = [ListRule([:], from: [ListSource("list", in: "lists", each: true)])]
        let collections = [CollectionModel("lists"), tasks]
        let parts = ["1", "2", "3"].map { PullTarget("tasks", ListParameters(["list": $0])) }
        func cut(after place: CutPlace?, at number: Int, died: Int = 0) -> CutPlace? {
            var run = MachineScript(collections)
            run.earlier.diedSinceCut = died
            run.parts["tasks"] = parts
            run.earlier.cut = place
            let page = ListPage(records: [], next: nil, cursor: nil)
            let pages = Array(
                repeating: MachineScript.Reply.answer(.page(page)), count: number - 1)
            run.replies["list tasks"] = pages + [.answer(.failure(.offline("")))]
            _ = run.run()
            return run.machine.outcome.cut
        }
        #expect(cut(after: nil, at: 2) == .list(parts[1]))
        #expect(cut(after: .list(parts[1]), at: 1) == .list(parts[1]))
        // Two lists and the push later it is the turn of that part again.
        #expect(cut(after: .list(parts[1]), at: 1, died: 3) == .list(parts[1]))
        #expect(cut(after: .list(parts[1]), at: 3) == .list(parts[0]))
    }
    @Test func `makes lists in the same run that are known by those after the push`() {
        func part(_ name: CollectionName, in parent: CollectionName) -> CollectionModel {
            var collection = CollectionModel(name)
            collection.lists = [ListRule([:], from: [ListSource("of", in: parent, each: true)])]
            return collection
        }
        var run = MachineScript([
            CollectionModel("lists"), part("tasks", in: "lists"), part("notes", in: "tasks"),
        ])
        let first = PullTarget("tasks", ListParameters(["of": "1"]))
        run.parts["tasks"] = [first]
        run.partsAfter["list lists"] = [
            PullTarget("tasks", ListParameters(["of": "9"])),
            PullTarget("notes", ListParameters(["of": "9"])),
        ]
        run.pending = [PendingWrite(EntityKey("tasks", "1"), .update)]
        run.earlier.cut = .list(first)
        #expect(
            run.run() == [
                "list tasks", "push tasks/1", "list lists", "list tasks", "list notes", "end",
            ])
    }
}
