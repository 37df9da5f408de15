// RebaseTests.swift — what becomes of pending changes when the server says something new.

import Testing
import TidemarkEvents
import TidemarkRules

@testable import RulesSupport

@Suite struct `local and server changes` {
    @Test func `changes of different fields don't meet`() {
        let rebase = Rebase(
            [.update(1, #"{"a":2}"#)], from: .live(#"{"a":1,"b":1}"#),
            to: .live(#"{"a":1,"b":2}"#))

        #expect(rebase.verdicts == [.stays])
        #expect(rebase.conflicts.isEmpty)
    }

    @Test func `of two changes of a field the server's wins, if so declared`() {
        let rebase = Rebase(
            [.update(4, #"{"b":5,"a":2}"#, unset: ["c"])],
            from: .live(#"{"a":1,"b":1,"c":1}"#), to: .live(#"{"a":3,"b":1,"c":2}"#))

        #expect(rebase.verdicts == [.superseded])
        #expect(rebase.conflicts.map(\.position) == [Position(4)])
        #expect(rebase.conflicts.map(\.fields) == [["a", "c"]])
        #expect(rebase.conflicts.map(\.localWins) == [false])
    }

    @Test func `of two changes of a field the local one stays, if so declared`() {
        let rebase = Rebase(
            [.update(4, #"{"a":2}"#)], from: .live(#"{"a":1}"#), to: .live(#"{"a":3}"#), .localWins)

        #expect(rebase.verdicts == [.stays])
        #expect(rebase.conflicts.map(\.fields) == [["a"]])
        #expect(rebase.conflicts.map(\.localWins) == [true])
    }

    @Test func `only the change in conflict is lost, the others stay`() {
        let rebase = Rebase(
            [.update(1, #"{"a":2}"#), .update(2, #"{"b":2}"#)],
            from: .live(#"{"a":1,"b":1}"#), to: .live(#"{"a":3,"b":1}"#))

        #expect(rebase.verdicts == [.superseded, .stays])
    }

    @Test(arguments: ConflictPolicy.changewise)
    func `the same change on both sides is there, and arrived only if it was sent`(
        _ policy: ConflictPolicy
    ) {
        for (isSent, verdict) in [(false, Verdict.present), (true, .arrived)] {
            let rebase = Rebase(
                [.update(1, #"{"a":2.0}"#, unset: ["b"], sent: isSent)],
                from: .live(#"{"a":1,"b":1}"#), to: .live(#"{"a":2,"c":1}"#), policy)

            #expect(rebase.verdicts == [verdict])
            #expect(rebase.conflicts.isEmpty)
        }
    }

    @Test func `fields that only the server sets are in no conflict`() {
        let create = PendingChange.create(1, #"{"id":"7","last_modified":1,"a":1}"#)

        let rebase = Rebase(
            [create], from: .absent, to: .live(#"{"id":"7","last_modified":9,"a":1}"#))

        #expect(rebase.verdicts == [.present])
        #expect(rebase.conflicts.isEmpty)
    }

    @Test func `an edit that is taken back stays until it is sent`() {
        let back: [PendingChange] = [.update(1, #"{"a":"B"}"#), .update(2, #"{"a":"A"}"#)]

        let rebase = Rebase(
            back, from: .live(#"{"a":"A","b":1}"#), to: .live(#"{"a":"A","b":2}"#))

        #expect(rebase.verdicts == [.stays, .stays])
    }

    @Test func `an edit that is taken back is in conflict when the server changed the field`() {
        let back: [PendingChange] = [.update(1, #"{"a":"B"}"#), .update(2, #"{"a":"A"}"#)]

        let server = Rebase(back, from: .live(#"{"a":"A"}"#), to: .live(#"{"a":"C"}"#))
        let local = Rebase(back, from: .live(#"{"a":"A"}"#), to: .live(#"{"a":"C"}"#), .localWins)

        #expect(server.verdicts == [.coalesced, .superseded])
        #expect(local.verdicts == [.stays, .stays])
    }

    @Test func `of several edits of a field that lose, the last one alone is in conflict`() {
        let edits: [PendingChange] = [
            .update(1, #"{"a":2,"b":2}"#), .update(2, #"{"a":3}"#), .update(3, #"{"a":4}"#),
        ]
        let (old, new) = (Base.live(#"{"a":1,"b":1}"#), Base.live(#"{"a":9,"b":1}"#))

        let server = Rebase(edits, from: old, to: new)
        let merged = Rebase(edits, from: old, to: new, .mergeFields(.serverWins))

        #expect(server.verdicts == [.superseded, .coalesced, .superseded])
        #expect(server.conflicts.map(\.position) == [Position(1), Position(3)])
        #expect(server.conflicts.map(server.superseded) == [["b"], ["a"]])
        #expect(merged.verdicts == [.stays, .coalesced, .superseded])
        #expect(merged.conflicts.map(\.position) == [Position(3)])
        #expect(merged.kept == [.update(1, #"{"b":2}"#)])
        #expect(merged.lost[0] == [])
    }

    @Test func `an edit that loses gives up nothing that a later one set again, which stays`() {
        let rebase = Rebase(
            [.update(1, #"{"title":"B","note":1}"#), .update(2, #"{"title":"C"}"#)],
            from: .live(#"{"title":"A","note":0}"#), to: .live(#"{"title":"A","note":9}"#))

        #expect(rebase.verdicts == [.superseded, .stays])
        #expect(rebase.conflicts.map(rebase.superseded) == [["note"]])
    }

    @Test func `an edit that loses gives up nothing that both sides came to`() {
        let rebase = Rebase(
            [.update(1, #"{"a":2,"b":2,"c":2}"#)], from: .live(#"{"a":1,"b":1,"c":1}"#),
            to: .live(#"{"a":3,"b":2,"c":1}"#))

        #expect(rebase.verdicts == [.superseded])
        #expect(rebase.conflicts.map(\.fields) == [["a"]])
        #expect(rebase.superseded(rebase.conflicts[0]) == ["a", "c"])
    }

    @Test func `an edit that gives way to all of the server's word loses what that has otherwise`()
    {
        let (old, new) = (Base.live(#"{"a":1,"b":1}"#), Base.live(#"{"a":3,"b":2}"#))

        let part = Rebase([.update(1, #"{"a":2,"b":2}"#)], from: old, to: new, .overwriteAlways)
        let all = Rebase([.update(1, #"{"b":2}"#)], from: old, to: new, .overwriteAlways)

        #expect(part.conflicts.map(part.superseded) == [["a"]])
        #expect(part.conflicts.map(part.isIssue) == [true])
        #expect(all.verdicts == [.superseded])
        #expect(all.conflicts.map(all.isIssue) == [false])
    }

    @Test func `an edit of which the server has all that no later one set again is no issue`() {
        let edits: [PendingChange] = [.update(1, #"{"a":2,"b":2}"#), .update(2, #"{"a":4}"#)]

        let rebase = Rebase(
            edits, from: .live(#"{"a":1,"b":1}"#), to: .live(#"{"a":3,"b":2}"#))

        #expect(rebase.conflicts.map(\.position) == [Position(1), Position(2)])
        #expect(rebase.conflicts.map(rebase.isIssue) == [false, true])
        #expect(rebase.conflicts.map(rebase.superseded).last == ["a"])
    }

    @Test func `an edit of what was deleted later, and came back, is in no conflict of its own`() {
        let rebase = Rebase(
            [.update(1, #"{"a":2}"#), .delete(2)], from: .live(#"{"a":1}"#),
            to: .live(#"{"a":3}"#))

        #expect(rebase.verdicts == [.coalesced, .superseded])
        #expect(rebase.conflicts.map(\.position) == [Position(2)])
    }

    @Test func `nothing pending, nothing decided`() {
        #expect(Rebase([], from: .absent, to: .live("{}")).verdicts == [])
        #expect(Rebase([], from: .live("{}"), to: .deleted(last: nil)).verdicts == [])
    }
}

@Suite struct `deletions` {
    static let old = Base.live(#"{"id":"7","last_modified":1,"a":1}"#)

    @Test func `a local deletion stays when the server changed nothing`() {
        let rebase = Rebase(
            [.delete(1)], from: Self.old, to: .live(#"{"id":"7","last_modified":2,"a":1}"#))

        #expect(rebase.verdicts == [.stays])
    }

    @Test func `a local deletion meets any change of the server`() {
        let new = Base.live(#"{"id":"7","last_modified":2,"a":1,"z":0}"#)

        #expect(Rebase([.delete(1)], from: Self.old, to: new).verdicts == [.superseded])
        #expect(Rebase([.delete(1)], from: Self.old, to: new, .localWins).verdicts == [.stays])
    }

    @Test func `an edit of what the server deleted is lost, or makes it anew`() throws {
        let edit = [PendingChange.update(1, #"{"a":2}"#)]
        let gone = Base.deleted(last: nil)

        let server = Rebase(edit, from: Self.old, to: gone)
        let local = Rebase(edit, from: Self.old, to: gone, .localWins)

        #expect(server.verdicts == [.superseded])
        #expect(local.verdicts == [.stays])
        #expect(server.conflicts.map(\.fields) == [[]])
        #expect(
            try PushWrite(
                edit, on: .deleted(last: Self.old.document), revision: nil, id: "7",
                collection: CollectionModel("t", lastChangeField: "last_modified"))
                == .create(body: Array(#"{"id":"7","a":2}"#.utf8)))
    }

    @Test(arguments: ConflictPolicy.examples)
    func `both sides deleted: it is gone, and arrived only if it was sent`(
        _ policy: ConflictPolicy
    ) {
        for (isSent, verdict) in [(false, Verdict.present), (true, .arrived)] {
            let delete = PendingChange.delete(2, sent: isSent)
            #expect(
                Rebase([delete], from: Self.old, to: .deleted(last: nil), policy).verdicts
                    == [verdict])
            #expect(
                Rebase(
                    [.update(1, #"{"a":2}"#, sent: isSent), delete], from: Self.old,
                    to: .deleted(last: nil), policy
                ).verdicts == [.coalesced, verdict])
        }
    }

    @Test(arguments: ConflictPolicy.examples)
    func `of what was deleted and made anew here the server's deletion settles the first half`(
        _ policy: ConflictPolicy
    ) {
        let anew: [PendingChange] = [
            .update(1, #"{"a":2}"#), .delete(2), .create(3, #"{"a":5}"#), .update(4, #"{"a":6}"#),
        ]

        let rebase = Rebase(anew, from: Self.old, to: .deleted(last: nil), policy)

        #expect(rebase.verdicts == [.coalesced, .present, .stays, .stays])
        #expect(rebase.conflicts.isEmpty)
    }

    @Test func `fields that our own change brought along are no reason to keep what we deleted`() {
        let sent: [PendingChange] = [.update(1, #"{"a":2}"#, sent: true), .delete(2)]

        let ours = Rebase(sent, from: Self.old, to: .live(#"{"id":"7","a":2,"added":1}"#))
        let theirs = Rebase(
            sent, from: .live(#"{"a":1,"b":1}"#), to: .live(#"{"id":"7","a":2,"b":9}"#))

        #expect(ours.verdicts == [.arrived, .stays])
        #expect(theirs.verdicts == [.arrived, .superseded])
    }
}

@Suite struct `creations` {
    @Test func `a creation stays while the server says the entity is not there`() {
        let create = [PendingChange.create(1, #"{"a":1}"#)]

        #expect(Rebase(create, from: .absent, to: .deleted(last: nil)).verdicts == [.stays])
        #expect(
            Rebase(create, from: .deleted(last: nil), to: .deleted(last: nil)).verdicts
                == [.stays])
    }

    @Test func `a creation meets a rival of the same id in the fields that differ`() {
        let create = [PendingChange.create(1, #"{"a":1,"b":1}"#)]
        let rival = Base.live(#"{"a":1,"b":2,"c":3}"#)

        let server = Rebase(create, from: .absent, to: rival)
        let local = Rebase(create, from: .absent, to: rival, .localWins)

        #expect(server.verdicts == [.superseded])
        #expect(server.conflicts.map(\.fields) == [["b"]])
        #expect(local.verdicts == [.stays])
    }

    @Test func `a creation equal to the rival is there, and arrived only if it was sent`() {
        func verdicts(sent: Bool) -> [Verdict] {
            Rebase(
                [.create(1, #"{"a":1}"#, sent: sent)], from: .absent,
                to: .live(#"{"a":1,"c":3}"#)
            ).verdicts
        }

        #expect(verdicts(sent: false) == [.present])
        #expect(verdicts(sent: true) == [.arrived])
    }

    @Test func `a creation that may have arrived and was deleted by others is in conflict`() {
        let create = [PendingChange.create(1, #"{"a":1}"#, sent: true)]

        let server = Rebase(create, from: .absent, to: .deleted(last: nil))
        let local = Rebase(create, from: .absent, to: .deleted(last: nil), .localWins)

        #expect(server.verdicts == [.superseded])
        #expect(local.verdicts == [.stays])
    }

    @Test func `an edit of a new entity stays with its creation`() {
        let both: [PendingChange] = [.create(1, #"{"a":1}"#), .update(2, #"{"a":2}"#)]

        #expect(
            Rebase(both, from: .absent, to: .deleted(last: nil)).verdicts == [.stays, .stays])
    }
}

@Suite struct `attempts that may have arrived` {
    @Test func `what is there as it was sent has arrived`() {
        let rebase = Rebase(
            [.update(1, #"{"a":2}"#, sent: true)], from: .live(#"{"a":1,"b":1}"#),
            to: .live(#"{"a":2,"b":9}"#))

        #expect(rebase.verdicts == [.arrived])
        #expect(rebase.conflicts.isEmpty)
    }

    @Test(arguments: ConflictPolicy.examples)
    func `an edit made after the sending survives`(_ policy: ConflictPolicy) {
        let rebase = Rebase(
            [.update(1, #"{"a":2}"#, sent: true), .update(2, #"{"a":3}"#)],
            from: .live(#"{"a":1}"#), to: .live(#"{"a":2}"#), policy)

        #expect(rebase.verdicts == [.arrived, .stays])
        #expect(rebase.conflicts.isEmpty)
    }

    @Test func `an edit that took the sent one back survives`() {
        let rebase = Rebase(
            [.update(1, #"{"a":2}"#, sent: true), .update(2, #"{"a":1}"#)],
            from: .live(#"{"a":1}"#), to: .live(#"{"a":2}"#))

        #expect(rebase.verdicts == [.arrived, .stays])
    }

    @Test func `of several that went together the overtaken ones are coalesced`() {
        let rebase = Rebase(
            [
                .update(1, #"{"a":2}"#, sent: true), .update(2, #"{"b":2}"#, sent: true),
                .update(3, #"{"a":3}"#, sent: true),
            ], from: .live(#"{"a":1,"b":1}"#), to: .live(#"{"a":3,"b":2}"#))

        #expect(rebase.verdicts == [.coalesced, .arrived, .arrived])
    }

    @Test func `of several that went together, what the last made is no other side's change`() {
        let old = Base.live(#"{"title":"A","note":0}"#)
        let new = Base.live(#"{"title":"C","note":9}"#)
        let part = Rebase(
            [
                .update(1, #"{"title":"B","note":1}"#, sent: true),
                .update(2, #"{"title":"C"}"#, sent: true),
            ], from: old, to: new)
        let later = Rebase(
            [
                .update(1, #"{"title":"B"}"#, sent: true),
                .update(2, #"{"title":"C","note":1}"#, sent: true), .update(3, #"{"title":"D"}"#),
            ], from: old, to: new)
        let kept = Rebase(
            [
                .update(1, #"{"title":"B","note":1}"#, sent: true),
                .update(2, #"{"title":"C"}"#, sent: true),
            ], from: old, to: new, .localWins)

        #expect(part.verdicts == [.superseded, .present])
        #expect(part.conflicts.map(\.fields) == [["note"]])
        #expect(later.verdicts == [.coalesced, .superseded, .stays])
        #expect(later.conflicts.map(\.fields) == [["note"]])
        // Sent again, the first one would undo the second.
        #expect(kept.kept == [.update(1, #"{"note":1}"#)])
    }

    @Test func `of an earlier sending only the first part has arrived`() {
        let rebase = Rebase(
            [.update(1, #"{"a":2}"#, sent: true), .update(2, #"{"a":3,"b":3}"#, sent: true)],
            from: .live(#"{"a":1,"b":1}"#), to: .live(#"{"a":2,"b":1}"#))

        #expect(rebase.verdicts == [.arrived, .stays])
    }

    @Test func `what did not arrive stays`() {
        let rebase = Rebase(
            [.update(1, #"{"a":2}"#, sent: true)], from: .live(#"{"a":1,"b":1}"#),
            to: .live(#"{"a":1,"b":2}"#))

        #expect(rebase.verdicts == [.stays])
    }

    @Test func `a creation that is there as it was sent has arrived, an edit after it survives`() {
        let rebase = Rebase(
            [.create(1, #"{"a":1}"#, sent: true), .update(2, #"{"a":2}"#)],
            from: .absent, to: .live(#"{"a":1,"last_modified":4}"#))

        #expect(rebase.verdicts == [.arrived, .stays])
    }

    @Test(arguments: [#""title":"a""#, #""title":"b""#])
    func `what the server has in a field that is set only after a creation is its own`(
        _ title: String
    ) {
        let creation = PendingChange.create(1, #"{"title":"a"}"#, sent: true)
        let edit = PendingChange.update(2, #"{"photo":1}"#)
        for own in ["null", "7", #""/none.png""#] {
            let there = Base.live(#"{\#(title),"photo":\#(own)}"#)

            let later = Rebase(
                [creation, edit], from: .absent, to: there, policy: .serverWins,
                serverFields: ["id"], setLater: ["photo"])
            let other = Rebase([creation, edit], from: .absent, to: there)

            #expect(later.verdicts[1] == .stays)
            #expect(!later.conflicts.contains { $0.fields == ["photo"] })
            #expect(other.verdicts[1] == .superseded)
        }
    }

    @Test(arguments: [Base.absent, .deleted(last: nil), .live(#"{"title":"a","photo":5}"#)])
    func `what it has in such a field is another's where no creation was sent`(_ old: Base) {
        let edits: [PendingChange] = [
            .update(1, #"{"title":"b"}"#, sent: true), .update(2, #"{"photo":1}"#),
        ]
        let rebase = Rebase(
            edits, from: old, to: .live(#"{"title":"b","photo":7}"#), policy: .serverWins,
            serverFields: ["id"], setLater: ["photo"])

        #expect(rebase.verdicts == [.arrived, .superseded])
    }

    @Test func `a server that changed the field after it took ours is a conflict for the next`() {
        let rebase = Rebase(
            [.update(1, #"{"a":2}"#, sent: true)], from: .live(#"{"a":1}"#),
            to: .live(#"{"a":9}"#))

        #expect(rebase.verdicts == [.superseded])
    }
}
