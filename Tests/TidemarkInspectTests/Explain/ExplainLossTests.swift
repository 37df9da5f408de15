// ExplainLossTests.swift — what an explanation says was given up, and of which edit.

import Testing
import TidemarkEvents
import TidemarkInspect
import TidemarkViews

@testable import ViewsSupport

@Suite struct `explanations of what was given up` {
    private let store: ScratchStore

    init() throws { store = try ScratchStore() }

    private func register(_ conflict: ConflictPolicy, _ migrations: FieldMigration...) throws {
        let tasks = CollectionModel("tasks", conflict: conflict, migrations: migrations)
        try store.write(.registered(SyncModel(name: "test", collections: [tasks])))
    }

    private func givenUp() throws -> [String] {
        let target = EntityTarget(EntityKey("tasks", "1"))
        let found = try store.journal.read { try EntityExplanation(target, $0) }
        return (found?.lines ?? []).filter { $0.hasPrefix("  gave up ") }
            .map { String($0.dropFirst(10)) }
    }

    @Test func `find the value of a field that has another name since`() throws {
        try register(.serverWins)
        try store.write(
            .about(.serverUpserted, "tasks/1", #"{"text":"a"}"#, asOf: 1, revision: "1"))
        try store.write(
            .about(.localUpdated, "tasks/1", #"{"set":{"text":"mine"},"unset":[]}"#))
        try register(.serverWins, .rename("text", to: "title"))
        try store.write(
            .about(.serverUpserted, "tasks/1", #"{"text":"theirs"}"#, asOf: 4, revision: "2"))

        #expect(try givenUp() == [#"title "mine" of @3"#])
    }

    @Test func `find the value of a field under the name that it had`() throws {
        try register(.localWins)
        try store.write(
            .about(.serverUpserted, "tasks/1", #"{"text":"a"}"#, asOf: 1, revision: "1"))
        try store.write(
            .about(.localUpdated, "tasks/1", #"{"set":{"text":"mine"},"unset":[]}"#))
        try store.write(
            .about(.serverUpserted, "tasks/1", #"{"text":"theirs"}"#, asOf: 3, revision: "2"))
        try register(.localWins, .rename("text", to: "title"))

        #expect(try givenUp() == [#"text "theirs" of @4"#])
    }

    @Test func `are whole on a terminal, where the documents of events are cut`() throws {
        let note = String(repeating: "word ", count: 40)
        try register(.serverWins)
        try store.write(
            .about(.serverUpserted, "tasks/1", #"{"text":"a"}"#, asOf: 1, revision: "1"))
        try store.write(
            .about(.localUpdated, "tasks/1", #"{"set":{"text":"\#(note)"},"unset":[]}"#))
        try store.write(
            .about(.serverUpserted, "tasks/1", #"{"text":"theirs"}"#, asOf: 3, revision: "2"))
        let target = EntityTarget(EntityKey("tasks", "1"))
        let found = try #require(try store.journal.read { try EntityExplanation(target, $0) })

        let lines = found.lines(columns: 80)

        let cut = zip(lines, found.lines).filter { $0 != $1 }
        #expect(lines.count == found.lines.count && cut.count == 1)
        #expect(cut.allSatisfy { $0.0.hasPrefix("  from    @3 ") && $0.0.count == 80 })
        #expect(lines.contains { $0.hasPrefix("  gave up text") && $0.contains(note) })
    }

    @Test func `tell of each edit only the fields that it changed`() throws {
        try register(.overwriteUnlessDirty)
        try store.write(
            .about(.serverUpserted, "tasks/1", #"{"a":0,"b":0}"#, asOf: 1, revision: "1"))
        try store.write(.about(.localUpdated, "tasks/1", #"{"set":{"a":1},"unset":[]}"#))
        try store.write(.about(.localUpdated, "tasks/1", #"{"set":{"b":2},"unset":[]}"#))
        try store.write(
            .about(.serverUpserted, "tasks/1", #"{"a":0,"b":0,"n":5}"#, asOf: 4, revision: "2"))
        try store.write(.about(.serverDeleted, "tasks/1", asOf: 5))

        #expect(try givenUp() == ["n 5 of @5", "a 1 of @3", "b 2 of @4"])
    }

    @Test func `leave out what both sides came to`() throws {
        try register(.serverWins)
        try store.write(
            .about(.serverUpserted, "tasks/1", #"{"text":"a","due":"mon"}"#, asOf: 1, revision: "1")
        )
        try store.write(
            .about(.localUpdated, "tasks/1", #"{"set":{"text":"mine","due":"tue"},"unset":[]}"#))
        try store.write(
            .about(
                .serverUpserted, "tasks/1", #"{"text":"theirs","due":"tue"}"#, asOf: 3,
                revision: "2"))

        #expect(try givenUp() == [#"text "mine" of @3"#])
    }

    @Test func `tell of an edit whose field a new model removes`() throws {
        try register(.serverWins)
        try store.write(
            .about(.serverUpserted, "tasks/1", #"{"text":"a"}"#, asOf: 1, revision: "1"))
        try store.write(
            .about(.localUpdated, "tasks/1", #"{"set":{"text":"mine"},"unset":[]}"#))
        try register(.serverWins, .remove("text"))

        #expect(try givenUp() == [#"text "mine" of @3"#])
    }
}
