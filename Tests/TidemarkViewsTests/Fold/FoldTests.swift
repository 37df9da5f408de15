// FoldTests.swift — single events, and what they make of the rows.

import Testing
import TidemarkEvents
import TidemarkViews

@testable import ViewsSupport

private let key = EntityKey("tasks", "1")

@Suite struct `the fold` {
    let fold = MemoryFold()

    private func row() throws -> EntityRow { try #require(try fold.entity(key)) }

    private func outcome(_ number: UInt64) throws -> MutationOutcome? {
        try #require(try fold.mutation(number)).outcome
    }

    @Test func `an edit goes from the outbox to the server and is accepted`() throws {
        try fold.apply([.about(.localCreated, "tasks/1", #"{"a":1}"#)])
        #expect(try row().status == .created)

        try fold.apply([.about(.requestSent, "tasks/1", mutation: 1)])
        #expect(try row().status == .uploading)

        try fold.apply([
            .about(.requestAnswered, "tasks/1", #"{"status":201}"#, call: 2),
            .about(.pushAccepted, "tasks/1", mutation: 1, call: 2, revision: "5"),
            .about(
                .serverUpserted, "tasks/1", #"{"a":1,"at":9}"#, mutation: 1, call: 2, asOf: 2,
                revision: "5"),
        ])
        #expect(try row().status == .synced)
        #expect(try text(row().document) == #"{"a":1,"at":9}"#)
        let mutation = try #require(try fold.mutation(1))
        #expect(mutation.outcome == .accepted)
        #expect(mutation.proof == Position(4))
        #expect(mutation.revision == Revision("5"))
        #expect((mutation.attempts, mutation.call) == (1, Position(2)))
    }

    @Test func `an edit made while another is under way stays pending`() throws {
        try fold.apply([
            .about(.localCreated, "tasks/1", #"{"a":1}"#),
            .about(.requestSent, "tasks/1", mutation: 1),
            .about(.localUpdated, "tasks/1", #"{"set":{"a":2}}"#),
            .about(.pushAccepted, "tasks/1", mutation: 1, call: 2, revision: "5"),
            .about(.serverUpserted, "tasks/1", #"{"a":1}"#, mutation: 1, call: 2, asOf: 2),
        ])

        #expect(try row().status == .updated)
        #expect(try row().pending.map(\.position) == [Position(3)])
        #expect(try text(row().document) == #"{"a":2}"#)
        #expect(try text(row().base) == #"{"a":1}"#)
    }

    @Test func `what was made and deleted unsent is annihilated`() throws {
        try fold.apply([
            .about(.localCreated, "tasks/1", "{}"), .about(.localDeleted, "tasks/1"),
        ])

        #expect(try outcome(1) == .annihilated)
        #expect(try outcome(2) == .annihilated)
        #expect(try fold.entity(key) == nil)
    }

    @Test func `a failure that never arrived proves what it annihilates`() throws {
        try fold.apply([
            .about(.localCreated, "tasks/1", "{}"),
            .about(.requestSent, "tasks/1", mutation: 1),
            .about(.localDeleted, "tasks/1"),
            .about(.requestFailed, "tasks/1", #"{"mayHaveArrived":false}"#, call: 2),
        ])

        #expect(try fold.mutation(3)?.outcome == .annihilated)
        #expect(try fold.mutation(3)?.proof == Position(4))
    }

    @Test func `a failure that may have arrived leaves the outcome unknown`() throws {
        try fold.apply([
            .about(.localCreated, "tasks/1", "{}"),
            .about(.requestSent, "tasks/1", mutation: 1),
            .about(.requestFailed, "tasks/1", #"{"mayHaveArrived":true}"#, call: 2),
        ])

        #expect(try row().status == .uploading)
        #expect(try outcome(1) == nil)
    }

    @Test func `made anew and deleted again while a deletion is under way leaves nothing to send`()
        throws
    {
        try fold.apply([
            .about(.serverUpserted, "tasks/1", "{}", asOf: 1, revision: "1"),
            .about(.localDeleted, "tasks/1"),
            .about(.requestSent, "tasks/1", mutation: 2),
            .about(.localCreated, "tasks/1", #"{"a":1}"#),
            .about(.localDeleted, "tasks/1"),
            .about(.pushAccepted, "tasks/1", mutation: 2, call: 3),
        ])

        #expect(try outcome(2) == .accepted)
        #expect(try outcome(4) == .annihilated)
        #expect(try outcome(5) == .annihilated)
        #expect(try row().pending.isEmpty)
    }

    @Test func `a refused edit waits for the user, and an edit sends it again`() throws {
        try fold.apply([
            .about(.localCreated, "tasks/1", "{}"),
            .about(.requestSent, "tasks/1", mutation: 1),
            .about(
                .pushRejected, "tasks/1", #"{"status":400,"message":"no title"}"#, mutation: 1,
                call: 2),
        ])
        #expect(try row().status == .error)
        #expect(try row().refusal?.message == "no title")
        #expect(try outcome(1) == .rejected)

        try fold.apply([.about(.localUpdated, "tasks/1", #"{"set":{"title":"tea"}}"#)])
        #expect(try row().status == .created)
        #expect(try row().refusal == nil)
        #expect(try outcome(1) == nil)
        #expect(try fold.mutation(1)?.proof == nil)
    }

    @Test func `retrying arms what was refused, discarding gives it up`() throws {
        let refused: [Event] = [
            .about(.localCreated, "tasks/1", "{}"),
            .about(.requestSent, "tasks/1", mutation: 1),
            .about(.pushRejected, "tasks/1", mutation: 1, call: 2),
        ]
        try fold.apply(refused + [.about(.localRetried, "tasks/1")])
        #expect(try outcome(1) == nil)

        try fold.apply([.about(.localDiscarded, "tasks/1")])
        #expect(try outcome(1) == .discarded)
        #expect(try fold.mutation(1)?.proof == Position(5))
        #expect(try fold.entity(key) == nil)
    }

    @Test(arguments: [EventKind.pushAccepted, .pushRejected, .requestAnswered])
    func `what the server says of an entity that is not here any more raises no issue`(
        _ kind: EventKind
    ) throws {
        let issues = #"[{"message":"odd","severity":"warning"}]"#
        let said =
            switch kind {
            case .pushAccepted: #"{"issues":\#(issues)}"#
            case .pushRejected: #"{"status":409,"message":"no","issues":\#(issues)}"#
            default: #"{"status":409,"ignored":true,"issues":\#(issues)}"#
            }
        try fold.apply([
            .about(.localCreated, "tasks/9", "{}"),
            .about(.requestSent, "tasks/9", "{}", mutation: 1),
            .about(.localDiscarded, "tasks/9"),
            .about(kind, "tasks/9", said, mutation: kind == .requestAnswered ? nil : 1, call: 2),
        ])

        #expect(try fold.entity(EntityKey("tasks", "9")) == nil)
        #expect(try fold.fold.issues().isEmpty)
    }

    @Test func `what a pull shows to have arrived is no longer uploading`() throws {
        try fold.apply([
            .about(.localCreated, "tasks/1", #"{"a":1}"#),
            .about(.requestSent, "tasks/1", mutation: 1),
            .about(.requestFailed, "tasks/1", #"{"mayHaveArrived":true}"#, call: 2),
            .about(.serverUpserted, "tasks/1", #"{"a":1}"#, asOf: 3, revision: "5"),
        ])

        #expect(try row().status == .synced)
        #expect(try outcome(1) == .accepted)
    }

    @Test func `a conflict is kept as a decision that names both sides`() throws {
        try fold.apply([
            .model(.serverWins),
            .about(.serverUpserted, "tasks/1", #"{"a":1}"#, asOf: 1, revision: "1"),
            .about(.localUpdated, "tasks/1", #"{"set":{"a":2}}"#),
            .about(.serverUpserted, "tasks/1", #"{"a":3}"#, asOf: 3, revision: "2"),
        ])

        let bytes = try #require(fold.rows[.decision(Position(4), 0)])
        let decision = try DecisionRow(parsing: bytes)
        #expect(decision.key == key)
        #expect((decision.rule, decision.result) == ("serverWins", "serverWins"))
        #expect(decision.inputs == [Position(3), Position(4)])
        #expect(decision.fields == ["a"])
        #expect(try outcome(3) == .superseded)
        #expect(try text(row().document) == #"{"a":3}"#)
    }

    @Test func `the policy is the one registered when the server speaks`() throws {
        try fold.apply([
            .model(.serverWins),
            .about(.serverUpserted, "tasks/1", #"{"a":1}"#, asOf: 1, revision: "1"),
            .about(.localUpdated, "tasks/1", #"{"set":{"a":2}}"#),
            .model(.localWins),
            .about(.serverUpserted, "tasks/1", #"{"a":3}"#, asOf: 4, revision: "2"),
        ])

        #expect(try outcome(3) == nil)
        #expect(try text(row().document) == #"{"a":2}"#)
    }

    @Test func `an id of the server's own is an alias for life`() throws {
        try fold.apply([
            .about(.localCreated, "tasks/1", "{}"),
            .about(.requestSent, "tasks/1", mutation: 1),
            .about(.pushAccepted, "tasks/1", #"{"serverID":"900"}"#, mutation: 1, call: 2),
            .about(.serverUpserted, "tasks/900", #"{"id":900}"#, asOf: 3, revision: "1"),
        ])

        #expect(try text(row().document) == #"{"id":900}"#)
        #expect(try fold.entity(EntityKey("tasks", "900")) == nil)
    }
}

@Suite struct `what can't be understood` {
    let fold = MemoryFold()

    @Test(arguments: ["", "{", "[]", "null", #"{"a":1,"a":2}"#])
    func `changes no row, and the rest goes on`(_ payload: String) throws {
        try fold.apply([.about(.serverUpserted, "tasks/1", #"{"a":1}"#, asOf: 1, revision: "1")])
        let before = fold.rows

        for kind in [EventKind.serverUpserted, .localCreated, .localUpdated] {
            try fold.apply([.about(kind, "tasks/1", payload, asOf: 1, revision: "2")])
            #expect(fold.rows == before, "\(kind)")
        }

        try fold.apply([.about(.localUpdated, "tasks/1", #"{"set":{"a":2}}"#)])
        #expect(try text(fold.entity(key)?.document) == #"{"a":2}"#)
        #expect(try fold.entity(key)?.pending.map(\.position) == [Position(5)])
    }

    @Test func `an edit of what an action made that is no object changes nothing`() throws {
        try fold.apply([
            .about(
                .localRequested, "tasks/1", #"{"action":"make","parameters":{},"document":5}"#),
            .about(.localUpdated, "tasks/1", #"{"set":{"a":1}}"#),
        ])

        #expect(try fold.entity(key)?.pending.map(\.position) == [Position(1)])
        #expect(try fold.mutation(2) == nil)
    }

    @Test func `a model that can't be taken in is not what the next events go by`() throws {
        try fold.apply([
            .model(.serverWins), .says("tasks/1", #"{"b":1}"#),
            .about(.localUpdated, "tasks/1", #"{"set":{"b":2}}"#),
            .says("tasks/2", #"{"a":1}"#),
            .about(.localUpdated, "tasks/2", #"{"set":{"a":2}}"#),
        ])
        // A damaged edit of a field that the model removes.
        var row = try #require(try fold.entity(key))
        row.pending[0].payload = Array("{".utf8)
        fold.set(.entity(key), row.encoded)
        var tasks = CollectionModel("tasks", conflict: .localWins)
        tasks.migrations = [.remove("b")]

        try fold.apply([
            .registered(SyncModel(name: "test", collections: [tasks])),
            .about(.serverUpserted, "tasks/2", #"{"a":3}"#, asOf: 5, revision: "2"),
        ])

        #expect(try fold.mutation(5)?.outcome == .superseded)
    }

    @Test func `events of other versions and without an entity change no row`() throws {
        var newer = Event.about(.localDeleted, "tasks/1")
        newer.schemaVersion = 1
        let (first, last) = (EventKind.modelRegistered.rawValue, EventKind.syncStarted.rawValue)
        let nobody = EventKind.all.filter { $0.rawValue > first && $0.rawValue < last }
            .map { Event($0, recordedAt: Timestamp(rawValue: 1)) }

        try fold.apply([newer, Event(EventKind(rawValue: 777), recordedAt: newer.recordedAt)])
        try fold.apply(nobody)

        #expect(fold.rows.isEmpty)
    }
}

/// What makes two decisions of one event.
private enum TwoDecisions: CaseIterable {
    /// Workspaces that a list does not name.
    case access
    /// Lists that tasks of a page refer to.
    case placeholder
    /// Links of which one person was deleted.
    case missing

    /// What comes before that event.
    var events: [Event] {
        switch self {
        case .access:
            [
                .registered(ReachStore.model), .says("workspaces/1", #"{"id":1}"#),
                .says("workspaces/2", #"{"id":2}"#),
            ]
        case .placeholder:
            [
                .model(.serverWins, hasPlaceholders: true), .says("tasks/1", #"{"list":"a"}"#),
                .says("tasks/2", #"{"list":"b"}"#),
            ]
        case .missing:
            [
                .registered(SyncModel(name: "links", collections: Self.links)),
                .says("people/a", "{}"), .says("links/1", #"{"person":"a"}"#),
                .says("links/2", #"{"person":"a"}"#),
            ]
        }
    }

    var event: Event {
        let time = Timestamp(rawValue: 1)
        switch self {
        case .access:
            let list = #"{"scope":"","complete":true,"full":true,"hidden":["1","2"]}"#
            return Event(
                .pullCompleted, recordedAt: time, collection: "workspaces", json: Array(list.utf8))
        case .placeholder:
            var page = PullPage()
            page.ids = ["1", "2"]
            page.places = [.same, .same]
            return Event(.pullPage, recordedAt: time, collection: "tasks", json: page.encoded)
        case .missing: return .about(.serverDeleted, "people/a", revision: "2")
        }
    }

    /// The entity that the second decision is about.
    var second: EntityKey {
        switch self {
        case .access: EntityKey("workspaces", "2")
        case .placeholder: EntityKey("lists", "b")
        case .missing: EntityKey("links", "2")
        }
    }

    private static let links: [CollectionModel] = [
        CollectionModel("people"),
        CollectionModel(
            "links", references: [Reference("person", to: "people", missing: .hides)]),
    ]
}

extension Event {
    /// The server says something of an entity.
    fileprivate static func says(_ key: String, _ text: String) -> Event {
        .about(.serverUpserted, key, text, revision: "1")
    }
}

@Suite struct `more decisions of one event than there are places` {
    let fold = MemoryFold()
    private static let last = Int(UInt16.max)
    private static let known = DecisionRow(
        key: key, rule: "known", ruleVersion: 1, result: "made", inputs: [], fields: []
    ).encoded

    @Test(arguments: TwoDecisions.allCases)
    fileprivate func `replace the last one, and none before it`(_ two: TwoDecisions) throws {
        try fold.apply(two.events)
        let position = fold.last.next
        for index in 0..<Self.last { fold.set(.decision(position, index), Self.known) }

        try fold.apply([two.event])

        let row = try #require(fold.rows[.decision(position, Self.last)])
        #expect(try DecisionRow(parsing: row).key == two.second)
        for index in [0, 1, Self.last - 1] {
            #expect(fold.rows[.decision(position, index)] == Self.known)
        }
    }

    @Test func `are looked through once for a conflict that is still open`() throws {
        try fold.apply([
            .model(.serverWins), .says("tasks/1", #"{"a":1}"#),
            .about(.localUpdated, "tasks/1", #"{"set":{"a":2}}"#),
            .about(.serverUpserted, "tasks/1", #"{"a":3}"#, asOf: 3, revision: "2"),
        ])
        let position = fold.last
        for index in 1...Self.last { fold.set(.decision(position, index), Self.known) }
        #expect(fold.rows[.sides(position)] != nil)

        try fold.apply([
            Event(
                .issueAnswered, recordedAt: Timestamp(rawValue: 1), key: key, cause: position,
                json: IssueAnswered(.conflict, answer: "keepTheirs").encoded)
        ])
        #expect(fold.rows[.sides(position)] == nil)
    }
}
