// ExplainWordsTests.swift — who did something and why, in words: the user, the server or a rule.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkRules
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport
@testable import ViewsSupport

@Suite struct `words about what happened` {
    private let store: ScratchStore

    init() throws { store = try ScratchStore() }

    private func register(_ collections: CollectionModel...) throws {
        try store.write(.registered(SyncModel(name: "test", collections: collections)))
    }

    private func target(_ key: String) throws -> EntityTarget {
        EntityTarget(try #require(EntityKey(key)))
    }

    private func history(_ key: String) throws -> [String] {
        let found = try store.journal.history(of: target(key))
        return (found?.entries ?? []).map { "\($0.position) \($0.words)" }
    }

    private func blame(_ key: String) throws -> [String] {
        let found = try store.journal.blame(of: target(key))
        return (found ?? []).map { "\($0.field) \($0.by) \($0.position)" }
    }

    private func why(_ key: String) throws -> [String] {
        let target = try target(key)
        return try store.journal.read { try EntityExplanation(target, $0)?.lines ?? [] }
    }

    @Test func `say of an edit that ended with its folder that it did`() throws {
        var files = CollectionModel("files", references: [Reference("parent", to: "files")])
        files.tree = .init(parent: "parent", name: "name", kind: "kind", isByPath: true)
        try register(files)
        let file = #"{"kind":"file","name":"f","parent":"P","n":1}"#
        try store.write(
            .about(.serverUpserted, "files/P", #"{"kind":"folder","name":"P"}"#, asOf: 1),
            .about(.serverUpserted, "files/F", file, asOf: 1))
        try store.write(
            .about(.localCreated, "files/N", #"{"kind":"file","name":"n","parent":"P"}"#))
        try store.write(.about(.localUpdated, "files/F", #"{"set":{"n":2},"unset":[]}"#))
        try store.write(.about(.localDeleted, "files/P"))
        try store.write(.about(.requestSent, "files/P", "{}", mutation: 6))
        try store.write(.about(.requestAnswered, "files/P", #"{"status":204}"#, call: 7))
        try store.write(.about(.pushAccepted, "files/P", mutation: 6, call: 7))

        #expect(
            try history("files/N") == [
                "@4 created here", "@6 not seen, as what it lies in (files/P)",
                "@9 ended with what it lay in (files/P)",
            ])
        #expect(
            try history("files/F").last == "@9 ended with what it lay in (files/P)")
        #expect(try blame("files/F").last == "n discard @9")
    }

    @Test func `say of what the policy made that it did, and which file holds what lost`() throws {
        try register(CollectionModel("files", conflict: .keepBoth))
        func write(_ event: Event) throws {
            var event = event
            event.sync = Position(4)
            try store.write(event)
        }
        try store.write(.about(.serverUpserted, "files/a", #"{"n":1}"#, asOf: 1, revision: "1"))
        try store.write(.about(.localUpdated, "files/a", #"{"set":{"n":2},"unset":[]}"#))
        let begun = #"{"begunAt":0,"bootID":"b","uptime":0}"#
        try store.write(
            Event(.syncStarted, recordedAt: Timestamp(rawValue: 1), json: Array(begun.utf8)))
        try write(.about(.serverUpserted, "files/a", #"{"n":3}"#, asOf: 4, revision: "2"))
        try write(.about(.localCreated, "files/@6", #"{"n":2}"#, cause: 5))

        #expect(try history("files/@6") == ["@6 made by keepBoth, with what @5 won over"])
        #expect(try blame("files/@6") == ["n keepBoth @6"])
        #expect(try why("files/a").contains("  kept    n 2 of @3 in files/@6"))
    }

    @Test func `blame the answer for what comes of it, and another client for what is newer`()
        throws
    {
        for (revision, author) in [("1", "answer"), ("2", "pull")] {
            let key = "tasks/\(revision)"
            if revision == "1" { try register(CollectionModel("tasks")) }
            let first = try store.journal.read { $0.last }.rawValue
            try store.write(.about(.localCreated, key, #"{"n":1}"#))
            try store.write(.about(.requestSent, key, "{}", mutation: first + 1))
            try store.write(.about(.requestAnswered, key, #"{"status":201}"#, call: first + 2))
            try store.write(
                .about(.pushAccepted, key, mutation: first + 1, call: first + 2, revision: "1"))
            try store.write(
                .about(
                    .serverUpserted, key, #"{"n":1,"at":5}"#, asOf: first + 4, revision: revision))

            #expect(try blame(key).last == "at \(author) @\(first + 5)")
        }
    }

    @Test func `say of what a list left out that nobody deleted it, and who answered`() throws {
        try register(CollectionModel("tasks"))
        for id in ["a", "b"] {
            try store.write(.about(.serverUpserted, "tasks/\(id)", #"{"n":1}"#, asOf: 1))
        }
        try store.write(
            Event(
                .pullCompleted, recordedAt: Timestamp(rawValue: 1), collection: "tasks",
                json: Array(#"{"scope":"","complete":true,"full":true}"#.utf8)))
        try store.write(.about(.serverDeleted, "tasks/a", cause: 4, asOf: 4))
        try store.write(
            Event(
                .issueAnswered, recordedAt: Timestamp(rawValue: 1), collection: "tasks",
                cause: Position(4), json: Array(#"{"issue":"absent","answer":"keepTheirs"}"#.utf8)))
        try store.write(.about(.serverDeleted, "tasks/b", cause: 6, asOf: 6))

        let unnamed = "not in the server's list any more"
        #expect(try history("tasks/a").contains("@5 " + unnamed))
        #expect(try history("tasks/b").contains("@7 \(unnamed), as the answer @6 said"))
        #expect(try why("tasks/a").contains { $0.hasPrefix("  \(unnamed): @5") })
        let answered = "  \(unnamed), as the answer @6 said: @7"
        #expect(try why("tasks/b").contains { $0.hasPrefix(answered) })
    }

    @Test func `name the collection whose record makes a stand-in, not that of its page`() throws {
        try register(
            CollectionModel("people", references: [Reference("boss", to: "people")]),
            CollectionModel("visits", references: [Reference("by", to: "people")]),
            CollectionModel("calls", references: [Reference("boss", to: "people")]))
        func named(_ field: String, on collection: CollectionName) throws -> CollectionName? {
            let page = Event(
                .pullPage, recordedAt: Timestamp(rawValue: 1), collection: collection)
            return try store.journal.read {
                try $0.referrer(by: field, to: EntityKey("people", "1"), page)
            }
        }

        #expect(try named("by", on: "people") == "visits")
        #expect(try named("boss", on: "calls") == "calls")
        #expect(try named("boss", on: "visits") == nil)
    }

    @Test func `name who set each of very many fields, at the cost of each`() throws {
        try register(CollectionModel("tasks"))
        func document(_ value: Int) -> String {
            "{" + (0..<20_000).map { #""f\#($0)":\#(value)"# }.joined(separator: ",") + "}"
        }
        try store.write(
            .about(.serverUpserted, "tasks/1", document(1), asOf: 1, revision: "1"))
        try store.write(
            .about(.serverUpserted, "tasks/1", document(2), asOf: 2, revision: "2"))

        let blames = try blame("tasks/1")
        #expect(blames.count == 20_000 && blames.allSatisfy { $0.hasSuffix(" @3") })
    }

    @Test func `say of a write whose answer the server promised that it is awaited`() throws {
        try register(CollectionModel("tasks"))
        try store.write(.about(.localCreated, "tasks/1", #"{"n":1}"#))
        func write(_ event: Event) throws {
            var event = event
            event.sync = Position(3)
            try store.write(event)
        }
        let begun = #"{"begunAt":0,"bootID":"b","uptime":0}"#
        try store.write(
            Event(.syncStarted, recordedAt: Timestamp(rawValue: 1), json: Array(begun.utf8)))
        func onAll(_ kind: EventKind, _ text: String) -> Event {
            Event(
                kind, recordedAt: Timestamp(rawValue: 1), collection: "tasks", call: Position(4),
                json: Array(text.utf8))
        }
        try write(
            Event(
                .requestSent, recordedAt: Timestamp(rawValue: 1), collection: "tasks",
                json: Array(#"{"writes":1}"#.utf8)))
        try write(.about(.requestSent, "tasks/1", "{}", mutation: 2))
        try write(onAll(.requestAnswered, #"{"status":200}"#))
        try write(onAll(.pushDeferred, #"{"ticket":"jobs/J1","writes":1}"#))

        let now = Moment(now: Timestamp(rawValue: 1), bootID: "b", uptime: 0)
        let lines = try store.journal.read { views in
            let next = NextRun(try views.gates(), at: now)
            return try OutboxExplanation.all(views).flatMap { $0.lines(next) }
        }
        #expect(
            lines == [
                "  sent at @5; the server answers later: jobs/J1",
                "  sent once, last at @5; the answer is promised",
                "  next: the next run, which may begin at once, asks for that answer",
            ])
        let promise = "the server answers later; its word for that is jobs/J1"
        #expect(try history("tasks/1").last == "@7 " + promise)
    }

    @Test func `name no owner that came back before what belongs to it was hidden`() throws {
        var (units, people) = (CollectionModel("units"), CollectionModel("people"))
        units.access.hidesAbsent = true
        people.access.hidesAbsent = true
        people.access.owner = "unit"
        people.references = [Reference("unit", to: "units")]
        try register(units, people)
        let time = Timestamp(milliseconds: 1_795_000_000_000)
        // Both are said, then a list leaves out one, and the clean-up comes.
        func round(_ start: UInt64, hiding name: CollectionName) throws {
            let list = #"{"scope":"","complete":true,"full":true,"hidden":["1"]}"#
            try store.write(.about(.serverUpserted, "units/1", "{}", asOf: start))
            try store.write(.about(.serverUpserted, "people/1", #"{"unit":"1"}"#, asOf: start))
            try store.write(
                Event(
                    .pullCompleted, recordedAt: Timestamp(rawValue: 1), collection: name,
                    asOf: Position(start + 2), revision: Revision("c"), json: Array(list.utf8)))
            try store.write(
                Event(
                    .timerFired, recordedAt: Timestamp(rawValue: 1),
                    json: TimerFired(.cleanUp, now: time).encoded))
        }
        try round(1, hiding: "units")
        try round(5, hiding: "people")

        let pruned = try history("people/1").filter { $0.contains("pruned by access") }
        let belonged = "belonged to units/1, out of reach since @4"
        #expect(pruned == ["@5 pruned by access: " + belonged, "@9 pruned by access"])
        #expect(try !why("people/1").contains { $0.contains("belonged to") })
    }

    @Test func `count what was asked apart from the write that failed before`() throws {
        var row = try FailingRow(parsing: [])
        (row.status, row.isWrite, row.reads) = (500, true, 1)
        (row.gate.failures, row.gate.reason) = (2, "server")
        row.gate.position = Position(27)
        let how = "(server, 500), last at @27"

        #expect(
            row.sentence == "a write of it failed, and asking how it stands failed once \(how)")
        row.isWrite = false
        #expect(row.sentence == "asking how it stands failed once \(how)")
        (row.isWrite, row.reads) = (true, 0)
        #expect(row.sentence == "a write of it failed 2 times in a row \(how)")
    }

    @Test func `say of a choice that it was taken back`() throws {
        var user = CollectionModel("user")
        user.choices = [ChoiceRule("place", of: "places", missing: "noPlace")]
        try register(CollectionModel("places"), user, CollectionModel("last"))
        func list(_ name: CollectionName) throws {
            try store.write(
                Event(
                    .pullCompleted, recordedAt: Timestamp(rawValue: 1), collection: name,
                    revision: Revision("1"), json: Array("{}".utf8)))
        }
        try store.write(.about(.serverUpserted, "places/7", #"{"id":"7"}"#, revision: "1"))
        try store.write(
            .about(.serverUpserted, "user/5", #"{"id":"5","place":null}"#, revision: "1"))
        try list("last")
        #expect(try !why("user/5").contains { $0.contains("taken back") })
        try store.write(.about(.serverUpserted, "places/8", #"{"id":"8"}"#, revision: "1"))
        try list("places")

        let mutation = try store.journal.read {
            try $0.derivedMutation(Position(4), EntityKey("user", "5"))
        }
        let proof = try #require(mutation?.proof)
        #expect(try why("user/5").contains("  taken back at \(proof)"))
    }

    @Test func `say by which event what is pending went another way`() throws {
        try register(CollectionModel("tasks"))
        try store.write(.about(.localCreated, "tasks/1", #"{"n":1}"#))
        try store.write(.about(.pushRelayed, "tasks/1", #"{"via":"sms"}"#, mutation: 2))

        let lines = try why("tasks/1")
        #expect(lines.first == "tasks/1: relayed")
        #expect(lines.contains { $0.hasSuffix("(@3)") }, "\(lines)")
    }

    @Test func `tell the end of what has no row by the event that ended it`() throws {
        try register(CollectionModel("tasks"))
        try store.write(.about(.localCreated, "tasks/1", #"{"n":1}"#))
        try store.write(.about(.localDeleted, "tasks/1"))
        try store.write(.about(.requestAnswered, "tasks/1", #"{"status":404}"#))
        try store.write(.about(.requestAnswered, "tasks/2", #"{"status":404}"#))
        func ending(_ id: String) throws -> [UInt64] {
            try store.journal.withTimelines { views, timeline in
                let found = try timeline(EntityKey("tasks", id))
                let history = try EntityHistory(found, views)
                return (history?.ending(found) ?? []).map(\.position.rawValue)
            }
        }

        #expect(try history("tasks/1").last == "@4 answered with 404")
        #expect(try ending("1") == [3])
        #expect(try ending("2") == [])
    }

    @Test func `say of what was given up on its way that nobody knows, and not that it is deleted`()
        throws
    {
        try register(CollectionModel("tasks"))
        try store.write(.about(.localCreated, "tasks/1", #"{"n":1}"#))
        try store.write(.about(.requestSent, "tasks/1", "{}", mutation: 2))
        try store.write(.about(.localDiscarded, "tasks/1"))

        #expect(
            try why("tasks/1").prefix(2) == [
                "tasks/1: given up", "  waits: sent at @3, and what became of it is not known",
            ])
    }
}

@Suite(.serialized) struct `words about what a list left out` {
    @Test func `name the list and the issue that waits for an answer`() async throws {
        let world = SyncWorld()
        for number in 0..<6 { world.rivalPuts("tasks/t\(number)", #"{"n":\#(number)}"#) }
        try await SyncDevice.with(world) { device async throws in
            try await device.sync()
            for number in 0..<5 { world.rivalDeletes("tasks/t\(number)") }
            world.server.withModel { $0.purgeTombstones() }
            _ = try await device.engine.sync(full: true)

            let issue = try #require(try device.replica.issues().first).id
            let words =
                "  a list of everything did not name it; it waits for an answer to the issue "
                + "\(issue)"
            #expect(try device.why("tasks/t1").contains(words))
            #expect(try !device.why("tasks/t5").contains(words))
        }
    }
}
