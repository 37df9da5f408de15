// TreeWalkPassTests.swift — what is missing after a walk, and where one goes on that was cut short.

import Testing
import TidemarkEvents
import TidemarkRules
import TidemarkViews

@testable import TidemarkSync

@Suite struct `a walk through a tree by paths` {
    private static let folder = #"{"kind":"folder"}"#
    private static let file = #"{"kind":"file"}"#

    /// A walk that knows a, a/1, m, m/d, m/d/2, z and z/3, by their names as ids.
    private func walk() throws -> TreeWalk {
        var walk = TreeWalk(TreeRule(parent: "parent", name: "name", kind: "kind", isByPath: true))
        let known: [(String, String?)] = [
            ("a", nil), ("m", nil), ("z", nil), ("d", "m"), ("1", "a"), ("2", "d"), ("3", "z"),
        ]
        for (id, parent) in known {
            let isFile = Int(id) != nil
            walk.know(
                id, TreeSpot(parent: parent, name: id),
                try JSONDocument(parsing: Array((isFile ? Self.file : Self.folder).utf8)))
        }
        return walk
    }

    /// Lists the walk's folder, with members of which a slash at the end says that it is a folder.
    @discardableResult
    private func list(
        _ walk: inout TreeWalk, _ members: String..., isPartial: Bool = false
    ) throws -> ListPage {
        var page = ListPage(
            records: try members.map { member in
                let isFolder = member.hasSuffix("/")
                return ServerRecord(
                    id: isFolder ? String(member.dropLast()) : member, revision: nil,
                    parsed: try JSONDocument(
                        parsing: Array((isFolder ? Self.folder : Self.file).utf8)))
            }, next: nil, cursor: nil)
        page.isPartial = isPartial
        walk.place(&page, asOf: Position(5))
        walk.took(try #require(page.step))
        return page
    }

    private func state(_ next: String?, found: Int = 0, pass: Int = 1) -> ListState {
        var state = ListState(page: 1, asOf: Position(5), knownCount: 7)
        (state.next, state.found, state.pass) = (next, found, pass)
        return state
    }

    @Test func `tells what a folder's list does not name`() throws {
        var walk = try walk()
        #expect(try list(&walk, "a/", "m/").step?.missing == ["z"])
        #expect(try list(&walk).step?.missing == ["1"])
        #expect(try list(&walk, "m/d/", "m/new").step?.missing == [])
    }

    @Test func `tells nothing of a folder that is not listed wholly`() throws {
        var walk = try walk()
        #expect(try list(&walk, "a/", isPartial: true).step?.missing == [])
    }

    @Test func `counts as gone what lies in what is missing, or nowhere`() throws {
        var walk = try walk()
        walk.know(
            "lost", TreeSpot(parent: "nobody", name: "lost"),
            try JSONDocument(parsing: Array(Self.file.utf8)))
        #expect(walk.unreached(without: []) == [ExactString("lost")])
        #expect(
            walk.unreached(without: [ExactString("m")]).inOrder == ["2", "d", "lost", "m"])
        walk.tellsMissing = false
        #expect(walk.unreached(without: [ExactString("m")]).isEmpty)
    }

    @Test func `tells nothing more as missing when it goes through all folders again`() throws {
        var walk = try walk()
        try list(&walk, "a/", "m/")
        walk.beginAgain()
        #expect(walk.folder.id == nil && walk.folder.path.isEmpty)
        #expect(try list(&walk, "a/").step?.missing == [])
    }

    @Test func `is not sure where a folder fails again: what is missing may lie in it`() throws {
        var walk = try walk()
        try list(&walk, "a/", "m/", "z/")
        _ = walk.skip()
        walk.beginAgain()
        try list(&walk, "a/", "m/", "z/")
        #expect(!walk.isUnsure)
        _ = walk.skip()
        #expect(walk.isUnsure)
    }

    @Test func `is not sure where another folder than before is not shown`() throws {
        var walk = try walk()
        walk.noteUnheard("a", .unshown)
        walk.beginAgain()
        walk.noteUnheard("a", .unshown)
        #expect(!walk.isUnsure)
        walk.noteUnheard("m", .unshown)
        #expect(walk.isUnsure)
    }

    @Test func `is not sure where one that was not shown is not there any more`() throws {
        var walk = try walk()
        walk.noteUnheard("a", .unshown)
        walk.beginAgain()
        walk.noteUnheard("a", .absent)
        #expect(walk.isUnsure)
    }

    @Test(arguments: [
        ("a", ["a", "m", "m/d", "z"]), ("m", ["m", "m/d", "z"]), ("m/d", ["m/d", "z"]),
        ("z", ["z"]), ("b", ["m", "m/d", "z"]), ("m/c/x", ["m/d", "z"]), ("m/e", ["z"]),
        ("m/d/x", ["z"]), ("zz", []),
    ])
    func `goes on with the folders behind the last one`(
        _ next: String, _ folders: [String]
    ) throws {
        var walk = try walk()
        var path = walk.goOn(state(next, found: 4), without: [])
        var listed: [String] = []
        while let here = path {
            listed.append(here)
            let members: [String: [String]] = ["m": ["m/d/"], "m/d": ["m/d/2"]]
            var page = try {
                if let first = members[here]?.first { return try list(&walk, first) }
                return try list(&walk)
            }()
            path = page.next
            page.step = nil
        }
        #expect(listed == folders)
        #expect(walk.foundCount == 4)
    }

    @Test func `goes on without what is missing, and at the root for the second time`() throws {
        var walk = try walk()
        #expect(walk.goOn(state("m"), without: [ExactString("m"), ExactString("z")]) == nil)
        #expect(walk.goOn(state("", pass: 2), without: []) == "")
        #expect(walk.pass == 2 && walk.folder.id == nil)
        #expect(walk.goOn(state(nil), without: []) == nil)
    }

    @Test func `goes on in a folder whose name a file has as well`() throws {
        var walk = try walk()
        walk.know(
            "file", TreeSpot(parent: nil, name: "m"),
            try JSONDocument(parsing: Array(Self.file.utf8)))
        #expect(walk.goOn(state("m/d"), without: []) == "m/d")
        #expect(walk.folder.id == "d")
    }

    @Test func `knows in a later run what came and may have been moved, each once`() throws {
        let (one, two) = (Revision("\"1\""), Revision("\"2\""))
        let came = [
            TreeWalk.Moves.Arrival(revision: one, folder: "a"),
            TreeWalk.Moves.Arrival(revision: one, folder: "a"),
            TreeWalk.Moves.Arrival(revision: two, folder: nil),
        ]
        var first = ListedPageRow(position: Position(6))
        first.references = TreeWalk.references(to: Array(came.prefix(2)))
        // That of the root, and all with which the run left the list.
        var left = ListedPageRow(position: Position(8))
        left.references = TreeWalk.references(to: came)

        let cut = CutListing(state: state("m"), pages: [first, left])

        #expect(cut.arrived == came)
    }
}
