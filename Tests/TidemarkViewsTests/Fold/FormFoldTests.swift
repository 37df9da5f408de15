// FormFoldTests.swift — what the fold makes of fields that a server writes otherwise: a running
// timer has a negative duration there, and times count to the second.

import Testing
import TidemarkEvents
import TidemarkRules
import TidemarkViews

@testable import ViewsSupport

private let one = EntityKey("entries", "1")
private let two = EntityKey("entries", "2")

@Suite struct `forms in the fold` {
    let fold = MemoryFold()

    private static var entries: CollectionModel {
        CollectionModel(
            "entries", lastChangeField: "at",
            conflict: .preferNewer(field: "at", margin: .zero),
            indexes: [["duration"], ["start"]], nullable: ["duration"],
            forms: [.negativeIsNull("duration"), .wholeSeconds("start")],
            rivals: RivalRule(whileNull: "duration", start: "start"),
            retention: RetentionRule(field: "start", ageMax: .months(2)))
    }

    private static func registered(
        _ change: (inout CollectionModel) -> Void = { _ in }
    ) -> Event {
        var entries = Self.entries
        change(&entries)
        return .registered(SyncModel(name: "timers", collections: [entries]))
    }

    private func document(_ key: EntityKey) throws -> JSONDocument {
        let row = try #require(try fold.entity(key))
        let bytes = try row.document(in: Self.entries)
        return try JSONDocument(parsing: try #require(bytes))
    }

    private func run(_ id: String, _ start: String, _ duration: Int) -> Event {
        Timers.says(id, start, at: start, duration)
    }

    @Test func `the row keeps the server's bytes, and is read as the model has them`() throws {
        try fold.apply([Self.registered(), run("1", "10:00", -1_795_337_759)])

        #expect(text(try fold.entity(one)?.base)?.contains("-1795337759") == true)
        #expect(try document(one).value("duration") == .null)
    }

    @Test func `of two that run by the server's word one is stopped`() throws {
        try fold.apply([
            Self.registered(), Timers.run(at: "13:00"), run("1", "10:00", -1).of(run: 2),
            run("2", "12:00", -1_795_337_759).of(run: 2), Timers.page().of(run: 2),
        ])

        #expect(try document(one).value("duration") == 7200)
        #expect(try document(two).value("duration") == .null)
        #expect(try fold.decisions(by: "rivals").map(\.result) == ["stopped"])
    }

    @Test func `another negative number is no change, and meets no edit`() throws {
        try fold.apply([
            Self.registered(), run("1", "10:00", -1),
            .about(.localUpdated, "entries/1", #"{"set":{"duration":60},"unset":[]}"#),
            Timers.says("1", "10:00", at: "10:01", -1_795_337_759),
        ])

        #expect(try fold.entity(one)?.pending.map(\.position) == [Position(3)])
        #expect(try fold.decisions(by: "preferNewer") == [])
        #expect(try document(one).value("duration") == 60)
    }

    @Test func `a time in another writing is no change`() throws {
        let other = #"{"id":"1","start":"2018-06-13T12:00:00+02:00","duration":5,"at":"x"}"#
        try fold.apply([
            Self.registered(), run("1", "10:00", 5),
            .about(
                .localUpdated, "entries/1",
                #"{"set":{"start":"2018-06-13T09:00:00.5Z"},"unset":[]}"#),
            .about(.serverUpserted, "entries/1", other, revision: "x"),
        ])

        #expect(try fold.decisions(by: "preferNewer") == [])
        #expect(try document(one).value("start") == "2018-06-13T09:00:00Z")
    }

    @Test func `an edit that the server has to the second has arrived`() throws {
        let there = #"{"id":"1","start":"2018-06-13T09:00:00+00:00","duration":5,"at":"x"}"#
        try fold.apply([
            Self.registered(), run("1", "10:00", 5),
            .about(
                .localUpdated, "entries/1",
                #"{"set":{"start":"2018-06-13T09:00:00.5Z"},"unset":[]}"#),
            .about(.requestSent, "entries/1", "{}", mutation: 3),
            .about(.requestFailed, "entries/1", "{}", cause: 4),
            .about(.serverUpserted, "entries/1", there, asOf: 5, revision: "x"),
        ])

        #expect(try fold.mutation(3)?.outcome == .accepted)
    }

    @Test func `a creation is found in a list to the second, running or not`() throws {
        let sent = #"{"name":"a","start":"2018-06-13T09:10:00.250Z","duration":null}"#
        let listed =
            #"{"id":20,"name":"a","start":"2018-06-13T09:10:00Z","duration":-1,"at":"x"}"#
        try fold.apply([
            Self.registered {
                $0.ids = .serverNumber
                $0.match = ["name", "start"]
            },
            .about(.localCreated, "entries/e", sent),
            .about(.requestSent, "entries/e", "{}", mutation: 2),
            .about(.serverUpserted, "entries/20", listed, asOf: 3),
        ])

        #expect(try fold.entity(EntityKey("entries", "20")) == nil)
        #expect(try fold.mutation(2)?.outcome == .accepted)
    }

    @Test func `a list looks for a creation from the second on that it was sent with`() throws {
        var entries = Self.entries
        entries.ids = .serverNumber
        entries.match = ["start"]
        try fold.apply([
            .registered(SyncModel(name: "timers", collections: [entries])),
            .about(.localCreated, "entries/e", #"{"start":"2018-06-13T09:10:00.250Z"}"#),
            .about(.requestSent, "entries/e", "{}", mutation: 2),
        ])

        #expect(
            try fold.fold.unansweredMoments(in: entries)
                == [try #require(RFC3339.parse("2018-06-13T09:10:00Z"))])
    }

    @Test func `what runs is never past its retention`() throws {
        let now = try #require(RFC3339.parse("2019-01-01T00:00:00Z"))
        func isPast(_ duration: Int) -> Bool {
            let text = Timers.entry("1", "10:00", duration)
            return Self.entries.isPast(Array(text.utf8), at: now)
        }

        #expect(!isPast(-1) && !isPast(-1_795_337_759))
        #expect(isPast(60))
    }

    @Test func `what leaves the field out is past its retention once it has stopped`() throws {
        var entries = Self.entries
        entries.rivals?.stopped = "stop"
        let now = try #require(RFC3339.parse("2019-01-01T00:00:00Z"))
        let running = #"{"start":"2018-06-13T10:00:00Z"}"#
        let logged = #"{"start":"2018-06-13T10:00:00Z","stop":"2018-06-13T11:00:00Z"}"#

        #expect(!entries.isPast(Array(running.utf8), at: now))
        #expect(entries.isPast(Array(logged.utf8), at: now))
    }

    @Test func `a model that learns of a form sees who runs`() throws {
        try fold.apply([
            Self.registered { $0.forms = [] }, Timers.run(at: "13:00"),
            run("1", "10:00", -1).of(run: 2), run("2", "12:00", -1).of(run: 2),
            Timers.page().of(run: 2),
        ])
        #expect(try fold.decisions(by: "rivals") == [])

        try fold.apply([Self.registered()])

        #expect(try fold.decisions(by: "rivals").map(\.result) == ["stopped"])
    }

    @Test func `an index has what is read, and is made anew with another form`() throws {
        let store = try ScratchStore()
        try store.write(
            Self.registered {
                $0.forms = []
                $0.rivals = nil
            })
        try store.write(
            run("1", "10:00", 60), run("2", "12:00", -5),
            .about(.localCreated, "entries/3", Timers.entry("3", "11:00")))
        #expect(try store.ids(["duration"], in: "entries") == ["3", "2", "1"])

        try store.write(Self.registered { $0.rivals = nil })

        #expect(try store.ids(["duration"], in: "entries") == ["2", "3", "1"])
        #expect(try store.indexDifferences() == [])
        #expect(try store.differences() == [])
    }
}
