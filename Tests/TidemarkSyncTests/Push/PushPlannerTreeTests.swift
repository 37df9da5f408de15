// PushPlannerTreeTests.swift — forests of random shape: whatever is pending is sent once, in trees,
// and after what it refers to.

import TestSupport
import Testing
import TidemarkEvents
import TidemarkRules
import TidemarkSync
import TidemarkViews

/// Entities with edits: `c` in `b` in `a`, some in others that have none.
private struct Forest {
    struct Node {
        var key: EntityKey
        /// What it stands in.
        var holder: EntityKey?
        /// What else it refers to.
        var other: EntityKey?
        /// Whether the server does not have it.
        var isMade: Bool
    }

    var nodes: [Node] = []
    private(set) var made: Set<EntityKey> = []

    init(_ random: inout SplitMix64) {
        var above: [EntityKey] = []
        for name in ["a", "b", "c"] {
            var level: [EntityKey] = []
            for number in 0..<random.below(9) {
                let key = EntityKey(CollectionName(name), "\(number)")
                // Every fourth stands in one without edits.
                let holder = above.isEmpty || random.below(4) == 0 ? nil : random.pick(above)
                let other = name == "c" && random.below(3) == 0 ? nodes.first?.key : nil
                let isInMade = [holder, other].contains { $0.map(made.contains) ?? false }
                let node = Node(
                    key: key, holder: holder, other: other,
                    isMade: isInMade || random.below(2) == 0)
                if node.isMade { made.insert(key) }
                nodes.append(node)
                level.append(key)
            }
            above = level
        }
    }

    /// What is pending of an entity when some were sent.
    func pending(_ key: EntityKey, _ sent: Set<EntityKey>) -> PendingWrite? {
        guard !sent.contains(key), let node = nodes.first(where: { $0.key == key }) else {
            return nil
        }
        let needs = [node.holder, node.other].compactMap { $0 }.filter {
            made.contains($0) && !sent.contains($0)
        }
        var pending = PendingWrite(key, node.isMade ? .create : .update, needs: needs)
        let body = Array(#"{"id":"\#(key.id)","in":"\#(node.holder?.id ?? "none")"}"#.utf8)
        pending.write =
            node.isMade
            ? .create(body: body)
            : .update(body: body, changes: body, revision: Revision("1"))
        return pending
    }
}

@Suite struct `the plan of trees` {
    private static let model = SyncModel(
        name: "m",
        collections: [
            CollectionModel("a"), CollectionModel("b", references: [Reference("in", to: "a")]),
            CollectionModel("c", references: [Reference("in", to: "b")]),
        ])

    private static var traits: ServerTraits {
        var traits = ServerTraits(hasVersions: false)
        traits.nestedIn = ["b": "a", "c": "b"]
        return traits
    }

    /// The requests of one round.
    private func round(
        _ forest: Forest, upTo most: Int, _ sent: inout Set<EntityKey>
    ) -> [[EntityKey]] {
        var planner = PushPlanner(Self.model, Self.traits)
        let candidates = forest.nodes.map(\.key).filter { !sent.contains($0) }
        planner.add(candidates.map { PushCandidate($0) }, rest: nil)
        var requests: [[EntityKey]] = []
        while let next = planner.next(upTo: most) {
            switch next {
            case .look(let next): _ = planner.take(forest.pending(next.key, sent), .init())
            case .send(let items):
                check(items.map(\.key), of: forest, upTo: most, sent)
                requests.append(items.map(\.key))
                sent.formUnion(items.map(\.key))
            case .more, .ask, .readFirst, .list: Issue.record("asked for \(next)")
            }
        }
        return requests
    }

    /// A request is of trees with roots of one collection, and holds nothing that lacks something.
    private func check(
        _ request: [EntityKey], of forest: Forest, upTo most: Int, _ sent: Set<EntityKey>
    ) {
        var before: Set<EntityKey> = []
        var roots: [EntityKey] = []
        for key in request {
            guard let node = forest.nodes.first(where: { $0.key == key }) else { continue }
            if node.holder.map(before.contains) != true { roots.append(key) }
            for need in forest.pending(key, sent)?.needs ?? [] {
                #expect(before.contains(need), "\(key) before \(need) in \(request)")
            }
            #expect(before.insert(key).inserted && !sent.contains(key), "\(key) twice")
        }
        #expect(Set(roots.map(\.collection)).count == 1 && roots.count <= most, "\(request)")
    }

    @Test(arguments: [0x5EED_0207] as [UInt64])
    func `sends all of it once, whatever the shape and the size of a request`(_ seed: UInt64) {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        var nested = 0
        for number in 0..<600 {
            let forest = Forest(&random)
            let most = [1, 2, 3, 20][number % 4]
            var sent: Set<EntityKey> = []
            var rounds = 0
            while sent.count < forest.nodes.count {
                let requests = round(forest, upTo: most, &sent)
                rounds += 1
                nested += requests.count { Set($0.map(\.collection)).count > 1 }
                guard !requests.isEmpty, rounds < 20 else {
                    Issue.record("\(number): \(forest.nodes.map(\.key)), sent \(sent)")
                    break
                }
            }
        }
        #expect(nested > 300)
    }
}
