// SyncQueueTests.swift — what is synced next, and where a run gets in line.

import Testing
import TidemarkEvents
import TidemarkRules

@testable import RulesSupport

@Suite struct `the queue` {
    /// What is asked for, with `next` where something is taken out, and what comes out in all.
    struct Case: Sendable, CustomTestStringConvertible {
        enum Happening: Sendable { case ask(SyncQueue.Work), next, clear }
        var id: String
        var happenings: [Happening]
        var done: [SyncQueue.Work]

        init(_ id: String, _ happenings: [Happening], _ done: [SyncQueue.Work]) {
            (self.id, self.happenings, self.done) = (id, happenings, done)
        }

        var testDescription: String { id }

        static let all = [
            Case("QU-01: nothing", [], []),
            Case("a pull owes a push", [.ask(.pull)], [.pull, .push]),
            Case(
                "QU-03: a pull after a push began", [.ask(.push), .next, .ask(.pull)],
                [.push, .pull, .push]),
            Case(
                "QU-04: a pull once more after the first began", [.ask(.pull), .next, .ask(.pull)],
                [.pull, .push, .pull, .push]),
            Case(
                "QU-05: the clean-up is last", [.ask(.cleanUp), .ask(.push), .ask(.pull)],
                [.pull, .push, .cleanUp]),
            Case(
                "QU-06: some collections go first", [.ask(.pull), .next, .ask(.pullSome)],
                [.pull, .pullSome, .push]),
            Case(
                "QU-07: clearing forgets the push that was owed", [.ask(.pull), .next, .clear],
                [.pull]),
            Case("each once", [.ask(.push), .ask(.push)], [.push]),
        ]
    }

    @Test(arguments: Case.all) func `gives out what is next`(_ one: Case) {
        var queue = SyncQueue()
        var done: [SyncQueue.Work] = []
        for happening in one.happenings {
            switch happening {
            case .ask(let work): queue.ask(work)
            case .next: if let work = queue.next() { done.append(work) }
            case .clear: queue.clear()
            }
        }
        while let work = queue.next() { done.append(work) }

        #expect(done == one.done && queue.isEmpty)
    }

    @Test func `has a run of some collections go before others that wait`() {
        let waiting: [SyncScope] = [.pull(["a"]), .all, .push, .cleanUp]
        #expect(SyncQueue.place(of: .pull(["b"]), among: waiting) == 1)
        #expect(SyncQueue.place(of: .all, among: waiting) == 2)
        #expect(SyncQueue.place(of: .push, among: waiting) == 3)
        #expect(SyncQueue.place(of: .cleanUp, among: waiting) == 4)
        #expect(SyncQueue.place(of: .pull(["b"]), among: []) == 0)
    }
}

@Suite struct `an app that comes back` {
    private func at(_ seconds: Int64, set: Int64 = 0) -> Moment {
        let microseconds = seconds * 1_000_000
        return Moment(
            now: Timestamp(microseconds: 1_000_000_000 + microseconds + set * 1_000_000),
            bootID: "b", uptime: microseconds)
    }

    @Test func `AU-01: syncs everything after five minutes`() {
        func isDue(_ now: Moment) -> Bool {
            ResumeRule.isDue(left: at(0), madePlaceholders: false, now: now)
        }
        #expect(isDue(at(300)) && isDue(at(300, set: -9000)))
        #expect(!isDue(at(299)) && !isDue(at(299, set: 9000)))
    }

    @Test func `syncs everything when placeholders were made meanwhile`() {
        #expect(ResumeRule.isDue(left: at(10), madePlaceholders: true, now: at(20)))
    }
}

@Suite struct `the graph of lists` {
    private static func graph(
        _ collections: [CollectionModel] = chains(), parallel: Int
    ) -> PullGraph {
        PullGraph(
            collections.map { PullTarget($0.name) },
            SyncModel(name: "chains", collections: collections), parallel: parallel)
    }

    private static func chains() -> [CollectionModel] {
        ["a0", "b0", "c0", "a1", "b1", "c1", "b2", "c2", "a2"].map { name in
            var collection = CollectionModel(CollectionName(name))
            let number = Int(name.suffix(1)) ?? 0
            if number > 0 {
                collection.listedAfter = [CollectionName("\(name.prefix(1))\(number - 1)")]
            }
            return collection
        }
    }

    @Test func `asks for as many as may wait, the first ones first`() {
        var graph = Self.graph(parallel: 2)
        #expect(graph.ready == ["a0", "b0"])
        graph.asked("a0")
        #expect(graph.ready == ["b0"] && graph.isAsked("a0"))
        graph.asked("b0")
        #expect(graph.ready == [] && graph.inFlight == 2)
        graph.answered("b0")
        #expect(graph.ready == ["c0"])
    }

    @Test func `asks for the next of a chain as soon as the one before was answered`() {
        var graph = Self.graph(parallel: 3)
        for name in graph.ready { graph.asked(name) }
        graph.answered("b0")
        #expect(graph.ready == ["b1"])
    }

    @Test func `asks for lists of one collection in turn, where each adds to the one before`() {
        let lists = ["p1", "p2"].map { PullTarget("a", ["program": $0]) }
        var after = CollectionModel("b")
        after.listedAfter = ["a"]
        let model = SyncModel(
            name: "turns", collections: [CollectionModel("a"), after, CollectionModel("c")])
        var graph = PullGraph(lists + ["b", "c"], model, parallel: 3, inTurn: ["a"])
        #expect(graph.ready == [lists[0], "c"])
        graph.asked(lists[0])
        graph.asked("c")
        graph.answered(lists[0])
        graph.goOn(to: lists[0])
        #expect(graph.ready == [])
        graph.goOn(to: lists[1])
        #expect(graph.ready == [lists[1]])
        graph.asked(lists[1])
        graph.answered(lists[1])
        #expect(graph.ready == ["b"])
    }

    @Test func `asks for nothing that would be persisted after a failure`() {
        var graph = Self.graph(parallel: 3)
        for name in graph.ready { graph.asked(name) }
        graph.answered("b0", endsRun: true)
        #expect(graph.ready == [])
        graph.answered("a0")
        #expect(graph.ready == [])
        graph.forget("b0")
        #expect(graph.ready == ["b0", "a1"])
    }

    @Test func `waits for nobody that is not asked, or later itself`() {
        var collections = Self.chains().filter { $0.name == "a2" || $0.name == "b2" }
        collections[0].listedAfter = ["b2"]
        let names = Self.graph(collections, parallel: 3).ready
        #expect(names.map(\.collection) == collections.map(\.name))
    }
}
