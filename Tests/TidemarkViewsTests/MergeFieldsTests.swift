// MergeFieldsTests.swift — field by field: what both sides changed goes to one, the rest to whoever
// changed it.

import Testing
import TidemarkEvents
import TidemarkRules
import TidemarkViews

@Suite struct `fields that are merged` {
    private let old = Base.live(#"{"a":1,"b":1,"c":1,"d":1}"#)

    @Test func `go to whoever changed them, and to the declared side when both did`() throws {
        let pending = [PendingChange.update(1, #"{"a":2,"b":2,"d":2}"#)]
        let new = Base.live(#"{"a":3,"b":1,"c":3,"d":2}"#)

        let server = Rebase(pending, from: old, to: new, .mergeFields(.serverWins))
        let local = Rebase(pending, from: old, to: new, .mergeFields(.localWins))

        #expect(server.kept == [.update(1, #"{"b":2,"d":2}"#)])
        #expect(
            server.conflicts
                == [Conflict(position: Position(1), fields: ["a"], result: .serverWins)])
        #expect(local.kept == pending)
        #expect(
            local.conflicts
                == [Conflict(position: Position(1), fields: ["a"], result: .localWins)])
    }

    @Test func `leave a mutation superseded that lost them all`() {
        let pending = [PendingChange.update(1, #"{"a":2}"#, unset: ["b"])]

        let rebase = Rebase(
            pending, from: old, to: .live(#"{"a":3,"b":3,"c":1,"d":1}"#),
            .mergeFields(.serverWins))

        #expect(rebase.verdicts == [.superseded])
        #expect(rebase.conflicts.map(\.fields) == [["a", "b"]])
    }

    @Test func `leave a mutation merged of which one lost and the others are there`() {
        let rebase = Rebase(
            [.create(1, #"{"a":1,"b":1}"#)], from: .absent, to: .live(#"{"a":1,"b":2}"#),
            .mergeFields(.serverWins))

        #expect(rebase.verdicts == [.arrived])
        #expect(rebase.conflicts.map(\.fields) == [["b"]])
    }

    @Test func `are no matter for a deletion: it goes to the declared side as a whole`() {
        let edited = Base.live(#"{"a":9,"b":1,"c":1,"d":1}"#)
        let gone = Base.deleted(last: nil)
        func verdict(_ change: PendingChange, _ new: Base, _ side: ConflictSide) -> Verdict {
            Rebase([change], from: old, to: new, .mergeFields(side)).verdicts[0]
        }

        #expect(verdict(.delete(1), edited, .serverWins) == .superseded)
        #expect(verdict(.delete(1), edited, .localWins) == .stays)
        #expect(verdict(.update(1, #"{"a":2}"#), gone, .serverWins) == .superseded)
        #expect(verdict(.update(1, #"{"a":2}"#), gone, .localWins) == .stays)
    }

    @Test func `that lost are told by the decision, and found in the log; the rest is accepted`()
        throws
    {
        let fold = MemoryFold()
        try fold.apply([
            .model(.mergeFields(.serverWins)),
            .about(.serverUpserted, "tasks/1", #"{"a":1,"b":1}"#, asOf: 1, revision: "1"),
            .about(.localUpdated, "tasks/1", #"{"set":{"a":2,"b":2},"unset":[]}"#),
            .about(.serverUpserted, "tasks/1", #"{"a":3,"b":1}"#, asOf: 3, revision: "2"),
            .about(.requestSent, "tasks/1", "{}", mutation: 3),
            .about(.pushAccepted, "tasks/1", mutation: 3, call: 5, revision: "3"),
        ])

        let row = try #require(fold.rows[.decision(Position(4), 0)])
        let decision = try DecisionRow(parsing: row)
        #expect(decision.inputs == [Position(3), Position(4)])
        #expect((decision.rule, decision.result) == ("mergeFields", "serverWins"))
        #expect(decision.fields == ["a"])
        #expect(try fold.mutation(3)?.outcome == .accepted)
        #expect(try text(fold.entity(EntityKey("tasks", "1"))?.document) == #"{"a":3,"b":2}"#)
    }
}
