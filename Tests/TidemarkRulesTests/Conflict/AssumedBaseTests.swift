// AssumedBaseTests.swift — a base that is only what was sent, because the server took it and told
// nothing of the entity.

import Testing
import TidemarkEvents
import TidemarkRules

@testable import RulesSupport

@Suite struct `a base that is only what was sent` {
    private func rebase(
        _ change: PendingChange, from old: String, to new: String,
        _ policy: ConflictPolicy = .serverWins, assumed: AssumedBase = .made
    ) -> Rebase {
        Rebase(
            [change], from: .live(old), to: .live(new), policy: policy,
            serverFields: ["id", "last_modified"], assumed: assumed)
    }

    @Test(arguments: [
        (#""2026-01-05""#, #""2026-01-05T00:00:00.000""#),
        (#""2026-01-05T10:00:00""#, #""2026-01-05T10:00:00.000""#),
        (#""2026-01-05T10:00:00Z""#, #""2026-01-05T11:00:00.000+01:00""#),
        (#""A@B""#, #""a@b""#), (#"" x""#, #""x""#),
    ])
    func `is the same in a writing of the server's`(_ sent: String, _ stored: String) {
        let change = PendingChange.update(1, #"{"a":"later"}"#)
        let (old, new) = (#"{"a":\#(sent)}"#, #"{"a":\#(stored),"b":1}"#)

        let assumed = rebase(change, from: old, to: new)
        let told = Rebase([change], from: .live(old), to: .live(new))

        #expect(assumed.verdicts == [.stays] && assumed.conflicts.isEmpty)
        #expect(told.verdicts == [.superseded])
    }

    @Test(arguments: ["null", "false", "0", "\"\"", "[]", "{}"])
    func `has nothing where the server has an empty value, or leaves it out`(_ value: String) {
        let change = PendingChange.update(1, #"{"a":"later"}"#)

        for assumed in [AssumedBase.made, .edited, .overwritten] {
            func verdicts(_ old: String, _ new: String) -> [Verdict] {
                rebase(change, from: old, to: new, assumed: assumed).verdicts
            }
            #expect(verdicts("{}", #"{"a":\#(value)}"#) == [.stays])
            #expect(verdicts(#"{"a":1}"#, #"{"a":\#(value)}"#) != [.stays])
            #expect(verdicts(#"{"a":\#(value)}"#, "{}") == [.stays])
            #expect(verdicts(#"{"a":1}"#, "{}") == [.superseded])
        }
        let told = Rebase([change], from: .live(#"{"a":\#(value)}"#), to: .live("{}"))
        #expect(told.verdicts == [.superseded])
    }

    @Test func `of a new entity has what the server gives to each`() {
        let (old, new) = (#"{"a":1}"#, #"{"a":1,"b":2}"#)
        func verdicts(_ change: PendingChange, _ assumed: AssumedBase) -> [Verdict] {
            rebase(change, from: old, to: new, assumed: assumed).verdicts
        }
        let edit = PendingChange.update(1, #"{"b":3}"#)

        #expect(verdicts(edit, .made) == [.stays])
        #expect(verdicts(edit, .edited) == [.superseded])
        #expect(verdicts(edit, .overwritten) == [.superseded])
        #expect(verdicts(.delete(1), .made) == [.stays])
        #expect(verdicts(.delete(1), .edited) == [.stays])
        #expect(verdicts(.delete(1), .overwritten) == [.superseded])
    }

    @Test func `was changed where somebody wrote other letters, but not another form of a time`() {
        func verdicts(_ sent: String, _ stored: String) -> [Verdict] {
            rebase(
                .update(1, #"{"a":"later"}"#), from: #"{"a":\#(sent)}"#,
                to: #"{"a":\#(stored)}"#, assumed: .overwritten
            ).verdicts
        }

        #expect(verdicts(#""A@B""#, #""a@b""#) == [.superseded])
        #expect(verdicts(#"" x""#, #""x""#) == [.superseded])
        #expect(verdicts(#""2026-01-05T10:00:00Z""#, #""2026-01-05T10:00:00.000Z""#) == [.stays])
    }

    @Test func `has no elements but those that were sent`() {
        let old = #"{"values":[{"k":"a","v":1}]}"#
        func verdicts(_ old: String, _ new: String) -> [Verdict] {
            var change = PendingChange.delete(1)
            change.lists = [KeyedList("values", by: "k")]
            return rebase(change, from: old, to: new).verdicts
        }

        #expect(verdicts(old, #"{"values":[{"k":"a","v":1,"at":2}]}"#) == [.stays])
        #expect(verdicts(old, #"{"values":[{"k":"a","v":1},{"k":"b"}]}"#) == [.superseded])
        #expect(verdicts("{}", #"{"values":[{"k":"b"}]}"#) == [.superseded])
        #expect(verdicts("{}", #"{"values":[]}"#) == [.stays])
    }

    @Test func `is shown as the server has it`() throws {
        let rebase = rebase(
            .update(1, #"{"c":1}"#), from: #"{"a":"A","n":""}"#, to: #"{"a":"a","b":2}"#)

        let base = try #require(rebase.base.document)
        #expect(base.value("a") == "a" && base.value("b") == 2 && base.rawValue("n") == nil)
    }

    @Test(arguments: [
        (#""2026-01-05""#, #""2026-01-06T00:00:00.000""#),
        (#""2026-01-05""#, #""2026-01-05T00:00:01.000""#),
        (#""2026-01-05T10:00:00Z""#, #""2026-01-05T10:00:00""#),
        (#""2026-02-30""#, #""2026-02-30T00:00:00""#),
        (#""a""#, #""b""#), ("1", "2"), ("null", "2"),
    ])
    func `was changed where the server says something else`(_ sent: String, _ stored: String) {
        let rebase = rebase(
            .update(1, #"{"a":"later"}"#), from: #"{"a":\#(sent)}"#, to: #"{"a":\#(stored)}"#)

        #expect(rebase.verdicts == [.superseded])
        #expect(rebase.conflicts.map(\.fields) == [["a"]])
    }

    @Test func `is deleted whatever the server adds to it, but not what somebody changed`() {
        let (sent, added) = (#"{"a":1,"at":"2026-01-05"}"#, #""b":2,"at":"2026-01-05T00:00:00""#)

        let own = rebase(.delete(1), from: sent, to: #"{"a":1,\#(added)}"#)
        let changed = rebase(.delete(1), from: sent, to: #"{"a":3,\#(added)}"#)
        let told = Rebase([.delete(1)], from: .live(sent), to: .live(#"{"a":1,\#(added)}"#))

        #expect(own.verdicts == [.stays] && own.conflicts.isEmpty)
        #expect(changed.verdicts == [.superseded])
        #expect(told.verdicts == [.superseded])
    }

    @Test func `keeps what the server adds where an entity is kept whole`() {
        let change = PendingChange.update(1, #"{"a":2}"#)

        let rebase = rebase(
            change, from: #"{"a":1}"#, to: #"{"a":1,"b":2}"#, .overwriteUnlessDirty)

        #expect(rebase.conflicts.isEmpty)
        #expect(rebase.kept == [change])
    }

    @Test func `is no news for a refused edit of an entity that is kept whole`() {
        var refused = PendingChange.update(1, #"{"a":2}"#)
        refused.isRefused = true

        let own = rebase(
            refused, from: #"{"a":1}"#, to: #"{"a":1,"b":2}"#, .overwriteUnlessDirty)
        let changed = rebase(
            refused, from: #"{"a":1}"#, to: #"{"a":3,"b":2}"#, .overwriteUnlessDirty)

        #expect(own.verdicts == [.stays])
        #expect(changed.verdicts == [.superseded])
    }
}
