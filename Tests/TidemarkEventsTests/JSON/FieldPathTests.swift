// FieldPathTests.swift — fields and paths into them: which ids they name, what stands there, and
// which a model may have.

import Testing
import TidemarkEvents

@Suite struct `a path into a field` {
    private let text =
        #"{"a":"1","from":{"who":{"id":7,"n":"x"},"ids":["2",3,null,{}]},"list":[{"id":"4"},"#
        + #"{"id":["5","6"]},8],"a/b":{"~":"9"},"deep":{"0":"10"}}"#

    @Test(arguments: [
        ("a", ["1"]), ("from", []), ("/a", ["1"]), ("/from/who/id", ["7"]),
        ("/from/ids", ["2", "3"]), ("/from/ids/1", ["3"]), ("/list/*/id", ["4", "5", "6"]),
        ("/list/1/id", ["5", "6"]), ("/list/*", ["8"]), ("/from/none/id", []), ("/a/b", []),
        ("/a~1b/~0", ["9"]), ("/deep/0", ["10"]), ("/from/*/id", ["7"]),
    ])
    func `names the ids that stand there, and none where it leads nowhere`(
        _ path: String, _ ids: [String]
    ) throws {
        #expect(try JSONDocument(parsing: Array(text.utf8)).ids(in: path) == ids)
    }

    @Test func `is read from the bytes of a document, through objects only`() {
        let paths = ["from", "/from/who/id", "a", "/from/who/n", "/list/0/id", "/a/b", "none", "a"]
        let values = FieldReader(paths).values(of: Array(text.utf8)[...]).map { value in
            value.map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(
            values == [
                #"{"who":{"id":7,"n":"x"},"ids":["2",3,null,{}]}"#, "7", #""1""#, #""x""#, nil, nil,
                nil, #""1""#,
            ])
    }

    @Test func `has other values put in its place, and the rest stays`() throws {
        let value = try JSONValue(parsing: Array(text.utf8))
        func replaced(_ path: String) -> JSONValue {
            value.replacing(at: FieldPath(path).steps[...]) { _ in "new" }
        }
        #expect(replaced("/list/*/id").object?["list"] == [["id": "new"], ["id": "new"], 8])
        let who = replaced("/from/who/id").object?["from"]?.object?["who"]
        #expect(who == ["id": "new", "n": "x"])
        #expect(replaced("/from/none/id") == value)
        #expect(replaced("/list/none") == value)
    }

    @Test(arguments: [
        (#""references":{"/":"people"}"#, "references./", "a field is needed"),
        (#""references":{"/*/id":"people"}"#, "references./*/id", "a field is needed"),
        (
            #""references":{"/a/b":{"collection":"people","removal":{}}}"#,
            "references./a/b.removal", "leave removal out"
        ),
        (#""indexes":[["x","/a/*/b"]]"#, "indexes[0]", "/a/*/b leads through a list"),
        (#""indexes":[["/a/0"]]"#, "indexes[0]", "/a/0 leads through a list"),
        (
            #""references":{"/a/b":"people"},"drops":["b"],"updates":"changes""#,
            "drops", "b is never here"
        ),
        (
            #""references":{"/a/*/b":"people"},"keyed":{"a":"id"}"#, "keyed",
            "a would have to be a list of objects and one value at once"
        ),
        (#""references":{"/a/b":"people"},"contents":{"/a/b":{}}"#, "contents", "a names another"),
    ])
    func `that no rule can follow is refused, with its place`(
        _ members: String, _ place: String, _ problem: String
    ) throws {
        let text = #"{"name":"m","collections":[{"name":"people"},{"name":"links",\#(members)}]}"#
        let error = #expect(throws: ModelError.self) {
            try ModelRegistration(parsing: Array(text.utf8)).checked()
        }
        #expect(error?.path == "collections[1].\(place)")
        #expect(error?.problem.contains(problem) == true, "\(error?.problem ?? "")")
    }

    @Test func `has an index where it leads through objects, and none through lists`() {
        let links = CollectionModel(
            "links",
            references: [
                Reference("a", to: "x"), Reference("/b/c", to: "x"), Reference("/d/*/e", to: "x"),
            ])
        #expect(links.allIndexes == [["a"], ["/b/c"]])
    }
}
