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
        var read: Set<EntityKey> = []
        func add(_ next: PushPlanner.Next) {
            switch next {
            case .send(let items):
                let isRefused = items.contains { $0.refusal != nil }
                plan.append(
                    (isRefused ? "refuse " : "") + items.map { "\($0.key)" }.joined(separator: " "))
            case .ask(let key, _): plan.append("ask \(key)")
            case .readFirst(let candidate, _):
                plan.append("read \(candidate.key)")
                planner.putFirst(candidate)
                read.insert(candidate.key)
            case .list(let key): plan.append("list \(key)")
            case .look, .more: break
            }
        }
        while let next = planner.next(upTo: count) {
            guard case .look(let candidate) = next else {
                add(next)
                continue
            }
            let own = pending.first { $0.key == candidate.key }
            var standing = standing(candidate.key)
            if read.contains(candidate.key) { standing.isReadFirst = false }
            if let instead = planner.take(own, standing) { add(instead) }
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

    @Test func `refuses nothing again that was refused before, and is still`() {
        var collection = CollectionModel("a")
        collection.pushes = [.update]
        var pending = Self.writes("a/1 a/2", .delete)
        pending[0].wasRefused = true
        #expect(Self.plan(pending, [collection]) == ["refuse a/2"])
    }

    @Test func `has what is to be read first read right before it is sent, and nothing else`() {
        let pending =
            Self.writes("a/1 a/2 a/3 a/4") + [
                PendingWrite(Self.key("a/5"), .create, needs: [Self.key("b/1")])
            ]
        let plan = Self.plan(pending) { key in
            var standing = PushPlanner.Standing()
            standing.isReadFirst = ["2", "3", "5"].contains(key.id)
            return standing
        }
        #expect(plan == ["a/1", "read a/2", "a/2", "read a/3", "a/3 a/4"])
    }

    @Test func `refuses what refers to what is gone`() {
        var pending = PendingWrite(Self.key("a/1"), .update)
        pending.stranded = StrandedReference(field: "parent", id: "x")
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

    @Test func `parts a collection by a field, each part in one request, in their order`() {
        func write(_ text: String, _ document: String) -> PendingWrite {
            var pending = PendingWrite(Self.key(text), .create)
            pending.write = .create(body: Array(document.utf8))
            return pending
        }
        let pending = [
            write("a/1", #"{"part":"x"}"#), write("a/2", #"{"part":"y"}"#), write("a/3", "{}"),
            write("a/4", #"{"part":"x"}"#), write("a/5", #"{"part":null}"#),
            write("a/6", #"{"part":"y"}"#), write("b/1", #"{"part":"x"}"#),
            write("b/2", #"{"part":"y"}"#),
        ]
        var traits = ServerTraits()
        traits.partitionFields = ["a": "part"]
        #expect(
            Self.plan(pending, traits: traits) == ["a/1 a/4", "a/2 a/6", "a/3 a/5", "b/1 b/2"])
        #expect(
            Self.plan(pending, upTo: 1, traits: traits).joined(separator: " ")
                == "a/1 a/2 a/3 a/4 a/5 a/6 b/1 b/2")
        #expect(
            Self.plan(Self.writes("a/1 a/2", .delete), traits: traits) == ["a/1 a/2"])
        #expect(
            Self.plan(pending) == ["a/1 a/2 a/3 a/4 a/5 a/6", "b/1 b/2"])
    }

    // MARK: Trees

    private static let trees = [
        CollectionModel("a"), CollectionModel("b", references: [Reference("in", to: "a")]),
        CollectionModel("c", references: [Reference("in", to: "b"), Reference("of", to: "a")]),
    ]

    /// Traits of a server that takes `c` in `b` in `a`.
    private static var nesting: ServerTraits {
        var traits = ServerTraits(hasVersions: false)
        traits.nestedIn = ["b": "a", "c": "b"]
        return traits
    }

    /// What was made in the first of some entities that the server does not have.
    private static func made(_ text: String, _ needs: String = "") -> PendingWrite {
        let needs = needs.split(separator: " ").map { key(String($0)) }
        var pending = PendingWrite(key(text), .create, needs: needs)
        pending.write = .create(body: body(pending.key.id, in: needs.first?.id))
        return pending
    }

    /// What was changed in an entity that the server has.
    private static func changed(_ text: String, in id: String) -> PendingWrite {
        var pending = PendingWrite(key(text), .update)
        let body = body(pending.key.id, in: id)
        pending.write = .update(body: body, changes: [], revision: Revision("1"))
        return pending
    }

    private static func body(_ id: String, in holder: String?) -> [UInt8] {
        Array((#"{"id":"\#(id)""# + (holder.map { #","in":"\#($0)""# } ?? "") + "}").utf8)
    }

    @Test func `plans trees into one request, as many as fit`() {
        let pending = [
            Self.made("a/1"), Self.made("a/2"), Self.made("a/3"), Self.made("b/1", "a/1"),
            Self.made("b/2", "a/3"), Self.made("b/3", "a/1"), Self.made("c/1", "b/2 a/3"),
            Self.made("c/2", "b/1"), Self.made("c/3", "b/9"),
        ]
        let plan = { (count: Int) in
            Self.plan(pending, upTo: count, Self.trees, traits: Self.nesting)
        }
        #expect(plan(2) == ["a/1 a/2 b/1 b/3 c/2", "a/3 b/2 c/1"])
        #expect(plan(3) == ["a/1 a/2 a/3 b/1 b/2 b/3 c/1 c/2"])
        var few = Self.nesting
        few.treesPerRequestMax = 2
        #expect(Self.plan(pending, Self.trees, traits: few) == plan(2))
        // One by one, what is in others waits for these.
        #expect(plan(1) == ["a/1", "a/2", "a/3"])
    }

    @Test func `plans what was changed into what was changed around it`() {
        let pending = [
            Self.changed("a/1", in: ""), Self.changed("b/1", in: "1"), Self.made("b/2"),
            Self.changed("c/1", in: "1"), Self.changed("c/2", in: "9"),
            Self.changed("c/3", in: "2"),
        ]
        #expect(
            Self.plan(pending, Self.trees, traits: Self.nesting)
                == ["a/1 b/1 c/1", "b/2 c/3", "c/2"])
    }

    @Test func `puts trees of another root into another request`() {
        let pending = [
            Self.made("a/1"), Self.made("b/1"), Self.made("b/2", "a/1"), Self.made("c/1", "b/1"),
            Self.made("c/2"), Self.made("c/3", "b/2 a/1"),
        ]
        #expect(
            Self.plan(pending, Self.trees, traits: Self.nesting)
                == ["a/1 b/2 c/3", "b/1 c/1", "c/2"])
    }

    @Test func `leaves for later what refers to another tree of the request`() {
        let pending = [
            Self.made("a/1"), Self.made("a/2"), Self.made("b/1", "a/1"), Self.made("b/2", "a/2"),
            Self.made("c/1", "b/1 a/2"), Self.made("c/2", "b/1 b/2"),
        ]
        #expect(
            Self.plan(pending, Self.trees, traits: Self.nesting) == ["a/1 a/2 b/1 b/2"])
    }

    /// How often candidates were looked at until all were sent, with how many requests.
    private static func looks(
        _ keys: [EntityKey], upTo count: Int, _ pending: (EntityKey, Set<EntityKey>) -> PendingWrite
    ) -> (looks: Int, requests: Int) {
        var planner = PushPlanner(SyncModel(name: "m", collections: trees), nesting)
        planner.add(keys.map { PushCandidate($0) }, rest: nil)
        var found = (looks: 0, requests: 0)
        var sent: Set<EntityKey> = []
        while let next = planner.next(upTo: count) {
            switch next {
            case .look(let candidate):
                found.looks += 1
                _ = planner.take(pending(candidate.key, sent), PushPlanner.Standing())
            case .send(let items):
                found.requests += 1
                sent.formUnion(items.map(\.key))
            case .more, .ask, .readFirst, .list: Issue.record("asked for \(next)")
            }
        }
        #expect(sent == Set(keys))
        return found
    }

    @Test func `looks at trees once, and at what is in them once or twice, however many there are`()
    {
        let roots = (1...60).map { Self.key("a/\($0)") }
        let alone = Self.looks(roots, upTo: 2) { key, _ in Self.made("\(key)") }
        #expect(alone.looks == 60 && alone.requests == 30)

        let branches = (1...60).map { Self.key("b/\($0)") }
        let nested = Self.looks(roots + branches, upTo: 2) { key, sent in
            guard key.collection == "b" else { return Self.made("\(key)") }
            let holder = Self.key("a/\(key.id)")
            return Self.made("\(key)", sent.contains(holder) ? "" : "\(holder)")
        }
        #expect(nested.looks <= 180 && nested.requests == 30)

        let changed = Self.looks(branches, upTo: 2) { key, _ in Self.changed("\(key)", in: "9") }
        #expect(changed.looks == 60 && changed.requests == 30)
    }

    @Test func `plans nothing into what is refused, deleted or sent alone`() {
        var refused = Self.trees
        refused[0].pushes = [.update]
        let pending = [Self.made("a/1"), Self.made("b/1", "a/1")]
        #expect(Self.plan(pending, refused, traits: Self.nesting) == ["refuse a/1"])
        let deletions = Self.writes("a/1", .delete) + [Self.made("b/1")]
        #expect(Self.plan(deletions, Self.trees, traits: Self.nesting) == ["a/1", "b/1"])
        let alone = Self.plan(pending, Self.trees, traits: Self.nesting) { key in
            var standing = PushPlanner.Standing()
            standing.isAlone = key == Self.key("a/1")
            return standing
        }
        #expect(alone == ["a/1"])
    }
}
