// ListElementTests.swift — lists whose elements are told by keys: they meet one by one, or the list
// is one field.

import Testing
import TidemarkEvents
import TidemarkRules

@testable import RulesSupport

extension PendingChange {
    /// The same in a collection with such a list.
    fileprivate var keyed: PendingChange {
        var change = self
        change.lists = [KeyedList("values", by: "de")]
        return change
    }
}

private func element(_ key: String, _ value: Int) -> String { #"{"de":"\#(key)","v":\#(value)}"# }

private func edit(_ position: UInt64, _ key: String, _ value: Int, sent: Bool = false)
    -> PendingChange
{
    PendingChange.update(position, #"{"/values/\#(key)":\#(element(key, value))}"#, sent: sent)
        .keyed
}

private func removal(_ position: UInt64, _ key: String) -> PendingChange {
    PendingChange.update(position, "{}", unset: ["/values/\(key)"]).keyed
}

private func live(_ elements: String..., more: String = "") -> Base {
    .live(#"{"id":"e"\#(more),"values":[\#(elements.joined(separator: ","))]}"#)
}

private func current(_ rebase: Rebase, on base: Base) throws -> String? {
    guard case .document(let bytes) = try Current(rebase.kept, on: base) else { return nil }
    return String(decoding: bytes, as: UTF8.self)
}

@Suite struct `elements of lists that meet` {
    private let old = live(element("A", 1), element("B", 1))

    @Test(arguments: ConflictPolicy.changewise)
    func `do not when they are two`(_ policy: ConflictPolicy) throws {
        let new = live(element("B", 2), element("A", 1))

        let rebase = Rebase([edit(1, "A", 5)], from: old, to: new, policy)

        #expect(rebase.verdicts == [.stays])
        #expect(rebase.conflicts == [])
        #expect(
            try current(rebase, on: new)
                == #"{"id":"e","values":[{"de":"B","v":2},{"de":"A","v":5}]}"#)
    }

    @Test func `are in conflict when they are one, by its name`() throws {
        let new = live(element("A", 2), element("B", 1))

        let server = Rebase([edit(1, "A", 5)], from: old, to: new)
        let local = Rebase([edit(1, "A", 5)], from: old, to: new, .localWins)

        #expect(
            server.conflicts
                == [Conflict(position: Position(1), fields: ["/values/A"], result: .serverWins)])
        #expect(server.verdicts == [.superseded])
        #expect(local.conflicts.map(\.fields) == [["/values/A"]])
        #expect(local.kept == [edit(1, "A", 5)])
    }

    @Test func `are each the last edit's that touches it, or its list`() {
        let gone = live(element("A", 7), element("B", 7))
        let whole = PendingChange.update(3, #"{"values":[]}"#).keyed

        let apart = Rebase([edit(1, "A", 2), edit(2, "B", 2)], from: old, to: gone)
        let again = Rebase([edit(1, "A", 2), edit(2, "A", 3)], from: old, to: gone)
        let both = Rebase([edit(1, "A", 2), whole], from: old, to: gone)
        let inside = Rebase([whole, edit(4, "A", 2)], from: old, to: gone)

        #expect(apart.verdicts == [.superseded, .superseded])
        #expect(again.verdicts == [.coalesced, .superseded])
        #expect(both.verdicts == [.coalesced, .superseded])
        #expect(inside.verdicts == [.superseded, .superseded])
        #expect(inside.conflicts.map(inside.superseded) == [["values"], ["/values/A"]])
    }

    @Test func `are lost one by one, and the others of the edit go on`() throws {
        let both = PendingChange.update(
            1, #"{"n":2,"/values/A":\#(element("A", 5)),"/values/C":\#(element("C", 5))}"#
        ).keyed
        let new = live(element("A", 2), element("B", 1))

        let rebase = Rebase([both], from: old, to: new, .mergeFields(.serverWins))

        #expect(rebase.lost == [["/values/A"]])
        #expect(
            rebase.kept
                == [
                    PendingChange.update(1, #"{"n":2,"/values/C":\#(element("C", 5))}"#).keyed
                ])
        let conflict = try #require(rebase.conflicts.first)
        #expect(rebase.superseded(conflict) == ["/values/A"])
        #expect(rebase.kept(conflict) == ["n", "/values/C"])
        #expect(
            try current(rebase, on: new)
                == #"{"id":"e","values":[{"de":"A","v":2},{"de":"B","v":1},{"de":"C","v":5}],"#
                + #""n":2}"#
        )
    }

    @Test(arguments: [ConflictPolicy.serverWins, .localWins, .mergeFields(.localWins)])
    func `conflict where one side removed what the other changed`(_ policy: ConflictPolicy) {
        let gone = live(element("B", 1))
        let changed = live(element("A", 2), element("B", 1))

        for (change, new) in [(edit(1, "A", 5), gone), (removal(1, "A"), changed)] {
            let rebase = Rebase([change], from: old, to: new, policy)

            #expect(rebase.conflicts.map(\.fields) == [["/values/A"]])
            #expect(rebase.verdicts == [policy == .serverWins ? .superseded : .stays])
        }
    }

    @Test func `do not conflict where both sides removed one, or wrote the same`() {
        let removed = Rebase([removal(1, "A")], from: old, to: live(element("B", 1)))
        let same = Rebase(
            [edit(1, "A", 2)], from: old, to: live(element("A", 2), element("B", 3)))

        #expect(removed.verdicts == [.present])
        #expect(removed.conflicts == [])
        #expect(same.verdicts == [.present])
    }

    @Test func `are the first of a list on both sides, and both stay`() throws {
        let none = Base.live(#"{"id":"e"}"#)
        let new = live(element("B", 1))

        let rebase = Rebase([edit(1, "A", 5)], from: none, to: new)

        #expect(rebase.conflicts == [])
        #expect(
            try current(rebase, on: new)
                == #"{"id":"e","values":[{"de":"B","v":1},{"de":"A","v":5}]}"#)
    }

    @Test func `arrive one by one: what another device changed tells nothing of ours`() {
        let ours = edit(1, "A", 5, sent: true)

        let arrived = Rebase([ours], from: old, to: live(element("A", 5), element("B", 2)))
        let not = Rebase([ours], from: old, to: live(element("A", 1), element("B", 2)))

        #expect(arrived.verdicts == [.arrived])
        #expect(not.verdicts == [.stays])
    }

    @Test func `arrive with members of the server's own, and later edits were made on top`() {
        let ours = edit(1, "A", 5, sent: true)
        func there(_ element: String) -> Base { live(element, #"{"de":"B","v":1}"#) }

        let stamped = there(#"{"de":"A","v":5,"at":"12:00"}"#)
        let arrived = Rebase([ours, edit(2, "A", 6)], from: old, to: stamped)
        let other = Rebase([ours], from: old, to: there(#"{"de":"A","v":4,"at":"12:00"}"#))
        let kept = Rebase(
            [.update(1, #"{"/values/A":{"de":"A"}}"#, sent: true).keyed], from: old,
            to: there(#"{"de":"A","v":1,"at":"12:00"}"#))

        #expect(arrived.verdicts == [.arrived, .stays])
        #expect(arrived.conflicts == [])
        #expect(other.verdicts == [.superseded])
        // That a member was taken away did not arrive.
        #expect(kept.verdicts == [.superseded])
    }

    @Test(arguments: ConflictPolicy.examples)
    func `arrive when what the edit changed of them is there`(_ policy: ConflictPolicy) {
        let known = live(#"{"de":"A","v":1,"at":"11:00"}"#)
        let stamped = live(#"{"de":"A","v":5,"at":"12:00"}"#)
        let whole = PendingChange.update(
            1, #"{"/values/A":{"de":"A","v":5,"at":"11:00"}}"#, sent: true
        ).keyed

        for ours in [edit(1, "A", 5, sent: true), whole] {
            let alone = Rebase([ours], from: known, to: stamped, policy)
            let corrected = Rebase([ours, edit(2, "A", 6)], from: known, to: stamped, policy)

            #expect(alone.verdicts == [.arrived] && alone.conflicts == [])
            #expect(corrected.verdicts == [.arrived, .stays] && corrected.conflicts == [])
        }
    }

    @Test func `arrive with the last edit of several that were sent, and not with what it undid`() {
        let known = live(#"{"de":"A","v":1,"w":1,"at":"11:00"}"#)
        func sent(_ position: UInt64, _ members: String) -> PendingChange {
            .update(position, #"{"/values/A":{"de":"A",\#(members)}}"#, sent: true).keyed
        }
        func verdicts(_ first: String, _ second: String, _ there: String) -> [Verdict] {
            Rebase([sent(1, first), sent(2, second)], from: known, to: live(there), .localWins)
                .verdicts
        }

        #expect(
            verdicts(#""v":2"#, #""v":3"#, #"{"de":"A","v":3,"at":"12:00"}"#)
                == [.coalesced, .arrived])
        // The second one sets a member back, or takes it away.
        let first = #"{"de":"A","v":2,"w":5,"at":"12:00"}"#
        #expect(verdicts(#""v":2,"w":5"#, #""v":2,"w":1"#, first) == [.arrived, .stays])
        #expect(verdicts(#""v":2,"w":5"#, #""v":2"#, first) == [.arrived, .stays])
    }

    @Test func `are there as they were sent where another field of the edit is another's now`() {
        let known = live(#"{"de":"A","v":1,"at":"11:00"}"#, more: #","n":1"#)
        let there = live(#"{"de":"A","v":5,"at":"12:00"}"#, more: #","n":7"#)
        let ours = PendingChange.update(
            1, #"{"n":2,"/values/A":\#(element("A", 5))}"#, sent: true
        ).keyed

        let rebase = Rebase(
            [ours, edit(2, "A", 6)], from: known, to: there, .mergeFields(.serverWins))

        #expect(rebase.conflicts.map(\.fields) == [["n"]])
        #expect(rebase.lost == [["n"], []])
        #expect(rebase.kept == [edit(2, "A", 6)])
    }

    @Test(arguments: [#""t":"2026-01-02","#, #""t":"2026-01-02T00:00:00.000","#])
    func `arrive with what was made here, and a correction was made on top`(_ time: String) {
        func document(_ text: String, _ element: String) -> String {
            #"{"id":"e",\#(text)"values":[\#(element)]}"#
        }
        let mine = PendingChange.create(1, document(time, element("A", 5)), sent: true).keyed
        let there = document(
            #""t":"2026-01-02T00:00:00.000","#, #"{"de":"A","v":5,"at":"12:00"}"#)

        let rebase = Rebase([mine, edit(2, "A", 6)], from: .absent, to: .live(there))

        #expect(rebase.conflicts == [])
        #expect(rebase.kept == [edit(2, "A", 6)])
    }

    @Test func `are overtaken by a later edit of the same one or of the whole list`() {
        let whole = PendingChange.update(3, #"{"values":[]}"#).keyed

        #expect(PendingChange.overtaken([edit(1, "A", 1), edit(2, "B", 1)]) == [false, false])
        #expect(PendingChange.overtaken([edit(1, "A", 1), edit(2, "A", 2)]) == [true, false])
        #expect(PendingChange.overtaken([edit(1, "A", 1), whole]) == [true, false])
        #expect(PendingChange.overtaken([whole, edit(4, "A", 1)]) == [false, false])
    }
}

@Suite struct `lists that are one field` {
    private let old = live(element("A", 1), element("B", 1))

    @Test func `conflict with a change of any element`() {
        let whole = PendingChange.update(1, #"{"values":[\#(element("C", 1))]}"#).keyed

        let rebase = Rebase([whole], from: old, to: live(element("A", 1), element("B", 2)))

        #expect(rebase.conflicts.map(\.fields) == [["values"]])
        #expect(rebase.verdicts == [.superseded])
    }

    @Test func `are in conflict by the names of the elements that the edit changed`() throws {
        let twice = live(element("A", 1), element("A", 2))
        let both = PendingChange.update(
            1, #"{"n":2,"/values/A":\#(element("A", 5))}"#, unset: ["/values/B"]
        ).keyed

        let server = Rebase([both], from: old, to: twice, .mergeFields(.serverWins))
        let local = Rebase([both], from: old, to: twice, .mergeFields(.localWins))

        #expect(server.conflicts.map(\.fields) == [["/values/A", "/values/B"]])
        #expect(server.kept == [PendingChange.update(1, #"{"n":2}"#).keyed])
        #expect(local.conflicts.map(\.fields) == [["/values/A", "/values/B"]])
        #expect(local.kept == [both])
    }

    @Test func `of the server's stay as they are while nobody changes them`() throws {
        let twice = live(element("A", 1), element("A", 2), more: #","n":1"#)
        let other = PendingChange.update(1, #"{"m":2}"#).keyed

        let rebase = Rebase([other], from: old, to: twice)

        #expect(rebase.conflicts == [])
        #expect(
            try current(rebase, on: twice)
                == #"{"id":"e","n":1,"values":[{"de":"A","v":1},{"de":"A","v":2}],"m":2}"#)
    }

    @Test func `are in conflict with a creation as a whole`() throws {
        let twice = live(element("A", 1), element("A", 2))
        let mine = PendingChange.create(
            1, #"{"id":"e","n":1,"values":[\#(element("B", 5))]}"#
        ).keyed

        let server = Rebase([mine], from: .absent, to: twice, .mergeFields(.serverWins))
        let local = Rebase([mine], from: .absent, to: twice, .mergeFields(.localWins))

        #expect(server.conflicts.map(\.fields) == [["values"]])
        #expect(server.kept == [PendingChange.update(1, #"{"n":1}"#).keyed])
        let conflict = try #require(server.conflicts.first)
        #expect(server.superseded(conflict) == ["values"])
        #expect(server.kept(conflict) == ["n"])
        #expect(local.conflicts.map(\.fields) == [["values"]])
        #expect(
            try current(local, on: twice) == #"{"id":"e","values":[{"de":"B","v":5}],"n":1}"#)
    }

    @Test func `arrive when the server has what the edits made of them`() {
        let twice = live(element("A", 1), element("A", 2))
        let ours = edit(1, "A", 5, sent: true)

        #expect(Rebase([ours], from: twice, to: live(element("A", 5))).verdicts == [.arrived])
    }
}

@Suite struct `lists in whole entities` {
    private let old = live(element("A", 1), element("B", 1))

    @Test func `that are kept whole carry the elements that differ`() throws {
        let new = live(element("A", 2), element("B", 1), element("C", 1))

        let rebase = Rebase([edit(1, "B", 5)], from: old, to: new, .overwriteUnlessDirty)

        #expect(
            rebase.kept
                == [
                    PendingChange.update(
                        1,
                        #"{"/values/A":\#(element("A", 1)),"/values/B":\#(element("B", 5))}"#,
                        unset: ["/values/C"]
                    ).keyed
                ])
        #expect(
            try current(rebase, on: new)
                == #"{"id":"e","values":[{"de":"A","v":1},{"de":"B","v":5}]}"#)
    }

    @Test func `that were created on both sides are merged element by element`() throws {
        let mine = PendingChange.create(1, #"{"id":"e","values":[\#(element("A", 5))]}"#).keyed
        let theirs = live(element("A", 1), element("B", 1))

        let server = Rebase([mine], from: .absent, to: theirs, .mergeFields(.serverWins))
        let local = Rebase([mine], from: .absent, to: theirs, .localWins)

        #expect(server.conflicts.map(\.fields) == [["/values/A"]])
        #expect(try current(server, on: theirs) == live(element("A", 1), element("B", 1)).text)
        #expect(local.kept == [mine])
        #expect(
            try current(local, on: theirs)
                == #"{"id":"e","values":[{"de":"A","v":5},{"de":"B","v":1}]}"#)
    }

    @Test func `of a creation that are empty take nothing from the server's`() throws {
        let mine = PendingChange.create(1, #"{"id":"e","n":1,"values":[]}"#).keyed
        let theirs = live(element("B", 1), more: #","n":2"#)

        let local = Rebase([mine], from: .absent, to: theirs, .mergeFields(.localWins))
        let merged = Rebase(
            [.create(1, #"{"id":"e","n":1,"m":1,"values":[]}"#).keyed], from: .absent, to: theirs,
            .mergeFields(.serverWins))

        #expect(
            try current(local, on: theirs) == #"{"id":"e","n":1,"values":[{"de":"B","v":1}]}"#)
        #expect(merged.kept == [PendingChange.update(1, #"{"m":1}"#).keyed])
    }

    @Test func `that a rule made of both sides are carried as their elements`() throws {
        let new = live(element("A", 2), element("B", 1))
        let answer = live(element("A", 3), element("B", 1), element("D", 1))

        let rebase = Rebase(
            [edit(1, "A", 5)], from: old, to: new, .custom("rule"),
            answer: .document(try #require(answer.document).bytes))

        #expect(rebase.conflicts.map(\.result) == [.merged])
        #expect(rebase.lost == [["/values/A"]])
        #expect(
            rebase.kept
                == [
                    PendingChange.update(
                        1, #"{"/values/A":\#(element("A", 3)),"/values/D":\#(element("D", 1))}"#
                    ).keyed
                ])
    }

    @Test func `that an edit removes whole are gone when nobody changed an element`() throws {
        let gone = PendingChange.update(1, "{}", unset: ["values"]).keyed
        let new = live(element("A", 1), element("B", 1), more: #","n":2"#)

        let alone = Rebase([gone], from: old, to: new)
        let changed = Rebase([gone], from: old, to: live(element("A", 1)))

        #expect(alone.conflicts == [])
        #expect(try current(alone, on: new) == #"{"id":"e","n":2}"#)
        #expect(changed.conflicts.map(\.fields) == [["values"]])
    }
}

extension Base {
    fileprivate var text: String? {
        document.map { String(decoding: $0.bytes, as: UTF8.self) }
    }
}
