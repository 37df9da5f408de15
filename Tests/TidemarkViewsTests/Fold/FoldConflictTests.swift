// FoldConflictTests.swift — what the fold makes of conflicts that the rules decided.

import Testing
import TidemarkEvents
import TidemarkRules
import TidemarkViews

@testable import ViewsSupport

@Suite struct `the fold of fields that are merged` {
    @Test func `that lost are told with those that were kept; what is stored then is part of it`()
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
        #expect((decision.superseded, decision.kept) == (["a"], ["b"]))
        let mutation = try #require(try fold.mutation(3))
        #expect((mutation.outcome, mutation.lost) == (.merged, ["a"]))
        #expect(try text(fold.entity(EntityKey("tasks", "1"))?.document) == #"{"a":3,"b":2}"#)
    }

    @Test func `of an edit that never arrived are not its own, whatever is equal by chance`()
        throws
    {
        let fold = MemoryFold()
        try fold.apply([
            .model(.mergeFields(.serverWins)),
            .about(.serverUpserted, "tasks/1", #"{"a":1,"b":1}"#, asOf: 1, revision: "1"),
            .about(.localUpdated, "tasks/1", #"{"set":{"a":2,"b":2,"z":null},"unset":[]}"#),
            .about(.serverUpserted, "tasks/1", #"{"a":3,"b":1}"#, asOf: 3, revision: "2"),
            .about(.serverUpserted, "tasks/1", #"{"a":3,"b":2,"z":null}"#, asOf: 4, revision: "3"),
        ])

        let mutation = try #require(try fold.mutation(3))
        #expect((mutation.outcome, mutation.proof) == (.superseded, Position(5)))
        #expect(mutation.lost == ["a"])
    }
}

@Suite struct `the fold of an entity that is kept whole` {
    @Test(arguments: [ConflictPolicy.overwriteUnlessDirty, .overwriteIfSynced])
    func `is sent whole on the server's new version, and each of its mutations is accepted`(
        _ policy: ConflictPolicy
    ) throws {
        let fold = MemoryFold()
        try fold.apply([
            .model(policy),
            .about(.serverUpserted, "tasks/1", #"{"a":1,"b":1}"#, asOf: 1, revision: "1"),
            .about(.localUpdated, "tasks/1", #"{"set":{"a":2},"unset":[]}"#),
            .about(.localUpdated, "tasks/1", #"{"set":{"d":2},"unset":[]}"#),
            .about(.serverUpserted, "tasks/1", #"{"a":7,"b":9}"#, asOf: 4, revision: "2"),
        ])
        let row = try #require(try fold.entity(EntityKey("tasks", "1")))

        #expect(text(row.base) == #"{"a":7,"b":9}"#)
        #expect(
            try PushWrite(
                row.changes, on: row.baseValue, revision: row.revision, id: "1",
                collection: CollectionModel("tasks"))
                == .update(
                    body: Array(#"{"a":2,"b":1,"d":2,"id":"1"}"#.utf8),
                    changes: Array(#"{"a":2,"b":1,"d":2}"#.utf8), revision: Revision("2")))
        try fold.apply([
            .about(.requestSent, "tasks/1", "{}", mutation: 4),
            .about(.pushAccepted, "tasks/1", mutation: 4, call: 6, revision: "3"),
        ])
        #expect(try fold.mutation(3)?.outcome == .accepted)
        #expect(try fold.mutation(4)?.outcome == .accepted)
        #expect(try fold.entity(EntityKey("tasks", "1"))?.pending == [])
    }

    @Test func `has all of its mutations superseded where a model removes all that they changed`()
        throws
    {
        let fold = MemoryFold()
        var tasks = CollectionModel(
            "tasks", lastChangeField: "last_modified", conflict: .overwriteUnlessDirty)
        tasks.migrations = [.remove("a"), .remove("b")]
        try fold.apply([
            .model(.overwriteUnlessDirty),
            .about(.serverUpserted, "tasks/1", #"{"a":1,"b":1}"#, asOf: 1, revision: "1"),
            .about(.localUpdated, "tasks/1", #"{"set":{"a":2},"unset":[]}"#),
            .about(.localUpdated, "tasks/1", #"{"set":{"a":3},"unset":[]}"#),
            .about(.serverUpserted, "tasks/1", #"{"a":1,"b":9}"#, asOf: 4, revision: "2"),
        ])
        let key = EntityKey("tasks", "1")
        #expect(try fold.entity(key)?.pending.map(\.kind) == [.carried, .update])

        try fold.apply([.registered(SyncModel(name: "test", collections: [tasks]))])

        #expect(try fold.mutation(3)?.outcome == .superseded)
        #expect(try fold.mutation(4)?.outcome == .superseded)
        #expect(try fold.entity(key)?.pending == [])
        let decisions = try fold.decisions(by: "removedField")
        #expect(
            decisions.map(\.inputs)
                == [[Position(3), Position(6)], [Position(4), Position(6)]])
        #expect(decisions.map(\.fields) == [["a", "b"], ["a", "b"]])
    }
}

@Suite struct `the fold of an edit of a removed field whose answer was lost` {
    private let key = EntityKey("tasks", "1")

    /// A fold in which an edit was sent, a model removed a field of it, and the answer was lost.
    private func fold(_ change: String) throws -> MemoryFold {
        let fold = MemoryFold()
        var tasks = CollectionModel("tasks", lastChangeField: "last_modified")
        tasks.migrations = [.remove("a")]
        try fold.apply([
            .model(.serverWins),
            .about(.serverUpserted, "tasks/1", #"{"a":1,"b":1}"#, asOf: 1, revision: "1"),
            .about(.localUpdated, "tasks/1", #"{"set":\#(change),"unset":[]}"#),
            .about(.requestSent, "tasks/1", "{}", mutation: 3),
            .registered(SyncModel(name: "test", collections: [tasks])),
            .about(.requestFailed, "tasks/1", #"{"mayHaveArrived":true}"#, call: 4),
        ])
        #expect(try fold.decisions(by: "removedField") == [])
        return fold
    }

    @Test func `tells that what was stored is part of it where it is sent again`() throws {
        let fold = try fold(#"{"a":2,"b":2}"#)

        try fold.apply([
            .about(.serverUpserted, "tasks/1", #"{"a":1,"b":1}"#, asOf: 6, revision: "1"),
            .about(.requestSent, "tasks/1", "{}", mutation: 3),
            .about(.pushAccepted, "tasks/1", mutation: 3, call: 8, revision: "2"),
        ])

        #expect(try fold.mutation(3)?.outcome == .merged)
        #expect(try fold.mutation(3)?.lost == ["a"])
        let decision = try #require(try fold.decisions(by: "removedField").first)
        #expect(decision.result == "merged" && decision.fields == ["a"])
        #expect(decision.inputs == [Position(3), Position(8)])
        #expect(try fold.entity(key)?.pending == [])
    }

    @Test(arguments: [true, false])
    func `tells that nothing was stored of one of nothing else`(_ isTold: Bool) throws {
        let fold = try fold(#"{"a":2}"#)

        if isTold {
            try fold.apply([
                .about(.serverUpserted, "tasks/1", #"{"a":1,"b":1}"#, asOf: 6, revision: "1")
            ])
        } else {
            try fold.apply([
                .about(.requestSent, "tasks/1", "{}", mutation: 3),
                .about(.pushAccepted, "tasks/1", mutation: 3, call: 7, revision: "2"),
            ])
        }

        #expect(try fold.mutation(3)?.outcome == .superseded)
        #expect(try fold.decisions(by: "removedField").map(\.result) == ["superseded"])
        #expect(try fold.entity(key)?.pending == [])
    }

    @Test func `does not take a field that lost a conflict for one of them`() throws {
        let fold = MemoryFold()
        var tasks = CollectionModel(
            "tasks", lastChangeField: "last_modified", conflict: .mergeFields(.serverWins))
        tasks.migrations = [.remove("b")]
        try fold.apply([
            .model(.mergeFields(.serverWins)),
            .about(.serverUpserted, "tasks/1", #"{"a":1,"b":1}"#, asOf: 1, revision: "1"),
            .about(.localUpdated, "tasks/1", #"{"set":{"a":2,"b":2},"unset":[]}"#),
            .about(.serverUpserted, "tasks/1", #"{"a":3,"b":1}"#, asOf: 3, revision: "2"),
            .about(.requestSent, "tasks/1", "{}", mutation: 3),
            .registered(SyncModel(name: "test", collections: [tasks])),
            .about(.pushAccepted, "tasks/1", mutation: 3, call: 5, revision: "3"),
        ])

        #expect(try fold.mutation(3)?.lost == ["a"])
        #expect(try fold.mutation(3)?.outcome == .merged)
    }

    @Test func `tells that all of it was stored where that shows`() throws {
        let fold = try fold(#"{"a":2,"b":2}"#)

        try fold.apply([
            .about(.serverUpserted, "tasks/1", #"{"a":2,"b":2}"#, asOf: 6, revision: "2")
        ])

        #expect(try fold.mutation(3)?.outcome == .accepted)
        #expect(try fold.decisions(by: "removedField") == [])
    }
}

@Suite struct `the fold of another writing of what was sent` {
    @Test func `ends the edit as merged, by a decision that names the fields`() throws {
        let fold = MemoryFold()
        try fold.apply([
            .model(.serverWins),
            .about(.serverUpserted, "tasks/1", #"{"mail":"x@y"}"#, asOf: 1, revision: "1"),
            .about(.localUpdated, "tasks/1", #"{"set":{"mail":"A@B"},"unset":[]}"#),
            .about(.requestSent, "tasks/1", "{}", mutation: 3),
            .about(.requestFailed, "tasks/1", #"{"mayHaveArrived":true}"#, call: 4),
            .about(.serverUpserted, "tasks/1", #"{"mail":"a@b","rev":1}"#, asOf: 5, revision: "2"),
        ])

        let row = try #require(fold.rows[.decision(Position(6), 0)])
        let decision = try DecisionRow(parsing: row)
        #expect((decision.rule, decision.result) == ("writing", "merged"))
        #expect((decision.fields, decision.superseded) == (["mail"], []))
        #expect(decision.inputs == [Position(3), Position(6)])
        #expect(try fold.mutation(3)?.outcome == .merged)
        let entity = try fold.entity(EntityKey("tasks", "1"))
        #expect(text(entity?.document) == #"{"mail":"a@b","rev":1}"#)
    }
}

@Suite struct `the fold of what the server took without showing it` {
    private static let listed = #"{"a":1,"b":7}"#

    @Test(arguments: [nil, "1", "2"])
    func `has its fields with a new entity, unless somebody wrote it since`(
        _ revision: String?
    ) throws {
        let fold = MemoryFold()
        try fold.apply([
            .model(.serverWins),
            .about(.localCreated, "tasks/1", #"{"a":1}"#),
            .about(.requestSent, "tasks/1", "{}", mutation: 2),
            .about(.pushAccepted, "tasks/1", mutation: 2, call: 3, revision: "1"),
            .about(.localUpdated, "tasks/1", #"{"set":{"b":2},"unset":[]}"#),
            .about(.serverUpserted, "tasks/1", Self.listed, asOf: 5, revision: revision),
        ])

        let row = try #require(try fold.entity(EntityKey("tasks", "1")))
        #expect(text(row.document) == (revision == "2" ? Self.listed : #"{"a":1,"b":2}"#))
        #expect(try fold.mutation(5)?.outcome == (revision == "2" ? .superseded : nil))
        #expect(!row.isAssumed && !row.isUntold)
    }

    @Test func `has another client's fields with one that it told before`() throws {
        let fold = MemoryFold()
        try fold.apply([
            .model(.serverWins),
            .about(.serverUpserted, "tasks/1", #"{"a":0}"#, asOf: 1),
            .about(.localUpdated, "tasks/1", #"{"set":{"a":1},"unset":[]}"#),
            .about(.requestSent, "tasks/1", "{}", mutation: 3),
            .about(.pushAccepted, "tasks/1", mutation: 3, call: 4),
            .about(.localUpdated, "tasks/1", #"{"set":{"b":2},"unset":[]}"#),
            .about(.serverUpserted, "tasks/1", Self.listed, asOf: 6),
        ])

        #expect(try text(fold.entity(EntityKey("tasks", "1"))?.document) == Self.listed)
        #expect(try fold.mutation(6)?.outcome == .superseded)
    }

    @Test func `of a new entity stays so until the server tells of it`() throws {
        let fold = MemoryFold()
        try fold.apply([
            .model(.serverWins),
            .about(.localCreated, "tasks/1", #"{"a":0}"#),
            .about(.requestSent, "tasks/1", "{}", mutation: 2),
            .about(.pushAccepted, "tasks/1", mutation: 2, call: 3),
            .about(.localUpdated, "tasks/1", #"{"set":{"a":1},"unset":[]}"#),
            .about(.requestSent, "tasks/1", "{}", mutation: 5),
            .about(.pushAccepted, "tasks/1", mutation: 5, call: 6),
        ])
        let row = try #require(try fold.entity(EntityKey("tasks", "1")))
        #expect(row.isAssumed && row.isUntold)
        #expect(try EntityRow(parsing: row.encoded) == row)
    }
}

@Suite struct `the fold of what a person is asked about` {
    private static let key = EntityKey("tasks", "1")

    /// An edit of two fields, of which the server changed first one and then the other, with a
    /// later edit of the first one.
    private func askedTwice() throws -> MemoryFold {
        let fold = MemoryFold()
        try fold.apply([
            .model(.ask),
            .about(.serverUpserted, "tasks/1", #"{"a":1,"b":1}"#, asOf: 1, revision: "1"),
            .about(.localUpdated, "tasks/1", #"{"set":{"a":2,"b":2},"unset":[]}"#),
            .about(.serverUpserted, "tasks/1", #"{"a":3,"b":1}"#, asOf: 3, revision: "2"),
            .about(.localUpdated, "tasks/1", #"{"set":{"a":4,"c":4},"unset":[]}"#),
            .about(.serverUpserted, "tasks/1", #"{"a":3,"b":3}"#, asOf: 5, revision: "3"),
        ])
        return fold
    }

    @Test func `keeps what it was asked before`() throws {
        let fold = try askedTwice()

        let refusal = try #require(try fold.entity(Self.key)?.refusal)
        #expect(refusal.isAsked && refusal.questions == [Position(4), Position(6)])
        let issue = try #require(try fold.fold.issues().first)
        #expect(issue.position == Position(6) && issue.conflicting == ["a", "b"])
        #expect(issue.fields == ["a", "b"])
        let kept = try fold.fold.kept(of: Self.key, beside: issue, in: CollectionModel("tasks"))
        #expect(kept == [.edit(Patch(set: [Patch.Field("c", Array("4".utf8))]))])
    }

    @Test func `keeps no question of which a newer one has all fields`() throws {
        let fold = try askedTwice()

        try fold.apply([
            .about(.serverUpserted, "tasks/1", #"{"a":5,"b":3}"#, asOf: 6, revision: "4")
        ])

        let row = try #require(try fold.entity(Self.key))
        #expect(row.refusal?.questions == [Position(6), Position(7)])
        #expect(try EntityRow(parsing: row.encoded) == row)
        #expect(try fold.fold.issues().first?.conflicting == ["b", "a"])
    }

    @Test func `is asked about nothing that the server has by now`() throws {
        let fold = try askedTwice()

        try fold.apply([
            .about(.serverUpserted, "tasks/1", #"{"a":2,"b":2}"#, asOf: 6, revision: "4")
        ])

        #expect(try fold.mutation(3)?.outcome == .merged)
        let row = try #require(try fold.entity(Self.key))
        #expect(row.pending.map(\.position) == [Position(5)] && row.refusal == nil)
    }

    @Test func `lets go on what waited with an edit that the server agrees to`() throws {
        let fold = MemoryFold()
        try fold.apply([
            .model(.ask),
            .about(.serverUpserted, "tasks/1", #"{"a":1,"b":1}"#, asOf: 1, revision: "1"),
            .about(.localUpdated, "tasks/1", #"{"set":{"b":2},"unset":[]}"#),
            .about(.localUpdated, "tasks/1", #"{"set":{"a":2},"unset":[]}"#),
            .about(.serverUpserted, "tasks/1", #"{"a":3,"b":1}"#, asOf: 4, revision: "2"),
        ])
        #expect(try fold.entity(Self.key)?.pending.map(\.isRefused) == [true, true])

        try fold.apply([
            .about(.serverUpserted, "tasks/1", #"{"a":2,"b":1}"#, asOf: 5, revision: "3")
        ])

        #expect(try fold.mutation(4)?.outcome == .merged)
        #expect(try fold.mutation(3)?.outcome == nil)
        let row = try #require(try fold.entity(Self.key))
        #expect(row.pending.map(\.isRefused) == [false] && row.refusal == nil)
        #expect(try fold.fold.issues() == [])
    }

    @Test func `takes the whole list along where the model tells its elements no more`() throws {
        func model(_ keyed: [CollectionModel.KeyedList]) -> Event {
            var tasks = CollectionModel("tasks", conflict: .ask)
            tasks.keyed = keyed
            let model = SyncModel(name: "test", collections: [tasks])
            return .registered(model)
        }
        func list(_ first: Int, _ second: Int) -> String {
            #"{"answers":[{"q":"1","is":\#(first)},{"q":"2","is":\#(second)}]}"#
        }
        let fold = MemoryFold()
        try fold.apply([
            model([.init("answers", by: "q")]),
            .about(.serverUpserted, "tasks/1", list(1, 1), asOf: 1, revision: "1"),
            .about(
                .localUpdated, "tasks/1", #"{"set":{"/answers/1":{"q":"1","is":2}},"unset":[]}"#),
            .about(.serverUpserted, "tasks/1", list(3, 1), asOf: 3, revision: "2"),
            .about(
                .localUpdated, "tasks/1", #"{"set":{"/answers/2":{"q":"2","is":2}},"unset":[]}"#),
        ])
        let asked = try #require(try fold.fold.issues().first)
        #expect(asked.conflicting == ["/answers/1"])
        try fold.apply([model([])])

        let issue = try #require(try fold.fold.issues().first)
        let kept = try fold.fold.kept(of: Self.key, beside: issue, in: CollectionModel("tasks"))
        #expect(kept == [])
    }

    @Test func `stays in question when the server refuses it as well`() throws {
        let fold = MemoryFold()
        try fold.apply([
            .model(.ask),
            .about(.serverUpserted, "tasks/1", #"{"a":1}"#, asOf: 1, revision: "1"),
            .about(.localUpdated, "tasks/1", #"{"set":{"a":2},"unset":[]}"#),
            .about(.requestSent, "tasks/1", "{}", mutation: 3),
            .about(.serverUpserted, "tasks/1", #"{"a":3}"#, asOf: 4, revision: "2"),
            .about(
                .pushRejected, "tasks/1", #"{"status":409,"message":"no"}"#, mutation: 3, call: 4),
        ])

        let refusal = try #require(try fold.entity(Self.key)?.refusal)
        #expect(refusal.questions == [Position(5), Position(6)] && refusal.status == 409)
        let issue = try #require(try fold.fold.issues().first)
        #expect(issue.kind == .conflict && issue.conflicting == ["a"])
        // An edit of another field has nothing of it sent.
        try fold.apply([.about(.localUpdated, "tasks/1", #"{"set":{"b":2},"unset":[]}"#)])
        #expect(try fold.entity(Self.key)?.pending.map(\.isRefused) == [true, false])
    }

    @Test func `is about the whole entity where one of the changes deletes it`() throws {
        let fold = MemoryFold()
        try fold.apply([
            .model(.ask),
            .about(.serverUpserted, "tasks/1", #"{"a":1}"#, asOf: 1, revision: "1"),
            .about(.localUpdated, "tasks/1", #"{"set":{"a":2},"unset":[]}"#),
            .about(.localDeleted, "tasks/1"),
            .about(.serverUpserted, "tasks/1", #"{"a":3}"#, asOf: 4, revision: "2"),
        ])

        let issue = try #require(try fold.fold.issues().first)
        #expect(issue.kind == .conflict && issue.conflicting == [])
    }

    @Test func `about the whole entity stays in question when what was on its way is refused`()
        throws
    {
        let fold = MemoryFold()
        try fold.apply([
            .model(.ask),
            .about(.serverUpserted, "tasks/1", #"{"a":1,"b":1}"#, asOf: 1, revision: "1"),
            .about(.localUpdated, "tasks/1", #"{"set":{"a":2},"unset":[]}"#),
            .about(.requestSent, "tasks/1", "{}", mutation: 3),
            .about(.localRequested, "tasks/1", #"{"action":"close","parameters":{}}"#),
            .about(.localUpdated, "tasks/1", #"{"set":{"b":2},"unset":[]}"#),
            .about(.serverDeleted, "tasks/1", asOf: 6),
        ])
        let asked = try #require(try fold.entity(Self.key)?.refusal)
        #expect(asked.isAsked && asked.questions == [Position(7)])

        try fold.apply([
            .about(
                .pushRejected, "tasks/1", #"{"status":400,"message":"no"}"#, mutation: 3, call: 4)
        ])
        #expect(try fold.entity(Self.key)?.refusal?.questions == [Position(7), Position(8)])
        try fold.apply([.about(.serverDeleted, "tasks/1", asOf: 7)])

        let refusal = try #require(try fold.entity(Self.key)?.refusal)
        #expect(refusal.isAsked)
        #expect(try fold.fold.issues().map(\.kind) == [.conflict])
    }
}
