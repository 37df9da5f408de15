// MissingReferenceTests.swift — entities that are hidden while what they refer to can't be had.

import Testing
import TidemarkEvents
import TidemarkInspect
import TidemarkViews

@testable import ViewsSupport

@Suite struct `an entity whose reference leads nowhere` {
    private let store: ScratchStore

    private static let model: SyncModel = {
        var people = CollectionModel("people")
        people.placeholder = PlaceholderRule(refetch: RefetchRule(every: .hours(24)))
        var links = CollectionModel("links")
        links.references = [
            Reference("/from/id", to: "people", rollUp: .always, missing: .hides),
            Reference("/to/id", to: "people", placeholder: .always, missing: .hides),
        ]
        var notes = CollectionModel("notes")
        notes.references = [
            Reference("link", to: "links", missing: .hides),
            Reference("note", to: "notes", missing: .hides),
        ]
        return SyncModel(name: "links", collections: [people, links, notes])
    }()

    init() throws {
        store = try ScratchStore()
        try register(Self.model)
    }

    private func register(_ model: SyncModel) throws {
        try store.write(.registered(model))
    }

    private func says(_ key: String, _ text: String?) throws {
        try store.write(
            .about(text == nil ? .serverDeleted : .serverUpserted, key, text, revision: "1"))
    }

    /// The server has none of the people of these ids.
    private func none(_ ids: String...) throws {
        var page = PullPage()
        page.scope = PullPage.refetchScope
        page.ids = ids
        page.places = ids.map { _ in .absent }
        try store.write(
            Event(
                .pullPage, recordedAt: Timestamp(rawValue: 1), collection: "people",
                json: page.encoded))
    }

    private func page(_ collection: CollectionName, same ids: String...) throws {
        var page = PullPage()
        page.ids = ids
        page.places = ids.map { _ in .same }
        try store.write(
            Event(
                .pullPage, recordedAt: Timestamp(rawValue: 1), collection: collection,
                json: page.encoded))
    }

    private func issues() throws -> [String] {
        try store.journal.read { views in
            try views.issues().map { "\($0.kind) \($0.collection)/\($0.entity ?? "")" }
        }
    }

    private static let link = #"{"id":"l","from":{"id":"a"},"to":{"id":"b"}}"#

    @Test func `is seen once all is there, in whatever order that came`() throws {
        let all = [
            ("people/a", #"{"id":"a"}"#), ("people/b", #"{"id":"b"}"#), ("links/l", Self.link),
            ("notes/n", #"{"id":"n","link":"l"}"#),
        ]
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1], [1, 3, 0, 2], [2, 3, 1, 0]] {
            let fresh = try Self()
            for index in order {
                let (key, text) = all[index]
                try fresh.says(key, text)
                #expect(try fresh.store.differences().isEmpty)
            }

            #expect(try fresh.store.seen() == ["links/l", "notes/n", "people/a", "people/b"])
            #expect(try fresh.issues() == [], "\(order)")
        }
    }

    @Test func `is hidden and listed, with what refers to it, until it comes`() throws {
        try says("people/a", #"{"id":"a"}"#)
        try says("notes/n", #"{"id":"n","link":"l"}"#)
        try says("links/l", Self.link)

        #expect(try store.seen() == ["people/a"])
        #expect(try issues() == ["dangling notes/n", "dangling links/l"])

        try says("people/b", #"{"id":"b"}"#)
        #expect(try store.seen() == ["links/l", "notes/n", "people/a", "people/b"])
        #expect(try issues() == [])

        try says("people/a", nil)
        #expect(try store.seen() == ["people/b"])
        #expect(try issues() == ["dangling links/l", "dangling notes/n"])
    }

    @Test func `is hidden and seen again with ids that don't fit one key together`() throws {
        let person = String(repeating: "b", count: EntityKey.idBytesMax)
        func link(_ id: String) -> (key: String, text: String) {
            let id = String(repeating: id, count: 150)
            return (
                "links/\(id)", #"{"id":"\#(id)","from":{"id":"a"},"to":{"id":"\#(person)"}}"#
            )
        }
        let (l, m, n) = (link("l"), link("m"), link("n"))
        try says("people/a", #"{"id":"a"}"#)
        try says(l.key, l.text)
        // One commit, as a page is.
        try store.write(
            .about(.serverUpserted, m.key, m.text), .about(.serverUpserted, n.key, n.text))
        #expect(try store.seen() == ["people/a"])
        #expect(try issues() == [l, m, n].map { "dangling \($0.key)" })

        try says("people/\(person)", #"{"id":"\#(person)"}"#)
        #expect(try store.seen() == [l.key, m.key, n.key, "people/a", "people/\(person)"])
        #expect(try issues() == [])
        #expect(try !store.rows().contains { $0.key.bytes.first == UInt8(ascii: "D") })

        try says("people/\(person)", nil)
        #expect(try store.seen() == ["people/a"])
        try store.write(
            .about(.serverUpserted, "people/\(person)", #"{"id":"\#(person)"}"#, revision: "2"),
            .about(.serverDeleted, "people/\(person)", revision: "3"),
            .about(.serverUpserted, "people/\(person)", #"{"id":"\#(person)"}"#, revision: "4"))
        #expect(try store.seen() == [l.key, m.key, n.key, "people/a", "people/\(person)"])
        #expect(try issues() == [])
    }

    @Test func `is seen while a placeholder stands in, until the server has none`() throws {
        try says("people/a", #"{"id":"a"}"#)
        // One commit, as a page is.
        try store.write(
            .about(.serverUpserted, "people/b", #"{"id":"b"}"#),
            .about(.serverDeleted, "people/b"))
        try says("links/l", Self.link)
        #expect(try issues() == ["dangling links/l"])

        try says("links/m", #"{"id":"m","from":{"id":"a"},"to":{"id":"c"}}"#)
        #expect(try issues().count == 2)
        try page("links", same: "m")
        #expect(try store.seen().contains("links/m"))
        #expect(try issues() == ["dangling links/l"])

        try none("c")
        #expect(try !store.seen().contains("links/m"))
        #expect(try issues() == ["dangling links/l", "dangling links/m"])

        try says("people/c", #"{"id":"c"}"#)
        #expect(try store.seen() == ["links/m", "people/a", "people/c"])
    }

    private static let now = Timestamp(milliseconds: 1_795_000_000_000)

    private func cleansUp() throws {
        try store.write(
            Event(
                .timerFired, recordedAt: Timestamp(rawValue: 1),
                json: TimerFired(.cleanUp, now: Self.now).encoded))
    }

    @Test func `is seen where the other one is here no more for its age alone`() throws {
        var model = Self.model
        model.collections[0].placeholder = nil
        model.collections[0].retention = RetentionRule(field: "at", ageMax: .days(30))
        model.collections[1].references[1].placeholder = nil
        try register(model)
        let past = Self.now.adding(seconds: -60 * 86_400)
        for id in ["a", "b"] { try says("people/\(id)", #"{"id":"\#(id)","at":"\#(past)"}"#) }
        try says("links/l", Self.link)

        try cleansUp()
        #expect(try store.seen() == ["links/l"])
        try says("notes/n", #"{"id":"n","link":"l"}"#)
        try says("links/m", #"{"id":"m","from":{"id":"a"},"to":{"id":"b"}}"#)
        #expect(try store.seen() == ["links/l", "links/m", "notes/n"])
        #expect(try issues() == [])

        try says("people/b", nil)
        #expect(try store.seen() == [])
        #expect(try store.differences().isEmpty)
    }

    @Test func `is pruned by its age like any other, and its issue goes`() throws {
        var model = Self.model
        model.collections[2].retention = RetentionRule(field: "at", ageMax: .days(30))
        try register(model)
        let past = Self.now.adding(seconds: -60 * 86_400)
        try says("notes/m", #"{"id":"m","link":"gone"}"#)
        try says("notes/n", #"{"id":"n","link":"gone","at":"\#(past)"}"#)
        #expect(try issues() == ["dangling notes/m", "dangling notes/n"])

        try cleansUp()
        #expect(try store.seen() == [])
        #expect(try issues() == ["dangling notes/m"])
        let row = try store.entity(EntityKey("notes", "n"))
        #expect(row?.prunedDigest.isEmpty == false && row?.isHidden == false)
        let decisions = try store.journal.read { views in
            var found: [String] = []
            try views.forEachDecision { _, row in
                if row.key.id == "n" { found.append("\(row.rule) \(row.result)") }
                return true
            }
            return found
        }
        #expect(decisions == ["missing hidden", "retention pruned"])

        try says("links/gone", #"{"id":"gone"}"#)
        #expect(try store.seen() == ["links/gone", "notes/m"])
    }

    @Test func `is hidden for want of what was pruned out of reach, as long as access may hide it`()
        throws
    {
        var model = Self.model
        model.collections[0].placeholder = nil
        model.collections[1].references[1].placeholder = nil
        func register(hidesAbsent: Bool) throws {
            model.collections[0].access.hidesAbsent = hidesAbsent
            try self.register(model)
        }
        try register(hidesAbsent: true)
        for id in ["a", "b"] { try says("people/\(id)", #"{"id":"\#(id)"}"#) }
        let list = #"{"scope":"","complete":true,"full":true,"hidden":["b"]}"#
        try store.write(
            Event(
                .pullCompleted, recordedAt: Timestamp(rawValue: 1), collection: "people",
                json: Array(list.utf8)))
        try cleansUp()
        let row = try store.entity(EntityKey("people", "b"))
        #expect(row?.baseState == .absent && row?.prunedDigest.isEmpty == false)

        try says("links/l", Self.link)
        #expect(try store.seen() == ["people/a"])
        #expect(try issues() == ["dangling links/l"])

        try register(hidesAbsent: false)
        #expect(try store.seen() == ["links/l", "people/a"])
        #expect(try issues() == [])

        try register(hidesAbsent: true)
        #expect(try store.seen() == ["people/a"])
        #expect(try issues() == ["dangling links/l"])
    }

    @Test(arguments: ["l", String(repeating: "l", count: EntityKey.idBytesMax)])
    func `stays hidden with what it waits for, however old that is`(link: String) throws {
        var model = Self.model
        model.collections[1].retention = RetentionRule(field: "at", ageMax: .days(30))
        model.collections[2].retention = RetentionRule(field: "at", ageMax: .days(30))
        try register(model)
        let past = Self.now.adding(seconds: -60 * 86_400)
        let note = String(repeating: "n", count: 150)
        try says("links/\(link)", #"{"id":"\#(link)","from":{"id":"gone"},"at":"\#(past)"}"#)
        try says("notes/\(note)", #"{"id":"\#(note)","link":"\#(link)"}"#)

        try cleansUp()
        #expect(try store.seen() == [])
        #expect(try issues() == ["dangling links/\(link)", "dangling notes/\(note)"])

        try says("notes/\(note)", #"{"id":"\#(note)","link":"\#(link)","at":"\#(past)"}"#)
        try cleansUp()
        #expect(try issues() == ["dangling links/\(link)"])
        try cleansUp()
        #expect(try store.seen() == [])
        #expect(try issues() == [])
    }

    @Test func `is hidden where a new model has no placeholder stand in any more`() throws {
        try says("people/a", #"{"id":"a"}"#)
        try says("links/l", Self.link)
        try page("links", same: "l")
        #expect(try store.seen().contains("links/l"))

        var model = Self.model
        model.collections[0].placeholder = nil
        model.collections[1].references[1].placeholder = nil
        try register(model)
        #expect(try store.seen() == ["people/a"])
        #expect(try issues() == ["dangling links/l"])
    }

    @Test func `is never hidden while anything is pending on it`() throws {
        try says("people/a", #"{"id":"a"}"#)
        try says("people/b", #"{"id":"b"}"#)
        try says("links/l", Self.link)
        try store.write(.about(.localUpdated, "links/l", #"{"set":{"name":"x"}}"#))

        try says("people/b", nil)
        #expect(try store.seen() == ["links/l", "people/a"])

        try store.write(.about(.localDiscarded, "links/l"))
        #expect(try store.seen() == ["people/a"])
        #expect(try issues() == ["dangling links/l"])
    }

    @Test func `does not wait for one that refers back`() throws {
        try says("people/a", #"{"id":"a"}"#)
        try says("people/b", #"{"id":"b"}"#)
        try says("links/l", Self.link)
        try says("notes/n", #"{"id":"n","link":"l","note":"m"}"#)
        #expect(try issues() == ["dangling notes/n"])

        try says("notes/m", #"{"id":"m","link":"l","note":"n"}"#)
        #expect(try issues() == [])
        #expect(try store.seen().contains("notes/n") && store.seen().contains("notes/m"))
    }

    @Test func `counts nowhere while it is hidden, and again when it is seen`() throws {
        try says("people/a", #"{"id":"a"}"#)
        try says("people/b", #"{"id":"b"}"#)
        try says("links/l", Self.link)
        let person = EntityKey("people", "a")
        try store.write(.about(.localUpdated, "links/l", #"{"set":{"name":"x"}}"#))
        try says("people/b", nil)
        func rolledUp() throws -> EntityStatus? {
            try store.journal.read { try $0.rolledUpStatus(of: person) }
        }
        #expect(try rolledUp() == .updated)

        try store.write(.about(.localDiscarded, "links/l"))
        #expect(try rolledUp() == .synced)
        #expect(try store.differences().isEmpty)
    }

    @Test func `is seen again when the model has no such rule any more, and hidden when it has`()
        throws
    {
        try says("people/a", #"{"id":"a"}"#)
        try says("links/l", Self.link)
        #expect(try store.seen() == ["people/a"])

        var other = Self.model
        other.collections[1].references[1].missing = .keeps
        try register(other)
        #expect(try store.seen() == ["links/l", "people/a"])
        #expect(try issues() == [])

        try register(Self.model)
        #expect(try store.seen() == ["people/a"])
        #expect(try issues() == ["dangling links/l"])
    }

    @Test func `is hidden for want of what a new model has it refer to, and of nothing else`()
        throws
    {
        let store = try ScratchStore()
        func register(to target: CollectionName) throws {
            var tasks = CollectionModel("tasks")
            tasks.references = [Reference("p", to: target, missing: .hides)]
            let all = [CollectionModel("one"), CollectionModel("two"), tasks]
            try store.write(.registered(SyncModel(name: "tasks", collections: all)))
        }
        try register(to: "one")
        for (key, text) in [
            ("one/a", #"{"id":"a"}"#), ("two/b", #"{"id":"b"}"#),
            ("tasks/a", #"{"id":"a","p":"a"}"#), ("tasks/b", #"{"id":"b","p":"b"}"#),
        ] {
            try store.write(.about(.serverUpserted, key, text, revision: "1"))
        }
        #expect(try store.seen() == ["one/a", "tasks/a", "two/b"])

        try register(to: "two")
        #expect(try store.seen() == ["one/a", "tasks/b", "two/b"])
        let issues = try store.journal.read { try $0.issues() }
        #expect(issues.map(\.entity) == ["a"])
        #expect(issues.first?.message == "it names two/a in p, which can't be had")
    }

    @Test func `is seen with what it waits for where one new model hides and shows`() throws {
        let store = try ScratchStore()
        func register(hiding names: Set<CollectionName>) throws {
            let references: [(name: CollectionName, targets: [CollectionName])] = [
                ("d", []), ("c", ["d"]), ("b", ["c"]), ("a", ["c", "b"]),
            ]
            var collections: [CollectionModel] = []
            for (name, targets) in references {
                var collection = CollectionModel(name)
                collection.references = targets.map { target in
                    var reference = Reference(target.rawValue, to: target)
                    if names.contains(name) { reference.missing = .hides }
                    return reference
                }
                collections.append(collection)
            }
            try store.write(.registered(SyncModel(name: "chain", collections: collections)))
        }
        try register(hiding: ["c"])
        for (key, text) in [
            ("c/1", #"{"id":"1","d":"1"}"#), ("b/1", #"{"id":"1","c":"1"}"#),
            ("a/1", #"{"id":"1","c":"1","b":"1"}"#),
        ] {
            try store.write(.about(.serverUpserted, key, text, revision: "1"))
        }
        #expect(try store.seen() == ["a/1", "b/1"])

        // Until c/1 is shown, a/1 and b/1 wait for it, and then a/1 for b/1.
        try register(hiding: ["a", "b"])
        #expect(try store.seen() == ["a/1", "b/1", "c/1"])
        #expect(try !store.rows().contains { $0.key.bytes.first == UInt8(ascii: "D") })

        try register(hiding: ["a", "b", "c"])
        #expect(try store.seen() == [])
    }

    @Test func `goes with a wipe, and leaves nothing behind`() throws {
        try says("people/a", #"{"id":"a"}"#)
        try says("links/l", Self.link)
        try store.write(.wiped())

        #expect(try store.seen() == [])
        #expect(try issues() == [])
        #expect(try !store.rows().contains { $0.key.bytes.starts(with: Array("D".utf8)) })
    }

    @Test(arguments: [#"{"id":"n","link":"l"}"#, #"{"id":"n","link":["l"]}"#])
    func `that a wipe left as it was is settled by what it refers to alone`(note: String) throws {
        try says("links/l", #"{"id":"l"}"#)
        try says("notes/n", note)
        try store.write(.wiped(keeping: ["notes"]))
        #expect(try store.seen() == ["notes/n"])

        try says("links/other", #"{"id":"other"}"#)
        try says("links/other", nil)

        #expect(try store.seen() == ["notes/n"])
        #expect(try store.differences().isEmpty)

        try says("links/l", nil)

        #expect(try store.seen() == [])
        #expect(try store.differences().isEmpty)
    }

    @Test func `can't be hidden by two rules`() throws {
        var model = Self.model
        model.collections[1].access.hidesAbsent = true
        #expect {
            try ModelRegistration(parsing: ModelRegistration(model: model).encoded)
        } throws: {
            "\($0)".contains("its entities are hidden by their access; leave missing out of")
        }
    }
}
