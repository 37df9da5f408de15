// PlaceholderTests.swift — rows that are made up for what is referred to and not here.

import Testing
import TidemarkEvents
import TidemarkInspect
import TidemarkRules
import TidemarkViews

@testable import ViewsSupport

/// Workspaces, projects, tasks and tags, and entries that refer to all of them.
private enum Office {
    static let model: SyncModel = {
        var workspaces = numbered("workspaces")
        workspaces.placeholder = PlaceholderRule(fields: ["name": "Inaccessible workspace"])
        var tags = numbered("tags")
        tags.placeholder = PlaceholderRule(
            fields: ["name": "Inaccessible tag"], copies: ["workspace_id"])
        var projects = numbered("projects")
        projects.references = [Reference("workspace_id", to: "workspaces")]
        projects.placeholder = PlaceholderRule(
            fields: ["name": "Inaccessible project", "color": "#cecece", "active": false],
            copies: ["workspace_id", "nothing"],
            refetch: RefetchRule(every: .hours(24), together: "workspace_id"))
        var tasks = numbered("tasks")
        tasks.placeholder = PlaceholderRule(
            fields: ["name": "Inaccessible task"], copies: ["workspace_id", "project_id"])
        var entries = numbered("entries")
        entries.references = [
            Reference("workspace_id", to: "workspaces", placeholder: .partial),
            Reference("project_id", to: "projects", placeholder: .always),
            Reference("task_id", to: "tasks", placeholder: .partial),
            Reference("tag_ids", to: "tags", placeholder: .partial),
            Reference("client_id", to: "clients"),
        ]
        return SyncModel(
            name: "office",
            collections: [workspaces, tags, CollectionModel("clients"), projects, tasks, entries])
    }()

    private static func numbered(_ name: CollectionName) -> CollectionModel {
        var collection = CollectionModel(name)
        collection.ids = .serverNumber
        return collection
    }

    static var registered: Event { .registered(model) }

}

/// What a run of which the events follow one another says.
private struct RunMaker {
    /// The position of the run's first event.
    let start: Position
    private(set) var events: [Event]
    private var last: UInt64

    init(after last: Position, scope: SyncScope = .all, begunAt: Int64 = 0) {
        start = last.next
        var payload: JSONObject = [
            "begunAt": .number(JSONNumber(begunAt)), "bootID": "b",
            "uptime": .number(JSONNumber(begunAt)),
        ]
        payload["scope"] = scope.json
        events = [
            Event(
                .syncStarted, recordedAt: Timestamp(rawValue: begunAt),
                json: JSONValue.object(payload).encoded())
        ]
        self.last = start.rawValue
    }

    private mutating func add(_ event: Event) {
        var event = event
        event.sync = start
        events.append(event)
        last += 1
    }

    /// An answer at a time by the server's clock, so long after the run began.
    mutating func answer(_ date: String, after microseconds: Int64 = 0) {
        add(
            Event(
                .requestAnswered, recordedAt: Timestamp(rawValue: 7),
                json: Array(#"{"status":200,"Date":"\#(date)","uptime":\#(microseconds)}"#.utf8)))
    }

    mutating func says(_ key: String, _ text: String?, asOf: UInt64 = 1) {
        add(.about(text == nil ? .serverDeleted : .serverUpserted, key, text, asOf: asOf))
    }

    /// A page with what the server said of entities, and what it names besides.
    mutating func page(
        _ collection: CollectionName, _ documents: [(String, String)], also ids: [String] = [],
        scope: String = "", absent: [String] = [], at seconds: Int64 = 9
    ) {
        var places: [JSONValue] = []
        for (id, text) in documents {
            places.append(.number(JSONNumber(last + 1)))
            says("\(collection)/\(id)", text)
        }
        places += ids.map { _ in "=" } + absent.map { _ in "absent" }
        let payload: JSONObject = [
            "scope": .string(scope),
            "ids": .array((documents.map(\.0) + ids + absent).map(JSONValue.string)),
            "at": .array(places),
        ]
        add(
            Event(
                .pullPage, recordedAt: Timestamp(rawValue: seconds * 1_000_000),
                collection: collection, json: JSONValue.object(payload).encoded()))
    }
}

@Suite struct `the placeholders of a log` {
    private let fold = MemoryFold()

    init() throws { try fold.apply([Office.registered]) }

    private func run(
        scope: SyncScope = .all, begunAt: Int64 = 0, _ make: (inout RunMaker) -> Void
    ) throws {
        var run = RunMaker(after: fold.last, scope: scope, begunAt: begunAt)
        make(&run)
        try fold.apply(run.events)
    }

    /// Pulls entries by themselves.
    private func pull(_ documents: String..., scope: SyncScope = .all) throws {
        let first = try decisions().count * 100
        try run(scope: scope) { run in
            run.page(
                "entries", documents.enumerated().map { ("\(first + $0.offset + 1)", $0.element) })
        }
    }

    private func row(_ key: String) throws -> EntityRow? {
        try fold.entity(try #require(EntityKey(key)))
    }

    private func note(_ key: String) throws -> PlaceholderRow? {
        try fold.rows[.placeholder(try #require(EntityKey(key)))].flatMap {
            $0.isEmpty ? nil : try PlaceholderRow(parsing: $0)
        }
    }

    private func time(_ month: Int, _ day: Int, _ hour: Int, _ minute: Int) throws -> Timestamp {
        try #require(
            Timestamp(
                year: 2018, month: month, day: day, hour: hour, minute: minute, second: 0))
    }

    /// The decisions in order.
    private func decisions() throws -> [DecisionRow] {
        try fold.rows.filter { $0.key.tree == .ledger && $0.key.bytes.first == Ledger.decisions[0] }
            .sorted { $0.key < $1.key }.map { try DecisionRow(parsing: $0.value) }
    }

    /// The placeholders there are, by their rows and by the list of them.
    private func placeholders() throws -> [String] {
        let listed = fold.rows.filter {
            $0.key.tree == .ledger && $0.key.bytes.first == Ledger.placeholders[0]
                && !$0.value.isEmpty
        }.compactMap { EntityKey(bytes: $0.key.bytes.dropFirst()) }.sorted()
        let rows = try fold.rows.filter {
            try $0.key.tree == .rows && EntityRow(parsing: $0.value).isPlaceholder
        }.compactMap { EntityKey(bytes: $0.key.bytes) }.sorted()
        #expect(listed == rows)
        return rows.map(\.description)
    }

    // MARK: Which

    @Test func `stand in for what is named and not here, in the order of the page`() throws {
        try run { $0.says("projects/789", #"{"id":789}"#) }

        try pull(
            #"{"project_id":456}"#, #"{"project_id":123}"#, #"{"project_id":789}"#,
            #"{"project_id":null}"#)

        #expect(try placeholders() == ["projects/123", "projects/456"])
        #expect(try decisions().map(\.key.id) == ["456", "123"])
        let decision = try #require(try decisions().first)
        #expect(decision.rule == "placeholder" && decision.result == "created")
        #expect(decision.inputs == [fold.last] && decision.fields == ["project_id"])
    }

    @Test func `are one for each id, on one page and on the next`() throws {
        try pull(#"{"project_id":123}"#, #"{"project_id":123}"#)
        let before = try row("projects/123")
        try pull(#"{"project_id":123,"workspace_id":7}"#)

        #expect(try decisions().count == 1)
        #expect(try row("projects/123") == before)
    }

    @Test func `hold their id, the rule's fields, and what they get from what names them`() throws {
        try pull(#"{"project_id":123,"workspace_id":456}"#)

        let row = try #require(try row("projects/123"))
        #expect(
            text(row.document) == #"{"id":123,"name":"Inaccessible project","color":"#
                + ##""#cecece","active":false,"workspace_id":456}"##)
        #expect(row.status == .placeholder)
        #expect(row.asOf == nil && row.revision == nil && row.serverTime == nil)
        #expect(row.triedAt == nil && row.basePosition == fold.last)
        let note = try note("projects/123")
        #expect(note?.position == fold.last && note?.triedAt == nil)
        #expect(note?.madeAt == Timestamp(rawValue: 9_000_000))
    }

    @Test func `stand in for all that a pull of some collections does not bring`() throws {
        try run { $0.says("workspaces/1", #"{"id":1}"#) }

        try pull(
            #"{"workspace_id":2,"project_id":3,"task_id":4,"tag_ids":[5,6,7]}"#,
            #"{"workspace_id":1,"tag_ids":[6]}"#, scope: .pull(["entries"]))

        #expect(
            try decisions().map(\.key.description) == [
                "workspaces/2", "projects/3", "tasks/4", "tags/5", "tags/6", "tags/7",
            ])
        #expect(
            text(try row("tasks/4")?.base)
                == #"{"id":4,"name":"Inaccessible task","workspace_id":2,"project_id":3}"#)
        #expect(try row("entries/1")?.status == .synced)

        // The next pull of everything brings them.
        try run { run in
            run.page("workspaces", [("2", #"{"id":2}"#)])
            run.page("tags", (5...7).map { ("\($0)", #"{"id":\#($0)}"#) })
            run.page("projects", [("3", #"{"id":3}"#)])
            run.page("tasks", [("4", #"{"id":4}"#)])
        }
        #expect(try placeholders() == [])
        #expect(try row("tags/6")?.status == .synced)
    }

    @Test func `are made of the references of a whole pull alone where everything is pulled`()
        throws
    {
        try pull(#"{"workspace_id":2,"project_id":3,"task_id":4,"tag_ids":[5]}"#)

        #expect(try placeholders() == ["projects/3"])
    }

    @Test func `are not made of what is no id, or where the model asks for none`() throws {
        let long = String(repeating: "7", count: 401)
        try pull(
            #"{"project_id":true}"#, #"{"project_id":{"id":3}}"#, #"{"project_id":""}"#,
            #"{"project_id":1.5}"#, #"{"project_id":"\#(long)"}"#, #"{"project_id":"a\u0000"}"#,
            #"{"client_id":9}"#)

        #expect(try placeholders() == [])

        try pull(#"{"project_id":"07"}"#, #"{"project_id":["8"]}"#)
        #expect(try placeholders() == ["projects/07", "projects/8"])
        #expect(text(try row("projects/07")?.base)?.hasPrefix(#"{"id":"07","#) == true)
        #expect(text(try row("projects/8")?.base)?.hasPrefix(#"{"id":8,"#) == true)
    }

    @Test func `are not made of what is pending here, deleted, or called otherwise here`() throws {
        try fold.apply([
            .about(.localCreated, "projects/1", #"{"name":"mine"}"#),
            .about(.localCreated, "projects/-5", #"{"name":"mine"}"#),
            .about(.requestSent, "projects/-5", "{}", mutation: 3),
            .about(.pushAccepted, "projects/-5", #"{"serverID":"5"}"#, mutation: 3, call: 4),
        ])
        try run { $0.says("projects/2", nil) }

        try pull(#"{"project_id":1}"#, #"{"project_id":2}"#, #"{"project_id":5}"#)

        #expect(try placeholders() == [])
        #expect(try row("projects/1")?.status == .created)
    }

    @Test func `stand in for what was pruned, and forget what it was`() throws {
        var pruned = EntityRow()
        pruned.prunedDigest = [1, 2, 3]
        fold.set(.entity(EntityKey("projects", "3")), pruned.encoded)
        let next = fold.fold
        var run = RunMaker(after: fold.last)
        run.page("entries", [("1", #"{"project_id":3}"#)])
        for (index, event) in run.events.enumerated() {
            try next.apply(event.checked, at: Position(run.start.rawValue + UInt64(index)))
        }

        let row = try next.entity(EntityKey("projects", "3"))
        #expect(row.isPlaceholder && row.prunedDigest.isEmpty)
    }

    @Test func `are not made of a page that can't be understood, or before there is a model`()
        throws
    {
        let alone = MemoryFold()
        try alone.apply([
            .about(.serverUpserted, "entries/1", #"{"project_id":3}"#),
            Event(
                .pullPage, recordedAt: Timestamp(rawValue: 1), collection: "entries",
                json: Array(#"{"ids":["1"]}"#.utf8)),
        ])
        #expect(try alone.entity(EntityKey("projects", "3")) == nil)

        try run { $0.says("entries/1", #"{"project_id":3}"#) }
        for payload in ["", "7", "{}", #"{"ids":7}"#, #"{"ids":[1,null]}"#] {
            try fold.apply([
                Event(
                    .pullPage, recordedAt: Timestamp(rawValue: 1), collection: "entries",
                    json: Array(payload.utf8))
            ])
        }
        #expect(try placeholders() == [])
    }

    // MARK: What becomes of them

    @Test(arguments: [#"{"id":123,"name":"home"}"#, nil])
    func `go with any word of the server, however old`(_ word: String?) throws {
        try pull(#"{"project_id":123}"#)

        try run { $0.says("projects/123", word, asOf: 1) }

        #expect(try placeholders() == [])
        let row = try #require(try row("projects/123"))
        #expect(row.baseState == (word == nil ? .deleted : .live))
        #expect(text(row.document) == word)
        #expect(row.asOf == Position(1))
    }

    @Test func `are given up for the row of another key that gets their id`() throws {
        try fold.apply([.about(.localCreated, "projects/-5", #"{"name":"mine"}"#)])
        try pull(#"{"project_id":5}"#)
        #expect(try placeholders() == ["projects/5"])
        let call = fold.last.next.rawValue

        try fold.apply([
            .about(.requestSent, "projects/-5", "{}", mutation: 2),
            .about(.pushAccepted, "projects/-5", #"{"serverID":"5"}"#, mutation: 2, call: call),
        ])

        #expect(try placeholders() == [])
        #expect(try row("projects/5") == nil)
        #expect(try fold.fold.resolve(EntityKey("projects", "5")).id == "-5")
    }

    @Test func `that the server was asked for in vain stay, and say when that was`() throws {
        try pull(
            #"{"project_id":1}"#, #"{"project_id":2}"#, #"{"project_id":3}"#, #"{"project_id":4}"#)

        try run(begunAt: 50) { run in
            run.answer("Fri, 01 Jun 2018 12:52:00 GMT", after: 90)
            run.page(
                "projects", [("1", #"{"id":1}"#), ("4", #"{"id":4}"#)], scope: "refetch",
                absent: ["2", "3", "77"])
        }

        #expect(try placeholders() == ["projects/2", "projects/3"])
        #expect(try row("projects/1")?.status == .synced)
        #expect(try row("projects/77") == nil)
        // At which fraction of the second is what the device's clock says.
        let time = try time(6, 1, 12, 52).adding(seconds: 1)
        for key in ["projects/2", "projects/3"] {
            let triedAt = try #require(try row(key)?.triedAt)
            #expect(triedAt < time && triedAt >= time.adding(seconds: -1))
            #expect(try note(key)?.triedAt == triedAt)
            #expect(try row(key)?.status == .placeholder)
        }
    }

    @Test func `without any word of the server's clock are dated by when the run began`() throws {
        try pull(#"{"project_id":1}"#)

        try run(begunAt: 50) { $0.page("projects", [], scope: "refetch", absent: ["1"]) }

        #expect(try row("projects/1")?.triedAt == Timestamp(rawValue: 50))
    }

    @Test func `are not dated by a page that was no question after them`() throws {
        try pull(#"{"project_id":1}"#)

        try run(begunAt: 50) { $0.page("projects", [], absent: ["1"]) }

        #expect(try row("projects/1")?.triedAt == nil)
    }

    @Test func `go with the rule that made them, but for what something pending refers to`()
        throws
    {
        try pull(#"{"project_id":1}"#, #"{"project_id":2}"#)
        try fold.apply([.about(.localUpdated, "entries/2", #"{"set":{"note":"x"}}"#)])
        #expect(try placeholders() == ["projects/1", "projects/2"])

        var model = Office.model
        model.collections[3].placeholder = nil
        model.collections[5].references[1].placeholder = nil
        try fold.apply([.registered(model)])

        #expect(try placeholders() == ["projects/2"])
        #expect(try row("projects/1") == nil)
        let decision = try #require(try decisions().last)
        #expect(decision.key.description == "projects/1")
        #expect(decision.rule == "unreferenced" && decision.result == "pruned")
    }

    @Test func `that something pending kept as their rule went go once it is settled`() throws {
        try pull(#"{"project_id":1}"#, #"{"project_id":2}"#)
        try fold.apply([.about(.localUpdated, "entries/2", #"{"set":{"note":"x"}}"#)])
        var model = Office.model
        model.collections[3].placeholder = nil
        model.collections[5].references[1].placeholder = nil
        let cleanUp = Event(
            .timerFired, recordedAt: Timestamp(rawValue: 1),
            json: TimerFired(.cleanUp, now: try time(6, 1, 12, 52)).encoded)
        try fold.apply([.registered(model), cleanUp])
        #expect(try placeholders() == ["projects/2"])

        try fold.apply([.about(.localDiscarded, "entries/2"), cleanUp])

        #expect(try placeholders() == [])
        #expect(try row("projects/2") == nil)
        let decision = try #require(try decisions().last)
        #expect(decision.key.description == "projects/2")
        #expect(decision.rule == "unreferenced" && decision.result == "pruned")
    }

    @Test func `go each by a decision of its own, however many they are`() throws {
        let ids = 1...150
        try run { run in
            run.page("entries", ids.map { id in ("\(id)", #"{"project_id":\#(id)}"#) })
        }
        #expect(try placeholders().count == 150)

        var model = Office.model
        model.collections[5].references[1].placeholder = nil
        try fold.apply([.registered(model)])

        #expect(try placeholders() == [])
        let pruned = try decisions().filter { $0.rule == "unreferenced" }
        #expect(Set(pruned.map(\.key.id)) == Set(ids.map { "\($0)" }))
        #expect(pruned.count == 150)
    }

    @Test func `stay with a new model where another reference makes them`() throws {
        var model = Office.model
        model.collections[5].references.append(
            Reference("other_id", to: "projects", placeholder: .always))
        try fold.apply([.registered(model)])
        try pull(#"{"project_id":1,"other_id":2}"#)
        #expect(try placeholders() == ["projects/1", "projects/2"])

        try fold.apply([Office.registered])
        #expect(try placeholders() == ["projects/1"])
    }

    // MARK: When they are asked for

    @Test func `are due when never tried, or more than that many hours ago`() throws {
        let rule = PlaceholderRule(refetch: RefetchRule(every: .hours(24)))
        let now = try time(6, 1, 12, 52)
        func isDue(_ hour: Int, _ minute: Int) throws -> Bool {
            rule.isDue(triedAt: try time(5, 31, hour, minute), now: now)
        }

        #expect(rule.isDue(triedAt: nil, now: now))
        #expect(try isDue(1, 52))
        #expect(try isDue(12, 46))
        #expect(try isDue(12, 51))
        #expect(try !isDue(12, 52))
        #expect(try !isDue(13, 52))
        #expect(!PlaceholderRule().isDue(triedAt: nil, now: now))
    }

    @Test func `are the same, listed the same and found whole after a rebuild`() throws {
        let store = try ScratchStore()
        try store.write(Office.registered)
        var run = RunMaker(after: Position(1), scope: .pull(["entries"]), begunAt: 60)
        run.page("entries", [("1", #"{"workspace_id":2,"project_id":3,"tag_ids":[5,6]}"#)])
        run.page("tags", [("5", #"{"id":5}"#)])
        run.page("projects", [], scope: "refetch", absent: ["3"])
        for event in run.events { try store.write(event) }

        let found = try store.journal.read { try $0.placeholders() }
        #expect(
            found.map(\.key.description) == ["projects/3", "tags/6", "workspaces/2"])
        #expect(found.map(\.row.triedAt) == [Timestamp(rawValue: 60), nil, nil])
        let before = try store.rows()
        #expect(try store.differences().map(\.description) == [])
        #expect(try store.journal.verify(.full).findings == [])

        try store.journal.rebuild(eventsPerStep: 2)
        #expect(try store.rows() == before)
    }
}
