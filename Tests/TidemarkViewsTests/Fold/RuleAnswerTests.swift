// RuleAnswerTests.swift — what rules of the app answered is read from the log, and from nowhere
// else.

import Testing
import TidemarkEvents
import TidemarkRules
import TidemarkViews

@testable import ViewsSupport

@Suite struct `answers of the app's rules` {
    private let key = EntityKey("tasks", "1")
    private let before: [Event] = [
        .model(.custom("mine")),
        .about(.serverUpserted, "tasks/1", #"{"a":1,"b":1}"#, asOf: 1, revision: "1"),
        .about(.localUpdated, "tasks/1", #"{"set":{"a":2},"unset":[]}"#),
        .about(.localUpdated, "tasks/1", #"{"set":{"b":2},"unset":[]}"#),
    ]

    private func answer(_ json: String, version: Int = 3) -> Event {
        .about(
            .ruleAnswered, "tasks/1", #"{"rule":"mine","version":\#(version),"answer":\#(json)}"#)
    }

    /// The fold after the server's word, with the answer that stands before it.
    private func fold(
        _ answer: Event?, cause: UInt64 = 5, _ word: String? = #"{"a":9,"b":1}"#
    ) throws -> MemoryFold {
        let fold = MemoryFold()
        try fold.apply(before)
        if let answer { try fold.apply([answer]) }
        try fold.apply([
            .about(
                word == nil ? .serverDeleted : .serverUpserted, "tasks/1", word,
                cause: answer == nil ? nil : cause, asOf: 4, revision: "2")
        ])
        return fold
    }

    private func document(_ fold: MemoryFold) throws -> String? {
        try text(fold.entity(key)?.document)
    }

    @Test func `are followed`() throws {
        let server = try fold(answer(#""server""#))
        #expect(try document(server) == #"{"a":9,"b":2}"#)
        #expect(try server.mutation(3)?.outcome == .superseded)
        let local = try fold(answer(#""local""#))
        #expect(try document(local) == #"{"a":2,"b":2}"#)
        let merged = try fold(answer(#"{"document":{"a":11,"c":1}}"#))
        #expect(try document(merged) == #"{"a":11,"c":1}"#)
        #expect(try merged.mutation(3)?.outcome == nil)
        #expect(try merged.mutation(4)?.outcome == nil)
    }

    @Test func `make a document also of what the server deleted`() throws {
        let again = try fold(answer(#"{"document":{"a":11,"c":1}}"#), nil)

        #expect(try document(again) == #"{"a":11,"c":1}"#)
        #expect(try again.entity(key)?.baseState == .deleted)
        #expect(try document(fold(answer(#""server""#), nil)) == nil)
        #expect(try document(fold(answer(#""local""#), nil)) == #"{"a":2,"b":2}"#)
    }

    @Test func `that are the server's own document supersede all`() throws {
        let fold = try fold(answer(#"{"document":{"b":1,"a":9}}"#))

        #expect(try document(fold) == #"{"a":9,"b":1}"#)
        #expect(try fold.mutation(3)?.outcome == .superseded)
        #expect(try fold.mutation(4)?.outcome == .superseded)
    }

    @Test func `that give up an edit in no conflict are an issue about that`() throws {
        let given = try fold(answer(#"{"document":{"a":11,"b":1}}"#))
        let kept = try fold(answer(#"{"document":{"a":11,"b":2}}"#))

        let issue = try #require(try given.fold.issues().first)
        #expect((issue.position, issue.index, issue.mutation) == (Position(6), 1, Position(4)))
        #expect((issue.fields, issue.conflicting) == (["b"], []))
        #expect(issue.message == "given up by mine")
        let sides = try ConflictRow(parsing: try #require(given.rows[.sides(Position(6))]))
        #expect(text(sides.mine) == #"{"a":2,"b":2}"#)
        #expect(try kept.fold.issues() == [])
        #expect(kept.rows[.sides(Position(6))] == nil)
    }

    @Test func `are named by the decision, with both sides and the rule's version`() throws {
        let fold = try fold(answer(#"{"document":{"a":11}}"#))

        let row = try #require(fold.rows[.decision(Position(6), 0)])
        let decision = try DecisionRow(parsing: row)
        #expect((decision.rule, decision.ruleVersion) == ("mine", 3))
        #expect((decision.result, decision.fields) == ("merged", ["a"]))
        #expect(decision.inputs == [Position(3), Position(6), Position(5)])
        #expect(fold.rows[.ruleAnswer(key)] ?? [] == [])
    }

    @Test(arguments: [#""both""#, "null", #"{"document":[1]}"#, "7"])
    func `that mean nothing, and words without one, let the server win`(_ json: String) throws {
        #expect(try document(fold(answer(json))) == #"{"a":9,"b":2}"#)
        #expect(try document(fold(nil)) == #"{"a":9,"b":2}"#)
    }

    @Test func `to another word are not followed`() throws {
        #expect(try document(fold(answer(#""local""#), cause: 4)) == #"{"a":9,"b":2}"#)
    }

    @Test func `are asked for with both sides`() throws {
        let memory = MemoryFold()
        try memory.apply(before)
        let fold = memory.fold
        func conflict(_ event: Event) throws -> RuledConflict? {
            try fold.conflict(event, at: Position(5))
        }
        let word = Event.about(.serverUpserted, "tasks/1", #"{"a":9,"b":1}"#, asOf: 4)

        let asked = try #require(try conflict(word))

        #expect(asked.rule == "mine")
        #expect(
            asked.question
                == ConflictCase(
                    key: key, base: Array(#"{"a":1,"b":1}"#.utf8),
                    local: Array(#"{"a":2,"b":2}"#.utf8), server: Array(#"{"a":9,"b":1}"#.utf8),
                    fields: ["a", "b"]))
        #expect(
            text(asked.question.canonical)
                == #"{"key":"tasks/1","base":{"a":1,"b":1},"local":{"a":2,"b":2},"#
                + #""server":{"a":9,"b":1},"fields":["a","b"],"serverTime":null,"localTime":null}"#)
        // Nobody is asked where nothing meets, of what is old, or of our own write's answer.
        #expect(try conflict(.about(.serverUpserted, "tasks/1", #"{"z":1,"a":1,"b":1}"#)) == nil)
        #expect(
            try conflict(.about(.serverUpserted, "tasks/1", #"{"a":9}"#, mutation: 4)) == nil)
        #expect(try conflict(.about(.serverDeleted, "tasks/2", asOf: 9)) == nil)
        #expect(try conflict(.about(.serverUpserted, "tasks/1", #"{"a":9,"a":8}"#)) == nil)
        #expect(try conflict(.about(.serverUpserted, "tasks/1", "[9]")) == nil)
        try memory.apply([.about(.serverUpserted, "tasks/1", #"{"a":1,"b":1}"#, asOf: 4)])
        let later = memory.fold
        #expect(
            try later.conflict(
                .about(.serverUpserted, "tasks/1", #"{"a":9}"#, asOf: 3), at: Position(6)) == nil)
    }
}
