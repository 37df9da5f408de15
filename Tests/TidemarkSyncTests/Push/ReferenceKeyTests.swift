// ReferenceKeyTests.swift — what a server calls by its numbers is read by the keys that entities
// keep here, on every path, and an equal reference is no edit.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

private struct Project: Entity, Equatable {
    static let collection: CollectionName = "projects"
    let id: Tidemark.ID<Project>
    var name: String
}

private struct Tag: Entity, Equatable {
    static let collection: CollectionName = "tags"
    let id: Tidemark.ID<Tag>
    var name: String
}

private struct Entry: Entity, Equatable {
    static let collection: CollectionName = "entries"
    static let fields: FieldNames<Entry> = [\.project: "project", \.what: "what"]
    let id: Tidemark.ID<Entry>
    var project: Tidemark.ID<Project>?
    var tags: [Tidemark.ID<Tag>]?
    var what: String
}

@Suite(.serialized) struct `a reference by a server's number` {
    private let project = Tidemark.ID<Project>("p")
    private let entry = Tidemark.ID<Entry>("e")

    /// A device on which a project, a tag and an entry were made, and pushed: the entry refers to
    /// the others by the server's numbers.
    private func pushed(
        _ body: (NumberedDevice, Replica) async throws -> Void
    ) async throws {
        let device = try NumberedDevice()
        try device.replica.writing { tx in
            try tx.create(Project(id: project, name: "house"))
            try tx.create(Tag(id: "t", name: "urgent"))
            try tx.create(Entry(id: entry, project: project, tags: ["t"], what: "paint"))
        }
        #expect(try await device.sync().isSynced)
        #expect(
            try device.document("entries/e")
                == #"{"project":\#(try device.serverID("projects/p")),"#
                + #""tags":[\#(try device.serverID("tags/t"))],"what":"paint"}"#)
        try await body(device, device.replica)
        try device.verify()
    }

    @Test func `equals the id that it refers to, in reads and in writes`() async throws {
        try await pushed { device, replica in
            let expected = Entry(id: entry, project: project, tags: ["t"], what: "paint")
            func check(_ store: some EntityReading) throws {
                #expect(try store.get(Entry.self, entry) == expected)
                #expect(try store.all(Entry.self) == [expected])
                #expect(try store.all(Entry.where(\.project == project)) == [expected])
                #expect(try store.referrers(of: project, \Entry.project) == [expected])
                let number = Tidemark.ID<Project>(try device.serverID("projects/p"))
                #expect(try store.all(Entry.where(\.project == number)) == [expected])
                #expect(try store.get(expected.project)?.name == "house")
            }
            try replica.read { store in
                try check(store)
                #expect(try store.row(Entry.self, entry)?.entity == expected)
                #expect(try store.rows(Entry.all).map(\.entity) == [expected])
                #expect(try store.decodable(Entry.self) == [expected])
                let plan = try store.explain(Entry.where(\.project == project))
                #expect(plan.missingIndex == nil)
            }
            try replica.writing { tx in try check(tx) }
            var observed = replica.observe(Entry.all).makeAsyncIterator()
            #expect(try await observed.next() == [expected])
            var one = replica.observe(Entry.self, entry).makeAsyncIterator()
            #expect(try await one.next() == expected)
            var rows = replica.observe(rows: Entry.all).makeAsyncIterator()
            #expect(try await rows.next()?.map(\.entity) == [expected])
        }
    }

    @Test func `assigned again is no edit, by whichever id`() async throws {
        try await pushed { device, replica in
            let before = try replica.position
            let number = try device.serverID("projects/p")
            let tag = try device.serverID("tags/t")

            try replica.writing { tx in
                try tx.update(Entry.self, entry) { $0.project = project }
                try tx.update(Entry.self, entry) { $0.project = Tidemark.ID(number) }
                try tx.update(Entry.self, entry) { $0.tags = [Tidemark.ID(tag)] }
                try tx.save(Entry(id: entry, project: project, tags: ["t"], what: "paint"))
                let key = Entry.key(entry)
                #expect(
                    try tx.patch(
                        key,
                        Patch(settingAllOf: JSONDocument(parsing: Array(#"{"project":"p"}"#.utf8))))
                        == nil)
                let text = #"{"project":"p","tags":["t"],"what":"paint"}"#
                #expect(try tx.put(key, Array(text.utf8)) == nil)
            }

            #expect(try replica.position == before)
        }
    }

    @Test func `is sent as the server's number when another field is edited, or it is another`()
        async throws
    {
        try await pushed { device, replica in
            try replica.writing { tx in
                try tx.create(Project(id: "q", name: "garden"))
                try tx.update(Entry.self, entry) {
                    $0.project = "q"
                    $0.tags?.append("t")
                    $0.what = "dig"
                }
            }
            #expect(try await device.sync().isSynced)

            let (project, tag) = (
                try device.serverID("projects/q"), try device.serverID("tags/t")
            )
            let stored = try #require(
                device.server.document("entries/\(try device.serverID("entries/e"))"))
            #expect(stored == #"{"project":\#(project),"tags":[\#(tag),\#(tag)],"what":"dig"}"#)
            #expect(try device.document("entries/e") == stored)
            let entity = try replica.read { try $0.get(Entry.self, entry) }
            #expect(entity?.project == "q" && entity?.tags == ["t", "t"])
        }
    }

    @Test func `may be a text longer than any key, which is read, edited and sent like another`()
        async throws
    {
        let long = Tidemark.ID<Project>(String(repeating: "x", count: 600))
        try await pushed { device, replica in
            let made = Entry(id: "f", project: long, tags: [], what: "dig")
            try replica.writing { tx in try tx.create(made) }
            try replica.read { store in
                let all = try store.all(Entry.self)
                let found = try store.all(Entry.where(\.project == long))
                let (entry, project) = (try store.get(Entry.self, "f"), try store.get(long))
                #expect(entry == made && found == [made])
                #expect(all.count == 2 && project == nil)
            }
            try replica.writing { tx in
                try tx.update(Entry.self, "f") { $0.what = "rest" }
                try tx.update(Entry.self, entry) { $0.what = "mow" }
            }
            #expect(try await device.sync().isSynced)

            let stored = device.server.document("entries/\(try device.serverID("entries/f"))")
            #expect(stored == #"{"project":"\#(long.rawValue)","tags":[],"what":"rest"}"#)
            #expect(try device.document("entries/f") == stored)
            try replica.writing { tx in
                try tx.update(Entry.self, "f") { $0.project = project }
            }
            #expect(try await device.sync().isSynced)
            let mended = try replica.read { try $0.get(Entry.self, "f") }
            #expect(mended?.project == project && mended?.what == "rest")
        }
    }

    @Test func `is heard of by who observes when the number turns out to be one's own`()
        async throws
    {
        let device = try NumberedDevice()
        let (replica, now) = (device.replica, device.clock.now)
        try replica.writing { tx in try tx.create(Project(id: project, name: "house")) }
        let made = try replica.position
        try replica.appending { draft in
            try draft.append(
                Event(
                    .serverUpserted, recordedAt: now, key: EntityKey("entries", "50"),
                    json: Array(#"{"id":50,"project":13,"what":"paint"}"#.utf8)))
        }
        var observed = replica.observe(Entry.all).makeAsyncIterator()
        #expect(try await observed.next()?.map(\.project) == ["13"])

        try replica.appending { draft in
            let key = Project.key(project)
            let call = try draft.append(
                Event(
                    .requestSent, recordedAt: now, key: key, mutation: made,
                    json: Array("{}".utf8)))
            try draft.append(
                Event(
                    .pushAccepted, recordedAt: now, key: key, mutation: made, call: call,
                    json: Array(#"{"serverID":"13"}"#.utf8)))
        }

        #expect(try await observed.next()?.map(\.project) == [project])
        try device.verify()
    }
}

extension Replica {
    /// Writes while the thread waits, also in what is async itself.
    fileprivate func writing<R: Sendable>(
        _ body: sending (WriteContext) throws -> R
    ) throws -> R {
        try write(body)
    }

    /// Appends what a sync run would.
    fileprivate func appending(_ body: (Draft) throws -> Void) throws {
        try journal.write(at: dependencies.now(), body)
    }
}
