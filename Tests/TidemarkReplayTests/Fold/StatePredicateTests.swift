// StatePredicateTests.swift — questions about the views, and where they are wrong.

import Testing
import TidemarkEvents
import TidemarkReplay
import TidemarkViews

@testable import CapsuleSupport

@Suite struct `a predicate` {
    private func answers(_ texts: [String]) throws -> [Bool] {
        let store = try HistoryStore()
        let (tea, bin, odd) = (EntityKey.task("1"), EntityKey.task("2"), EntityKey.task("a.b c"))
        try store.commit(
            .of(
                .serverUpserted, tea,
                #"{"id":"1","done":true,"n":7,"title":"tea","list":{"name":"home"},"due":null}"#))
        let edit = try store.commit(.of(.localUpdated, tea, #"{"set":{"n":8},"unset":[]}"#))
        try store.commit(.of(.serverUpserted, bin, #"{"id":"2","status":"error"}"#))
        try store.commit(.of(.serverDeleted, bin))
        try store.commit(.of(.localCreated, odd, #"{"status":"done","my field":1.5}"#))
        #expect(edit == Position(4))
        return try store.journal.read { views in
            try texts.map { try StatePredicate($0).holds(in: views) }
        }
    }

    @Test func `is true of what there is`() throws {
        let texts = [
            "tasks/1 exists", "tasks/2 missing", "tasks/1.done == true", "tasks/1.n > 7.5",
            "tasks/1.n == 8.0", #"tasks/1.title == "tea""#, #"tasks/1.title >= "sea""#,
            #"tasks/1.list.name == "home""#, #"tasks/1.list == {"name":"home"}"#,
            "tasks/1.due exists", "tasks/1.due == null", "tasks/1.none missing",
            "tasks/1.status == updated", "tasks/1 is updated", "tasks/2 is not synced",
            #""tasks/a.b c" is created"#, #""tasks/a.b c".status == "done""#,
            #""tasks/a.b c"."my field" < 2"#, "count(tasks) == 2", "pending == 2", "refused < 1",
            "outcome(@4) == pending", "outcome(@4) is not superseded", "outcome(@99) != accepted",
            "not tasks/2 exists", "tasks/2 exists or tasks/1 exists and pending > 0",
            "(tasks/2 exists or tasks/1 exists) and not (pending > 9)",
        ]
        for (text, answer) in zip(texts, try answers(texts)) { #expect(answer, "\(text)") }
    }

    @Test func `is false of what there is not`() throws {
        let texts = [
            "tasks/2 exists", "tasks/1 missing", "tasks/1.done == false", "tasks/1.done != true",
            "tasks/1.none == null", "tasks/1.none < 3", #"tasks/1.n < "a""#,
            "tasks/1.status == synced",
            "tasks/2 is synced", "tasks/2.status == error", #"tasks/2.status == "error""#,
            "count(lists) > 0", "pending < 2", "refused != 0", "outcome(@4) == accepted",
            "outcome(@3) == pending", "tasks/1 exists and tasks/2 exists", "not pending == 2",
        ]
        for (text, answer) in zip(texts, try answers(texts)) { #expect(!answer, "\(text)") }
    }

    @Test(arguments: [
        ("", "column 1: nothing is no test"), ("tasks exists", "column 1: \"tasks\" is no test"),
        ("tasks/1", "column 8: a comparison is missing"),
        ("tasks/1.done == tru", "column 17: tru is no JSON value"),
        ("tasks/1.done = true", "column 14: a comparison is missing"),
        ("tasks/1 == 3", "column 9: say of tasks/1 that it exists"),
        ("tasks/1. == 3", "column 9: a field's name is missing"),
        ("count(tasks > 3", "column 16: a ) is missing"), ("count tasks", "column 6: ( and a coll"),
        ("count() > 3", "column 7: a collection"), ("count(tasks) > x", "column 16: x is no JSON"),
        ("pending > \"a\"", "column 11: a whole number is missing"),
        ("outcome(12) == gone", "column 16: an outcome is missing: pending, accepted"),
        ("outcome(x) == accepted", "column 9: a position is written @12"),
        ("outcome(@1) > accepted", "column 13: outcomes have no order"),
        ("tasks/1 exists tasks/2 exists", "column 16: \"tasks/2 exists\" is left over"),
        ("(tasks/1 exists", "column 16: a ) is missing"),
        ("\"tasks\" exists", "column 1: \"tasks\" names no entity"),
    ])
    func `that is wrong is told where`(_ text: String, _ words: String) {
        let error = #expect(throws: StatePredicateError.self) { try StatePredicate(text) }
        let description = error?.description ?? ""
        #expect(description.hasPrefix(words), "\(text): \(description)")
    }

    @Test func `of any text is read or refused`() {
        let long = String(repeating: "(", count: 5000) + "tasks/1 exists"
        let error = #expect(throws: StatePredicateError.self) { try StatePredicate(long) }
        #expect(error?.message.contains("too deep") == true)
        for text in [
            "\"", "\"\\", "a/b.\"x", "not", "not not", "a/b == [", "count(", "é/ü is", ".",
        ] {
            #expect(throws: StatePredicateError.self, "\(text)") { try StatePredicate(text) }
        }
    }
}
