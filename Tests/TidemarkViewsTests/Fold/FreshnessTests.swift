// FreshnessTests.swift — what the server said is as old as the question, not as the answer.

import TestSupport
import Testing
import TidemarkEvents
import TidemarkViews

@testable import RulesSupport
@testable import ViewsSupport

@Suite struct `freshness` {
    /// What is left of the base after events of the server.
    private struct Said: Equatable {
        var state: EntityRow.BaseState
        var base: [UInt8]
        var revision: Revision?
        var asOf: Position?

        init(_ row: EntityRow?) {
            let row = row ?? EntityRow()
            (state, base, revision, asOf) = (row.baseState, row.base, row.revision, row.asOf)
        }
    }

    private let key = EntityKey("tasks", "1")

    private func after(_ events: [Event]) throws -> Said {
        let fold = MemoryFold()
        try fold.apply(events)
        return Said(try fold.entity(key))
    }

    @Test func `an older answer never replaces a fresher one`() throws {
        let fresh = Event.about(.serverUpserted, "tasks/1", #"{"a":2}"#, asOf: 9, revision: "2")
        let stale = Event.about(.serverUpserted, "tasks/1", #"{"a":1}"#, asOf: 8, revision: "1")
        let gone = Event.about(.serverDeleted, "tasks/1", asOf: 8)

        #expect(try after([fresh, stale, gone]) == after([fresh]))
        #expect(try after([gone, fresh]) == after([fresh]))
        #expect(try text(after([stale, fresh]).base) == #"{"a":2}"#)
    }

    @Test(arguments: ConflictPolicy.examples)
    func `an older answer settles nothing that is pending`(_ policy: ConflictPolicy) throws {
        let fold = MemoryFold()
        try fold.apply([
            .model(policy),
            .about(.serverUpserted, "tasks/1", #"{"a":1}"#, asOf: 5, revision: "5"),
            .about(.localUpdated, "tasks/1", #"{"set":{"a":2}}"#),
            .about(.serverUpserted, "tasks/1", #"{"a":2}"#, asOf: 4, revision: "4"),
            .about(.serverDeleted, "tasks/1", asOf: 3),
        ])

        #expect(try fold.entity(key)?.pending.map(\.position) == [Position(3)])
        #expect(try fold.mutation(3)?.outcome == nil)
    }

    @Test(arguments: ConflictPolicy.examples)
    func `with changes pending, neither an older word nor the same one again changes anything`(
        _ policy: ConflictPolicy
    ) throws {
        var random = SplitMix64(seed: 0x5EED_0502)
        for round in 0..<200 {
            let fold = MemoryFold()
            let base = random.document()
            try fold.apply([
                .model(policy),
                .about(.serverUpserted, "tasks/1", text(base.bytes), asOf: 1, revision: "1"),
            ])
            for _ in 0...random.below(3) {
                try fold.apply([.about(.localUpdated, "tasks/1", text(random.patch().encoded))])
            }
            let word = Event.about(
                .serverUpserted, "tasks/1", text(random.document().bytes), asOf: 9, revision: "3")
            let older = Event.about(
                .serverUpserted, "tasks/1", text(random.document().bytes), asOf: 8, revision: "2")
            try fold.apply([word])
            var known = try fold.entity(key)

            try fold.apply([older, .about(.serverDeleted, "tasks/1", asOf: 7)])
            #expect(try fold.entity(key) == known, "round \(round)")

            try fold.apply([word])
            known?.basePosition = fold.last
            #expect(try fold.entity(key) == known, "round \(round)")
        }
    }

    @Test func `an answer without a time of its own is as of its position`() throws {
        let fold = MemoryFold()
        try fold.apply([.about(.serverUpserted, "tasks/1", "{}", revision: "1")])

        #expect(try fold.entity(key)?.asOf == Position(1))
    }

    @Test(arguments: [0x5EED_0501] as [UInt64])
    func `the order of arrival makes no difference`(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        for round in 0..<1_000 {
            let count = 2 + random.below(4)
            var times = Array(1...20 as ClosedRange<UInt64>).shuffled(using: &random)
            let events = (0..<count).map { number in
                let isDeletion = random.once(in: 3)
                return Event.about(
                    isDeletion ? .serverDeleted : .serverUpserted, "tasks/1",
                    isDeletion ? nil : "{\"a\":\(number)}", asOf: times.removeLast(),
                    revision: isDeletion ? nil : "\(number)")
            }

            let one = try after(events)
            let other = try after(events.shuffled(using: &random))

            #expect(one == other, "seed \(seed), round \(round)")
            #expect(one.asOf == events.compactMap(\.asOf).max(), "seed \(seed), round \(round)")
        }
    }
}
