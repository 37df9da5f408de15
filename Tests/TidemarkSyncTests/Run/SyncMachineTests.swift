// SyncMachineTests.swift — what a run does next, without a store or a server.

import Testing
import TidemarkEvents
import TidemarkRules
import TidemarkSync

@testable import TidemarkViews

@Suite struct `a run, step by step` {
    private static let task = EntityKey("tasks", "1")
    private static let list = EntityKey("lists", "1")

    private static func failing(
        _ key: EntityKey, seconds: Int64 = 0, failures: Int = 1, reads: Int = 0,
        isWrite: Bool = false
    ) -> FailingCall {
        var row = FailingRow(first: Position(3))
        row.gate = SyncGate(
            since: MachineScript.begun, microseconds: seconds * 1_000_000, failures: failures,
            position: Position(3))
        (row.reads, row.isWrite) = (reads, isWrite)
        return FailingCall(key: key, row: row)
    }

    private static func page(
        _ references: [String] = [], next: String? = nil, cursor: String? = nil
    ) -> MachineScript.Reply {
        .answer(
            .page(
                ListPage(
                    records: [],
                    references: references.map { ServerReference(id: $0, revision: nil) },
                    next: next, cursor: cursor.map { Revision($0) })))
    }

    // MARK: The order

    @Test func `asks about what was sent, describes, lists, and sends`() {
        var run = MachineScript(traits: ServerTraits(describesCollections: true))
        run.earlier.unanswered = [Self.task]
        run.entities[Self.task] = EntityFacts(
            serverID: "1", .live, attempt: .init(call: Position(4), covers: Position(3)))
        run.pending = [PendingWrite(Self.list, .update)]
        #expect(
            run.run() == [
                "read tasks/1 sent", "describe", "list lists", "list tasks", "push lists/1",
                "end",
            ])
    }

    @Test func `asks about what was sent under the server's id, unless a list of all shows it`() {
        for (lists, first) in [
            (nil, "list tasks"), ([.init([:], limit: 10)], "read tasks/1 sent"),
            ([], "read tasks/1 sent"),
        ] as [([CollectionModel.ListRule]?, String)] {
            var run = MachineScript([
                CollectionModel(
                    "tasks", ids: .serverText, pushes: [.update, .delete], lists: lists)
            ])
            run.earlier.unanswered = [Self.task]
            run.entities[Self.task] = EntityFacts(
                serverID: "1", .live, attempt: .init(call: Position(4), covers: Position(3)))
            #expect(run.run().first == first)
        }
    }

    @Test func `asks for the collections page by page until all are told, and in no circle`() {
        let circle = ServerAnswer.description([], next: "2")
        var run = MachineScript(traits: ServerTraits(describesCollections: true))
        run.replies["describe"] = [.answer(circle)]
        run.replies["describe page 2"] = [.answer(circle)]
        #expect(
            run.run() == ["describe", "describe page 2", "list lists", "list tasks", "end"])

        let all = ["lists", "tasks"].map {
            CollectionDescription(name: CollectionName($0), epoch: Revision("1"))
        }
        run = MachineScript(traits: ServerTraits(describesCollections: true))
        run.replies["describe"] = [.answer(.description(all, next: "2"))]
        #expect(run.run() == ["describe", "list lists", "list tasks", "end"])
    }

    @Test(arguments: [
        (SyncScope.pull(["tasks"]), ["list tasks", "end"]),
        (.push, ["push lists/1", "end"]),
        (.cleanUp, ["clean up", "end"]),
        (.all, ["list lists", "list tasks", "clean up", "push lists/1", "end"]),
    ])
    func `leaves out what its scope does not name`(_ scope: SyncScope, _ steps: [String]) {
        var settings = SyncSettings()
        settings.cleanUp = .inPull
        var run = MachineScript(scope: scope, settings: settings)
        run.pending = [PendingWrite(Self.list, .update)]
        run.canPrune = true
        #expect(run.run() == steps)
    }

    @Test func `does not begin while the server asked for no call`() {
        var run = MachineScript(triggers: [.userRequested])
        run.gates.server = SyncGate(
            since: MachineScript.begun, microseconds: 9_000_000, position: Position(2))
        #expect(run.run() == ["end tooManyRequests"] && run.machine.isHeld)
    }

    @Test func `ends when nothing of its time is left, whatever the answer was`() {
        var run = MachineScript()
        run.replies["list lists"] = [.cut]
        #expect(run.run() == ["list lists", "end deadline"])
        #expect(run.machine.outcome.failed.isEmpty)
    }

    // MARK: Failures

    @Test func `goes on after a list that failed for a reason of its own`() {
        var run = MachineScript()
        run.replies["list lists"] = [.answer(.failure(.forbidden))]
        run.pending = [PendingWrite(Self.list, .update)]
        #expect(run.run() == ["list lists", "list tasks", "push lists/1", "end"])
        #expect(run.machine.outcome.failed == ["lists": .forbidden])
    }

    @Test func `sends nothing to a list that failed, where writes name no version`() {
        var run = MachineScript(traits: ServerTraits(hasVersions: false))
        run.replies["list lists"] = [.answer(.failure(.forbidden))]
        run.pending = [PendingWrite(Self.list, .update), PendingWrite(Self.task, .update)]
        #expect(run.run() == ["list lists", "list tasks", "push tasks/1", "end"])
    }

    @Test func `ends where the network does`() {
        var run = MachineScript()
        run.replies["list lists"] = [.answer(.failure(.offline("down")))]
        #expect(run.run() == ["list lists", "end offline"])
    }

    @Test func `ends after three failures of two collections in a row`() {
        var run = MachineScript(["a", "b", "c", "d"].map { CollectionModel($0) })
        let failure = SyncFailure.server(status: 500, retryAfterSeconds: nil)
        for name in ["a", "b", "c"] {
            run.replies["list \(name)"] = [.answer(.failure(failure))]
        }
        #expect(run.run() == ["list a", "list b", "list c", "end server"])
    }

    @Test func `leaves the rest of a collection after ten writes in a row without an answer`() {
        var run = MachineScript(scope: .push)
        let keys = (1...14).map { EntityKey("tasks", "\($0)") }
        run.pending = keys.map { PendingWrite($0, .update) } + [PendingWrite(Self.list, .update)]
        for key in keys { run.replies["push \(key)"] = [.answer(.failure(.timeout("none")))] }
        let tried = keys.prefix(10).map { "push \($0)" }
        #expect(run.run() == tried + ["push lists/1", "end"])
    }

    @Test func `leaves the rest of a collection after ten questions in a row without an answer`() {
        var run = MachineScript()
        run.earlier.unanswered = (1...14).map { EntityKey("tasks", "\($0)") }
        for key in run.earlier.unanswered {
            run.entities[key] = EntityFacts(
                serverID: key.id, .live, attempt: .init(call: Position(51), covers: Position(3)))
            run.replies["read \(key) sent"] = [.answer(.failure(.timeout("none")))]
        }
        let tried = run.earlier.unanswered.prefix(10).map { "read \($0) sent" }
        #expect(run.run() == tried + ["list lists", "list tasks", "end"])
    }

    @Test func `does a step once more with other credentials`() {
        var run = MachineScript()
        run.replies["list lists"] = [.answer(.failure(.unauthorized))]
        #expect(run.run() == ["list lists", "renew", "list lists", "list tasks", "end"])
    }

    @Test func `ends where there are no other credentials`() {
        var run = MachineScript()
        run.replies["list lists"] = [.answer(.failure(.unauthorized))]
        run.replies["renew"] = [.notRenewed]
        #expect(run.run() == ["list lists", "renew", "end unauthorized"])
    }

    @Test(arguments: ["describe", "read tasks/1 sent", "push lists/1", "refetch lists/2"])
    func `puts back what was refused for its credentials`(_ step: String) {
        var lists = CollectionModel("lists")
        lists.placeholder = PlaceholderRule(refetch: RefetchRule(every: .hours(1)))
        var run = MachineScript(
            [lists, CollectionModel("tasks")],
            traits: ServerTraits(describesCollections: true))
        run.earlier.unanswered = [Self.task]
        run.entities[Self.task] = EntityFacts(
            serverID: "1", .live, attempt: .init(call: Position(4), covers: Position(3)))
        run.placeholders = [PlaceholderFacts(EntityKey("lists", "2"))]
        run.pending = [PendingWrite(Self.list, .update)]
        let usual = [
            "read tasks/1 sent", "describe", "list lists", "list tasks", "refetch lists/2",
            "push lists/1", "end",
        ]
        run.replies[step] = [.answer(.failure(.unauthorized))]
        #expect(run.run() == usual.flatMap { $0 == step ? [$0, "renew", $0] : [$0] })
    }

    @Test(arguments: [100, Int.max])
    func `asks for placeholders one by one that fail together, where that may tell more`(
        _ max: Int
    ) {
        var lists = CollectionModel("lists")
        lists.placeholder = PlaceholderRule(refetch: RefetchRule(every: .hours(1)))
        var traits = ServerTraits()
        traits.refetchesPerRequestMax = max
        var run = MachineScript([lists], traits: traits)
        run.placeholders = ["1", "2"].map { PlaceholderFacts(EntityKey("lists", $0)) }
        run.replies["refetch lists/1,2"] = [.answer(.failure(.client(status: 404, "")))]
        run.replies["refetch lists/1"] = [.answer(.failure(.forbidden))]
        let alone = max == .max ? [] : ["refetch lists/1", "refetch lists/2"]
        #expect(run.run() == ["list lists", "refetch lists/1,2"] + alone + ["end"])
    }

    @Test func `asks last for what failed before, and not before its time`() {
        var run = MachineScript(["a", "b", "c"].map { CollectionModel($0) })
        run.earlier.failing = [
            Self.failing(.list(of: "a")), Self.failing(.list(of: "b"), seconds: 60),
            Self.failing(EntityKey("c", "1"), reads: 1),
        ]
        #expect(run.run() == ["list c", "list a", "read c/1", "end"])
        #expect(run.machine.outcome.failed == ["b": .backoff(seconds: 60)])
    }

    @Test func `asks for everything at once where the user waits for it`() {
        var run = MachineScript(triggers: [.userRequested])
        run.earlier.failing = [Self.failing(.list(of: "lists"), seconds: 60)]
        #expect(run.run() == ["list tasks", "list lists", "end"])
    }

    // MARK: Lists

    @Test func `fetches what a list only names, and notes its end`() {
        var run = MachineScript(
            [CollectionModel("tasks")], traits: ServerTraits(entitiesPerFetchMax: 2))
        run.replies["list tasks"] = [Self.page(["1", "2"], next: "b")]
        run.replies["list tasks page b"] = [Self.page(["3"])]
        #expect(
            run.run() == [
                "list tasks", "list tasks page b", "fetch tasks/1,2", "fetch tasks/3",
                "complete tasks", "end",
            ])
    }

    @Test func `lists what may come into reach before others that are listed by date`() {
        var lists = CollectionModel("lists")
        lists.access.relistsOnGain = true
        let dated = CollectionModel("tasks", since: SinceRule(ageMax: .months(2)))
        func listed(_ collections: [CollectionModel]) -> [String] {
            var run = MachineScript(collections)
            return run.run().filter { $0.hasPrefix("list ") }
        }
        let notes = CollectionModel("notes")
        #expect(listed([notes, dated, lists]) == ["list lists", "list notes", "list tasks"])
        #expect(listed([notes, lists, dated]) == ["list notes", "list lists", "list tasks"])
    }

    @Test func `leaves a collection that is out of reach once its items are asked for`() {
        var traits = ServerTraits(entitiesPerFetchMax: 2)
        traits.absenceNeedsList = true
        var run = MachineScript([CollectionModel("tasks")], traits: traits)
        let gone = SyncFailure.client(status: 404, "no such calendar")
        run.replies["list tasks"] = [Self.page(["1", "2", "3"])]
        run.replies["fetch tasks/1,2"] = [.answer(.failure(gone))]
        #expect(run.run() == ["list tasks", "fetch tasks/1,2", "end"])
        #expect(run.machine.outcome.failed == ["tasks": gone])
    }

    @Test func `goes on behind two items beside each other that can't be read`() {
        var run = MachineScript(traits: ServerTraits(entitiesPerFetchMax: 2))
        let broken = SyncFailure.malformed("no item")
        run.replies["list lists"] = [Self.page(["1", "2", "3"])]
        for ids in ["1,2", "1", "2"] {
            run.replies["fetch lists/\(ids)"] = [.answer(.failure(broken))]
        }
        run.pending = [PendingWrite(Self.task, .update)]

        let steps = run.run()

        #expect(steps.contains("fetch lists/3") && steps.contains("list tasks"))
        #expect(steps.suffix(2) == ["push tasks/1", "end"])
        #expect(steps.filter { ["fetch lists/1", "fetch lists/2"].contains($0) }.count == 2)
    }

    @Test func `lists from the beginning when the server does not know the cursor`() {
        var run = MachineScript([CollectionModel("tasks")])
        run.marks["tasks"] = WatermarkRow(
            cursor: Revision("7"), position: Position(2), recordedAt: MachineScript.begun.now)
        run.replies["list tasks after 7"] = [.answer(.cursorExpired)]
        #expect(run.run() == ["list tasks after 7", "list tasks", "end"])
    }

    @Test func `leaves a list that never knows its own cursor`() {
        var run = MachineScript([CollectionModel("tasks")])
        run.replies["list tasks"] = Array(repeating: Self.page(next: "b"), count: 3)
        run.replies["list tasks page b"] = Array(repeating: .answer(.cursorExpired), count: 3)
        #expect(
            run.run()
                == Array(repeating: ["list tasks", "list tasks page b"], count: 3).flatMap(\.self)
                + ["end"])
        #expect(run.machine.outcome.failed["tasks"]?.kind == .malformed)
    }

    @Test func `asks about the few that a list of everything did not name`() {
        var run = MachineScript([CollectionModel("tasks")])
        run.known["tasks"] = ["1", "2", "3", "4", "5"]
        run.absent["tasks"] = ["1", "2"]
        #expect(
            run.run() == ["list tasks", "read tasks/1", "read tasks/2", "complete tasks", "end"])
        #expect(run.machine.outcome.held.isEmpty)
    }

    @Test func `asks the user about more than half, and not the server`() {
        var run = MachineScript([CollectionModel("tasks")])
        run.known["tasks"] = ["1", "2", "3", "4", "5"]
        run.absent["tasks"] = ["1", "2", "3"]
        #expect(run.run() == ["list tasks", "complete tasks", "end"])
        #expect(run.machine.outcome.held == ["tasks": 3])
    }

    @Test func `lists everything once more, and only once, for what came into reach`() {
        var lists = CollectionModel("lists")
        lists.access.relistsOnGain = true
        var run = MachineScript([lists, CollectionModel("tasks")])
        run.replies["list tasks"] = [.gain, .gain]
        #expect(
            run.run() == ["list lists", "list tasks", "list lists", "list tasks", "end"])
    }

    @Test func `ends where a collection needs an entity and has none`() {
        var lists = CollectionModel("lists")
        lists.access.missing = "noList"
        var run = MachineScript([lists, CollectionModel("tasks")])
        run.isHere = false
        #expect(run.run() == ["list lists", "end missing"])
    }

    @Test func `ends before it sends where nobody chose`() {
        var tasks = CollectionModel("tasks")
        tasks.choices = [ChoiceRule("list", of: "lists", missing: "noDefault")]
        var run = MachineScript([CollectionModel("lists"), tasks])
        run.pending = [PendingWrite(Self.task, .update)]
        run.missing = "noDefault"
        #expect(run.run() == ["list lists", "list tasks", "end missing"])
        #expect(run.machine.outcome.failure == .missing("noDefault"))
        #expect(run.machine.outcome.cut == nil)
    }

    // MARK: Pushes

    @Test func `asks how an entity stands that met a newer version, and sends again`() {
        var run = MachineScript(scope: .push)
        run.pending = [PendingWrite(Self.task, .update)]
        run.replies["push tasks/1"] = [.answer(.conflictUnknown)]
        #expect(run.run() == ["push tasks/1", "read tasks/1", "push tasks/1", "end"])
        #expect(run.machine.outcome.counts.conflicts == 1)
    }

    @Test func `refuses a write that meets the same refusal without an explanation`() {
        var run = MachineScript(scope: .push)
        run.pending = [PendingWrite(Self.task, .update)]
        run.replies["push tasks/1"] = Array(repeating: .answer(.conflictUnknown), count: 9)
        let turn = ["push tasks/1", "read tasks/1"]
        #expect(run.run() == turn + turn + turn + ["refuse tasks/1", "end"])
    }

    @Test func `sends one by one what was refused as a whole`() {
        var run = MachineScript(
            traits: ServerTraits(writesPerRequestMax: 9), scope: .push)
        let keys = ["1", "2"].map { EntityKey("tasks", $0) }
        run.pending = keys.map { PendingWrite($0, .create) }
        run.replies["push tasks/1,tasks/2"] = [.answer(.failure(.client(status: 413, "too large")))]
        #expect(
            run.run() == ["push tasks/1,tasks/2", "push tasks/1", "push tasks/2", "end"])
    }

    @Test func `plans anew when an edit comes in between`() {
        var run = MachineScript(scope: .push)
        run.pending = [PendingWrite(Self.task, .update)]
        run.replies["push tasks/1"] = [.overtaken]
        #expect(run.run() == ["push tasks/1", "push tasks/1", "end"])
    }

    @Test func `sends nothing to a collection whose rule did not answer`() {
        var run = MachineScript()
        run.replies["list tasks"] = [.withheld("tasks")]
        run.pending = [PendingWrite(Self.task, .update), PendingWrite(Self.list, .update)]
        #expect(run.run() == ["list lists", "list tasks", "push lists/1", "end"])
        #expect(run.machine.outcome.failed == ["tasks": .ruleMissing("merge")])
    }

    @Test func `leaves an entity of which no request can be made`() {
        var run = MachineScript(scope: .push)
        run.pending = [PendingWrite(Self.task, .update), PendingWrite(Self.list, .update)]
        run.replies["push tasks/1"] = [.unsent(.malformed("no such path"))]
        #expect(run.run() == ["push tasks/1", "push lists/1", "end"])
    }

    @Test(arguments: [SyncFailure.malformed("too many"), .client(status: 0, "too many")])
    func `sends one by one what no request can be made of together`(_ failure: SyncFailure) {
        var run = MachineScript(
            traits: ServerTraits(writesPerRequestMax: 9), scope: .push)
        run.pending = ["1", "2"].map { PendingWrite(EntityKey("tasks", $0), .create) }
        run.replies["push tasks/1,tasks/2"] = [.unsent(failure)]
        #expect(
            run.run() == ["push tasks/1,tasks/2", "push tasks/1", "push tasks/2", "end"])
    }

    @Test func `sends nothing to a collection whose rule did not answer at a list's end`() {
        var run = MachineScript([CollectionModel("tasks")])
        run.known["tasks"] = ["1", "2", "3"]
        run.absent["tasks"] = ["1", "2"]
        run.ruleless = "tasks"
        run.pending = [PendingWrite(Self.task, .update)]
        #expect(run.run() == ["list tasks", "complete tasks", "end"])
        #expect(run.machine.outcome.failed == ["tasks": .ruleMissing("merge")])
    }

    @Test func `counts what was sent of a request, and what was refused before it`() {
        var collection = CollectionModel("tasks")
        collection.pushes = [.create]
        var run = MachineScript(
            [collection], traits: ServerTraits(writesPerRequestMax: 9), scope: .push)
        let other = EntityKey("tasks", "2")
        run.pending = [PendingWrite(Self.task, .update), PendingWrite(other, .create)]
        #expect(run.run() == ["push tasks/1,tasks/2", "end"])
        #expect(run.machine.outcome.counts.pushed == 1)
        #expect(run.machine.outcome.counts.rejected == 1)
    }

    // MARK: What cannot be

    @Test func `is told of nothing that it did not ask for`() async {
        await #expect(processExitsWith: .failure) {
            var machine = SyncMachine(
                model: SyncModel(name: "m", collections: []), begun: MachineScript.begun)
            _ = machine.renewed()
        }
        await #expect(processExitsWith: .failure) {
            var machine = SyncMachine(
                model: SyncModel(name: "m", collections: []), begun: MachineScript.begun)
            let pace = MachineScript().pace
            _ = machine.begin(SyncGates(), pace, lists: [])
            _ = machine.learned(.outbox([], rest: nil))
        }
    }
}
