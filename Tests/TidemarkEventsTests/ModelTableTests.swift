// ModelTableTests.swift — the tables of the model's members: each property once, under its own
// name.

import Testing

@testable import TidemarkEvents

@Suite struct `the tables of a model's members` {
    private func names<Object: ModelObject>(_ type: Object.Type) -> (table: [String], own: [String])
    {
        let own = Mirror(reflecting: type.blank).children.compactMap(\.label)
        return (type.members.map(\.name), own)
    }

    @Test func `name every property, in its order`() {
        for object in ModelSchema.objects {
            let (table, own) = names(object.type)
            switch object.name {
            // The field, or the trigger, is the name of the member.
            case "reference", "choice", "content": #expect(["field"] + table == own)
            case "listSource": #expect(["parameter"] + table == own)
            case "action", "gate", "pool": #expect(["name"] + table == own)
            case "remote": #expect(table + ["parameters"] == own)
            default: #expect(table == own, "\(object.name)")
            }
        }
        #expect(
            names(ModelRegistration.self).table == [
                "name", "collections", "pools", "settings", "remote",
            ])
        #expect(
            Mirror(reflecting: SyncModel(name: "", collections: [])).children.map(\.label) == [
                "name", "collections", "pools", "settings",
            ])
    }

    @Test func `have one sentence for each member`() {
        func check<Object: ModelObject>(_ type: Object.Type) {
            for member in type.members {
                #expect(member.line.hasSuffix("."), "\(type).\(member.name)")
                #expect(!member.line.contains("|"), "\(type).\(member.name)")
            }
        }
        check(ModelRegistration.self)
        for object in ModelSchema.objects { check(object.type) }
    }

    @Test func `leave out what is usual`() throws {
        let model = SyncModel(name: "m", collections: [CollectionModel("a")])

        let text = String(decoding: ModelRegistration(model: model).encoded, as: UTF8.self)

        #expect(text == #"{"name":"m","collections":[{"name":"a"}]}"#)
    }

    @Test func `write steps as the names of indexes have them`() {
        #expect(
            FieldMigration.rename("a", to: "b").json.description == #"{"rename":"a","to":"b"}"#)
        #expect(FieldMigration.remove("a").json.description == #"{"remove":"a"}"#)
        #expect(
            FieldMigration.require("a", default: 1).json.description
                == #"{"require":"a","default":1}"#)
    }
}
