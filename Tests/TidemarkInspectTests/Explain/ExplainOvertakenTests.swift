// ExplainOvertakenTests.swift — the history of an entity with edits that lie beside its row.

import Testing
import TidemarkEvents
import TidemarkInspect
import TidemarkViews

@testable import ViewsSupport

@Suite struct `explanations of many edits` {
    private let key = EntityKey("tasks", "1")

    /// An entity of the server's with six edits of its body; then a run begins.
    private func edited() throws -> ScratchStore {
        let store = try ScratchStore()
        try store.write(
            .about(.serverUpserted, "tasks/1", #"{"id":"1","body":0}"#, asOf: 1, revision: "1"))
        for number in 1...6 {
            let patch = #"{"set":{"body":\#(number)},"unset":[]}"#
            try store.write(.about(.localUpdated, "tasks/1", patch))
        }
        let begun = #"{"begunAt":0,"bootID":"b","uptime":0}"#
        try store.write(
            Event(.syncStarted, recordedAt: Timestamp(rawValue: 1), json: Array(begun.utf8)))
        return store
    }

    @Test func `tell nothing of an event that left the entity as it is`() throws {
        let store = try edited()

        try store.journal.withTimelines { views, timeline in
            let found = try timeline(key)
            let row = try #require(try views.entity(key))
            #expect(row.pending.filter(\.isOvertaken).count == 2)
            #expect(found.steps.count == 7)
            #expect(found.steps.last?.position == row.pending.last?.position)
            #expect(found.steps.last?.after == row)
        }
    }

    @Test func `name the event that settled each`() throws {
        let store = try edited()
        let edits = try #require(try store.entity(key)).pending.map(\.position)
        try store.write(.about(.localDiscarded, "tasks/1"))

        try store.journal.withTimelines { views, timeline in
            let history = try #require(try EntityHistory(try timeline(key), views))
            #expect(history.entries.count == 8)
            #expect(history.entries.last?.outcomes.map(\.mutation) == edits)
        }
    }
}
