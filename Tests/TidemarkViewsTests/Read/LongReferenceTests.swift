// LongReferenceTests.swift — a reference may hold any text; one that is longer than the key of any
// row names nothing, wherever it is looked up.

import Testing
import TidemarkEvents
import TidemarkInspect
import TidemarkViews

@testable import ViewsSupport

@Suite struct `a reference that is longer than any key` {
    private static let text = String(repeating: "x", count: 600)
    private static let long = EntityKey("notes", text)

    private static var model: SyncModel {
        var people = CollectionModel("people")
        people.ids = .serverNumber
        var notes = CollectionModel("notes", conflict: .localWins)
        notes.references = [
            Reference("parent", to: "notes"),
            Reference("tags", to: "tags", removal: RemovalRule()),
            Reference("person", to: "people", rollUp: .always, missing: .hides),
        ]
        notes.tree = TreeRule(parent: "parent", name: "name")
        return SyncModel(name: "m", collections: [people, CollectionModel("tags"), notes])
    }

    /// A note whose references all hold the text, edited; other ids have aliases.
    private static var events: [Event] {
        let note =
            #"{"id":"a","name":"a","parent":"\#(text)","tags":["\#(text)"],"person":"\#(text)"}"#
        return [
            .registered(model),
            .about(.localCreated, "people/p", #"{"name":"p"}"#),
            .about(.requestSent, "people/p", "{}", mutation: 2),
            .about(.pushAccepted, "people/p", #"{"serverID":"13"}"#, mutation: 2, call: 3),
            .about(.serverUpserted, "notes/a", note),
            .about(.localUpdated, "notes/a", #"{"set":{"tags":["\#(text)","t"]},"unset":[]}"#),
            .about(.localUpdated, "notes/a", #"{"set":{"name":"b"},"unset":[]}"#),
            .about(.serverUpserted, "notes/b", #"{"id":"b","name":"c","parent":"a"}"#),
            .about(.serverDeleted, "notes/a"),
        ]
    }

    @Test func `names nothing that is known, and hides nothing`() throws {
        let store = try ScratchStore()
        for event in Self.events.dropLast() { try store.write(event) }

        let row = try #require(try store.entity(EntityKey("notes", "a")))
        #expect(row.document != nil && row.pending.count == 2)
        try store.journal.read { views in
            let hasBindings = try views.hasBindings
            #expect(hasBindings)
            let row = try views.get(RowKey.entity(Self.long))
            #expect(row == nil)
            let entity = try views.entity(Self.long)
            #expect(entity == nil)
            let resolved = try views.resolve(Self.long)
            #expect(resolved == Self.long)
            let name = try views.serverID(of: Self.long)
            #expect(name == Self.text)
            let keys = try views.keys(of: Self.long)
            #expect(keys == [Self.long])
        }
    }

    @Test func `is folded alike into a store, anew, and in memory`() throws {
        let store = try ScratchStore()
        let memory = MemoryFold()
        for event in Self.events {
            try store.write(event)
            try memory.apply([event])

            let stored = try store.rows()
            let folded = memory.rows.map { Row(key: $0.key, value: $0.value) }
            #expect(stored == folded.sorted { $0.key < $1.key })
        }
        let checks = LogChecks(store: store, place: "after all events")
        try checks.rowsAreThoseOfANewFold()
        try checks.rebuildingChangesNothing()
    }
}
