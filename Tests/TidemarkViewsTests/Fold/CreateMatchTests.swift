// CreateMatchTests.swift — a creation that was sent and never answered is recognised in a list.

import Testing
import TidemarkEvents
import TidemarkViews

@testable import ViewsSupport

@Suite struct `an unanswered creation` {
    private let entry = #"{"id":"e","name":"tea","project":"p","n":1}"#

    /// A fold in which entry `e` of project `p`, which is 13, was sent.
    private func sent(
        _ policy: ConflictPolicy = .localWins
    ) throws -> (fold: NumberedFold, made: UInt64, call: UInt64) {
        let fold = try NumberedFold(policy)
        let project = try fold.apply(.about(.localCreated, "projects/p", #"{"name":"p"}"#))
        try fold.accept(
            "projects/p", project, call: try fold.send("projects/p", project), id: "13")
        let made = try fold.apply(.about(.localCreated, "entries/e", entry))
        return (fold, made, try fold.send("entries/e", made))
    }

    @Test func `is what a list names with equal fields, references by any id`() throws {
        let (fold, made, call) = try sent()

        try fold.apply(
            .about(
                .serverUpserted, "entries/20", #"{"id":20,"name":"tea","project":13,"m":2}"#,
                asOf: call))

        let entity = try #require(try fold.row("entries/e"))
        #expect(text(entity.document) == #"{"id":20,"name":"tea","project":13,"m":2}"#)
        #expect(entity.pending == [] && entity.attempt == nil)
        #expect(try fold.row("entries/20") == nil)
        #expect(try fold.ids("entries/20") == ["e", "20"])
        // Somebody removed a field since, or made the entity.
        let mutation = try #require(try fold.memory.mutation(made))
        #expect(mutation.outcome == .merged && mutation.proof == fold.memory.last)
        #expect(mutation.lost == ["n"])
        let row = try #require(fold.memory.rows[.decision(fold.memory.last, 0)])
        let decision = try DecisionRow(parsing: row)
        #expect((decision.rule, decision.result) == ("match", "merged"))
        #expect((decision.superseded, decision.kept) == (["n"], ["name", "project"]))
        #expect(fold.ledger("e") == 0 && fold.ledger("u") == 0)
    }

    @Test func `is accepted where all of it is there`() throws {
        let (fold, made, call) = try sent()

        try fold.apply(
            .about(
                .serverUpserted, "entries/20", #"{"id":20,"name":"tea","project":13,"n":1.0}"#,
                asOf: call))

        let mutation = try #require(try fold.memory.mutation(made))
        #expect(mutation.outcome == .accepted && mutation.lost == [])
    }

    @Test(arguments: [
        #"{"id":20,"name":"milk","project":13}"#, #"{"id":20,"name":"tea","project":14}"#,
        #"{"id":20,"name":"tea"}"#,
    ])
    func `is nothing that differs in a field`(_ record: String) throws {
        let (fold, _, call) = try sent()

        try fold.apply(.about(.serverUpserted, "entries/20", record, asOf: call))

        #expect(try fold.row("entries/20")?.baseState == .live)
        #expect(try fold.row("entries/e")?.attempt != nil)
    }

    @Test func `is nothing that was asked for before it was sent, and nothing that is known`()
        throws
    {
        let (fold, _, call) = try sent()
        let record = #"{"id":20,"name":"tea","project":13}"#

        try fold.apply(.about(.serverUpserted, "entries/20", record, asOf: call - 1))
        #expect(try fold.row("entries/20")?.baseState == .live)
        try fold.apply(.about(.serverUpserted, "entries/20", record, asOf: call))

        #expect(try fold.row("entries/e")?.attempt != nil)
    }

    @Test(arguments: [#""m":2"#, #""n":1"#])
    func `keeps what was done since, and an edit is no conflict`(_ rest: String) throws {
        let (fold, made, call) = try sent()
        try fold.apply(
            .about(.localUpdated, "entries/e", #"{"set":{"name":"milk"},"unset":[]}"#))

        try fold.apply(
            .about(
                .serverUpserted, "entries/20", #"{"id":20,"name":"tea","project":13,\#(rest)}"#,
                asOf: call))

        let row = try #require(try fold.row("entries/e"))
        #expect(row.pending.count == 1 && row.pending[0].kind == .update)
        #expect(text(row.document) == #"{"id":20,"name":"milk","project":13,\#(rest)}"#)
        // The only thing to be decided is what the creation lost, by the rule that recognised it.
        let lost = rest.hasPrefix(#""n""#) ? [] : ["n"]
        #expect(try fold.memory.mutation(made)?.lost == lost)
        #expect(fold.ledger("d") == lost.count)
        let decision = try fold.memory.rows[.decision(fold.memory.last, 0)].map(
            DecisionRow.init(parsing:))
        #expect(decision?.rule == (lost.isEmpty ? nil : "match"))
        #expect(decision?.superseded == (lost.isEmpty ? nil : lost))
    }

    /// Entry `e` as a list has it, with a field as it was sent or as somebody changed it.
    private func listed(n: Int, call: UInt64, cause: UInt64? = nil) -> Event {
        .about(
            .serverUpserted, "entries/20", #"{"id":20,"name":"tea","project":13,"n":\#(n),"m":2}"#,
            cause: cause, asOf: call)
    }

    private func edit(_ set: String) -> Event {
        .about(.localUpdated, "entries/e", #"{"set":\#(set),"unset":[]}"#)
    }

    @Test func `has edits made since meet what somebody changed of it, and nothing else`() throws {
        let (fold, made, call) = try sent(.serverWins)
        let lost = try fold.apply(edit(#"{"n":2}"#))
        let kept = try fold.apply(edit(#"{"name":"milk","k":3}"#))

        try fold.apply(listed(n: 7, call: call))

        let row = try #require(try fold.row("entries/e"))
        #expect(row.pending.map(\.position) == [Position(kept)])
        #expect(text(row.document) == #"{"id":20,"name":"milk","project":13,"n":7,"m":2,"k":3}"#)
        #expect(try fold.memory.mutation(made)?.outcome == .merged)
        #expect(try fold.memory.mutation(lost)?.outcome == .superseded)
        #expect(try fold.memory.mutation(kept)?.outcome == nil)
        let last = fold.memory.last
        let conflict = try DecisionRow(
            parsing: try #require(fold.memory.rows[.decision(last, 1)]))
        #expect((conflict.rule, conflict.result) == ("serverWins", "serverWins"))
        #expect((conflict.fields, conflict.inputs) == (["n"], [Position(lost), last]))
        #expect(try fold.memory.decisions(by: "match").map(\.superseded) == [["n"]])
        // It is an issue, with the base as it was sent.
        #expect(fold.memory.rows[.lost(last, 1)] != nil)
        let sides = try ConflictRow(parsing: try #require(fold.memory.rows[.sides(last)]))
        #expect(text(sides.base) == #"{"id":20,"name":"tea","project":13,"n":1}"#)
    }

    @Test(arguments: ["null", "[]", "false", "2"])
    func `keeps an edit of what was not sent, whatever the server gave to it`(
        _ value: String
    ) throws {
        let (fold, _, call) = try sent(.serverWins)
        let mine = try fold.apply(edit(#"{"m":3}"#))

        try fold.apply(
            .about(
                .serverUpserted, "entries/20",
                #"{"id":20,"name":"tea","project":13,"n":1,"m":\#(value)}"#, asOf: call))

        #expect(try fold.memory.mutation(mine)?.outcome == nil)
        let row = try #require(try fold.row("entries/e"))
        #expect(text(row.document) == #"{"id":20,"name":"tea","project":13,"n":1,"m":3}"#)
        #expect(fold.ledger("d") == 0)
    }

    @Test func `is accepted where the server leaves out what was sent empty`() throws {
        let (fold, made, _) = try sent(.serverWins)
        let empty = try fold.apply(edit(#"{"n":0}"#))
        let call = try fold.send("entries/e", empty)
        let later = try fold.apply(edit(#"{"n":5}"#))

        try fold.apply(
            .about(
                .serverUpserted, "entries/20", #"{"id":20,"name":"tea","project":13}"#, asOf: call))

        #expect(try fold.memory.mutation(made)?.lost == [])
        #expect(try fold.memory.mutation(empty)?.outcome == .accepted)
        #expect(try fold.row("entries/e")?.pending.map(\.position) == [Position(later)])
        #expect(fold.ledger("d") == 0)
    }

    @Test func `that was deleted since goes there, unless somebody changed it`() throws {
        for n in [1, 7] {
            let (fold, _, call) = try sent(.serverWins)
            let deletion = try fold.apply(.about(.localDeleted, "entries/e"))

            try fold.apply(listed(n: n, call: call))

            let row = try #require(try fold.row("entries/e"))
            #expect(row.baseState == .live && row.pending.isEmpty == (n == 7))
            #expect(
                try fold.memory.mutation(deletion)?.outcome == (n == 7 ? .superseded : nil))
        }
    }

    @Test func `is asked about where both sides changed it since`() throws {
        let (fold, _, call) = try sent(.ask)
        try fold.apply(edit(#"{"n":2}"#))

        try fold.apply(listed(n: 7, call: call))

        let row = try #require(try fold.row("entries/e"))
        #expect(row.refusal?.isAsked == true && row.refusal?.position == fold.memory.last)
        #expect(row.pending.map(\.isRefused) == [true])
        #expect(text(row.document) == #"{"id":20,"name":"tea","project":13,"n":2,"m":2}"#)
        #expect(text(row.refusal?.base) == #"{"id":20,"name":"tea","project":13,"n":1,"m":2}"#)
    }

    @Test func `has a rule of the app asked where both sides changed it since`() throws {
        let (fold, _, call) = try sent(.custom("mine"))
        let mine = try fold.apply(edit(#"{"n":2}"#))
        func question(_ event: Event) throws -> ConflictCase? {
            try fold.memory.fold.conflict(event, at: fold.memory.last.next)?.question
        }

        #expect(try question(listed(n: 1, call: call)) == nil)
        let asked = try #require(try question(listed(n: 7, call: call)))
        #expect(try asked.key == "entries/e".key)
        #expect(text(asked.base) == #"{"id":20,"name":"tea","project":13,"n":1,"m":2}"#)
        #expect(text(asked.local) == #"{"id":20,"name":"tea","project":13,"n":2,"m":2}"#)

        let answer = try fold.apply(
            .about(
                .ruleAnswered, "entries/e", #"{"rule":"mine","version":1,"answer":"local"}"#))
        try fold.apply(listed(n: 7, call: call, cause: answer))
        #expect(try fold.row("entries/e")?.pending.map(\.position) == [Position(mine)])
        #expect(try fold.memory.decisions(by: "mine").map(\.result) == ["localWins"])
    }

    @Test func `is not there when a list ends without it, and is recognised later all the same`()
        throws
    {
        let (fold, _, call) = try sent()

        try fold.end("entries", asOf: call - 1)
        #expect(try fold.row("entries/e")?.attempt != nil)
        try fold.end("entries", asOf: call)
        let row = try #require(try fold.row("entries/e"))
        #expect(row.attempt == nil && row.pending[0].mayHaveArrived)
        #expect(fold.ledger("u") == 0 && fold.ledger("e") == 1)

        try fold.apply(
            .about(
                .serverUpserted, "entries/20", #"{"id":20,"name":"tea","project":13}"#, asOf: call))
        #expect(try fold.row("entries/e")?.pending == [])
        #expect(try fold.ids("entries/20") == ["e", "20"])
        #expect(fold.ledger("e") == 0)
    }

    @Test func `has an edit that went along and lost all its fields superseded`() throws {
        let (fold, made, _) = try sent()
        let edit = try fold.apply(
            .about(.localUpdated, "entries/e", #"{"set":{"n":2},"unset":[]}"#))
        let call = try fold.send("entries/e", edit)

        try fold.apply(
            .about(
                .serverUpserted, "entries/20", #"{"id":20,"name":"tea","project":13,"n":7}"#,
                asOf: call))

        #expect(try fold.row("entries/e")?.pending == [])
        // The creation lost nothing that its own maker had not changed since.
        let creation = try fold.memory.mutation(made)
        #expect(creation?.outcome == .accepted && creation?.lost == [])
        let update = try fold.memory.mutation(edit)
        #expect(update?.outcome == .superseded && update?.lost == ["n"])
    }

    @Test func `has an edit that a later one overwrote in part judged by the rest`() throws {
        let (fold, _, _) = try sent()
        let first = try fold.apply(
            .about(.localUpdated, "entries/e", #"{"set":{"n":2,"m":3},"unset":[]}"#))
        let second = try fold.apply(
            .about(.localUpdated, "entries/e", #"{"set":{"m":4},"unset":[]}"#))
        let call = try fold.send("entries/e", second)

        try fold.apply(
            .about(
                .serverUpserted, "entries/20", #"{"id":20,"name":"tea","project":13,"n":7,"m":4}"#,
                asOf: call))

        #expect(try fold.memory.mutation(first)?.outcome == .superseded)
        #expect(try fold.memory.mutation(first)?.lost == ["n"])
        #expect(try fold.memory.mutation(second)?.outcome == .accepted)
        let decision = try fold.memory.rows[.decision(fold.memory.last, 0)].map(
            DecisionRow.init(parsing:))
        #expect(decision?.superseded == ["n"] && decision?.kept == [])
    }

    @Test func `that was deleted since is nothing when a list ends without it`() throws {
        let (fold, made, call) = try sent()
        try fold.apply(.about(.localDeleted, "entries/e"))

        try fold.end("entries", asOf: call)

        #expect(try fold.row("entries/e") == nil)
        #expect(try fold.memory.mutation(made)?.outcome == .annihilated)
        #expect(fold.ledger("e") == 0)
    }

    @Test func `takes the place of a placeholder`() throws {
        let (fold, _, call) = try sent()
        var stub = EntityRow()
        stub.baseState = .live
        stub.isPlaceholder = true
        stub.base = Array(#"{"id":20}"#.utf8)
        fold.memory.set(.entity(try "entries/20".key), stub.encoded)

        try fold.apply(
            .about(
                .serverUpserted, "entries/20", #"{"id":20,"name":"tea","project":13}"#, asOf: call))

        #expect(try fold.row("entries/20") == nil)
        #expect(try fold.row("entries/e")?.isPlaceholder == false)
    }

    @Test func `by time is recognised however the time is written`() throws {
        let fold = try NumberedFold()
        let made = try fold.apply(
            .about(.localCreated, "entries/e", #"{"name":"2020-01-01T10:00:00Z"}"#))
        let call = try fold.send("entries/e", made)

        try fold.apply(
            .about(
                .serverUpserted, "entries/20",
                #"{"id":20,"name":"2020-01-01T11:00:00+01:00","project":null}"#, asOf: call))

        #expect(try fold.ids("entries/20") == ["e", "20"])
    }

    @Test func `that is just the same is taken before one with white space at its ends`() throws {
        let fold = try NumberedFold()
        let first = try fold.apply(.about(.localCreated, "entries/e", #"{"name":"tea "}"#))
        _ = try fold.send("entries/e", first)
        let second = try fold.apply(.about(.localCreated, "entries/f", #"{"name":"tea"}"#))
        let call = try fold.send("entries/f", second)
        let record = #"{"id":20,"name":"tea","project":null}"#

        try fold.apply(.about(.serverUpserted, "entries/20", record, asOf: call))

        #expect(try fold.memory.mutation(first)?.outcome == nil)
        #expect(try fold.memory.mutation(second)?.outcome == .accepted)
        #expect(try fold.ids("entries/20") == ["f", "20"])
    }

    @Test(arguments: [
        ("tea ", "tea", true), ("\\t tea", "tea", true), (" tea ", "tea ", true),
        ("\\u00a0tea\\u3000", "tea", true), ("\\u200btea\\ufeff", "tea", true),
        (" ", "", true), ("tea", "tea ", false), ("tea pot", "tea", false),
    ])
    func `by text is recognised without the white space at its ends`(
        _ name: String, _ stored: String, _ isFound: Bool
    ) throws {
        let fold = try NumberedFold()
        let made = try fold.apply(.about(.localCreated, "entries/e", #"{"name":"\#(name)"}"#))
        let call = try fold.send("entries/e", made)
        let record = #"{"id":20,"name":"\#(stored)","project":null}"#

        try fold.apply(.about(.serverUpserted, "entries/20", record, asOf: call))

        #expect(try fold.memory.mutation(made)?.outcome == (isFound ? .accepted : nil))
        #expect(try (fold.row("entries/20") == nil) == isFound)
        guard isFound else { return }
        #expect(try fold.ids("entries/20") == ["e", "20"])
        #expect(text(try fold.row("entries/e")?.document) == record)
    }

    /// The same, with an answer that the server promised.
    private func promised() throws -> (fold: NumberedFold, made: UInt64, call: UInt64) {
        let (fold, made, call) = try sent()
        try fold.apply(
            .about(
                .requestAnswered, "entries/e", #"{"status":202,"proves":"unknown"}"#, call: call))
        try fold.apply(.about(.pushDeferred, "entries/e", #"{"ticket":"j"}"#, call: call))
        return (fold, made, call)
    }

    /// A list of entries ends some seconds after everything else.
    private func end(_ fold: NumberedFold, asOf: UInt64, after seconds: Int64) throws {
        let now = Timestamp(rawValue: 1).adding(seconds: seconds)
        try fold.apply(
            Event(
                .pullCompleted, recordedAt: now, collection: "entries", asOf: Position(asOf),
                revision: Revision("1"), json: Array("{}".utf8)))
    }

    @Test func `whose answer is promised is not sent again by a list without it, for a day`()
        throws
    {
        let (fold, _, call) = try promised()

        try end(fold, asOf: call, after: 86_400)
        #expect(try fold.row("entries/e")?.attempt?.call == Position(call))
        #expect(try fold.row("entries/e")?.pending.map(\.mayHaveArrived) == [false])
        #expect(try fold.memory.fold.tickets().map(\.open) == [1])
        try end(fold, asOf: call, after: 86_401)

        let row = try #require(try fold.row("entries/e"))
        #expect(row.attempt == nil && row.pending.map(\.mayHaveArrived) == [true])
        #expect(try fold.memory.fold.tickets().isEmpty)
    }

    @Test func `whose promised answer is lost is settled by the next list`() throws {
        let (fold, _, call) = try promised()

        try fold.apply(.about(.pushDeferred, "entries/e", #"{"lost":true}"#, call: call))
        try fold.end("entries", asOf: call)

        #expect(try fold.row("entries/e")?.attempt == nil)
        #expect(try fold.memory.fold.tickets().isEmpty)
    }

    @Test func `whose answer is promised is what a list names all the same`() throws {
        let (fold, made, call) = try promised()

        try fold.apply(listed(n: 1, call: call))

        #expect(try fold.ids("entries/20") == ["e", "20"])
        #expect(try fold.memory.mutation(made)?.outcome == .accepted)
        #expect(try fold.memory.fold.tickets().isEmpty)
    }

    @Test func `whose answer was promised and that was sent again may be there twice`() throws {
        let (fold, made, call) = try promised()

        let second = try fold.send("entries/e", made)

        let row = try #require(try fold.row("entries/e"))
        #expect(row.attempt?.call == Position(second) && second > call)
        #expect(row.pending.map(\.mayHaveArrived) == [true])
        #expect(try fold.memory.fold.tickets().isEmpty)
    }
}
