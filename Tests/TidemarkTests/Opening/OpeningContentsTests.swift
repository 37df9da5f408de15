// OpeningContentsTests.swift — a file of the user's that an opening missed comes back: the user
// takes it in again, or it is there again by itself. One that no entity names goes, also without
// another opening.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkStore
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

/// A store in which two entities name a file that is not there any more.
private final class MissingFile {
    let folder: SyncFolder
    let content: JSONValue
    /// Where the file lies when it is there.
    let path: String
    private(set) var replica: Replica

    init(inTree: Bool) throws {
        folder = try SyncFolder()
        var files = CollectionModel("files", references: [Reference("parent", to: "files")])
        if inTree { files.tree = .init(parent: "parent", name: "name", kind: "kind") }
        files.contents = [.init("content")]
        let replica = try Replica.open(
            at: folder / "store", model: SyncModel(name: "m", collections: [files]),
            dependencies: .seeded(0, clock: ManualClock()))
        let content = try replica.importText("tea")
        try replica.write { tx in
            for id in ["a", "b"] {
                let document: JSONObject = [
                    "kind": "file", "name": .string(id), "content": content,
                ]
                _ = try tx.create(EntityKey("files", id), JSONValue.object(document).encoded())
            }
        }
        (self.replica, self.content) = (replica, content)
        let stored = try replica.read { try $0.files(of: EntityKey("files", "a")).first?.stored }
        path = try #require(stored?.path)
        try FileManager.default.moveItem(atPath: path, toPath: folder / "away")
        try reopen()
    }

    deinit {
        try? replica.close()
        folder.delete()
    }

    func reopen() throws {
        try replica.close()
        replica = try Replica.open(
            existing: folder / "store", dependencies: .seeded(1, clock: ManualClock()))
    }

    /// How many of the two have their file.
    var count: Int {
        get throws {
            try replica.read { store in
                try ["a", "b"].count { id in
                    try store.files(of: EntityKey("files", id)).first?.stored?.path == path
                }
            }
        }
    }

    func expectWhole(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let text = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
        #expect(try count == 2 && text == "tea", sourceLocation: sourceLocation)
        #expect(
            try replica.journal.verify(.deep).findings == [], sourceLocation: sourceLocation)
    }
}

@Suite struct `a file of the user's that was missing at an opening` {
    @Test(arguments: [false, true])
    func `is there once it is taken in again, though the entities that name it are as they were`(
        _ inTree: Bool
    ) throws {
        let store = try MissingFile(inTree: inTree)
        #expect(try store.count == 0)
        let anchor = try store.replica.position

        #expect(try store.replica.importText("tea") == store.content)

        #expect(try store.replica.position == anchor.next)
        try store.expectWhole()
        if inTree {
            let changed = try store.replica.changes(since: anchor).changed
            #expect(changed == [EntityKey("files", "a"), EntityKey("files", "b")])
        }
        // What is here is not taken in once more.
        #expect(try store.replica.importText("tea") == store.content)
        #expect(try store.replica.position == anchor.next)
        try store.reopen()
        try store.expectWhole()
    }

    @Test(arguments: [false, true])
    func `is there once an opening finds it`(_ inTree: Bool) throws {
        let store = try MissingFile(inTree: inTree)
        try FileManager.default.moveItem(atPath: store.folder / "away", toPath: store.path)

        try store.reopen()

        try store.expectWhole()
    }

    @Test(arguments: ["TEA", "", "green tea"])
    func `stays missing where an opening finds other bytes under its name`(
        _ text: String
    ) throws {
        let store = try MissingFile(inTree: false)
        // Only what is as long as the entities tell is read.
        let digest = try #require(store.content["sha256"]?.stringValue)
        let lengths = try store.replica.journal.read { try $0.lengths(ofFiles: [digest]) }
        #expect(lengths == [digest: 3])
        try Data(text.utf8).write(to: URL(filePath: store.path))

        try store.reopen()

        #expect(try store.count == 0)
        #expect(try store.replica.importText("tea") == store.content)
        try store.expectWhole()
    }

    @Test func `is there after the next opening where it was taken in within a write`() throws {
        let store = try MissingFile(inTree: false)

        let replica = store.replica
        try replica.write { _ in _ = try replica.importText("tea") }

        #expect(try store.count == 0)
        try store.reopen()
        try store.expectWhole()
    }
}

@Suite struct `a file of the user's that no entity came to name` {
    @Test func `goes with a sweep a day later, and what is named is not noted for longer`() throws {
        let folder = try SyncFolder()
        defer { folder.delete() }
        let clock = ManualClock()
        var tasks = CollectionModel("tasks")
        tasks.contents = [ContentRule("photo")]
        let replica = try Replica.open(
            at: folder / "store", model: SyncModel(name: "m", collections: [tasks]),
            dependencies: .seeded(0, clock: clock))
        let files = ContentFiles(of: folder / "store")
        let use = replica.journal.shared.contents
        func put(_ content: JSONValue) throws {
            let document = JSONValue.object(["photo": content]).encoded()
            try replica.write { tx in _ = try tx.put(EntityKey("tasks", "1"), document) }
        }

        let tea = try replica.importText("tea")
        replica.journal.keepTidy(at: clock.now)
        #expect(try files.digests().count == 1)
        clock.advance(by: .seconds(86_400))
        replica.journal.keepTidy(at: clock.now)
        #expect(try files.digests() == [])
        expect(.unfitFile) { try put(tea) }

        let milk = try replica.importText("milk")
        try put(milk)
        let digest = try #require(milk["sha256"]?.stringValue)
        #expect(use.isImported(digest, since: .start))
        clock.advance(by: .seconds(86_400))
        replica.journal.keepTidy(at: clock.now)
        #expect(try files.digests() == [digest])
        #expect(!use.isImported(digest, since: .start))
        try replica.close()
    }
}
