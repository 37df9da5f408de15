// PushQueueTests.swift — the outbox in the order of its push, piece by piece, is what sorting all
// of it gives.

import TestSupport
import Testing
import TidemarkEvents
import TidemarkRules

@testable import TidemarkViews
@testable import ViewsSupport

@Suite struct `the queue of a push` {
    /// All candidates, sorted at once: by rank, deletions last, by collection, attempts and
    /// position.
    private static func sorted(_ views: ViewReader, _ model: SyncModel) throws -> [PushCandidate] {
        var found: [PushCandidate] = []
        let failed = Dictionary(
            uniqueKeysWithValues: try views.failingCalls().map { ($0.key, $0.row.gate.position) })
        try views.forEachMutation(openOnly: true) { position, row in
            let isDeletion = row.kind == .localDeleted
            if let index = found.firstIndex(where: { $0.key == row.key }) {
                found[index].isDeletion = isDeletion
            } else if model[row.key.collection] != nil {
                found.append(
                    PushCandidate(
                        key: row.key, first: position, isDeletion: isDeletion,
                        attempts: row.attempts, failed: failed[row.key]))
            }
            return true
        }
        let places = model.collections.map(\.name)
        func rank(_ candidate: PushCandidate, _ index: Int) -> [Int] {
            let place = places.firstIndex(of: candidate.key.collection) ?? 0
            return [
                candidate.failed != nil ? 2 : candidate.attempts >= 2 ? 1 : 0,
                Int(candidate.failed?.rawValue ?? 0), candidate.isDeletion ? 1 : 0,
                candidate.isDeletion ? -place : place, Int(candidate.attempts),
                Int(candidate.first.rawValue), index,
            ]
        }
        return found.enumerated().sorted { left, right in
            rank(left.element, left.offset).lexicographicallyPrecedes(
                rank(right.element, right.offset))
        }.map(\.element)
    }

    private static func drained(
        _ views: ViewReader, _ model: SyncModel, by count: () -> Int
    ) throws -> [PushCandidate] {
        var queue = try PushQueue(views, model)
        var found: [PushCandidate] = []
        while !queue.isOver {
            found += try queue.next(upTo: count(), views)
        }
        #expect(queue.left == 0)
        return found
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func `finds piece by piece what sorting all gives, in the same order`(seed: UInt64) throws {
        let store = try ScratchStore()
        var maker = LogMaker(seed: seed, isHostile: seed.isMultiple(of: 4))
        for _ in 0..<6 {
            try maker.write(about: 25, to: store.journal)
            var random = maker.random
            try store.journal.read { views in
                let model = try views.model()
                let all = try Self.sorted(views, model)
                let atOnce = try Self.drained(views, model) { .max }
                #expect(atOnce == all, "seed \(seed)")
                let some = try Self.drained(views, model) { 1 + random.below(3) }
                #expect(some == all, "seed \(seed)")
                var other = model
                other.collections.reverse()
                let turned = try Self.drained(views, other) { 2 }
                #expect(try turned == Self.sorted(views, other), "seed \(seed)")
            }
        }
    }

    @Test func `reads no further than it has to, and brings nothing in that came later`() throws {
        let store = try ScratchStore()
        func edit(_ numbers: Range<Int>, _ collection: CollectionName) throws {
            _ = try store.journal.write(at: Timestamp(rawValue: 1)) { draft in
                for number in numbers {
                    try draft.append(
                        Event(
                            .localCreated, recordedAt: draft.now,
                            key: EntityKey(collection, "\(number)"), json: Array("{}".utf8)))
                }
            }
        }
        let model = SyncModel(
            name: "m", collections: [CollectionModel("lists"), CollectionModel("tasks")])
        try edit(0..<100, "tasks")
        try edit(0..<3, "lists")
        var queue = try store.journal.read { try PushQueue($0, model) }
        #expect(queue.left == 103)
        let first = try store.journal.read { try queue.next(upTo: 10, $0) }
        let names = Array(repeating: "lists", count: 3) + Array(repeating: "tasks", count: 7)
        #expect(first.map(\.key.collection.rawValue) == names)
        #expect(queue.left == 93)

        try edit(100..<120, "tasks")
        try edit(3..<9, "lists")
        let rest = try store.journal.read { try queue.next(upTo: .max, $0) }
        #expect(rest.map(\.key.id) == (7..<100).map { "\($0)" })
        #expect(queue.isOver)
    }

    @Test func `has deletions that fail go first where deletions do, until one failed too often`()
        throws
    {
        let store = try ScratchStore()
        let model = SyncModel(
            name: "m", collections: [CollectionModel("lists"), CollectionModel("tasks")])
        try store.write(
            .registered(model), .about(.serverUpserted, "tasks/1", "{}"),
            .about(.serverUpserted, "tasks/2", "{}"), .about(.localDeleted, "tasks/1"),
            .about(.localDeleted, "tasks/2"), .about(.localCreated, "lists/1", "{}"))
        func failDeletion(at call: UInt64) throws {
            let failure = #"{"status":502,"failure":"server","concerns":"entity"}"#
            try store.write(
                .about(.requestSent, "tasks/1", #"{"method":"DELETE"}"#, mutation: 4),
                .about(.requestAnswered, "tasks/1", failure, call: call))
        }
        func order() throws -> [String] {
            try store.journal.read { views in
                var queue = try PushQueue(views, model, deletesFirst: true)
                return try queue.next(upTo: .max, views).map {
                    "\($0.key)" + ($0.isAwaited ? " awaited" : "")
                }
            }
        }

        for call in [7, 9] as [UInt64] {
            try failDeletion(at: call)
            #expect(try order() == ["tasks/2", "tasks/1 awaited", "lists/1"])
        }
        try failDeletion(at: 11)
        #expect(try order() == ["tasks/2", "lists/1", "tasks/1"])
    }

    @Test func `is over at once where nothing is open`() throws {
        let store = try ScratchStore()
        let model = SyncModel(name: "m", collections: [CollectionModel("lists")])
        var queue = try store.journal.read { try PushQueue($0, model) }
        #expect(queue.isOver && queue.left == 0)
        let found = try store.journal.read { try queue.next(upTo: 9, $0) }
        #expect(found == [])
    }
}

@Suite struct `names of one look that are composed otherwise` {
    @Test func `are two places of a tree, so that a change from one to the other is a move`() {
        let apart = TreeSpot(parent: nil, name: "Cafe\u{301}")
        let composed = TreeSpot(parent: nil, name: "Caf\u{E9}")

        #expect(apart != composed)
        #expect(Set([apart, composed, apart]).count == 2)
        #expect(
            TreeSpot(parent: "e\u{301}", name: "n") != TreeSpot(parent: "\u{E9}", name: "n"))
    }
}
