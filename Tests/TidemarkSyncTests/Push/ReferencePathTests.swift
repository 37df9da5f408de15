// ReferencePathTests.swift — references that stand further down in a field, as links name their
// ends.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

private struct Person: Entity, Equatable {
    static let collection: CollectionName = "people"
    let id: Tidemark.ID<Person>
    var name: String
}

private struct Link: Entity, Equatable {
    struct End: Codable, Equatable {
        struct Named: Codable, Equatable { var id: Tidemark.ID<Person> }
        var person: Named
    }

    static let collection: CollectionName = "links"
    static let fields: FieldNames<Link> = [\.from.person.id: "/from/person/id"]
    let id: Tidemark.ID<Link>
    var from: End
    var to: End?
}

@Suite(.serialized) struct `a reference by a path` {
    private static var model: SyncModel {
        func numbered(_ name: CollectionName, _ references: [Reference] = []) -> CollectionModel {
            var collection = CollectionModel(name, lastChangeField: "at", references: references)
            collection.ids = .serverNumber
            collection.match = references.isEmpty ? ["name"] : ["from", "kind"]
            collection.absence = .keeps
            return collection
        }
        var people = numbered("people")
        people.placeholder = PlaceholderRule(fields: ["name": "somebody"])
        return SyncModel(
            name: "links",
            collections: [
                people,
                numbered(
                    "links",
                    [
                        Reference(
                            "/from/person/id", to: "people", placeholder: .always, rollUp: .always,
                            onDelete: .cascade),
                        Reference("/to/person/id", to: "people", rollUp: .whereTrue("both")),
                        Reference("/witnesses/*/person", to: "people"),
                    ]),
            ], settings: SyncSettings(fullPullEvery: .zero, batchSize: 1))
    }

    private func device() throws -> NumberedDevice {
        let device = try NumberedDevice(model: Self.model)
        try device.put("people/a", #"{"name":"Ada"}"#)
        try device.put("people/b", #"{"name":"Bob"}"#)
        return device
    }

    @Test func `is sent by the server's numbers, after what it names, and read by keys here`()
        async throws
    {
        let device = try device()
        try device.put(
            "links/l",
            #"{"kind":1,"from":{"person":{"id":"a","note":"é"}},"to":{"visit":7},"#
                + #""witnesses":[{"person":"b"},{"person":["a"]},{}]}"#)
        #expect(try await device.sync().isSynced)

        #expect(device.server.writes == ["POST people", "POST people", "POST links"])
        let sent =
            #"{"kind":1,"from":{"person":{"id":13,"note":"é"}},"to":{"visit":7},"#
            + #""witnesses":[{"person":14},{"person":[13]},{}]}"#
        #expect(device.server.document("links/15") == sent)
        #expect(try device.document("links/l") == sent)
        #expect(try await device.sync().counts.hasNews == false)
        try device.verify()
    }

    @Test func `waits for what it names while that is refused`() async throws {
        let device = try device()
        try device.put("links/l", #"{"kind":1,"from":{"person":{"id":"b"}}}"#)
        try device.put("links/m", #"{"kind":2,"from":{"person":{"id":"a"}}}"#)
        try await device.sync(failing: "POST people", status: 400, times: 1)

        #expect(try device.outbox() == ["people/a rejected", "links/m blocked people/a"])
        #expect(device.server.documents("links") == [#"{"kind":1,"from":{"person":{"id":13}}}"#])
        try device.verify()
    }

    @Test func `that is written by another id of the same entity is no edit`() async throws {
        let device = try device()
        try device.put(
            "links/l", #"{"kind":1,"from":{"person":{"id":"a"}},"to":{"person":{"id":"b"}}}"#)
        #expect(try await device.sync().isSynced)
        let before = try device.replica.position

        try device.put(
            "links/l", #"{"kind":1,"from":{"person":{"id":"a"}},"to":{"person":{"id":"14"}}}"#)
        try await device.replica.write { tx in try tx.update(Link.self, "l") { $0.to = $0.to } }
        #expect(try device.replica.position == before)

        try await device.replica.write { tx throws in
            try tx.update(Link.self, "l") { $0.to = .init(person: .init(id: "a")) }
        }
        #expect(try await device.sync().isSynced)
        #expect(
            device.server.document("links/15")
                == #"{"kind":1,"from":{"person":{"id":13}},"to":{"person":{"id":13}}}"#)
        try device.verify()
    }

    @Test func `is found by an index, by every id of what it names`() async throws {
        let device = try device()
        try device.put("links/l", #"{"kind":1,"from":{"person":{"id":"a"}}}"#)
        try device.put("links/m", #"{"kind":2,"from":{"person":{"id":"b"}}}"#)
        #expect(try await device.sync().isSynced)
        try device.put("links/n", #"{"kind":3,"from":{"person":{"id":"a"}}}"#)

        try device.replica.read { store throws in
            let query = Link.where(\.from.person.id == "a")
            #expect(try store.all(query).map(\.id.rawValue) == ["l", "n"])
            #expect(try store.all(query).map(\.from.person.id) == ["a", "a"])
            #expect(try store.referrers(of: "13", \Link.from.person.id).count == 2)
            #expect(
                try store.explain(query).description.hasPrefix(
                    "index [/from/person/id] of links: /from/person/id = \"a\""))
        }
        try await device.replica.write { tx throws in
            #expect(try tx.all(Link.where(\.from.person.id == "b")).map(\.id.rawValue) == ["m"])
        }
        try device.verify()
    }

    @Test func `wakes who observes what names an entity`() throws {
        let device = try device()
        let query = Link.where(\.from.person.id == "a")
        let wakes = Wakes(
            device.replica, try device.replica.journal.read { try Interest(query, $0) })
        try device.put("links/l", #"{"from":{"person":{"id":"b"}}}"#)
        #expect(wakes.taken() == 0)
        try device.put("links/l", #"{"from":{"person":{"id":"a"}}}"#)
        #expect(wakes.taken() == 1)
    }

    @Test func `tells who read by the server's number, or what names an entity, that it has one`()
        async throws
    {
        let device = try device()
        try device.put("links/l", #"{"kind":1,"from":{"person":{"id":"a"}}}"#)
        try device.put("links/m", #"{"kind":2,"from":{"person":{"id":"b"}}}"#)
        var ids = device.replica.observe { store in
            try store.get(Person.self, "13")?.id.rawValue
        }.makeAsyncIterator()
        #expect(try await ids.next() == .some(nil))
        let replica = device.replica
        let wakes = try Wakes(replica) { try $0.document(EntityKey("links", "l")) }
        let people = Wakes(replica, Interest(allIn: ["people"]))
        #expect(try await device.sync().isSynced)
        #expect(try await ids.next() == "a")
        #expect(wakes.taken() > 0 && people.taken() > 0)
    }

    @Test func `makes placeholders, and counts in what it names`() async throws {
        let device = try device()
        device.server.make("links", #"{"kind":1,"from":{"person":{"id":77}}}"#)
        try await device.sync()

        #expect(try device.status("people/77") == .placeholder)
        func tree(_ key: String) throws -> EntityStatus? {
            try device.replica.read { try $0.rolledUpStatus(of: device.key(key)) }
        }
        #expect(try tree("people/a") == .synced)
        try device.put(
            "links/l", #"{"from":{"person":{"id":"a"}},"to":{"person":{"id":"b"}},"both":false}"#)
        #expect(try tree("people/a") == .updated)
        #expect(try tree("people/b") == .synced)
        try device.patch("links/l", #"{"both":true}"#)
        #expect(try tree("people/b") == .updated)
        try device.verify()
    }

    @Test func `takes what names an entity along when that is deleted`() async throws {
        let device = try device()
        try device.put("links/l", #"{"kind":1,"from":{"person":{"id":"a"}}}"#)
        try device.put("links/m", #"{"kind":2,"to":{"person":{"id":"a"}}}"#)
        #expect(try await device.sync().isSynced)
        try device.delete("people/a")

        #expect(try device.document("links/l") == nil)
        #expect(try device.document("links/m") != nil)
        try device.verify()
    }

    @Test func `is settled by a list after an answer was lost`() async throws {
        let device = try device()
        #expect(try await device.sync().isSynced)
        try device.put("links/l", #"{"kind":1,"from":{"person":{"id":"a"}}}"#)
        try await device.sync(failing: "POST links", reaches: true, times: 1)
        #expect(try await device.sync().isSynced)

        #expect(device.server.ids("links").count == 1)
        #expect(try device.keys("links") == ["l"])
        try device.verify()
    }
}
