// MergeFieldsTests.swift — field by field: what both sides changed goes to one, the rest to whoever
// changed it.

import Testing
import TidemarkEvents
import TidemarkRules

@testable import RulesSupport

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

    @Test(arguments: [
        PendingChange.create(1, #"{"a":1,"b":1}"#), .create(1, #"{"a":1,"b":1}"#, sent: true),
    ])
    func `leave a mutation superseded of which one lost, and the others are there by chance`(
        _ change: PendingChange
    ) throws {
        let rebase = Rebase(
            [change], from: .absent, to: .live(#"{"a":1,"b":2}"#), .mergeFields(.serverWins))

        #expect(rebase.verdicts == [.superseded])
        #expect(rebase.conflicts.map(\.fields) == [["b"]])
        #expect(rebase.superseded(try #require(rebase.conflicts.first)) == ["b"])
    }

    @Test func `keep what only one side has, where nobody has said the entity before`() throws {
        let rebase = Rebase(
            [.create(1, #"{"a":1,"mine":1}"#)], from: .absent,
            to: .live(#"{"a":2,"theirs":2}"#), .mergeFields(.serverWins))

        #expect(rebase.kept == [.update(1, #"{"mine":1}"#)])
        let conflict = try #require(rebase.conflicts.first)
        #expect(rebase.conflicts.count == 1 && conflict.fields == ["a"])
        #expect(rebase.superseded(conflict) == ["a"] && rebase.kept(conflict) == ["mine"])
    }

    @Test func `of a creation that meets none of its fields all stay`() {
        let pending = [PendingChange.create(1, #"{"mine":1}"#)]

        let rebase = Rebase(
            pending, from: .absent, to: .live(#"{"theirs":2}"#), .mergeFields(.serverWins))

        #expect(rebase.kept == pending && rebase.conflicts.isEmpty)
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
}
