// OtherWritingTests.swift — a write without an answer, and a server that writes values otherwise.

import Testing
import TidemarkEvents
import TidemarkRules

@testable import RulesSupport

@Suite struct `another writing of what was sent` {
    private let old = Base.live(#"{"mail":"x@y","n":1,"last_modified":1}"#)
    private let sent = [PendingChange.update(2, #"{"mail":" A@B "}"#, sent: true)]

    /// Policies under which a conflict may go to the server.
    static let yielding: [ConflictPolicy] = [
        .serverWins, .mergeFields(.serverWins), .custom("rule"), .overwriteAlways,
        .preferNewer(field: "last_modified", margin: .seconds(5)),
    ]

    @Test(arguments: yielding)
    func `is no conflict: the server's stands`(_ policy: ConflictPolicy) {
        let new = Base.live(#"{"mail":"a@b","n":1,"rev":1,"last_modified":2}"#)

        let rebase = Rebase(sent, from: old, to: new, policy)

        #expect(rebase.verdicts == [.present] && rebase.conflicts.isEmpty)
        #expect(rebase.writings == [OtherWriting(position: Position(2), fields: ["mail"])])
    }

    @Test func `is told of letters, of space at the ends, of times, and of what has no value`() {
        func isTold(_ old: String, _ set: String, unset: [String] = [], _ new: String) -> Bool {
            let change = PendingChange.update(1, set, unset: unset, sent: true)
            let rebase = Rebase([change], from: .live(old), to: .live(new))
            return rebase.verdicts == [.present] && rebase.conflicts.isEmpty
        }

        #expect(isTold(#"{"a":"DE"}"#, #"{"a":"at"}"#, #"{"a":"AT"}"#))
        #expect(isTold(#"{"a":"tea"}"#, #"{"a":"\t Milk\n"}"#, #"{"a":"Milk"}"#))
        #expect(isTold(#"{"a":"x"}"#, #"{"a":null}"#, #"{}"#))
        #expect(isTold(#"{"a":"x"}"#, "{}", unset: ["a"], #"{"a":null}"#))
        #expect(
            isTold(
                #"{"at":"2026-01-01T00:00:00Z"}"#, #"{"at":"2026-02-01T01:00:00.000+01:00"}"#,
                #"{"at":"2026-02-01T00:00:00Z"}"#))
        #expect(isTold(#"{"a":"x","b":1}"#, #"{"a":"Y","b":2}"#, #"{"a":"y","b":2}"#))
    }

    @Test func `is a conflict as ever where somebody else may have meant it`() {
        func lost(_ change: PendingChange, _ old: String, _ new: String) -> Bool {
            Rebase([change], from: .live(old), to: .live(new)).verdicts == [.superseded]
        }
        let foo = PendingChange.update(1, #"{"a":"Foo"}"#, sent: true)

        // It was never sent.
        #expect(lost(.update(1, #"{"a":"Foo"}"#), #"{"a":"x"}"#, #"{"a":"foo"}"#))
        // It says something else.
        #expect(lost(foo, #"{"a":"x"}"#, #"{"a":"food"}"#))
        #expect(lost(foo, #"{"a":"x"}"#, #"{"a":"fOO"}"#))
        #expect(lost(foo, #"{"a":"x"}"#, #"{"a":1}"#))
        // The server keeps capitals: the value before had some.
        #expect(lost(foo, #"{"a":"Food"}"#, #"{"a":"foo"}"#))
        // Who left it out may be another client.
        #expect(lost(.update(1, #"{"a":""}"#, sent: true), #"{"a":"x"}"#, "{}"))
        #expect(lost(.update(1, #"{"a":0}"#, sent: true), #"{"a":1}"#, "{}"))
        // Something else changed that it did not touch.
        #expect(lost(foo, #"{"a":"x","b":1}"#, #"{"a":"foo","b":2}"#))
        #expect(lost(foo, #"{"a":"x","b":1}"#, #"{"a":"foo"}"#))
        // Only part of it is there.
        #expect(
            lost(
                .update(1, #"{"a":"Foo","b":2}"#, sent: true), #"{"a":"x","b":1}"#,
                #"{"a":"foo","b":1}"#))
    }

    @Test(arguments: [
        ConflictPolicy.localWins, .mergeFields(.localWins), .overwriteUnlessDirty,
        .overwriteIfSynced,
    ])
    func `is sent again where the local side stays`(_ policy: ConflictPolicy) {
        let new = Base.live(#"{"mail":"a@b","n":1,"last_modified":2}"#)

        #expect(Rebase(sent, from: old, to: new, policy).verdicts == [.stays])
    }

    @Test func `lets a later edit of the same field go on`() {
        let pending = sent + [.update(3, #"{"mail":"C@D"}"#)]

        let rebase = Rebase(pending, from: old, to: .live(#"{"mail":"a@b","n":1}"#))

        #expect(rebase.verdicts == [.present, .stays] && rebase.conflicts.isEmpty)
    }

    @Test func `lets an edit of what was made here go on`() {
        let pending: [PendingChange] = [
            .create(1, #"{"mail":"A@B"}"#, sent: true), .update(2, #"{"mail":"C@D"}"#),
        ]

        let rebase = Rebase(pending, from: .absent, to: .live(#"{"mail":"a@b","n":1}"#))

        #expect(rebase.verdicts == [.present, .stays] && rebase.conflicts.isEmpty)
    }
}
