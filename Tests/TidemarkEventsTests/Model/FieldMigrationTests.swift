// FieldMigrationTests.swift — documents and edits of an older model, read by a newer one.

import Testing
import TidemarkEvents

@Suite struct `migrations of fields` {
    private func collection(_ migrations: FieldMigration...) -> CollectionModel {
        CollectionModel("notes", migrations: migrations)
    }

    private func read(_ json: String, _ collection: CollectionModel) throws -> String {
        String(decoding: try collection.read(Array(json.utf8)), as: UTF8.self)
    }

    private func read(_ patch: Patch, _ collection: CollectionModel) -> String {
        String(decoding: collection.read(patch).encoded, as: UTF8.self)
    }

    @Test func `leave a document alone that has the newer shape`() throws {
        let newer = collection(
            .rename("a", to: "b"), .remove("c"), .require("d", default: 1))
        let json = #"{ "b" : 1.0, "d":2, "x":[ ] }"#

        #expect(try read(json, newer) == json)
    }

    @Test func `read a field under its new name`() throws {
        let newer = collection(.rename("a", to: "b"), .rename("b", to: "c"))

        #expect(try read(#"{"a":1.0,"x":2}"#, newer) == #"{"x":2,"c":1.0}"#)
        #expect(try read(#"{"b":1,"x":2}"#, newer) == #"{"x":2,"c":1}"#)
        #expect(try read(#"{"a":1,"c":2}"#, newer) == #"{"c":2,"b":1}"#)
        #expect(
            read(Patch(set: [Patch.Field("a", [0x31])], unset: ["b"]), newer)
                == #"{"set":{},"unset":["c"]}"#)
        #expect(
            read(Patch(set: [Patch.Field("a", [0x31])]), newer) == #"{"set":{"c":1},"unset":[]}"#)
    }

    @Test func `leave a removed field in documents, and out of edits`() throws {
        let newer = collection(.remove("a"))

        #expect(try read(#"{"a":1,"x":2}"#, newer) == #"{"a":1,"x":2}"#)
        let patch = Patch(set: [Patch.Field("a", [0x31])], unset: ["x"])
        #expect(read(patch, newer) == #"{"set":{},"unset":["x"]}"#)
        let created = try newer.readCreation(
            JSONDocument(parsing: Array(#"{"a":1,"x":2}"#.utf8)))
        #expect(String(decoding: created.bytes, as: UTF8.self) == #"{"x":2}"#)
    }

    @Test func `leave a removed field out of a creation under the name that it had before`() throws
    {
        let newer = collection(.rename("a", to: "b"), .remove("b"))

        for json in [#"{"a":1,"x":2}"#, #"{"b":1,"x":2}"#] {
            let created = try newer.readCreation(JSONDocument(parsing: Array(json.utf8)))
            #expect(String(decoding: created.bytes, as: UTF8.self) == #"{"x":2}"#)
        }
    }

    @Test func `give a required field its value where there is none`() throws {
        let newer = collection(.require("a", default: ["n": 0]))

        #expect(try read("{}", newer) == #"{"a":{"n":0}}"#)
        #expect(try read(#"{"a":null}"#, newer) == #"{"a":{"n":0}}"#)
        #expect(try read(#"{"a":1}"#, newer) == #"{"a":1}"#)
        #expect(read(Patch(unset: ["a"]), newer) == #"{"set":{"a":{"n":0}},"unset":[]}"#)
        let null = Patch(set: [Patch.Field("a", Array("null".utf8))])
        #expect(read(null, newer) == #"{"set":{"a":{"n":0}},"unset":[]}"#)
        #expect(read(Patch(unset: ["b"]), newer) == #"{"set":{},"unset":["b"]}"#)
    }

    @Test(
        arguments: [
            [.remove("a"), .require("a", default: 1)],
            [.rename("a", to: "b"), .rename("b", to: "c"), .remove("c"), .rename("x", to: "b")],
            [.rename("a", to: "x"), .rename("b", to: "a"), .rename("x", to: "b")],
        ] as [[FieldMigration]])
    func `give no field the name of another one that was renamed or removed`(
        _ migrations: [FieldMigration]
    ) {
        let model = SyncModel(
            name: "m", collections: [CollectionModel("notes", migrations: migrations)])
        let error = #expect(throws: ModelError.self) {
            try ModelRegistration(model: model).checked()
        }
        #expect(error?.path == "collections[0].migrations")
    }

    @Test func `give a field its own name back, which the model may name then`() throws {
        let back: [FieldMigration] = [
            .rename("a", to: "b"), .rename("b", to: "c"), .rename("c", to: "a"),
        ]
        func model(_ index: IndexModel) -> ModelRegistration {
            ModelRegistration(
                model: SyncModel(
                    name: "m",
                    collections: [
                        CollectionModel("notes", indexes: [index], migrations: back)
                    ]))
        }

        #expect(try model(["a"]).checked() == model(["a"]))
        #expect(throws: ModelError.self) { try model(["b"]).checked() }
    }
}
