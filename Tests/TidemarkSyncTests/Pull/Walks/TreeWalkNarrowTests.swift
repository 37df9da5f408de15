// TreeWalkNarrowTests.swift — what is known of a tree before a list of one of its folders.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport
@testable import TidemarkSync

@Suite struct `a list of one folder` {
    private static let files = CollectionModel(
        "files", references: [Reference("parent", to: "files")],
        tree: .init(
            parent: "parent", name: "name", kind: "kind", isByPath: true, serverID: "fileId"))

    /// Two folders, P and Q, with files in them and in P/R; b was moved from P to Q here, and c
    /// from Q to P; f is at the root.
    private static func replica(_ folder: SyncFolder) throws -> Replica {
        let replica = try Replica.open(
            at: folder / "store", model: SyncModel(name: "m", collections: [files]),
            dependencies: .seeded(0, clock: ManualClock()))
        let there = [
            ("P", "folder", nil), ("Q", "folder", nil), ("R", "folder", "P"), ("a", "file", "P"),
            ("b", "file", "P"), ("c", "file", "Q"), ("d", "file", "Q"), ("e", "file", "R"),
            ("f", "file", nil),
        ]
        for (id, kind, parent) in there {
            let own = parent.map { #","parent":"\#($0)""# } ?? ""
            let json = #"{"name":"\#(id)","kind":"\#(kind)","fileId":"_\#(id)"\#(own)}"#
            try replica.write { tx in
                _ = try tx.draft.append(
                    Event(
                        .serverUpserted, recordedAt: tx.draft.now, key: EntityKey("files", id),
                        json: Array(json.utf8)))
            }
        }
        try replica.write { tx in
            for (id, parent) in [("b", "Q"), ("c", "P")] {
                let patch = Patch(set: [.init("parent", Array("\"\(parent)\"".utf8))])
                _ = try tx.patch(EntityKey("files", id), patch)
            }
        }
        return replica
    }

    private static func walk(_ replica: Replica, ofFolder id: String?) throws -> TreeWalk {
        let plan = ListPlan(
            collection: files, target: .folder(id, of: "files"), asOf: try replica.position,
            now: Timestamp(rawValue: 0))
        let adapter = try Remote.webdav(origin: "http://files.test", home: "/").makeAdapter()
        let contents = try replica.journal.read { try $0.contents(of: plan, adapter) }
        return try #require(contents.walk)
    }

    private static func page(_ members: [(path: String, id: String)]) throws -> ListPage {
        let records = try members.map { member in
            let kind = ["P", "Q", "R"].contains(member.id) ? "folder" : "file"
            let json = #"{"kind":"\#(kind)","fileId":"_\#(member.id)"}"#
            return ServerRecord(
                id: member.path, revision: nil, parsed: try JSONDocument(parsing: Array(json.utf8)))
        }
        return ListPage(records: records, next: nil, cursor: nil)
    }

    @Test func `knows what the server has in it, and reads the rest where that is not enough`()
        throws
    {
        let folder = try SyncFolder()
        defer { folder.delete() }
        let replica = try Self.replica(folder)
        let walk = try Self.walk(replica, ofFolder: "P")

        #expect(walk.isNarrow && walk.isThere && walk.folder == .init(id: "P", path: "P"))
        #expect(["a", "b", "R", "P"].allSatisfy { walk.place(of: $0) != nil })
        // What is edited here is known wherever the server has it.
        #expect(walk.place(of: "c")?.folder == "Q" && walk.place(of: "b")?.folder == "P")
        #expect(["d", "e", "f"].allSatisfy { walk.place(of: $0) == nil })
        #expect(walk.knows(try Self.page([("P/a", "a"), ("P/b", "b"), ("P/R", "R")])))
        #expect(walk.knows(try Self.page([])))
        for other in [("P/new", "new"), ("P/d", "d"), ("P/a2", "a"), ("P/a", "d"), ("P/R", "a")] {
            #expect(!walk.knows(try Self.page([other])), "\(other)")
        }
        let whole = try replica.journal.read { try walk.whole(of: Self.files, $0) }
        #expect(!whole.isNarrow && whole.folder == walk.folder && whole.isOfOneFolder)
        #expect(["a", "b", "c", "d", "e", "f"].allSatisfy { whole.place(of: $0) != nil })
        try replica.close()
    }

    @Test func `knows those in which it lies, and the root what lies there`() throws {
        let folder = try SyncFolder()
        defer { folder.delete() }
        let replica = try Self.replica(folder)
        let below = try Self.walk(replica, ofFolder: "R")
        #expect(below.isNarrow && below.folder == .init(id: "R", path: "P/R"))
        #expect(below.knows(try Self.page([("P/R/e", "e")])))
        let root = try Self.walk(replica, ofFolder: nil)
        #expect(root.isNarrow && root.folder.path.isEmpty)
        #expect(root.knows(try Self.page([("P", "P"), ("Q", "Q"), ("f", "f")])))
        #expect(root.place(of: "a") == nil)
        try replica.close()
    }

    @Test func `knows all where its folder is not seen here`() throws {
        let folder = try SyncFolder()
        defer { folder.delete() }
        let replica = try Self.replica(folder)
        try replica.write { tx in _ = try tx.delete(EntityKey("files", "Q")) }
        let walk = try Self.walk(replica, ofFolder: "Q")
        #expect(!walk.isNarrow && walk.folder.path == "Q")
        #expect(["c", "d", "e"].allSatisfy { walk.place(of: $0) != nil })
        try replica.close()
    }
}
