// MissingInTreeTests.swift — references that lead nowhere, of what lies in deleted folders.

import Testing
import TidemarkEvents
import TidemarkInspect
import TidemarkViews

@testable import ViewsSupport

@Suite struct `an entity of a tree whose reference leads nowhere` {
    private let store: ScratchStore

    init() throws {
        store = try ScratchStore()
        var docs = CollectionModel("docs")
        docs.references = [
            Reference("parent", to: "docs"), Reference("owner", to: "owners", missing: .hides),
        ]
        docs.tree = TreeRule(parent: "parent", name: "name")
        docs.indexes = [["owner"]]
        let model = SyncModel(name: "docs", collections: [CollectionModel("owners"), docs])
        try store.write(.registered(model))
        try says("owners/o1", #"{"id":"o1"}"#)
        try says("docs/f", #"{"id":"f","name":"f"}"#)
        try says("docs/d", #"{"id":"d","name":"d","parent":"f","owner":"o1"}"#)
        try says("docs/e", #"{"id":"e","name":"e","parent":"d","owner":"o1"}"#)
    }

    private func says(_ key: String, _ text: String?) throws {
        try store.write(
            .about(text == nil ? .serverDeleted : .serverUpserted, key, text, revision: "1"))
    }

    private func hidden() throws -> [String] {
        #expect(try store.differences().isEmpty)
        #expect(try store.journal.verify(.full).findings == [])
        return try ["d", "e"].filter { try store.entity(EntityKey("docs", $0))?.isHidden == true }
    }

    private func dangling() throws -> [String] {
        try store.journal.read { try $0.issues().compactMap(\.entity) }
    }

    @Test func `is listed once the folder in which it lies is there again`() throws {
        try store.write(.about(.localDeleted, "docs/f"))
        try says("owners/o1", nil)
        #expect(try hidden() == [] && dangling() == [])

        try store.write(.about(.localDiscarded, "docs/f"))
        #expect(try hidden() == ["d", "e"] && Set(dangling()) == ["d", "e"])

        try says("owners/o1", #"{"id":"o1"}"#)
        #expect(try hidden() == [] && dangling() == [])
    }

    @Test func `is not listed while the folder in which it lies is deleted`() throws {
        try says("owners/o1", nil)
        #expect(try hidden() == ["d", "e"] && Set(dangling()) == ["d", "e"])

        try says("docs/f", nil)
        #expect(try hidden() == [] && dangling() == [])

        try says("docs/f", #"{"id":"f","name":"f"}"#)
        #expect(try hidden() == ["d", "e"] && Set(dangling()) == ["d", "e"])
    }

    @Test func `is listed where it is moved out of a deleted folder`() throws {
        try store.write(.about(.localDeleted, "docs/f"))
        try says("owners/o1", nil)

        try says("docs/d", #"{"id":"d","name":"d","owner":"o1"}"#)

        #expect(try hidden() == ["d", "e"] && Set(dangling()) == ["d", "e"])
    }
}
