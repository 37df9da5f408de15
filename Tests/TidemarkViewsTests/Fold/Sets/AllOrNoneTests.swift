// AllOrNoneTests.swift — collections of which all is listed or nothing.

import Testing
import TidemarkEvents
import TidemarkInspect
import TidemarkViews

@testable import ViewsSupport

@Suite struct `a set of which all is listed or nothing` {
    private let store: ScratchStore

    private static let model: SyncModel = {
        var collections = ["programs", "stages", "notes"].map { CollectionModel($0) }
        for index in 0...1 {
            collections[index].pushes = []
            collections[index].allOrNone = "metadata"
        }
        return SyncModel(name: "clinic", collections: collections)
    }()

    init() throws {
        store = try ScratchStore()
        try register(Self.model)
    }

    private func register(_ model: SyncModel) throws {
        try store.write(.registered(model))
    }

    /// Begins a run.
    private func run(_ scope: SyncScope = .all) throws -> Position {
        var payload: JSONObject = ["begunAt": 0, "bootID": "b", "uptime": 0]
        payload["scope"] = scope.json
        try store.write(
            Event(
                .syncStarted, recordedAt: Timestamp(rawValue: 1),
                json: JSONValue.object(payload).encoded()))
        return try store.journal.read { $0.last }
    }

    private func says(_ key: String, _ text: String?, in run: Position) throws {
        var event = Event.about(
            text == nil ? .serverDeleted : .serverUpserted, key, text, asOf: run.rawValue)
        event.sync = run
        try store.write(event)
    }

    private func ends(_ collection: CollectionName, in run: Position, set: String? = nil) throws {
        var list = PullCompleted()
        list.isFull = true
        list.set = set
        try store.write(
            Event(
                .pullCompleted, recordedAt: Timestamp(rawValue: 1), collection: collection,
                sync: run, asOf: run, revision: Revision("c"), json: list.encoded))
    }

    private func marks() throws -> [String] {
        try store.journal.read { views in
            try ["programs", "stages"].filter { name in
                try views.watermark(PullTarget(CollectionName(name))) != nil
            }
        }
    }

    private func waits() throws -> Bool {
        try store.rows().contains {
            $0.key.bytes.starts(with: Ledger.staged) || $0.key.bytes.starts(with: Ledger.stagedEnds)
                || $0.key.bytes.starts(with: Ledger.staging)
        }
    }

    @Test func `is seen once its last list came to its end, with the marks of all`() throws {
        let run = try run()
        try says("programs/p", #"{"id":"p"}"#, in: run)
        try ends("programs", in: run)
        try says("notes/n", #"{"id":"n"}"#, in: run)
        try says("stages/s", #"{"id":"s"}"#, in: run)
        #expect(try store.seen() == ["notes/n"])
        #expect(try marks() == [])
        #expect(try waits())

        try ends("stages", in: run, set: "metadata")
        #expect(try store.seen() == ["notes/n", "programs/p", "stages/s"])
        #expect(try marks() == ["programs", "stages"])
        #expect(try !waits())

        // What comes later in the run counts at once: what the lists did not name is gone.
        try says("programs/p", nil, in: run)
        #expect(try store.seen() == ["notes/n", "stages/s"])
    }

    @Test func `has the words that waited as what changed its entities`() throws {
        for name in ["a", "b"] {
            let run = try run()
            try says("programs/p", #"{"id":"p","name":"\#(name)"}"#, in: run)
            try ends("stages", in: run, set: "metadata")
        }
        let target = EntityTarget(EntityKey("programs", "p"))

        let history = try store.journal.history(of: target)
        #expect(
            history?.entries.map { "\($0.position) \($0.words)" } == [
                "@3 said by the server; counts once all of its set is there",
                "@3 first heard of from the server",
                "@6 said by the server; counts once all of its set is there",
                "@6 changed on the server",
            ])
        let blames = try store.journal.blame(of: target) ?? []
        #expect(
            blames.map { "\($0.field) \($0.by) \($0.position)" } == [
                "id pull @3", "name pull @6",
            ])
    }

    @Test func `leaves nothing of a run that did not get so far`() throws {
        let first = try run()
        try says("programs/p", #"{"id":"p"}"#, in: first)
        try says("programs/q", #"{"id":"q"}"#, in: first)
        try ends("programs", in: first)
        let second = try run()
        try says("programs/p", #"{"id":"p","name":"new"}"#, in: second)
        try ends("programs", in: second)
        try ends("stages", in: second, set: "metadata")

        #expect(try store.seen() == ["programs/p"])
        let row = try store.entity(EntityKey("programs", "p"))
        #expect(row?.base == Array(#"{"id":"p","name":"new"}"#.utf8))
        #expect(try !waits())
    }

    @Test func `forgets an earlier run also where the later one brings nothing`() throws {
        let first = try run()
        try says("programs/p", #"{"id":"p"}"#, in: first)
        let second = try run()
        try ends("stages", in: second, set: "metadata")

        #expect(try store.seen() == [])
        #expect(try !waits())
    }

    @Test func `takes deletions with the rest`() throws {
        let first = try run()
        try says("programs/p", #"{"id":"p"}"#, in: first)
        try ends("stages", in: first, set: "metadata")
        let second = try run()
        try says("programs/p", nil, in: second)
        #expect(try store.seen() == ["programs/p"])

        try says("stages/s", #"{"id":"s"}"#, in: second)
        try ends("stages", in: second, set: "metadata")
        #expect(try store.seen() == ["stages/s"])
    }

    @Test func `counts at once where a run does not list it`() throws {
        let run = try run(.fetch([EntityKey("programs", "p")]))
        try says("programs/p", #"{"id":"p"}"#, in: run)

        #expect(try store.seen() == ["programs/p"])
    }

    @Test func `goes with a wipe, and with a model without it`() throws {
        let first = try run()
        try says("programs/p", #"{"id":"p"}"#, in: first)
        try store.write(.wiped())
        try ends("stages", in: first, set: "metadata")
        #expect(try store.seen() == [])

        let second = try run()
        try says("programs/q", #"{"id":"q"}"#, in: second)
        #expect(try waits())
        var other = Self.model
        for index in 0...1 { other.collections[index].allOrNone = nil }
        try register(other)
        #expect(try !waits())
        #expect(try store.seen() == [])
    }

    @Test func `holds so much that it is taken in parts, and is the same after a rebuild`() throws {
        let run = try run()
        for number in 0..<100 {
            try says("programs/p\(number)", #"{"id":"p\#(number)"}"#, in: run)
        }
        #expect(try store.seen().isEmpty)
        try ends("stages", in: run, set: "metadata")
        #expect(try store.seen().count == 100)
    }

    @Test func `shows with each of its entities what was hidden for want of it`() throws {
        var model = Self.model
        model.collections[2].references = [Reference("program", to: "programs", missing: .hides)]
        try register(model)
        let first = try run()
        for id in ["a", "b"] {
            try says("notes/\(id)", #"{"id":"\#(id)","program":"\#(id)"}"#, in: first)
        }
        #expect(try store.seen() == [])

        let second = try run()
        for id in ["a", "b"] { try says("programs/\(id)", #"{"id":"\#(id)"}"#, in: second) }
        try ends("stages", in: second, set: "metadata")
        #expect(try store.seen() == ["notes/a", "notes/b", "programs/a", "programs/b"])
        #expect(try store.journal.read { try $0.issues() }.isEmpty)
    }

    @Test func `hides what it brings whose reference leads nowhere`() throws {
        var model = Self.model
        model.collections[1].references = [Reference("program", to: "programs", missing: .hides)]
        try register(model)
        let run = try run()
        try says("programs/p", #"{"id":"p"}"#, in: run)
        for (id, program) in [("a", "p"), ("b", "q"), ("c", "p")] {
            try says("stages/\(id)", #"{"id":"\#(id)","program":"\#(program)"}"#, in: run)
        }
        try ends("stages", in: run, set: "metadata")
        #expect(try store.seen() == ["programs/p", "stages/a", "stages/c"])
    }

    @Test func `takes the word on what referred to an entity that goes with it`() throws {
        var model = Self.model
        model.collections[1].references = [
            Reference("program", to: "programs", removal: RemovalRule())
        ]
        try register(model)
        let first = try run()
        try says("programs/p", #"{"id":"p"}"#, in: first)
        try says("stages/s", #"{"id":"s","program":"p"}"#, in: first)
        try ends("stages", in: first, set: "metadata")
        let second = try run()
        try says("programs/p", nil, in: second)
        try says("stages/s", #"{"id":"s","program":null,"name":"new"}"#, in: second)
        try ends("stages", in: second, set: "metadata")

        #expect(try store.seen() == ["stages/s"])
        let row = try store.entity(EntityKey("stages", "s"))
        #expect(text(row?.base) == #"{"id":"s","program":null,"name":"new"}"#)
    }

    @Test func `follows what a rule of the app answered to its word`() throws {
        var model = Self.model
        model.collections[0].conflict = .custom("mine")
        try register(model)
        let first = try run()
        try says("programs/p", #"{"id":"p","a":1}"#, in: first)
        try ends("stages", in: first, set: "metadata")
        // Pending since a model whose programs could be edited.
        try store.write(.about(.localUpdated, "programs/p", #"{"set":{"a":2},"unset":[]}"#))

        let second = try run()
        try store.write(
            .about(
                .ruleAnswered, "programs/p", #"{"rule":"mine","version":3,"answer":"local"}"#))
        var word = Event.about(
            .serverUpserted, "programs/p", #"{"id":"p","a":9}"#, asOf: second.rawValue)
        word.sync = second
        word.cause = try store.journal.read { $0.last }
        try store.write(word)
        try ends("stages", in: second, set: "metadata")

        #expect(try store.seen() == ["programs/p"])
        let row = try store.entity(EntityKey("programs", "p"))
        #expect(text(row?.document) == #"{"id":"p","a":2}"#)
    }
}
