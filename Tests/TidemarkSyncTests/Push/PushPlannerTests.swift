// PushPlannerTests.swift — what goes in one request, and in which order, without a store.

import Testing
import TidemarkEvents
import TidemarkRules
import TidemarkSync

@testable import TidemarkViews

@Suite struct `the plan of a push` {
    /// What is pending, in the order in which it is sent, and what came of planning it: the writes
    /// of one request between brackets, what is refused by itself and asked about by a word.
    private static func plan(
        _ pending: [PendingWrite], upTo count: Int = 9,
        _ collections: [CollectionModel] = [CollectionModel("a"), CollectionModel("b")],
        traits: ServerTraits = ServerTraits(),
        standing: (EntityKey) -> PushPlanner.Standing = { _ in PushPlanner.Standing() }
    ) -> [String] {
        var planner = PushPlanner(SyncModel(name: "m", collections: collections), traits)
        planner.add(
            pending.map { PushCandidate($0.key, isDeletion: $0.isDeletion) }, rest: nil)
        var plan: [String] = []
        func add(_ next: PushPlanner.Next) {
            switch next {
            case .send(let items):
                let isRefused = items.contains { $0.refusal != nil }
                plan.append(
                    (isRefused ? "refuse " : "") + items.map { "\($0.key)" }.joined(separator: " "))
            case .ask(let key, _): plan.append("ask \(key)")
            case .look, .more: break
            }
        }
        while let next = planner.next(upTo: count) {
            guard case .look(let key) = next else {
                add(next)
                continue
            }
            let own = pending.first { $0.key == key }
            if let instead = planner.take(own, standing(key)) { add(instead) }
        }
        return plan
    }

    private static func key(_ text: String) -> EntityKey {
        EntityKey(CollectionName(String(text.prefix(1))), String(text.dropFirst(2)))
    }

    private static func writes(
        _ keys: String, _ change: PushOperation = .update
    ) -> [PendingWrite] {
        keys.split(separator: " ").map { PendingWrite(key(String($0)), change) }
    }

    @Test(arguments: [
        (1, ["a/1", "a/2", "a/3"]), (2, ["a/1 a/2", "a/3"]), (3, ["a/1 a/2 a/3"]),
        (0, ["a/1", "a/2", "a/3"]),
    ])
    func `puts so many into one request`(_ count: Int, _ plan: [String]) {
        #expect(Self.plan(Self.writes("a/1 a/2 a/3"), upTo: count) == plan)
    }

    @Test func `keeps collections apart, and deletions from the rest`() {
        let pending =
            Self.writes("a/1 a/2") + Self.writes("b/1") + Self.writes("b/2 b/3", .delete)
        #expect(Self.plan(pending) == ["a/1 a/2", "b/1", "b/2 b/3"])
    }

    @Test func `passes over what needs something that the server does not have`() {
        let pending = [
            PendingWrite(Self.key("a/1"), .create, needs: [Self.key("b/1")]),
            PendingWrite(Self.key("a/2"), .create),
        ]
        #expect(Self.plan(pending) == ["a/2"])
    }

    @Test func `refuses what the model does not let be sent, whatever it needs`() {
        var collection = CollectionModel("a")
        collection.pushes = [.update]
        let pending = [PendingWrite(Self.key("a/1"), .create, needs: [Self.key("b/1")])]
        #expect(Self.plan(pending, [collection]) == ["refuse a/1"])
    }

    @Test func `refuses what refers to what is gone`() {
        var pending = PendingWrite(Self.key("a/1"), .update)
        pending.stranded = PendingWrite.Stranded(field: "parent", id: "x")
        #expect(Self.plan([pending]) == ["refuse a/1"])
    }

    @Test func `passes over what has nothing to send`() {
        var nothing = PendingWrite(Self.key("a/2"), .update)
        nothing.write = nil
        #expect(Self.plan(Self.writes("a/1") + [nothing] + Self.writes("a/3")) == ["a/1 a/3"])
    }

    @Test func `sends by itself what failed before`() {
        let plan = Self.plan(Self.writes("a/1 a/2 a/3 a/4")) { key in
            var standing = PushPlanner.Standing()
            standing.isAlone = key.id == "2"
            return standing
        }
        #expect(plan == ["a/1", "a/2", "a/3 a/4"])
    }

    @Test func `asks first of what no version is known, and refuses it when that was in vain`() {
        var unversioned = PendingWrite(Self.key("a/2"), .update)
        unversioned.revision = nil
        let pending = Self.writes("a/1") + [unversioned] + Self.writes("a/3")
        #expect(Self.plan(pending) == ["a/1", "ask a/2", "a/3"])
        let again = Self.plan(pending) { key in
            var standing = PushPlanner.Standing()
            standing.conflicts = key.id == "2" ? 1 : 0
            return standing
        }
        #expect(again == ["a/1", "refuse a/2", "a/3"])
        #expect(
            Self.plan(pending, traits: ServerTraits(hasVersions: false)) == ["a/1 a/2 a/3"])
    }

    @Test func `takes for refused what met just the same too often`() throws {
        let pending = Self.writes("a/1")
        let call = ServerCall.update(
            CollectionModel("a"), id: "1", body: Array(#"{"id":"1"}"#.utf8),
            changes: Array(#"{"id":"1"}"#.utf8), revision: Revision("1"))
        for (count, plan) in [(2, ["a/1"]), (3, ["refuse a/1"])] {
            let planned = Self.plan(pending) { _ in
                var standing = PushPlanner.Standing()
                (standing.met, standing.metCount) = (call, count)
                return standing
            }
            #expect(planned == plan)
        }
    }

    @Test func `keeps a request below its bytes, but for one that is larger by itself`() {
        func large(_ text: String, _ bytes: Int) -> PendingWrite {
            var pending = PendingWrite(Self.key(text), .create)
            pending.write = .create(body: [UInt8](repeating: 0x20, count: bytes))
            return pending
        }
        let most = PushPlanner.batchBytesMax
        let pending = [
            large("a/1", most - 1), large("a/2", 1), large("a/3", 1), large("a/4", most + 1),
            large("a/5", 1),
        ]
        #expect(Self.plan(pending) == ["a/1 a/2", "a/3", "a/4", "a/5"])
    }
}
