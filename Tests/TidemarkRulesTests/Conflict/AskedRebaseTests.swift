// AskedRebaseTests.swift — conflicts about which a person is asked, and those of which both sides
// stay.

import Testing
import TidemarkEvents
import TidemarkRules

@testable import RulesSupport

@Suite struct `a conflict that is not decided` {
    private let old = Base.live(#"{"a":1,"b":1}"#)

    @Test func `leaves the mutation as it is, and names the fields`() {
        let pending = [PendingChange.update(1, #"{"a":2}"#), .update(2, #"{"b":2}"#)]
        let rebase = Rebase(pending, from: old, to: .live(#"{"a":3,"b":1}"#), .ask)

        #expect(rebase.kept == pending)
        #expect(
            rebase.conflicts == [Conflict(position: Position(1), fields: ["a"], result: .asked)])
        #expect(rebase.superseded(rebase.conflicts[0]) == [])
        #expect(rebase.kept(rebase.conflicts[0]) == [])
    }

    @Test func `is one of a deletion, on either side`() {
        let edit = Rebase([.update(1, #"{"a":2}"#)], from: old, to: .deleted(last: nil), .ask)
        #expect(edit.verdicts == [.stays])
        #expect(edit.conflicts == [Conflict(position: Position(1), fields: [], result: .asked)])

        let deletion = Rebase([.delete(1)], from: old, to: .live(#"{"a":3,"b":1}"#), .ask)
        #expect(deletion.verdicts == [.stays])
        #expect(deletion.conflicts.map(\.result) == [.asked])
    }

    @Test func `is none where both sides came to the same, or changed other fields`() {
        let same = Rebase([.update(1, #"{"a":2}"#)], from: old, to: .live(#"{"a":2,"b":1}"#), .ask)
        #expect(same.verdicts == [.present] && same.conflicts.isEmpty)
        let other = Rebase([.update(1, #"{"a":2}"#)], from: old, to: .live(#"{"a":1,"b":2}"#), .ask)
        #expect(other.verdicts == [.stays] && other.conflicts.isEmpty)
    }

    @Test func `is the server's where both sides are to stay: the new entity is made beside it`() {
        let rebase = Rebase(
            [.update(1, #"{"a":2}"#)], from: old, to: .live(#"{"a":3,"b":1}"#), .keepBoth)
        #expect(rebase.verdicts == [.superseded])
        #expect(rebase.conflicts.map(\.result) == [.serverWins])
        #expect(rebase.superseded(rebase.conflicts[0]) == ["a"])
    }
}
