// AssumedBaseTests.swift — a base that is only what was sent, because the server took it and told
// nothing of the entity.

import Testing
import TidemarkEvents
import TidemarkRules

@testable import RulesSupport

@Suite struct `a base that is only what was sent` {
    private func rebase(
        _ change: PendingChange, from old: String, to new: String,
        _ policy: ConflictPolicy = .serverWins
    ) -> Rebase {
        Rebase(
            [change], from: .live(old), to: .live(new), policy: policy,
            serverFields: ["id", "last_modified"], isAssumed: true)
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
    func `has nothing where the server has an empty value`(_ value: String) {
        let change = PendingChange.update(1, #"{"a":"later"}"#)

        #expect(rebase(change, from: "{}", to: #"{"a":\#(value)}"#).verdicts == [.stays])
        #expect(rebase(change, from: #"{"a":1}"#, to: #"{"a":\#(value)}"#).verdicts != [.stays])
        #expect(rebase(change, from: #"{"a":null}"#, to: "{}").verdicts == [.stays])
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
