// KeyedListTests.swift — the rule of a collection about lists whose elements are told by keys.

import Testing
import TidemarkEvents

private func model(_ members: String) throws -> CollectionModel {
    let text = #"{"collections":[{"name":"events",\#(members)}]}"#
    let registration = try ModelRegistration(parsing: Array(text.utf8))
    return try #require(registration.model.collections.first)
}

@Suite struct `the rule about keyed lists` {
    @Test func `is an object of fields, each with the member that tells its elements`() throws {
        let collection = try model(#""keyed":{"values":"de","notes":"id"}"#)

        #expect(collection.keyed == [KeyedList("values", by: "de"), KeyedList("notes", by: "id")])
        #expect(try model(#""conflict":"localWins""#).keyed == [])
    }

    @Test func `is written as it was read`() throws {
        let text = #"{"collections":[{"name":"events","keyed":{"values":"de"}}]}"#
        let registration = try ModelRegistration(parsing: Array(text.utf8))

        let again = try ModelRegistration(parsing: registration.encoded)

        #expect(again.model == registration.model)
        #expect(
            String(decoding: registration.encoded, as: UTF8.self).contains(
                #""keyed":{"values":"de"}"#))
    }

    @Test(arguments: [
        (#""keyed":["values"]"#, "collections[0].keyed"),
        (#""keyed":{"values":""}"#, "collections[0].keyed.values"),
        (#""keyed":{"values":["a","b"]}"#, "collections[0].keyed.values"),
        (#""keyed":{"":"de"}"#, "collections[0].keyed."),
    ])
    func `is refused where it can't be one`(
        _ members: String, _ path: String
    ) {
        let error = #expect(throws: ModelError.self) { try model(members) }
        #expect(error?.path == path)
    }

    @Test func `goes on with a list that was renamed, in edits of its elements, too`() throws {
        let collection = try model(
            #""keyed":{"values":"de"},"migrations":[{"rename":"old","to":"values"}]"#)
        let patch = Patch(
            set: [Patch.Field("/old/a~1b", Array(#"{"de":"a/b"}"#.utf8))], unset: ["/old/c", "n"])

        let read = collection.read(patch)

        #expect(read.fieldNames == ["/values/a~1b", "/values/c", "n"])
        #expect(collection.renamed("old", since: CollectionModel("events")) == "values")
        #expect(collection.renamed("old", since: collection) == "old")
    }

    @Test func `goes on with a list that was renamed twice`() throws {
        let collection = try model(
            #""keyed":{"c":"k"},"migrations":[{"rename":"a","to":"b"},{"rename":"b","to":"c"}]"#)
        let patch = Patch(
            set: [Patch.Field("/a/p", Array(#"{"k":"p"}"#.utf8))],
            unset: ["/a/q", "/b/r", "/c/s", "/d/t"])

        let read = collection.read(patch)

        #expect(read.fieldNames == ["/c/p", "/c/q", "/c/r", "/c/s", "/d/t"])
    }
}
