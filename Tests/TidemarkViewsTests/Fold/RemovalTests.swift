// RemovalTests.swift — entities that the server deletes go out of what refers to them.

import Testing
import TidemarkEvents
import TidemarkInspect
import TidemarkViews

@testable import ViewsSupport

@Suite struct `what refers to a deleted entity` {
    let store: ScratchStore
    private static let entry = EntityKey("entries", "1")

    init() throws {
        store = try ScratchStore()
        try store.write(Self.model())
        try store.write(
            .about(.serverUpserted, "tags/6", #"{"id":6,"name":"deep"}"#),
            .about(.serverUpserted, "tags/7", #"{"id":7,"name":"slow"}"#),
            .about(.serverUpserted, "entries/1", Self.word))
    }

    /// The server's word on an entry: event 4.
    private static let word =
        #"{ "id":1,"at":"a","tag_ids":[6, 7],"tags":["deep","slow"],"boss":6,"n":1.0 }"#

    private static func model(_ rule: RemovalRule? = RemovalRule(names: "tags")) -> Event {
        let tags = CollectionModel("tags", ids: .serverNumber)
        var entries = CollectionModel("entries", lastChangeField: "at", ids: .serverNumber)
        entries.references = [
            Reference("tag_ids", to: "tags", removal: rule), Reference("boss", to: "tags"),
        ]
        entries.indexes = [["tag_ids"]]
        return .registered(SyncModel(name: "m", collections: [tags, entries]))
    }

    private func seen(_ key: EntityKey = entry) throws -> JSONValue? {
        try store.entity(key)?.document.map { try JSONValue(parsing: $0) }
    }

    private func pending() throws -> [String] {
        try store.entity(Self.entry)?.pending.map { text($0.payload) ?? "" } ?? []
    }

    private func decisions() throws -> [String] {
        try store.journal.read { try $0.decisions(about: [Self.entry]) }.map { placed in
            let inputs = placed.row.inputs.map(\.description).joined(separator: " ")
            return "\(placed.position) \(placed.row.words) by \(inputs)"
        }
    }

    private func check() throws {
        #expect(try store.differences() == [])
        #expect(try store.indexDifferences() == [])
    }

    @Test func `names it no more, by id and by name, and all else stays`() throws {
        try store.write(.about(.serverDeleted, "tags/6", #"{"id":6,"deleted_at":"b"}"#))

        #expect(
            text(try store.entity(Self.entry)?.base)
                == #"{"id":1,"at":"a","tag_ids":[7],"tags":["slow"],"boss":6,"n":1.0}"#)
        #expect(try store.entity(Self.entry)?.pending == [])
        #expect(
            try decisions() == ["@5 removal/1: removed on tag_ids, tags by @5"])
        try check()
    }

    @Test func `has a name taken out also where only the last word tells it`() throws {
        try store.write(
            .about(.localUpdated, "tags/6", #"{"set":{"x":1},"unset":[]}"#),
            .about(.serverDeleted, "tags/6", #"{"id":6,"name":"deep"}"#))

        #expect(try seen()?["tags"] == ["slow"])
        try check()
    }

    @Test func `keeps a name where no id stands, as it may be another's`() throws {
        let other = EntityKey("entries", "2")
        try store.write(
            .about(.serverUpserted, "tags/1234567", #"{"id":1234567,"name":"deep"}"#),
            // What looks like its id stands in another field.
            .about(
                .serverUpserted, "entries/2", #"{"n":1234567,"tag_ids":[],"tags":["deep"]}"#),
            .about(.localUpdated, "entries/1", #"{"set":{"tags":["deep"]},"unset":[]}"#))
        try store.write(.about(.serverDeleted, "tags/1234567", #"{"id":1234567}"#))

        #expect(try pending() == [#"{"set":{"tags":["deep"]},"unset":[]}"#])
        #expect(try seen(other)?["tags"] == ["deep"])
        try check()
    }

    @Test func `has its name taken out of an edit where the server's word has its id`() throws {
        let edit = #"{"set":{"tags":["deep","new"]},"unset":[]}"#
        try store.write(.about(.localUpdated, "entries/1", edit))
        try store.write(.about(.serverDeleted, "tags/6", #"{"id":6}"#))

        #expect(try pending() == [#"{"set":{"tags":["new"]},"unset":[]}"#])
        try check()
    }

    @Test func `keeps a name in an edit that names another one by its id`() throws {
        let edit = #"{"set":{"tag_ids":[8],"tags":["deep"]},"unset":[]}"#
        try store.write(.about(.localUpdated, "entries/1", edit))
        try store.write(.about(.serverDeleted, "tags/6", #"{"id":6}"#))

        #expect(try pending() == [edit])
        #expect(
            text(try store.entity(Self.entry)?.base)
                == #"{"id":1,"at":"a","tag_ids":[7],"tags":["slow"],"boss":6,"n":1.0}"#)
        try check()
    }

    @Test func `has an id taken out that the server writes with escapes`() throws {
        let other = EntityKey("entries", "2")
        try store.write(
            .about(.serverUpserted, "tags/th\u{E9}", #"{"id":"thé","name":"tea"}"#),
            .about(
                .serverUpserted, "entries/2", #"{"tag_ids":["th\u00e9"],"tags":["tea"]}"#))
        try store.write(.about(.serverDeleted, "tags/th\u{E9}", #"{"id":"thé"}"#))

        #expect(try seen(other)?["tag_ids"] == [])
        #expect(try seen(other)?["tags"] == [])
        try check()
    }

    @Test func `keeps it where the model says nothing, and where another was deleted`() throws {
        try store.write(.about(.serverDeleted, "tags/9", #"{"id":9,"name":"deep"}"#))
        #expect(text(try store.entity(Self.entry)?.base) == Self.word)

        try store.write(Self.model(nil))
        try store.write(.about(.serverDeleted, "tags/6", #"{"id":6}"#))

        #expect(text(try store.entity(Self.entry)?.base) == Self.word)
        #expect(try decisions() == [])
        try check()
    }

    @Test func `keeps names where the rule has none`() throws {
        try store.write(Self.model(RemovalRule()))
        try store.write(.about(.serverDeleted, "tags/6", #"{"id":6}"#))

        #expect(try seen()?["tag_ids"] == [7])
        #expect(try seen()?["tags"] == ["deep", "slow"])
        try check()
    }

    @Test func `has edits that wait changed, too, and what was made here`() throws {
        try store.write(
            .about(
                .localUpdated, "entries/1",
                #"{"set":{"tag_ids":[7,6],"tags":["slow","deep"],"n":2},"unset":[]}"#),
            .about(.localCreated, "entries/e", #"{"tag_ids":["6"],"n":3}"#))

        try store.write(.about(.serverDeleted, "tags/6", #"{"id":6}"#))

        #expect(
            try pending() == [#"{"set":{"tag_ids":[7],"tags":["slow"],"n":2},"unset":[]}"#])
        #expect(try seen()?["tag_ids"] == [7])
        #expect(try seen(EntityKey("entries", "e")) == ["tag_ids": [], "n": 3])
        try check()
    }

    @Test func `has later edits changed that name it all the same`() throws {
        try store.write(.about(.serverDeleted, "tags/6", #"{"id":6}"#))
        try store.write(
            .about(.localUpdated, "entries/1", #"{"set":{"tag_ids":[6,7]},"unset":[]}"#))

        #expect(try pending() == [#"{"set":{"tag_ids":[7]},"unset":[]}"#])
        #expect(
            try decisions() == [
                "@5 removal/1: removed on tag_ids, tags by @5",
                "@6 removal/1: removed on tag_ids by @6 @5",
            ])
        try check()
    }

    @Test func `names what has only been made anew`() throws {
        try store.write(.about(.serverDeleted, "tags/6", #"{"id":6}"#))
        try store.write(
            .about(.serverUpserted, "tags/6", #"{"id":6,"name":"deep"}"#),
            .about(.localUpdated, "entries/1", #"{"set":{"tag_ids":[6]},"unset":[]}"#))

        #expect(try pending() == [#"{"set":{"tag_ids":[6]},"unset":[]}"#])
        try check()
    }

    @Test func `stays as it is for a deletion that is older than what is known`() throws {
        try store.write(.about(.serverUpserted, "tags/6", #"{"id":6}"#, asOf: 4))
        try store.write(.about(.serverDeleted, "tags/6", #"{"id":6}"#, asOf: 2))

        #expect(text(try store.entity(Self.entry)?.base) == Self.word)
        try check()
    }

    @Test func `has an edit that may have arrived changed as the server has it`() throws {
        try store.write(
            .about(.localUpdated, "entries/1", #"{"set":{"tag_ids":[6]},"unset":[]}"#),
            .about(.requestSent, "entries/1", "{}", mutation: 5),
            .about(.serverDeleted, "tags/6", #"{"id":6}"#))
        #expect(try store.entity(Self.entry)?.attempt != nil)

        try store.write(
            .about(.requestFailed, "entries/1", #"{"mayHaveArrived":true}"#, call: 6),
            .about(.serverUpserted, "entries/1", #"{"id":1,"at":"b","tag_ids":[]}"#, asOf: 8))

        #expect(try store.entity(Self.entry)?.pending == [])
        #expect(try store.mutation(5)?.outcome == .accepted)
        try check()
    }

    @Test func `tells why of itself`() throws {
        try store.write(.about(.serverDeleted, "tags/6", #"{"id":6}"#))

        let lines = try store.journal.read { views in
            try EntityExplanation(EntityTarget(Self.entry), views)?.lines ?? []
        }

        #expect(lines.contains { $0.contains("removal/1: removed on tag_ids, tags") }, "\(lines)")
    }

    @Test func `is decided in one order, live and as the log is folded anew`() throws {
        try store.write(.about(.serverUpserted, "entries/9", #"{"id":9,"tag_ids":[6]}"#))
        try store.write(.about(.serverUpserted, "entries/10", #"{"id":10,"tag_ids":[6]}"#))
        try store.write(.about(.serverDeleted, "tags/6", #"{"id":6}"#))
        let rows = try store.rows()

        try store.journal.rebuild()

        #expect(try store.rows() == rows)
        try check()
    }

    @Test func `is told as changed by the rule, at the deletion`() throws {
        try store.write(.about(.serverDeleted, "tags/6", #"{"id":6}"#))

        let blames = try store.journal.blame(of: EntityTarget(Self.entry)) ?? []

        #expect(
            blames.map { "\($0.field) \($0.by) \($0.position)" } == [
                "id pull @4", "at pull @4", "tag_ids removal/1 @5", "tags removal/1 @5",
                "boss pull @4", "n pull @4",
            ])
        #expect(blames.first { $0.field == "tag_ids" }?.inputs == [Position(5)])
    }

    @Test func `a single reference becomes null`() throws {
        var entries = CollectionModel("entries")
        entries.references = [Reference("tag", to: "tags", removal: RemovalRule())]
        try store.write(
            .registered(SyncModel(name: "m", collections: [CollectionModel("tags"), entries])))
        try store.write(
            .about(.serverUpserted, "entries/2", #"{"tag":7}"#),
            .about(.serverDeleted, "tags/7", #"{"id":7}"#))

        #expect(try seen(EntityKey("entries", "2")) == ["tag": .null])
        try check()
    }

    @Test func `names it no more in any of the fields that do`() throws {
        var tasks = CollectionModel("tasks")
        tasks.references = ["owner", "assignee"].map {
            Reference($0, to: "people", removal: RemovalRule())
        }
        try store.write(
            .registered(SyncModel(name: "m", collections: [CollectionModel("people"), tasks])))
        try store.write(
            .about(.serverUpserted, "people/1", #"{"id":1}"#),
            .about(.serverUpserted, "tasks/1", #"{"owner":1,"assignee":1,"n":1}"#),
            .about(.localUpdated, "tasks/1", #"{"set":{"assignee":1,"n":2},"unset":[]}"#))
        try store.write(.about(.serverDeleted, "people/1", #"{"id":1}"#))

        let task = EntityKey("tasks", "1")
        #expect(text(try store.entity(task)?.base) == #"{"owner":null,"assignee":null,"n":1}"#)
        #expect(try seen(task) == ["owner": .null, "assignee": .null, "n": 2])
        let decisions = try store.journal.read { try $0.decisions(about: [task]) }
        #expect(decisions.map(\.row.words) == ["removal/1: removed on owner, assignee"])
        try check()
    }

    /// Entries that name two tags each, and deletions of all tags, with a few edits amid them.
    private static let manyDeletions: (made: [Event], deleted: [Event]) = {
        var made = [Self.model()]
        for id in 0..<200 {
            let name = #"{"id":\#(id),"name":"t\#(id)"}"#
            made.append(.about(.serverUpserted, "tags/\(id)", name, revision: "1"))
        }
        for id in 0..<100 {
            let tags = #""tag_ids":[\#(id),\#(id + 100)],"tags":["t\#(id)","t\#(id + 100)"]"#
            made.append(.about(.serverUpserted, "entries/\(id)", "{\(tags)}", revision: "1"))
        }
        made.append(.about(.localUpdated, "entries/7", #"{"set":{"tag_ids":[8,199]},"unset":[]}"#))
        var deleted: [Event] = []
        for id in 0..<200 {
            deleted.append(.about(.serverDeleted, "tags/\(id)", revision: "2"))
            guard id == 50 else { continue }
            let tags = #""tag_ids":[150,7],"tags":["t150"]"#
            deleted.append(.about(.serverUpserted, "entries/90", "{\(tags)}", revision: "2"))
            deleted.append(
                .about(.localUpdated, "entries/91", #"{"set":{"tag_ids":[191,9]},"unset":[]}"#))
        }
        return (made, deleted)
    }()

    @Test func `is looked for few times where one commit deletes many`() throws {
        let (made, deleted) = Self.manyDeletions
        let together = MemoryFold()
        try together.apply(made)
        let before = together.walked
        try together.apply(deleted)
        // Each entry once, and for each of the first few deletions.
        let walked = together.walked - before
        #expect(walked <= 100 * 17 + 100, "\(walked) rows")

        let each = MemoryFold()
        try each.apply(made)
        for event in deleted { try each.apply([event]) }
        #expect(together.rows == each.rows)
        let entry = try #require(try together.entity(EntityKey("entries", "90")))
        #expect(text(entry.base) == #"{"tag_ids":[7],"tags":[]}"#)
    }
    @Test func `is looked for also in what was only made here, where one commit deletes many`()
        throws
    {
        var made = [Self.model()]
        for id in 0..<40 {
            let tag = #"{"id":\#(id),"name":"t\#(id)"}"#
            made.append(.about(.serverUpserted, "tags/\(id)", tag, revision: "1"))
        }
        let entry = #"{"tag_ids":[35,39],"tags":["t35","t39"]}"#
        made.append(.about(.localCreated, "entries/new", entry))
        let deleted = (0..<36).map { Event.about(.serverDeleted, "tags/\($0)", revision: "2") }
        let (together, each) = (MemoryFold(), MemoryFold())
        for memory in [together, each] { try memory.apply(made) }

        try together.apply(deleted)
        for event in deleted { try each.apply([event]) }

        let row = try #require(try together.entity(EntityKey("entries", "new")))
        let document = try row.document.map { try JSONValue(parsing: $0) }
        #expect(document == ["tag_ids": [39], "tags": ["t39"]])
        #expect(together.rows == each.rows)
    }
}
