// ContentRuleTests.swift — fields that name files: as they stand in a model, and what documents
// name by them.

import Foundation
import Testing

@testable import TidemarkEvents

private func model(_ contents: String) throws -> CollectionModel {
    let text = #"{"collections":[{"name":"tasks","contents":\#(contents)}]}"#
    return try ModelRegistration(parsing: Array(text.utf8)).model.collections[0]
}

@Suite struct `a field that names files` {
    @Test func `has options, each with a usual value`() throws {
        let collection = try model(
            #"""
            {"photo": {}, "/files/*/url": {"when": "all", "grace": "PT1H", "unwanted": "P7D",
             "quotaBytes": 1000, "upload": "/files/{sha256}"}}
            """#)

        #expect(
            collection.contents == [
                ContentRule("photo"),
                ContentRule(
                    "/files/*/url", when: .all, grace: .hours(1), unwanted: .days(7),
                    quotaBytes: 1000, upload: "/files/{sha256}"),
            ])
        #expect(collection.contents[0].grace == .hours(24))
        let registered = ModelRegistration(model: SyncModel(name: "m", collections: [collection]))
        #expect(try ModelRegistration(parsing: registered.encoded) == registered)
    }

    @Test(arguments: [
        (#"{"":{}}"#, "collections[0].contents."), (#"{"/":{}}"#, "collections[0].contents./"),
        (#"{"/*/url":{}}"#, "collections[0].contents./*/url"),
        (#"{"photo":{"when":"never"}}"#, "collections[0].contents.photo.when"),
        (#"{"photo":{"unwanted":7}}"#, "collections[0].contents.photo.unwanted"),
        (#"["photo"]"#, "collections[0].contents"),
        (#"{"photo":{"upload":"files"}}"#, "collections[0].contents.photo.upload"),
        (#"{"photo":{"upload":"//other/files"}}"#, "collections[0].contents.photo.upload"),
        (#"{"photo":{"upload":"/a/../b"}}"#, "collections[0].contents.photo.upload"),
        (#"{"photo":{"upload":"/{md5}"}}"#, "collections[0].contents.photo.upload"),
        (#"{"photo":{"upload":""}}"#, "collections[0].contents.photo.upload"),
        (
            #"{"photo":{"upload":"/{id}"},"cover":{"upload":"/files"}}"#,
            "collections[0].contents.photo.upload"
        ),
    ])
    func `is refused where it can't be one`(_ contents: String, _ path: String) {
        let error = #expect(throws: ModelError.self) { try model(contents) }
        #expect(error?.path == path)
    }

    @Test(arguments: [
        (
            #"{"photo":{"upload":"/{id}"}},"pushes":["create","delete"]"#, "photo",
            "is named by an update"
        ),
        (
            #"{"/photos/*/file":{"upload":"/{id}"}},"keyed":{"photos":"k"}"#, "/photos/*/file",
            "all of the keyed list"
        ),
    ])
    func `that is sent below the entity is refused where no update can name it alone`(
        _ contents: String, _ field: String, _ reason: String
    ) {
        let error = #expect(throws: ModelError.self) { try model(contents) }
        #expect(error?.path == "collections[0].contents.\(field).upload")
        #expect(error?.description.contains(reason) == true)
    }

    @Test func `is that of one element where a list tells its elements by keys`() throws {
        var collection = CollectionModel("events")
        collection.keyed = [CollectionModel.KeyedList("values", by: "of")]
        collection.contents = [ContentRule("/values/a/value", sha256: "sum")]
        let document = Array(
            #"""
            {"values":[{"of":"b","value":"plain"},{"of":"a","value":"f1","sum":"AB"},{"of":"a~"}]}
            """#.utf8)

        let names = collection.contentNames(in: document).map { "\($0.field) \($0.name.text)" }

        #expect(names == ["/values/a/value f1"])
        #expect(collection.contentDigest(of: "f1", collection.contents[0], in: document) == "ab")
        collection.contents = [ContentRule("/values/*/value")]
        #expect(collection.contentNames(in: document).map(\.name.text) == ["plain", "f1"])
        collection.contents = [ContentRule("/values/c/value")]
        #expect(collection.contentNames(in: document).isEmpty)
    }

    private func names(_ contents: String, _ document: String) throws -> [String] {
        try model(contents).contentNames(in: Array(document.utf8)).map {
            "\($0.field) \($0.name.text)\($0.name.isFile ? " file" : "")"
        }
    }

    @Test(arguments: [
        (#"{"photo":"/p/1.jpg"}"#, ["photo /p/1.jpg"]), (#"{"photo":17}"#, ["photo 17"]),
        (#"{"photo":{"sha256":"ab","bytes":3}}"#, ["photo ab file"]),
        (#"{"photo":{"sha256":"ab"}}"#, ["photo ab file"]),
        (#"{"photo":null}"#, []), (#"{"photo":""}"#, []), (#"{"photo":{"bytes":3}}"#, []),
        (#"{"photo":["a"]}"#, []), (#"{"photo":true}"#, []), ("{}", []),
        (#"{"photo":{"sha256":7}}"#, []), (#"{"ph\u006fto":"a\u002fb"}"#, ["photo a/b"]),
    ])
    func `names what stands in it`(_ document: String, _ expected: [String]) throws {
        #expect(try names(#"{"photo":{}}"#, document) == expected)
    }

    @Test(arguments: [
        ("/files/*/url", ["/files/*/url a", "/files/*/url c"]),
        ("/files/0/url", ["/files/0/url a"]),
        ("/files/7/url", []), ("/files/url", []), ("/by~1name/x~0y", ["/by~1name/x~0y d"]),
        ("/deep/*/*", ["/deep/*/* e", "/deep/*/* f", "/deep/*/* g"]),
        ("/deep/k/0", ["/deep/k/0 e"]), ("/files", []),
    ])
    func `names what a path leads to`(_ path: String, _ expected: [String]) throws {
        let document = #"""
            {"files":[{"url":"a"},{"name":"b"},{"url":"c"}],"by/name":{"x~y":"d"},
             "deep":{"k":["e","f"],"l":["g"]}}
            """#

        #expect(try names(#"{"\#(path)":{}}"#, document) == expected)
    }

    @Test func `names nothing by a text that is too long`() throws {
        let text = String(repeating: "é", count: ContentName.bytesMax / 2)

        #expect(try names(#"{"photo":{}}"#, #"{"photo":"\#(text)"}"#) == ["photo \(text)"])
        #expect(try names(#"{"photo":{}}"#, #"{"photo":"\#(text)x"}"#) == [])
    }

    @Test func `is read and written by an app as a text or an object`() throws {
        for (name, json) in [
            (ContentName.source("/p/1.jpg"), #"["\/p\/1.jpg"]"#),
            (.file(sha256: "ab", bytes: 3), #"[{"bytes":3,"sha256":"ab"}]"#),
        ] {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            #expect(String(decoding: try encoder.encode([name]), as: UTF8.self) == json)
            let read = try JSONDecoder().decode([ContentName].self, from: Data(json.utf8))
            #expect(read == [name])
            #expect(ContentName(name.json) == name)
        }
        let number = try JSONDecoder().decode([ContentName].self, from: Data("[14]".utf8))
        #expect(number == [.source("14")] && number.map(\.json) == ["14"])
        #expect(throws: (any Error).self) {
            try JSONDecoder().decode([ContentName].self, from: Data("[null]".utf8))
        }
    }
}

@Suite struct `a file of the user's that is sent` {
    @Test func `is PUT under its hash, or POSTed`() throws {
        let put = ContentRule.sending("0f", to: "/files/{sha256}")
        #expect(put.method == "PUT" && put.path == "/files/0f")
        let post = ContentRule.sending("0f", to: "/files?kind=photo")
        #expect(post.method == "POST" && post.path == "/files?kind=photo")
    }

    @Test func `is sent below an entity by its id, which is no more than one part of the path`() {
        let put = ContentRule.sending("0f", to: "/tasks/{id}/files/{sha256}", below: "a/é")
        #expect(put.method == "PUT" && put.path == "/tasks/a%2F%C3%A9/files/0f")
        let post = ContentRule.sending("0f", to: "/tasks/{id}/files", below: "12")
        #expect(post.method == "POST" && post.path == "/tasks/12/files")
    }

    @Test func `that is sent below an entity is told apart from what makes that`() throws {
        let collection = try model(#"{"/files/*/url":{"upload":"/tasks/{id}/files"},"note":{}}"#)
        let document = #"{"a":1,"files":[{"url":{"sha256":"0f"}}],"note":{"sha256":"1e"}}"#

        let parted = try collection.partedFilesBelow(of: Array(document.utf8))

        let (rest, files) = try #require(parted)
        #expect(String(decoding: rest, as: UTF8.self) == #"{"a":1,"note":{"sha256":"1e"}}"#)
        #expect(files.fieldNames == ["files"])
        #expect(collection.fieldsBelow(in: rest).isEmpty)
    }

    @Test(arguments: [
        ("/photo", #"{"a":1,"photo":{"sha256":"0f","bytes":2}}"#, #"{"a":1,"photo":"/f/0f"}"#),
        (
            "/files/*/url", #"{"files":[{"url":{"sha256":"0f"}},{"url":{"sha256":"1e"}},7]}"#,
            #"{"files":[{"url":"/f/0f"},{"url":{"sha256":"1e"}},7]}"#
        ),
        ("/by/*", #"{"by":{"x":{"sha256":"0f"},"y":"/g"}}"#, #"{"by":{"x":"/f/0f","y":"/g"}}"#),
        ("/files/1", #"{"files":["a",{"sha256":"0f"}]}"#, #"{"files":["a","/f/0f"]}"#),
        ("/files/1", #"{"files":{"sha256":"0f"}}"#, #"{"files":{"sha256":"0f"}}"#),
    ])
    func `goes by the server's name where a path leads to it`(
        _ path: String, _ document: String, _ expected: String
    ) throws {
        let value = try JSONValue(parsing: Array(document.utf8))
        let steps = ContentRule(path).steps[...]

        let named = CollectionModel.renaming(value, steps) { $0 == "0f" ? "/f/0f" : nil }

        #expect(String(decoding: named.encoded(), as: UTF8.self) == expected)
    }
}
