// TreeWalkVersionTests.swift — folders that a walk leaves out by their versions, and from when on a
// version counts.

import Testing
import TidemarkEvents
import TidemarkRules
import TidemarkViews

@testable import TidemarkSync

@Suite struct `a walk by the versions of folders` {
    private static let folder = #"{"kind":"folder"}"#

    /// A walk that knows the folders a, m, m/d and z, by their names as ids.
    private func walk(
        _ use: TreeWalk.VersionUse, _ versions: [String: String] = [:]
    ) throws -> TreeWalk {
        var walk = TreeWalk(TreeRule(parent: "parent", name: "name", kind: "kind", isByPath: true))
        for (id, parent) in [("a", nil), ("m", nil), ("z", nil), ("d", "m")] as [(String, String?)]
        {
            walk.know(
                id, TreeSpot(parent: parent, name: id),
                try JSONDocument(parsing: Array(Self.folder.utf8)))
        }
        walk.use = use
        walk.versions = versions.mapValues { Revision($0) }
        return walk
    }

    /// Lists the walk's folder at a version, with folders, each with its own.
    @discardableResult
    private func list(
        _ walk: inout TreeWalk, at version: String?,
        _ folders: [(path: String, version: String)] = []
    ) throws -> ListPage {
        var page = ListPage(
            records: try folders.map { path, version in
                ServerRecord(
                    id: path, revision: Revision(version),
                    parsed: try JSONDocument(parsing: Array(Self.folder.utf8)))
            }, next: nil, cursor: version.map { Revision($0) })
        walk.place(&page, asOf: Position(5))
        walk.took(try #require(page.step))
        return page
    }

    private func whole(_ page: ListPage) -> [String] {
        page.step?.whole.map { "\($0.id)@\($0.revision?.description ?? "")" } ?? []
    }

    @Test func `leaves out those that were listed at their version`() throws {
        var walk = try walk(.skipping, ["a": "1", "m": "1", "z": "1", "d": "1"])
        let members = [("a", "1"), ("m", "2"), ("z", "1")]
        #expect(try list(&walk, at: "2", members).next == "m")
        #expect(try list(&walk, at: "2", [("m/d", "1")]).next == nil)
    }

    @Test func `lists one that turned out to be the same as another whatever its version`() throws {
        var walk = TreeWalk(
            TreeRule(
                parent: "parent", name: "name", kind: "kind", isByPath: true, serverID: "fileId"))
        let folder = #"{"kind":"folder","fileId":"7"}"#
        for id in ["made", "theirs"] {
            walk.know(
                id, TreeSpot(parent: nil, name: "d"),
                try JSONDocument(parsing: Array(folder.utf8)))
        }
        walk.use = .skipping
        walk.versions = ["made": Revision("1"), "theirs": Revision("1")]
        let record = ServerRecord(
            id: "d", revision: Revision("1"), parsed: try JSONDocument(parsing: Array(folder.utf8)))
        var page = ListPage(records: [record], next: nil, cursor: Revision("9"))
        walk.place(&page, asOf: Position(5))
        #expect(page.next == "d")
    }

    @Test func `takes a second place for a link where the first is in one that is left out`() throws
    {
        var walk = TreeWalk(
            TreeRule(
                parent: "parent", name: "name", kind: "kind", isByPath: true, serverID: "fileId"))
        let folder = try JSONDocument(parsing: Array(Self.folder.utf8))
        let file = try JSONDocument(parsing: Array(#"{"kind":"file","fileId":"7"}"#.utf8))
        walk.know("z", TreeSpot(parent: nil, name: "z"), folder)
        walk.know("1", TreeSpot(parent: "z", name: "1"), file)
        walk.use = .skipping
        walk.versions = ["z": Revision("1")]
        let root = ListPage(
            records: [
                ServerRecord(id: "link", revision: Revision("5"), parsed: file),
                ServerRecord(id: "z", revision: Revision("1"), parsed: folder),
            ], next: nil, cursor: Revision("9"))

        var page = root
        walk.place(&page, asOf: Position(5))
        #expect(page.records.map(\.id) == ["z"])
        #expect(page.unreadable.map(\.id) == ["link"])

        // What is missing after all folders were listed was moved.
        walk.took(try #require(page.step))
        walk.beginAgain(for: [ExactString("1")])
        page = root
        walk.place(&page, asOf: Position(5))
        #expect(page.records.map(\.id) == ["1", "z"])
    }

    @Test func `takes the version of a folder once all that lies below was listed`() throws {
        var walk = try walk(.noted)
        let members = [("a", "1"), ("m", "2"), ("z", "3")]
        #expect(whole(try list(&walk, at: "9", members)) == [])
        #expect(whole(try list(&walk, at: "1")) == ["a@1"])
        #expect(whole(try list(&walk, at: "2", [("m/d", "4")])) == [])
        #expect(whole(try list(&walk, at: "4")) == ["d@4", "m@2"])
        #expect(whole(try list(&walk, at: "3")) == ["z@3", "@9"])
        #expect(walk.versions["m"] == Revision("2"))
    }

    @Test func `says nothing of a version that is known`() throws {
        var walk = try walk(.noted, ["": "9", "a": "1"])
        try list(&walk, at: "9", [("a", "1"), ("m", "2"), ("z", "3")])
        #expect(whole(try list(&walk, at: "1")) == [])
    }

    @Test func `takes no version of a folder in which one failed, or something is missing`() throws
    {
        var walk = try walk(.noted)
        try list(&walk, at: "9", [("a", "1"), ("m", "2"), ("z", "3")])
        // a can't be listed, d is missing in m.
        _ = walk.skip()
        #expect(whole(try list(&walk, at: "2")) == [])
        #expect(whole(try list(&walk, at: "3")) == ["z@3"])
    }

    @Test func `takes no version where nothing follows from what is missing`() throws {
        var walk = try walk(.noted)
        walk.tellsMissing = false
        #expect(whole(try list(&walk, at: "9")) == [])
    }

    @Test func `lists for the second time only what changed meanwhile`() throws {
        var walk = try walk(.noted)
        let members = [("a", "1"), ("m", "2"), ("z", "3")]
        try list(&walk, at: "9", members)
        try list(&walk, at: "1")
        try list(&walk, at: "2", [("m/d", "4")])
        try list(&walk, at: "4")
        try list(&walk, at: "3")
        walk.beginAgain()
        #expect(try list(&walk, at: "10", [("a", "1"), ("m", "2"), ("z", "5")]).next == "z")
    }

    @Test func `tells a folder whose version stayed`() throws {
        var walk = try walk(.noted, ["": "9"])
        #expect(try list(&walk, at: "9", [("a", "1")]).step?.isSameVersion == true)
        #expect(try list(&walk, at: "1").step?.isSameVersion == false)
        walk.useNoVersions()
        #expect(walk.use == .none && walk.isUnmoved)
        #expect(!walk.isListed("a", at: Revision("1")))
    }

    @Test func `uses no versions where they tell nothing`() throws {
        var walk = try walk(.none, ["a": "1"])
        #expect(try list(&walk, at: "9", [("a", "1")]).next == "a")
        #expect(whole(try list(&walk, at: "1")) == [])
    }
}
