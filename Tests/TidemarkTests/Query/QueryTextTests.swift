// QueryTextTests.swift — queries as people search and sort: without case, accents and width.

import Foundation
import Testing
import Tidemark
import TidemarkEvents
import TidemarkTesting

@testable import SyncSupport

private struct Person: Entity {
    static let collection: CollectionName = "people"
    static let fields: FieldNames<Person> = [\.name: "name", \.nick: "/more/nick"]
    let id: Tidemark.ID<Person>
    var name: String
    var nick: String?
}

@Suite struct `a query by texts` {
    private func withPeople(_ people: [String: String], _ body: (Replica) throws -> Void) throws {
        let model = SyncModel(
            name: "m", collections: [CollectionModel("people", indexes: [["name"]])])
        try withReplica(model) { replica throws in
            try replica.write { tx in
                for (id, json) in people {
                    try tx.create(EntityKey("people", id), Array(json.utf8))
                }
            }
            try body(replica)
        }
    }

    /// The ids of those whom a query finds: the same in a read, in a write, and by their number.
    private func found(_ replica: Replica, _ query: EntityQuery<Person>) throws -> String {
        let people = try replica.read { try $0.all(query) }
        #expect(try replica.write { try $0.all(query).map(\.id) } == people.map(\.id))
        #expect(try replica.read { try $0.count(query) } == people.count)
        return people.map(\.id.rawValue).joined(separator: " ")
    }

    @Test func `finds what somebody types, however it is written`() throws {
        let people = [
            "a": #"{"name":"Zoë Éclair","more":{"nick":"ZOE"}}"#,
            "b": #"{"name":"zoe\u0301 \u00c9clairs","more":{"nick":null}}"#,
            "c": #"{"name":"ＺＯＥ"}"#, "d": #"{"name":"Straße 5"}"#, "e": #"{"name":"\"q\""}"#,
            "f": #"{"name":""}"#,
        ]
        try withPeople(people) { replica throws in
            func search(_ text: String) throws -> String {
                try found(replica, Person.where(.containsText(\.name, text)))
            }
            #expect(try search("zoe") == "a b c")
            #expect(try search("ZOË") == "a b c")
            #expect(try search("e ec") == "a b")
            #expect(try search("eclairs") == "b")
            #expect(try search("STRASSE") == "d")
            #expect(try search("\"Q") == "e")
            #expect(try search("zoe5") == "")
            #expect(try search("") == "a b c d e f")
            #expect(try search("\u{301}") == "")
            #expect(try found(replica, Person.where(.containsText(\.nick, "zoë"))) == "a")
            #expect(try found(replica, Person.where(.containsText(\.nick, ""))) == "a")
            #expect(try found(replica, Person.where(!.containsText(\.nick, "zoë"))) == "b c d e f")
            let both = Person.where(.containsText(\.name, "zoe") && .containsText(\.name, "clair"))
            #expect(try found(replica, both.limit(1)) == "a")
        }
    }

    @Test func `sorts by them, and those that are the same by what comes next`() throws {
        let people = [
            "a": #"{"name":"fig"}"#, "b": #"{"name":"Éclair"}"#, "c": #"{"name":"apple"}"#,
            "d": #"{"name":"Apple"}"#, "e": #"{"name":"eclair","more":{"nick":"x"}}"#,
            "f": #"{"name":"Zebra"}"#,
        ]
        try withPeople(people) { replica throws in
            let all = Person.all
            #expect(try found(replica, all.order(by: \.name)) == "d f c e a b")
            #expect(try found(replica, all.order(byText: \.name)) == "c d b e a f")
            #expect(try found(replica, all.order(byText: \.name, .descending)) == "f a e b d c")
            let exact = all.order(byText: \.name).order(by: \.name)
            #expect(try found(replica, exact) == "d c e b a f")
            #expect(
                try found(replica, all.order(by: \.name).order(byText: \.name)) == "d f c e a b")
            #expect(try found(replica, all.order(byText: \.nick).limit(5)) == "a b c d f")
            #expect(try found(replica, exact.offset(1).limit(2)) == "c e")
        }
    }

    @Test func `goes on behind a place in their order`() throws {
        let names = ["Bea", "bea", "BEÄ", "ada", "Cy", "cý"]
        let people = Dictionary(
            uniqueKeysWithValues: names.enumerated().map { ("\($0)", #"{"name":"\#($1)"}"#) })
        try withPeople(people) { replica throws in
            let query = Person.all.order(byText: \.name).limit(1)
            var page = try replica.read { try $0.all(query) }
            var ids: [String] = []
            while let last = page.last {
                ids.append(last.id.rawValue)
                page = try replica.read { store in
                    try store.cursor(at: last.id).map { try store.all(query.after($0)) } ?? []
                }
            }
            #expect(ids == ["3", "0", "1", "2", "4", "5"])
        }
    }

    @Test func `uses an index for what it has, and never for such an order`() throws {
        try withPeople(["a": #"{"name":"A"}"#]) { replica throws in
            func explain(_ query: EntityQuery<Person>) throws -> String {
                try replica.read { try $0.explain(query).description }
            }
            #expect(
                try explain(Person.all.order(byText: \.name).limit(3))
                    == "scan of people; sorted by the text of name")
            #expect(
                try explain(Person.where(.containsText(\.name, "É")).order(by: \.name).limit(3))
                    == "index [name] of people; checked: name contains the text \"É\"; "
                    + "order by the index")
            #expect(
                try explain(
                    Person.where(\.name == "A").where(.containsText(\.nick, "x"))
                        .order(byText: \.nick, .descending))
                    == "index [name] of people: name = \"A\"; checked: /more/nick contains the "
                    + "text \"x\"; sorted by the text of /more/nick descending")
        }
    }

    @Test func `observes what comes to have a text, and what has it no more`() async throws {
        let replica = try Replica.temporary(
            model: SyncModel(name: "m", collections: [CollectionModel("people")]),
            dependencies: .seeded(0, clock: ManualClock()))
        defer { try? replica.deleteTemporary() }
        var found = replica.observe(Person.where(.containsText(\.name, "zoe"))).makeAsyncIterator()
        #expect(try await found.next()?.map(\.name) == [])
        try await replica.write { tx in
            _ = try tx.create(EntityKey("people", "a"), Array(#"{"name":"Zoë"}"#.utf8))
        }
        #expect(try await found.next()?.map(\.name) == ["Zoë"])
        try await replica.write { tx in
            let patch = Patch(set: [Patch.Field("name", Array(#""Zora""#.utf8))])
            try tx.patch(EntityKey("people", "a"), patch)
        }
        #expect(try await found.next()?.map(\.name) == [])
    }
}
