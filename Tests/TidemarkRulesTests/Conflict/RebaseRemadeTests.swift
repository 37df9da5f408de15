// RebaseRemadeTests.swift — entities that were deleted and made anew here, and met by what the
// server says.

import Testing
import TidemarkEvents
import TidemarkRules

@testable import RulesSupport

@Suite struct `an entity that was deleted and made anew` {
    @Test(arguments: ConflictPolicy.changewise)
    func `has arrived when it is there as it was sent, though its fields are as before`(
        _ policy: ConflictPolicy
    ) {
        let rebase = Rebase(
            [.delete(1, sent: true), .create(2, #"{"x":2}"#, sent: true)],
            from: .live(#"{"x":2,"note":"n"}"#), to: .live(#"{"x":2}"#), policy)

        #expect(rebase.verdicts == [.arrived, .arrived])
        #expect(rebase.conflicts.isEmpty)
    }

    @Test(arguments: ConflictPolicy.changewise)
    func `stays as it was made, whatever somebody added to what it replaces`(
        _ policy: ConflictPolicy
    ) throws {
        let new = Base.live(#"{"title":"B","colour":"blue"}"#)

        let rebase = Rebase(
            [
                .update(1, #"{"title":"B"}"#, sent: true), .delete(2),
                .create(3, #"{"title":"B","colour":"red"}"#), .update(4, #"{"colour":"pink"}"#),
            ], from: .live(#"{"title":"A"}"#), to: new, policy)

        #expect(rebase.verdicts == [.arrived, .stays, .stays, .stays])
        #expect(rebase.conflicts.isEmpty)
        #expect(
            try Current(rebase.kept, on: new)
                == .document(Array(#"{"title":"B","colour":"pink"}"#.utf8)))
    }

    @Test(arguments: [#"{"x":2}"#, #"{"x":2,"note":"other"}"#])
    func `is not deleted because the server has its fields already`(_ new: String) {
        let rebase = Rebase(
            [.delete(1), .create(2, #"{"x":2}"#)], from: .live(#"{"x":2,"note":"n"}"#),
            to: .live(new), .localWins)

        #expect(rebase.verdicts == [.stays, .stays])
    }

    @Test func `is lost as it was made anew, and its deletion is no loss of its own`() {
        let anew: [PendingChange] = [.delete(1), .create(2, #"{"a":2}"#)]
        let old = Base.live(#"{"a":1}"#)

        for policy in [ConflictPolicy.serverWins, .overwriteAlways] {
            let rebase = Rebase(anew, from: old, to: .live(#"{"a":3}"#), policy)

            #expect(rebase.verdicts == [.coalesced, .superseded])
            #expect(rebase.conflicts.map(\.position) == [Position(2)])
        }
        let apart = Rebase(anew, from: old, to: .live(#"{"a":1,"b":1}"#))
        #expect(apart.verdicts == [.superseded, .stays])
        #expect(apart.conflicts.map(\.position) == [Position(1)])
        let last = Rebase(anew + [.delete(3)], from: old, to: .live(#"{"a":3}"#))
        #expect(last.verdicts == [.coalesced, .coalesced, .superseded])
        #expect(last.conflicts.map(\.fields) == [[]])
    }
}
