// QueryElementTests.swift — queries for what is in lists and sets: the entries of a tag.

import Foundation
import Testing
import Tidemark
import TidemarkEvents
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

private struct Tag: Entity {
    static let collection: CollectionName = "tags"
    let id: Tidemark.ID<Tag>
    var name = ""
}

private struct Entry: Entity {
    static let collection: CollectionName = "entries"
    static let fields: FieldNames<Entry> = [
        \.tags: "tags", \.more: "more", \.labels: "labels", \.counts: "counts", \.times: "times",
    ]
    let id: Tidemark.ID<Entry>
    var tags: [Tidemark.ID<Tag>] = []
    var more: [Tidemark.ID<Tag>]?
    var labels: Set<String>?
    var counts: [Int?]?
    var times: [Date]?
}

@Suite struct `a query for elements` {
    private static let model = SyncModel(
        name: "m",
        collections: [
            CollectionModel("tags"),
            CollectionModel("entries", references: [Reference("tags", to: "tags")]),
        ])

    private func withEntries(_ entries: [String: String], _ body: (Replica) throws -> Void) throws {
        try withReplica(Self.model) { replica throws in
            try replica.write { tx in
                for (id, json) in entries {
                    try tx.create(EntityKey("entries", id), Array(json.utf8))
                }
            }
            try body(replica)
        }
    }

    /// The ids of a query's entries, of which none is decoded.
    private func found(_ replica: Replica, _ query: EntityQuery<Entry>) throws -> String {
        try replica.read { context in
            var ids: [String] = []
            try context.views.forEachFound(try context.documentQuery(query)) { found in
                ids.append(found.key.id)
                return true
            }
            return ids.joined(separator: " ")
        }
    }

    @Test func `finds ids that are texts or numbers, however they are written`() throws {
        let entries = [
            "a": #"{"tags":["t","u"],"more":["u"]}"#, "b": #"{"tags":[ 42 , "t" ]}"#,
            "c": #"{"tags":[]}"#, "d": "{}", "e": #"{"tags":"t","more":null}"#,
            "f": #"{"tags":["42"," t","\u0074"]}"#, "g": #"{"tags":[["t"],null,{"t":"t"}]}"#,
        ]
        try withEntries(entries) { replica throws in
            #expect(try found(replica, Entry.where(.contains(\.tags, "t"))) == "a b f")
            #expect(try found(replica, Entry.where(.contains(\.tags, "42"))) == "b f")
            #expect(try found(replica, Entry.where(.contains(\.tags, "u"))) == "a")
            #expect(try found(replica, Entry.where(.contains(\.more, "u"))) == "a")
            #expect(try found(replica, Entry.where(.contains(\.tags, "x"))) == "")
            #expect(try found(replica, Entry.where(!.contains(\.tags, "t"))) == "c d e g")
            let both = Entry.where(.contains(\.tags, "t")).where(.contains(\.tags, "42"))
            #expect(try found(replica, both) == "b f")
            #expect(try replica.write { try $0.count(both) } == 2)
        }
    }

    @Test func `finds texts, numbers, times and null in lists and sets`() throws {
        let entries = [
            "a": #"{"labels":["x","y"],"counts":[1.0,null],"times":["1970-01-01T01:00:00+01:00"]}"#,
            "b": #"{"labels":["X"],"counts":["1",2],"times":["1970-01-01T00:00:01Z"]}"#,
        ]
        try withEntries(entries) { replica throws in
            #expect(try found(replica, Entry.where(.contains(\.labels, "x"))) == "a")
            #expect(try found(replica, Entry.where(.contains(\.counts, 1))) == "a")
            #expect(try found(replica, Entry.where(.contains(\.counts, 2))) == "b")
            #expect(try found(replica, Entry.where(.contains(\.counts, nil))) == "a")
            #expect(try found(replica, Entry.where(.contains(\.times, date(0)))) == "a")
        }
    }

    @Test func `reads the documents, and says so`() throws {
        try withEntries([:]) { replica throws in
            let query = Entry.where(.contains(\.tags, "t")).limit(3)
            let explained = try replica.read { try $0.explain(query) }
            #expect(explained.description == "scan of entries; checked: tags contains \"t\"")
            #expect(explained.missingIndex == nil)
        }
    }

    @Test func `finds who refers to an entity by any of its ids, and tells of it`() async throws {
        let (tag, key) = (Tag(id: "t"), EntityKey("tags", "t"))
        let replica = try Replica.temporary(
            model: Self.model, dependencies: .seeded(0, clock: ManualClock()))
        defer { try? replica.deleteTemporary() }
        try await replica.write { tx in
            try tx.create(tag)
            try tx.create(Entry(id: "a", tags: [tag.id], more: [tag.id]))
            try tx.create(EntityKey("entries", "b"), Array(#"{"tags":["x",7]}"#.utf8))
        }
        let created = try #require(try replica.read { try $0.outbox().first?.position })
        var tagged = replica.observe(Entry.where(.contains(\.tags, tag.id))).makeAsyncIterator()
        #expect(try await tagged.next()?.map(\.id.rawValue) == ["a"])

        _ = try await replica.journal.write(at: Timestamp(rawValue: 1)) { draft in
            let call = try draft.append(
                Event(.requestSent, recordedAt: draft.now, key: key, mutation: created))
            return try draft.append(
                Event(
                    .pushAccepted, recordedAt: draft.now, key: key, mutation: created, call: call,
                    json: Array(#"{"serverID":"7"}"#.utf8)))
        }
        #expect(try await tagged.next()?.map(\.id.rawValue) == ["a", "b"])
        func referrers(_ store: some EntityReading, _ id: String) throws -> [String] {
            try store.referrers(of: Tidemark.ID<Tag>(id), \Entry.tags).map(\.id.rawValue)
        }
        for id in ["t", "7"] {
            #expect(try replica.read { try referrers($0, id) } == ["a", "b"])
        }
        let inWrite = try await replica.write { tx in
            try tx.referrers(of: tag.id, \Entry.tags).count
        }
        #expect(inWrite == 2)
        let more = try replica.read { try $0.referrers(of: tag.id, \Entry.more) }
        #expect(more.map(\.id.rawValue) == ["a"])
    }
}
