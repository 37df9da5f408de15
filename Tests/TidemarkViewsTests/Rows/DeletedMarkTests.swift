// DeletedMarkTests.swift — what is kept of a deleted entity of a tree by paths: the server's id.

import Testing
import TidemarkEvents
import TidemarkViews

@testable import ViewsSupport

@Suite struct `what is deleted in a tree whose server tells ids` {
    private let key = "files/@1.1"
    private let told = #"{"kind":"file","name":"a","fileId":"7"}"#

    /// A tree with one file.
    private func fold(_ serverID: String?) throws -> MemoryFold {
        var files = CollectionModel("files")
        files.references = [Reference("parent", to: "files")]
        files.tree = TreeRule(
            parent: "parent", name: "name", kind: "kind", isByPath: true, serverID: serverID)
        let model = SyncModel(name: "files", collections: [files])
        let fold = MemoryFold()
        try fold.apply([
            .registered(model),
            .about(.serverUpserted, key, told, asOf: 1, revision: "1"),
        ])
        return fold
    }

    private func row(_ fold: MemoryFold) throws -> EntityRow {
        try #require(try fold.entity(EntityKey("files", "@1.1")))
    }

    @Test func `keeps that id until it is there again`() throws {
        let fold = try fold("fileId")
        try fold.apply([.about(.serverDeleted, key, asOf: 2)])
        #expect(try text(row(fold).mark) == #"{"fileId":"7"}"#)
        #expect(try row(fold).base.isEmpty)

        try fold.apply([.about(.serverUpserted, key, told, asOf: 3, revision: "2")])
        #expect(try row(fold).mark.isEmpty)
    }

    @Test func `keeps it also where it was deleted here`() throws {
        let fold = try fold("fileId")
        try fold.apply([
            .about(.localDeleted, key),
            .about(.requestSent, key, "{}", mutation: 3),
            .about(.requestAnswered, key, #"{"status":204}"#, call: 4),
            .about(.pushAccepted, key, mutation: 3, call: 4),
        ])
        #expect(try row(fold).baseState == .deleted)
        #expect(try text(row(fold).mark) == #"{"fileId":"7"}"#)
    }

    @Test func `keeps nothing where the model names no such field`() throws {
        let fold = try fold(nil)
        try fold.apply([.about(.serverDeleted, key, asOf: 2)])
        #expect(try row(fold).mark.isEmpty)
    }
}
