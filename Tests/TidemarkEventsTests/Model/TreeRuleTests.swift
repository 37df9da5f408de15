// TreeRuleTests.swift — by what a document of a tree names the content of a file, and what of a
// change is sent together.

import Testing

@testable import TidemarkEvents

@Suite struct `a tree that a server knows by paths` {
    private let tree = CollectionModel.TreeRule(
        parent: "in", name: "name", kind: "kind", isByPath: true, content: "content")

    @Test func `names a content by entity and version`() {
        #expect(tree.contentName(of: "@812.3", Revision("\"a7\"")) == "@812.3 \"a7\"")
        #expect(tree.contentName(of: "@812.3", Revision("W/\"a7\"")) == "@812.3 \"a7\"")
        #expect(tree.contentName(of: "@812.3", nil) == nil)
        #expect(tree.contentName(of: "@812.3", Revision("")) == nil)
        let long = String(repeating: "x", count: ContentName.bytesMax)
        #expect(tree.contentName(of: "@812.3", Revision(long)) == nil)
        let other = CollectionModel.TreeRule(parent: "in", name: "name", isByPath: true)
        #expect(other.contentName(of: "@812.3", Revision("\"a7\"")) == nil)
    }

    @Test func `has the name in the documents of files, and in no other`() throws {
        func placed(_ json: String, _ revision: Revision?) throws -> String {
            let document = try JSONDocument(parsing: Array(json.utf8))
            return String(
                decoding: tree.placing(document, of: "a", revision, in: nil, as: "n").bytes,
                as: UTF8.self)
        }
        let version = Revision("\"a7\"")
        #expect(
            try placed(#"{"kind":"file","content":"theirs"}"#, version)
                == #"{"kind":"file","content":"a \"a7\"","name":"n"}"#)
        #expect(try placed(#"{"kind":"file"}"#, nil) == #"{"kind":"file","name":"n"}"#)
        #expect(
            try placed(#"{"kind":"folder"}"#, version) == #"{"kind":"folder","name":"n"}"#)
    }

    @Test func `takes content, other fields and place apart, in this order`() {
        func field(_ name: String) -> Patch.Field { Patch.Field(name, Array("1".utf8)) }
        let whole = Patch(
            set: [field("name"), field("modified"), field("content")], unset: ["in", "note"])
        let parts = tree.parts(of: whole)
        #expect(
            parts.map(\.fieldNames) == [["content"], ["modified", "note"], ["name", "in"]])
        #expect(tree.parts(of: Patch(set: [field("content")])).count == 1)
        #expect(tree.isOnePart([Patch(set: [field("name")]), Patch(set: [], unset: ["in"])]))
        #expect(!tree.isOnePart(parts))
    }
}
