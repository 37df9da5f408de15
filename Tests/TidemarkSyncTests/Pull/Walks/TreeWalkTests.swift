// TreeWalkTests.swift — which entity a member of a folder's list is.

import Testing
import TidemarkEvents
import TidemarkRules
import TidemarkSync
import TidemarkViews

@Suite struct `a list of a tree by paths` {
    private static let tree = CollectionModel.TreeRule(
        parent: "parent", name: "name", kind: "kind", isByPath: true, serverID: "fileId")
    private static let began = Position(812)

    private func document(_ json: String) throws -> JSONDocument {
        try JSONDocument(parsing: Array(json.utf8))
    }

    private func record(_ path: String, _ json: String) throws -> ServerRecord {
        ServerRecord(id: path, revision: nil, parsed: try document(json))
    }

    /// A walk that knows some entities: id, folder, name, document.
    private func walk(
        _ known: [(id: String, folder: String?, name: String, json: String)] = []
    ) throws -> TreeWalk {
        var walk = TreeWalk(Self.tree)
        for one in known {
            walk.know(
                one.id, TreeSpot(parent: one.folder, name: one.name), try document(one.json))
        }
        return walk
    }

    /// Lists the walk's folder.
    private func list(
        _ walk: inout TreeWalk, _ members: [(path: String, json: String)]
    ) throws -> ListPage {
        var page = ListPage(
            records: try members.map { try record($0.path, $0.json) }, next: nil, cursor: nil)
        walk.place(&page, asOf: Self.began)
        walk.took(try #require(page.step))
        return page
    }

    private func text(_ record: ServerRecord) -> String {
        String(decoding: record.document ?? [], as: UTF8.self)
    }

    @Test func `names what is new by the list that found it`() throws {
        var walk = try walk()
        let page = try list(
            &walk,
            [
                ("b", #"{"kind":"folder"}"#), ("a.txt", #"{"kind":"file"}"#),
                ("c", #"{"kind":"folder"}"#),
            ])
        #expect(page.records.map(\.id) == ["@812.1", "@812.2", "@812.3"])
        #expect(page.next == "b")
        let below = try list(&walk, [("b/a.txt", #"{"kind":"file","parent":"?"}"#)])
        #expect(below.records.map(\.id) == ["@812.4"])
        #expect(text(below.records[0]) == #"{"kind":"file","parent":"@812.1","name":"a.txt"}"#)
        #expect(below.next == "c")
        #expect(try list(&walk, []).next == nil)
    }

    @Test func `goes through folders in the order of their paths, each before what is beside it`()
        throws
    {
        var walk = try walk()
        let folder = #"{"kind":"folder"}"#
        #expect(try list(&walk, [("z", folder), ("a", folder)]).next == "a")
        #expect(try list(&walk, [("a/y", folder), ("a/b", folder)]).next == "a/b")
        #expect(try list(&walk, []).next == "a/y")
        #expect(try list(&walk, []).next == "z")
        #expect(try list(&walk, []).next == nil)
    }

    @Test func `knows what the server had at a place`() throws {
        var walk = try walk([
            ("F", nil, "Photos", #"{"kind":"folder"}"#), ("P", "F", "a.jpg", #"{"kind":"file"}"#),
        ])
        #expect(try list(&walk, [("Photos", #"{"kind":"folder"}"#)]).records[0].id == "F")
        let below = try list(&walk, [("Photos/a.jpg", #"{"kind":"file","size":2}"#)])
        #expect(below.records.map(\.id) == ["P"])
        #expect(
            text(below.records[0]) == #"{"kind":"file","size":2,"name":"a.jpg","parent":"F"}"#)
    }

    @Test func `takes a file in the place of a folder for another entity`() throws {
        var walk = try walk([("F", nil, "Photos", #"{"kind":"folder"}"#)])
        #expect(try list(&walk, [("Photos", #"{"kind":"file"}"#)]).records[0].id == "@812.1")
    }

    @Test(arguments: [("folder", "@1.1"), ("file", "@9.1")])
    func `knows a file and a folder that took each other's place, whichever came first`(
        _ kind: String, _ id: String
    ) throws {
        for ids in [["@1.1", "@9.1"], ["@9.1", "@1.1"]] {
            var walk = try walk()
            for known in ids {
                let kind = known == "@1.1" ? "folder" : "file"
                walk.know(
                    known, TreeSpot(parent: nil, name: "F"), try document("{\"kind\":\"\(kind)\"}"))
            }
            let page = try list(&walk, [("F", "{\"kind\":\"\(kind)\"}")])
            #expect(page.records.map(\.id) == [id])
            #expect(page.step?.missing == ["@1.1", "@9.1"].filter { $0 != id })
        }
    }

    @Test func `knows by the server's id what was moved`() throws {
        var walk = try walk([
            ("F", nil, "Photos", #"{"kind":"folder","fileId":"7"}"#),
            ("P", nil, "a.jpg", #"{"kind":"file","fileId":"9"}"#),
        ])
        // The folder has another name, and the file lies in it; another one has its old place.
        let page = try list(
            &walk,
            [
                ("Pictures", #"{"kind":"folder","fileId":"7"}"#),
                ("a.jpg", #"{"kind":"file","fileId":"12"}"#),
            ])
        #expect(page.records.map(\.id) == ["F", "@812.1"])
        let below = try list(&walk, [("Pictures/a.jpg", #"{"kind":"file","fileId":"9"}"#)])
        #expect(below.records.map(\.id) == ["P"])
    }

    @Test(arguments: [(#""size":2"#, true), (#""size":3"#, false), (#""type":"a""#, true)])
    func `leaves a file that may have been moved for later, but not one of another size`(
        _ member: String, isLeft: Bool
    ) throws {
        var rule = Self.tree
        rule.serverID = nil
        var walk = TreeWalk(rule, keptByMoves: ["size"])
        let version = Revision("\"1\"")
        walk.know(
            "P", TreeSpot(parent: nil, name: "a"), try document(#"{"kind":"file","size":2}"#),
            version)
        var came = ServerRecord(
            id: "b", revision: version, parsed: try document("{\"kind\":\"file\",\(member)}"))
        came.isKnownByVersion = true
        var page = ListPage(records: [came], next: nil, cursor: nil)
        walk.place(&page, asOf: Self.began)
        #expect(page.records.map(\.id) == (isLeft ? [] : ["@812.1"]))
        #expect(page.step?.missing == ["P"])
    }

    @Test func `leaves the old place to who comes there after a move`() throws {
        var walk = try walk([
            ("A", nil, "a", #"{"kind":"folder"}"#), ("Z", nil, "z", #"{"kind":"folder"}"#),
            ("P", "Z", "p", #"{"kind":"file","fileId":"9"}"#),
        ])
        _ = try list(&walk, [("a", #"{"kind":"folder"}"#), ("z", #"{"kind":"folder"}"#)])
        #expect(
            try list(&walk, [("a/p", #"{"kind":"file","fileId":"9"}"#)]).records[0].id == "P")
        // It tells no id of its own, and is another one all the same.
        #expect(try list(&walk, [("z/p", #"{"kind":"file"}"#)]).records[0].id == "@812.1")
    }

    @Test func `takes a folder that was made here for that one, and never a file`() throws {
        var walk = try walk()
        walk.expect(
            "mine", TreeSpot(parent: nil, name: "New"), try document(#"{"kind":"folder"}"#))
        walk.expect("file", TreeSpot(parent: nil, name: "f"), try document(#"{"kind":"file"}"#))
        let page = try list(
            &walk, [("New", #"{"kind":"folder"}"#), ("f", #"{"kind":"file"}"#)])
        #expect(page.records.map(\.id) == ["mine", "@812.1"])
    }

    @Test func `concludes nothing from a part of a folder, nor of what lies below`() throws {
        let walk = try walk([
            ("F", nil, "f", #"{"kind":"folder"}"#), ("G", "F", "g", #"{"kind":"folder"}"#),
            ("P", "G", "p", #"{"kind":"file"}"#), ("Q", nil, "q", #"{"kind":"file"}"#),
        ])
        var unreadable = ListPage(records: [], next: nil, cursor: nil)
        unreadable.unreadable = [UnreadableRecord(id: "f", bytes: [], problem: "status 500")]
        walk.place(&unreadable, asOf: Self.began)
        #expect(unreadable.unspoken == ["F", "G", "P"])
        var part = ListPage(records: [], next: nil, cursor: nil)
        part.isPartial = true
        walk.place(&part, asOf: Self.began)
        #expect(part.unspoken == ["F", "G", "P", "Q"])
    }

    @Test func `knows again what was taken for deleted, if it has the same id`() throws {
        var walk = try walk([("A", nil, "a", #"{"kind":"folder"}"#)])
        walk.remember("P", try document(#"{"kind":"file","fileId":"9"}"#))
        let page = try list(
            &walk, [("a", #"{"kind":"folder"}"#), ("p", #"{"kind":"file","fileId":"9"}"#)])
        #expect(page.records.map(\.id) == ["A", "P"])
    }

    @Test func `takes one of two with the same id, and says nothing of the other`() throws {
        var walk = try walk([("F", nil, "f", #"{"kind":"folder"}"#)])
        let page = try list(
            &walk,
            [
                ("f", #"{"kind":"folder"}"#), ("one", #"{"kind":"file","fileId":"9"}"#),
                ("two", #"{"kind":"file","fileId":"9"}"#),
            ])
        #expect(page.records.map(\.id) == ["F", "@812.1"])
        let below = try list(&walk, [("f/three", #"{"kind":"file","fileId":"9"}"#)])
        #expect(
            below.unreadable.map(\.problem) == ["another one has the same id on the server"])
    }

    @Test(arguments: ["other/a", "b/c/d", "", "b", "b/"])
    func `takes nothing that does not lie in the folder`(_ path: String) throws {
        var walk = try walk()
        _ = try list(&walk, [("b", #"{"kind":"folder"}"#)])
        let page = try list(&walk, [(path, #"{"kind":"file"}"#)])
        #expect(page.records.isEmpty)
        #expect(page.unreadable.map(\.problem) == [#"it does not lie in "b""#])
    }
}
