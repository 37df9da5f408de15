// RivalFoldTests.swift — timers of which one may run: what the fold makes of edits, pages and
// answers.

import Testing
import TidemarkEvents
import TidemarkViews

@testable import ViewsSupport

private let one = EntityKey("entries", "1")
private let two = EntityKey("entries", "2")
private let three = EntityKey("entries", "3")

@Suite struct `rivals in the fold` {
    let fold = MemoryFold()

    private func duration(_ key: EntityKey) throws -> String? {
        let document = try #require(try fold.entity(key)?.document)
        return try JSONDocument(parsing: document).rawValue("duration").map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    private func derived(_ key: EntityKey) throws -> EntityRow.Pending? {
        try fold.entity(key)?.pending.first(where: \.isDerived)
    }

    /// A timer runs on the server since 10:00, and one is started here at 12:00: events 1 to 3.
    private func startAnother(_ more: [Event] = []) throws {
        try fold.apply([
            .timers(), Timers.says("1", "10:00", at: "10:00"),
            .about(.localCreated, "entries/2", Timers.entry("2", "12:00")).at("12:00"),
        ])
        try fold.apply(more)
    }

    @Test func `RV-10: a start made here stops what ran until then, whatever lies between`() throws
    {
        try fold.apply([
            .timers(), Timers.says("1", "10:00", at: "10:00"),
            Timers.says("2", "11:00", at: "11:30", 1800),
        ])
        try fold.apply([
            .about(.localCreated, "entries/3", Timers.entry("3", "12:00")).at("12:00")
        ])
        #expect(try duration(one) == "7200")
        #expect(try duration(three) == "null")

        // And whatever comes after.
        try fold.apply([
            Timers.run(at: "14:00"), Timers.says("4", "11:10", at: "11:40", 60).of(run: 5),
            Timers.page().of(run: 5),
        ])
        #expect(try duration(one) == "7200")
        #expect(try derived(one)?.position == Position(4))
        #expect(try fold.decisions(by: "rivals").map(\.result) == ["stopped"])
        #expect(try fold.decisions(by: "rivals")[0].inputs == [Position(2), Position(4)])
    }

    @Test func `a loser gets the value that the model asks for, also when another model comes`()
        throws
    {
        try fold.apply([
            .timers(end: .stopTime), Timers.says("1", "10:00", at: "10:00"),
            .about(.localCreated, "entries/2", Timers.entry("2", "12:00")).at("12:00"),
        ])
        #expect(try duration(one) == #""2018-06-13T12:00:00Z""#)
        #expect(try duration(two) == "null")

        try fold.apply([.timers(end: .millisecondsSinceStart)])
        #expect(try duration(one) == "7200000")

        try fold.apply([.timers(end: .stopTime, dates: .seconds)])
        #expect(try duration(one) == "1528891200")

        try fold.apply([.timers()])
        #expect(try duration(one) == "7200")
        #expect(try duration(two) == "null")
    }

    @Test func `one that leaves the field out runs, unless it has the time of its stop`() throws {
        let begun = #"{"id":"2","start":"2018-06-13T12:00:00Z"}"#
        let logged = #"{"id":"3","start":"2018-06-13T08:00:00Z","stop":"2018-06-13T09:00:00Z"}"#
        try fold.apply([
            .timers(stopped: "stop"), Timers.says("1", "10:00", at: "10:00"),
            .about(.localCreated, "entries/2", begun).at("12:00"),
            .about(.localCreated, "entries/3", logged).at("12:30"),
        ])
        #expect(try duration(one) == "7200")
        #expect(try duration(two) == nil && fold.rows[.rival(two)] != nil)
        #expect(try duration(three) == nil && fold.rows[.rival(three)] == nil)

        try fold.apply([
            .about(.localCreated, "entries/4", Timers.entry("4", "13:00")).at("13:00")
        ])
        #expect(try duration(two) == "3600")
        #expect(try duration(three) == nil)

        let edit = #"{"set":{"description":"x"},"unset":[]}"#
        try fold.apply([.about(.localUpdated, "entries/2", edit).at("13:30")])
        #expect(try duration(two) == "3600")
        #expect(try derived(two)?.position == Position(5))
    }

    @Test func `a model that learns of the field of a stop leaves losers as they are`() throws {
        try fold.apply([
            .timers(), Timers.says("1", "10:00", at: "10:00"),
            Timers.says("2", "11:00", at: "11:30", 1800),
            .about(.localCreated, "entries/3", Timers.entry("3", "12:00")).at("12:00"),
        ])
        #expect(try duration(one) == "7200")

        try fold.apply([try Event.timers(stopped: "stop").at("14:00")])
        #expect(try duration(one) == "7200")
        #expect(try derived(one)?.position == Position(4))
    }

    @Test func `one that the server tells without the field runs`() throws {
        let told = #"{"id":"1","start":"2018-06-13T10:00:00Z"}"#
        try fold.apply([
            .timers(), .about(.serverUpserted, "entries/1", told, revision: "1"),
            .about(.localCreated, "entries/2", Timers.entry("2", "12:00")).at("12:00"),
        ])
        #expect(try duration(one) == "7200")
        #expect(try duration(two) == "null")
    }

    @Test func `RV-08: what runs here gives way to a newer one that is pulled`() throws {
        try fold.apply([
            .timers(),
            .about(.localCreated, "entries/1", Timers.entry("1", "10:00")).at("10:00"),
            Timers.run(at: "12:00"), Timers.says("7", "11:00", at: "11:00").of(run: 3),
        ])
        #expect(try duration(one) == "null")
        try fold.apply([Timers.page().of(run: 3)])
        #expect(try duration(one) == "3600")
        #expect(try fold.entity(one)?.status == .created)
        #expect(try derived(one)?.editedAt == Timers.run(at: "12:00").recordedAt)
    }

    @Test func `RV-09: an older one that is pulled is stopped, and that is to be pushed`() throws {
        try fold.apply([
            .timers(),
            .about(.localCreated, "entries/1", Timers.entry("1", "10:00")).at("10:00"),
            Timers.run(at: "12:00"), Timers.says("2", "09:00", at: "09:00").of(run: 3),
            Timers.page().of(run: 3),
        ])
        #expect(try duration(two) == "3600")
        #expect(try duration(one) == "null")
        #expect(try fold.derived(5, two)?.fields == ["duration"])
        #expect(try fold.derived(5, two)?.rule == "rivals")
        #expect(try fold.entity(two)?.status == .updated)
    }

    @Test func `RV-05, RV-12 and RV-13: of all but deleted ones, one goes on`() throws {
        try fold.apply([
            .timers(), Timers.says("1", "10:00", at: "10:00"),
            Timers.says("2", "11:00", at: "11:00"), Timers.says("3", "09:00", at: "11:30"),
            Timers.says("4", "08:00", at: "11:45"),
            .about(.localDeleted, "entries/4").at("11:50"),
        ])
        try fold.apply([Timers.run(at: "12:00"), Timers.page().of(run: 7)])
        #expect(try duration(three) == "null")
        #expect(try duration(one) == "3600")
        // By the deletion, which was the first event to ask.
        #expect(try duration(two) == "3000")
        #expect(try fold.entity(EntityKey("entries", "4"))?.pending.count == 1)
    }

    @Test func `RV-11: where the model says so, older ones are no place to stop at`() throws {
        try fold.apply([
            .timers(stop: .nextStartNotOlder), Timers.says("1", "10:00", at: "10:30"),
            Timers.says("2", "11:00", at: "10:20", 1800), Timers.says("3", "12:00", at: "12:00"),
            Timers.run(at: "12:10"), Timers.page().of(run: 5),
        ])
        #expect(try duration(one) == "7200")
    }

    @Test func `the start at which one stops is named, also where it is not the winner's`() throws {
        try fold.apply([
            .timers(), Timers.says("1", "10:00", at: "10:00"),
            Timers.says("2", "11:00", at: "11:30", 1800),
        ])
        try fold.apply([
            Timers.run(at: "12:00"), Timers.says("3", "09:00", at: "11:45").of(run: 4),
            Timers.page().of(run: 4),
        ])
        #expect(try duration(one) == "3600")
        let decision = try #require(try fold.decisions(by: "rivals").first)
        #expect(decision.inputs == [Position(2), Position(5), Position(3)])
    }

    @Test func `of starts at one time the same is named, in whatever commits they came`() throws {
        let run = try Timers.run(at: "12:00")
        let events: [Event] = [
            .timers(), Timers.says("1", "10:00", at: "10:00"),
            Timers.says("3", "11:00", at: "11:30", 1800),
            Timers.says("2", "11:00", at: "11:20", 1800), run,
            Timers.says("4", "09:00", at: "11:45").of(run: 5), Timers.page().of(run: 5),
        ]
        let whole = MemoryFold()
        try whole.apply(events)
        for event in events { try fold.apply([event]) }

        for memory in [whole, fold] {
            let decision = try #require(try memory.decisions(by: "rivals").first)
            #expect(decision.inputs == [Position(2), Position(6), Position(4)])
        }
    }

    @Test func `a start at the winner's is not named beside it`() throws {
        try fold.apply([
            .timers(), Timers.says("1", "10:00", at: "10:00"),
            Timers.says("2", "11:00", at: "11:20", 1800),
            Timers.run(at: "12:00"), Timers.says("3", "11:00", at: "11:45").of(run: 4),
            Timers.page().of(run: 4),
        ])
        #expect(try duration(one) == "3600")
        let decision = try #require(try fold.decisions(by: "rivals").first)
        #expect(decision.inputs == [Position(2), Position(5)])
    }

    @Test func `what was derived is pushed and accepted with the rest`() throws {
        try startAnother([
            .about(.requestSent, "entries/1", mutation: 3),
            .about(.pushAccepted, "entries/1", mutation: 3, call: 4, revision: "x"),
        ])
        #expect(try fold.derived(3, one)?.outcome == .accepted)
        #expect(try fold.derived(3, one)?.attempts == 1)
        #expect(try fold.derived(3, one)?.proof == Position(5))
        #expect(try fold.mutation(3)?.outcome == nil)
        #expect(try fold.entity(one)?.status == .synced)
        #expect(fold.rows[.openDerived(Position(3), one)] == nil)
        #expect(fold.rows[.rival(one)] == nil)
    }

    @Test func `what the server has already is merged`() throws {
        try startAnother([Timers.says("1", "10:00", at: "12:01", 7200)])
        #expect(try fold.derived(3, one)?.outcome == .merged)
        #expect(try fold.entity(one)?.status == .synced)
    }

    @Test func `what may have arrived and is there was accepted`() throws {
        try fold.apply([
            .timers(),
            .about(.localCreated, "entries/1", Timers.entry("1", "10:00")).at("10:00"),
            .about(.localCreated, "entries/2", Timers.entry("2", "12:00")).at("12:00"),
            .about(.requestSent, "entries/1", mutation: 3),
        ])
        try fold.apply([Timers.says("1", "10:00", at: "12:01", 7200)])
        #expect(try fold.mutation(2)?.outcome == .accepted)
        #expect(try fold.derived(3, one)?.outcome == .accepted)
        #expect(try fold.entity(one)?.status == .synced)
    }

    @Test func `what the server stopped otherwise is withdrawn`() throws {
        try startAnother([Timers.says("1", "10:00", at: "11:00", 60)])
        #expect(try fold.derived(3, one)?.outcome == .withdrawn)
        #expect(try duration(one) == "60")
        #expect(try fold.entity(one)?.status == .synced)
    }

    @Test func `a start that is taken back sets going again what it had stopped`() throws {
        try startAnother([.about(.localDeleted, "entries/2").at("12:05")])
        #expect(try fold.derived(3, one)?.outcome == .withdrawn)
        #expect(try duration(one) == "null")
        #expect(try fold.decisions(by: "rivals").map(\.result) == ["stopped", "kept"])
    }

    @Test func `the end of the winner does not set a loser going`() throws {
        try startAnother([
            .about(.localUpdated, "entries/2", #"{"set":{"duration":60}}"#).at("12:01"),
            .about(.localUpdated, "entries/1", #"{"set":{"title":"tea"}}"#).at("13:00"),
            Timers.run(at: "14:00"), Timers.page().of(run: 6),
        ])
        #expect(try duration(one) == "7200")
        #expect(try derived(one)?.position == Position(3))
    }

    @Test func `an edit of a loser does not set it going, unless it says so`() throws {
        try startAnother([
            .about(.localUpdated, "entries/1", #"{"set":{"title":"tea"}}"#).at("13:00")
        ])
        #expect(try duration(one) == "7200")
        #expect(try duration(two) == "null")
        try fold.apply([
            .about(.localUpdated, "entries/1", #"{"set":{"duration":null}}"#).at("13:30")
        ])
        #expect(try duration(one) == "null")
        #expect(try duration(two) == "5400")
        #expect(try fold.derived(3, one)?.outcome == .withdrawn)
    }

    @Test func `what is under way is left until it is answered`() throws {
        try startAnother([
            .about(.requestSent, "entries/1", mutation: 3),
            .about(.localDeleted, "entries/2").at("12:05"),
        ])
        #expect(try derived(one)?.position == Position(3))
        try fold.apply([
            .about(.requestFailed, "entries/1", #"{"mayHaveArrived":false}"#, call: 4),
            Timers.run(at: "12:10"), Timers.page().of(run: 7),
        ])
        #expect(try fold.derived(3, one)?.outcome == .withdrawn)
        #expect(try duration(one) == "null")
    }

    @Test func `the same result again is the same mutation, another one is another`() throws {
        try fold.apply([
            .timers(), Timers.says("1", "10:00", at: "10:00"),
            Timers.says("2", "09:00", at: "11:00"),
            Timers.run(at: "12:00"), Timers.page().of(run: 4),
        ])
        #expect(try duration(one) == "7200")
        try fold.apply([Timers.run(at: "13:00"), Timers.page().of(run: 6)])
        #expect(try derived(one)?.position == Position(5))
        #expect(try duration(one) == "7200")

        try fold.apply([Timers.says("3", "10:30", at: "10:40", 60), Timers.page().of(run: 6)])
        #expect(try duration(one) == "1800")
        #expect(try derived(one)?.position == Position(9))
        #expect(try fold.derived(5, one)?.outcome == .withdrawn)
    }

    @Test func `a winner that was pushed stays one until the server has said how it is`() throws {
        try startAnother([
            .about(.requestSent, "entries/2", mutation: 3),
            .about(.pushAccepted, "entries/2", mutation: 3, call: 4, revision: "x"),
            .about(.pushRejected, "entries/1", #"{"status":400}"#, mutation: 3, call: 4),
        ])
        #expect(try duration(one) == "7200")
        #expect(try duration(two) == "null")
        #expect(try fold.entity(one)?.status == .error)
    }

    @Test func `those of different groups run side by side`() throws {
        try fold.apply([
            .timers(among: ["user"]),
            Timers.says("1", "10:00", at: "10:00", more: #","user":1"#),
            Timers.says("2", "11:00", at: "11:00", more: #","user":2"#),
            Timers.says("3", "10:30", at: "12:00", more: #","user":1.0"#),
            Timers.page(),
        ])
        #expect(try duration(one) == "1800")
        #expect(try duration(two) == "null")
    }

    @Test func `a field that is null is as if missing for groups`() throws {
        try fold.apply([
            .timers(among: ["user"]),
            Timers.says("1", "10:00", at: "10:00", more: #","user":null"#),
            Timers.says("2", "11:00", at: "11:00"),
            Timers.page(),
        ])
        #expect(try duration(one) == "3600")
        #expect(try duration(two) == "null")
    }

    @Test func `a model without the rule withdraws what followed from it, and one with it asks`()
        throws
    {
        try startAnother([.registered(SyncModel(name: "plain", collections: []))])
        #expect(try fold.derived(3, one)?.outcome == .withdrawn)
        #expect(try duration(one) == "null")
        #expect(fold.rows[.rival(one)] == nil)

        try fold.apply([.timers()])
        #expect(try duration(one) == "7200")
        #expect(try derived(one)?.position == Position(5))
    }

    @Test(arguments: [ConflictPolicy.overwriteUnlessDirty, .localWins, .serverWins])
    func `what the server changes beside it leaves it as it is`(_ policy: ConflictPolicy) throws {
        try fold.apply([
            .timers(conflict: policy), Timers.says("1", "10:00", at: "10:00"),
            .about(.localCreated, "entries/2", Timers.entry("2", "12:00")).at("12:00"),
            .about(.localUpdated, "entries/1", #"{"set":{"title":"tea"}}"#).at("12:01"),
            Timers.says("1", "10:00", at: "11:00", more: #","color":3"#),
        ])
        let row = try #require(try fold.entity(one))
        #expect(try duration(one) == "7200")
        #expect(row.pending.map(\.isDerived) == [true, false])
        #expect(row.pending.map(\.position) == [Position(3), Position(4)])
    }

    @Test func `one that was hidden when the server spoke of it is one once it is seen`() throws {
        var entries = CollectionModel("entries", lastChangeField: "at")
        entries.rivals = RivalRule(whileNull: "duration", start: "start", stop: .nextStart)
        entries.references = [Reference("project", to: "projects", missing: .hides)]
        let project = #","project":"5""#
        try fold.apply([
            .registered(
                SyncModel(name: "timers", collections: [CollectionModel("projects"), entries])),
            Timers.says("1", "10:00", at: "10:00", more: project),
            Timers.says("1", "10:00", at: "10:30", more: project),
            Timers.says("2", "11:00", at: "11:00"),
        ])
        #expect(try fold.entity(one)?.document == nil)

        try fold.apply([
            .about(.serverUpserted, "projects/5", #"{"id":"5"}"#, revision: "1"), Timers.page(),
        ])
        #expect(try duration(one) == "3600")
        #expect(try duration(two) == "null")
    }
}
