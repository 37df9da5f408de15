// ExplainBindingTests.swift — who set the fields of what two keys were found to be.

import Testing
import TidemarkEvents
import TidemarkInspect
import TidemarkViews

@testable import ViewsSupport

@Suite struct `explanations of two keys that became one entity` {
    private let store: ScratchStore

    /// A project that was made here and pulled as 13 before the answer; they are one at event 6.
    init() throws {
        store = try ScratchStore()
        var projects = CollectionModel("projects", ids: .serverNumber)
        projects.match = ["name"]
        let model = SyncModel(name: "numbers", collections: [projects])
        try store.write(.registered(model))
        try store.write(.about(.localCreated, "projects/p", #"{"name":"p"}"#))
        try store.write(.about(.requestSent, "projects/p", "{}", mutation: 2))
        try store.write(.about(.serverUpserted, "projects/20", #"{"id":20,"name":"other"}"#))
        try store.write(
            .about(.serverUpserted, "projects/13", #"{"id":13,"name":"P","n":1}"#, asOf: 4))
        try store.write(
            .about(.pushAccepted, "projects/p", #"{"serverID":"13"}"#, mutation: 2, call: 3))
    }

    private func blame() throws -> [String] {
        let blames = try store.journal.blame(of: EntityTarget(EntityKey("projects", "p"))) ?? []
        return blames.map { "\($0.field) \($0.by) \($0.position)" }
    }

    @Test func `name the author of what the other key brings along`() throws {
        #expect(try blame() == ["id pull @5", "name pull @5", "n pull @5"])
    }

    @Test func `name who says the same later`() throws {
        for name in ["Q", "P"] {
            try store.write(
                .about(
                    .localUpdated, "projects/p", #"{"set":{"name":"\#(name)"},"unset":[]}"#))
        }
        #expect(try blame() == ["id pull @5", "name edit @8", "n pull @5"])
    }
}
