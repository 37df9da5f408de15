// ChangesSinceTests.swift — what changed since a position in collections that are no trees: by
// events of the entities, by those of others, and where it can't be told any more.

import Testing
import TidemarkEvents
import TidemarkStore
import TidemarkViews

@testable import ViewsSupport

extension ScratchStore {
    fileprivate var last: Position { get throws { try journal.read { $0.last } } }

    /// `~` what is there and changed, `-` what is not there, by the keys.
    fileprivate func told(
        since position: Position, in scope: ChangeScope = .all
    ) throws -> String {
        let changes = try journal.changes(since: position, in: scope)
        #expect(changes.appeared == [])
        #expect(try changes.last == last)
        return (changes.changed.map { "~\($0)" } + changes.went.map { "-\($0)" })
            .joined(separator: " ")
    }

    /// From where on it is told, where that is behind a position; nil where it is told.
    fileprivate func expired(since position: Position, in scope: ChangeScope = .all) -> Position? {
        do {
            _ = try journal.changes(since: position, in: scope)
            return nil
        } catch {
            guard case .expired(let first)? = (error as? ChangesSinceError)?.reason else {
                Issue.record(error)
                return nil
            }
            return first
        }
    }
}

/// Projects that a server numbers, and entries that refer to them.
private enum Work {
    static func model(
        _ change: (inout CollectionModel) -> Void = { _ in }
    ) -> SyncModel {
        var projects = CollectionModel("projects")
        projects.ids = .serverText
        var entries = CollectionModel(
            "entries",
            references: [
                Reference("project", to: "projects"), Reference("also", to: "projects"),
                Reference("/from/project", to: "projects"),
            ])
        change(&entries)
        return SyncModel(name: "work", collections: [projects, entries])
    }

    static func store() throws -> ScratchStore {
        let store = try ScratchStore()
        try store.write(.registered(model()))
        return store
    }
}

@Suite struct `what changed since a position` {
    @Test func `is told of what the server says and of what is edited here`() throws {
        let store = try Work.store()
        let start = try store.last
        try store.write(.about(.serverUpserted, "entries/a", #"{"name":"a"}"#, revision: "1"))
        try store.write(.about(.localCreated, "entries/b", #"{"name":"b"}"#))
        #expect(try store.told(since: start) == "~entries/a ~entries/b")
        let anchor = try store.last
        #expect(try store.told(since: anchor) == "")

        try store.write(.about(.localUpdated, "entries/a", #"{"set":{"name":"x"},"unset":[]}"#))
        try store.write(.about(.localDeleted, "entries/b"))
        try store.write(.about(.serverUpserted, "projects/1", #"{"name":"p"}"#, revision: "1"))
        #expect(try store.told(since: anchor) == "~entries/a ~projects/1 -entries/b")
        #expect(try store.told(since: anchor, in: .collection("projects")) == "~projects/1")
    }

    @Test func `tells nothing of a record that can't be read: the entity is as it was`() throws {
        let store = try Work.store()
        try store.write(.about(.serverUpserted, "entries/9", #"{"name":"a"}"#, revision: "1"))
        let anchor = try store.last
        try store.write(
            Event(
                .serverUnreadable, recordedAt: Timestamp(rawValue: 1), collection: "entries",
                json: Array(#"{"name":"9","sha256":"00","problem":"no"}"#.utf8)))
        #expect(try store.told(since: anchor) == "")
    }

    @Test func `is told of what is as it was, too, after a discard or made again`() throws {
        let store = try Work.store()
        try store.write(.about(.serverUpserted, "entries/a", #"{"name":"a"}"#, revision: "1"))
        let anchor = try store.last
        try store.write(.about(.localUpdated, "entries/a", #"{"set":{"name":"x"},"unset":[]}"#))
        try store.write(.about(.localDiscarded, "entries/a"))
        #expect(try store.told(since: anchor) == "~entries/a")

        let other = try store.last
        try store.write(.about(.serverDeleted, "entries/a", revision: "2"))
        let gone = try store.last
        try store.write(.about(.serverUpserted, "entries/a", #"{"name":"a"}"#, revision: "3"))
        #expect(try store.told(since: other) == "~entries/a")
        #expect(try store.told(since: gone) == "~entries/a")
    }

    @Test func `names an entity by the key that it keeps, and what refers to it by the other id`()
        throws
    {
        let store = try Work.store()
        try store.write(.about(.localCreated, "projects/L", #"{"name":"p"}"#))
        let made = try store.last.rawValue
        try store.write(.about(.requestSent, "projects/L", "{}", mutation: made))
        let call = try store.last.rawValue
        // Listed before the answer came.
        let documents = [
            "one": #"{"project":"7"}"#, "list": #"{"also":["6","7"]}"#,
            "path": #"{"from":{"project":"7"}}"#, "other": #"{"project":"8","also":["9"]}"#,
            "own": #"{"project":"L"}"#,
        ]
        for (id, text) in documents.sorted(by: { $0.key < $1.key }) {
            try store.write(.about(.serverUpserted, "entries/\(id)", text, revision: "1"))
        }
        let before = try store.last
        try store.write(.about(.serverUpserted, "projects/7", #"{"name":"p"}"#, revision: "1"))
        let anchor = try store.last

        try store.write(
            .about(
                .pushAccepted, "projects/L", #"{"serverID":"7"}"#, mutation: made, call: call))

        let referrers = "~entries/list ~entries/one ~entries/path"
        #expect(try store.told(since: anchor) == referrers + " ~projects/L -projects/7")
        #expect(try store.told(since: anchor, in: .collection("entries")) == referrers)
        #expect(try store.told(since: before, in: .collection("projects")).contains("~projects/L"))
        let bound = try store.last
        try store.write(.about(.serverUpserted, "projects/7", #"{"name":"q"}"#, revision: "2"))
        #expect(try store.told(since: bound) == "~projects/L")
        #expect(try store.differences() == [])
    }

    @Test func `names what refers to an entity by its other id, which was wiped just after`()
        throws
    {
        let store = try Work.store()
        try store.write(.about(.localCreated, "projects/L", "{}"))
        let made = try store.last.rawValue
        try store.write(.about(.requestSent, "projects/L", "{}", mutation: made))
        let call = try store.last.rawValue
        try store.write(.about(.serverUpserted, "entries/e", #"{"project":"7"}"#, revision: "1"))
        let anchor = try store.last
        try store.write(
            .about(
                .pushAccepted, "projects/L", #"{"serverID":"7"}"#, mutation: made, call: call))

        try store.write(.wiped(keeping: ["entries"]))

        #expect(try store.told(since: anchor, in: .collection("entries")) == "~entries/e")
        #expect(try store.differences() == [])
    }

    @Test func `is told of what is hidden for want of another, and of what is seen again`() throws {
        let store = try ScratchStore()
        try store.write(
            .registered(
                Work.model { $0.references = [.init("project", to: "projects", missing: .hides)] }))
        try store.write(.about(.serverUpserted, "projects/1", "{}", revision: "1"))
        try store.write(.about(.serverUpserted, "entries/a", #"{"project":"1"}"#, revision: "1"))
        let seen = try store.last
        try store.write(.about(.serverDeleted, "projects/1", revision: "2"))
        #expect(try store.told(since: seen) == "-entries/a -projects/1")

        let hidden = try store.last
        try store.write(.about(.serverUpserted, "projects/1", "{}", revision: "3"))
        #expect(try store.told(since: hidden) == "~entries/a ~projects/1")
        #expect(try store.told(since: seen) == "~entries/a ~projects/1")
        #expect(try store.differences() == [])
    }

    @Test func `is told of what is out of reach, and of what a clean-up pruned`() throws {
        let reach = try ReachStore()
        for id in [1, 2] { try reach.workspace(id) }
        try reach.entry(1, in: 1)
        try reach.entry(2, in: 2)
        try reach.entry(3, in: 2, daysAgo: 57)
        let seen = try reach.store.last
        try reach.loses("1")
        #expect(try reach.store.told(since: seen) == "-entries/1 -workspaces/1")

        let lost = try reach.store.last
        try reach.workspace(1)
        #expect(try reach.store.told(since: lost).contains("~workspaces/1"))

        let found = try reach.store.last
        try reach.cleansUp()
        #expect(try reach.store.told(since: found) == "-entries/3")
        try reach.check()
    }

    @Test func `is told of a rival that gives way, and of a placeholder`() throws {
        let timers = try ScratchStore()
        try timers.write(.timers(), Timers.says("1", "10:00", at: "10:00"))
        let running = try timers.last
        try timers.write(
            .about(.localCreated, "entries/2", Timers.entry("2", "12:00")).at("12:00"))
        #expect(try timers.told(since: running) == "~entries/1 ~entries/2")
        #expect(try timers.differences() == [])

        let store = try ScratchStore()
        try store.write(.model(.serverWins, hasPlaceholders: true))
        let empty = try store.last
        try store.write(
            .about(.serverUpserted, "tasks/1", #"{"id":"1","list":"9"}"#, revision: "1"))
        let word = try store.last.rawValue
        try store.write(
            Event(
                .pullPage, recordedAt: Timestamp(rawValue: 1), collection: "tasks",
                json: Array(#"{"scope":"","ids":["1"],"at":[\#(word)]}"#.utf8)))
        #expect(try store.entity(EntityKey("lists", "9"))?.isPlaceholder == true)
        #expect(try store.told(since: empty) == "~lists/9 ~tasks/1")
    }

    @Test func `is told of words that waited for the rest of their set when that came`() throws {
        let store = try ScratchStore()
        var model = Work.model { $0.references = [] }
        for index in 0...1 {
            model.collections[index].pushes = []
            model.collections[index].ids = .client
            model.collections[index].allOrNone = "all"
        }
        try store.write(.registered(model))
        func list(_ name: String) throws -> (words: Position, end: Position) {
            try store.write(
                Event(
                    .syncStarted, recordedAt: Timestamp(rawValue: 1),
                    json: Array(#"{"begunAt":0,"bootID":"b","uptime":0}"#.utf8)))
            let run = try store.last
            for id in ["a", "b"] {
                var event = Event.about(
                    .serverUpserted, "entries/\(id)", #"{"name":"\#(name)"}"#, asOf: run.rawValue)
                event.sync = run
                try store.write(event)
            }
            let words = try store.last
            var list = PullCompleted()
            (list.isFull, list.set) = (true, "all")
            try store.write(
                Event(
                    .pullCompleted, recordedAt: Timestamp(rawValue: 1), collection: "entries",
                    sync: run, asOf: run, revision: Revision("c"), json: list.encoded))
            return (words, try store.last)
        }
        for name in ["one", "two"] {
            let (words, end) = try list(name)
            #expect(try store.told(since: words) == "~entries/a ~entries/b")
            #expect(try store.told(since: end) == "")
        }
        #expect(try store.differences() == [])
    }
}

@Suite struct `what changed since a position has expired` {
    @Test func `where a collection was wiped, but for those that stay`() throws {
        let store = try Work.store()
        try store.write(.about(.serverUpserted, "projects/1", "{}", revision: "1"))
        try store.write(.about(.serverUpserted, "entries/a", "{}", revision: "1"))
        let anchor = try store.last
        try store.write(.wiped(keeping: ["projects"]))
        let wipe = try store.last

        #expect(try store.told(since: anchor, in: .collection("projects")) == "")
        #expect(store.expired(since: anchor, in: .collection("entries")) == wipe)
        #expect(store.expired(since: anchor) == wipe)
        try store.write(.about(.serverUpserted, "entries/a", "{}", revision: "1"))
        #expect(try store.told(since: wipe) == "~entries/a")
    }

    @Test func `where a model reads documents otherwise, has a collection newly, or lacks one`()
        throws
    {
        let store = try Work.store()
        try store.write(.about(.serverUpserted, "entries/a", #"{"name":"a"}"#, revision: "1"))
        func register(_ model: SyncModel) throws -> (before: Position, model: Position) {
            let before = try store.last
            try store.write(.registered(model))
            return (before, try store.last)
        }
        var model = Work.model { $0.indexes = [["name"]] }
        #expect(try store.told(since: register(model).before) == "")

        model.collections[1].indexes = []
        model.collections[1].migrations = [.rename("name", to: "title")]
        var at = try register(model)
        #expect(store.expired(since: at.before, in: .collection("entries")) == at.model)
        #expect(store.expired(since: at.before) == at.model)
        #expect(try store.told(since: at.before, in: .collection("projects")) == "")

        model.collections[1].references.removeLast()
        at = try register(model)
        #expect(store.expired(since: at.before, in: .collection("entries")) == at.model)

        model.collections.append(CollectionModel("notes"))
        at = try register(model)
        try store.write(.about(.localCreated, "notes/n", "{}"))
        #expect(try store.told(since: at.before) == "~notes/n")

        let notes = model.collections.removeLast()
        at = try register(model)
        #expect(store.expired(since: at.before) == at.model)
        #expect(try store.told(since: at.before, in: .collection("entries")) == "")
        #expect(try store.told(since: at.model) == "")
        let error = #expect(throws: ChangesSinceError.self) {
            try store.told(since: at.model, in: .collection("notes"))
        }
        #expect(error?.reason == .noCollection("notes"))

        model.collections.append(notes)
        at = try register(model)
        #expect(store.expired(since: at.before, in: .collection("notes")) == at.model)
        #expect(try store.told(since: at.before, in: .collection("entries")) == "")
        #expect(try store.differences() == [])
    }

    @Test func `where other rules made the rows, and not where the same made them anew`() throws {
        let store = try Work.store()
        let anchor = try store.last
        try store.write(.about(.serverUpserted, "entries/a", "{}", revision: "1"))
        try store.journal.rebuild()
        #expect(try store.told(since: anchor) == "~entries/a")

        let last = try store.last
        try store.journal.environment.write { transaction in
            var state = try store.journal.views.state(transaction) ?? ViewTables.State()
            state.fingerprints = [9, 9, 9, 9]
            try store.journal.views.setState(state, transaction)
        }
        try store.reopen(readOnly: true)
        #expect(store.expired(since: anchor) == last)
        try store.reopen()
        let remade = try #require(store.expired(since: anchor))
        #expect(try remade >= last && remade <= store.last)
        for _ in 1...2 {
            try store.journal.rebuild()
            try store.reopen()
            #expect(store.expired(since: anchor) == remade)
            #expect(try store.told(since: remade) == "")
        }
        try store.write(.about(.serverDeleted, "entries/a", revision: "2"))
        #expect(try store.told(since: remade) == "-entries/a")
    }
}
