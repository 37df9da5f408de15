// ExplainTests.swift — what is said of entities whose story is known.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkReplay
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport
@testable import ViewsSupport

extension SyncDevice {
    /// What `tidemark why` prints.
    func why(_ name: String) throws -> [String] {
        let named = try key(name)
        let journal = replica.journal
        return try journal.read { views in
            let target = try EntityTarget(reading: named, views, journal)
            return try EntityExplanation(target, views)?.lines ?? []
        }
    }

    /// What `tidemark history` prints, without the dates.
    func history(_ name: String) throws -> [String] {
        let named = try key(name)
        let journal = replica.journal
        let history = try journal.withTimelines { views, timeline in
            let target = try EntityTarget(reading: named, views, journal)
            return try EntityHistory(try timeline(target.key), field: target.field, views)
        }
        return (history?.entries ?? []).flatMap { $0.lines(columns: nil) }.map {
            $0.replacing(" 2026-11-18 ", with: " ")
        }
    }

    /// Who set each field: `title edit @5`.
    func blame(_ name: String) throws -> [String] {
        try replica.blame(of: try key(name)).map { "\($0.field) \($0.by) \($0.position)" }
    }

    /// What `tidemark outbox --explain` prints below each mutation.
    func waits() throws -> [String] {
        let now = replica.dependencies.moment
        return try replica.journal.read { views in
            let next = NextRun(try views.gates(), at: now)
            return try OutboxExplanation.all(views).flatMap { $0.lines(next) }
        }
    }
}

@Suite(.serialized) struct `explanations` {
    /// Compares lines as a narrow terminal shows them.
    private func expect(
        _ lines: [String], _ wanted: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let shown = lines.map { EventText.cut($0, to: 78) }.joined(separator: "\n")
        #expect(shown == wanted, "\n\(shown)\n;;", sourceLocation: sourceLocation)
    }

    @Test func `of a lost edit name both sides, and what was given up`() async throws {
        let world = SyncWorld()
        world.rivalPuts("lists/home", #"{"title":"s","n":1}"#)
        try await SyncDevice.with(world) { device in
            try await device.sync()
            try device.patch("lists/home", #"{"title":"mine","colour":"red"}"#)
            world.rivalPuts("lists/home", #"{"title":"theirs","n":2}"#)
            try await device.sync()

            expect(
                try device.why("lists/home"),
                """
                lists/home: synced
                  the server's word: @22  server.upserted  2026-11-18 11:06:40, run @17
                  an open issue, @22: the server won by serverWins
                @22 serverWins/8: serverWins on title
                  before  @9
                  from    @16 local.updated lists/home  {"set":{"title":"mine","colour":"red"…
                  from    @22 server.upserted lists/home  {"title":"theirs","n":2,"id":"home"…
                  gave up title "mine" of @16
                  gave up colour "red" of @16
                """)
            // The decision is about the title: of that field there is nothing less to say.
            #expect(try device.why("lists/home.title") == device.why("lists/home"))
            expect(
                try device.history("lists/home"),
                """
                @9     11:06:40  first heard of from the server  (run @3)
                         title          "s"
                         n              1
                         id             "home"
                         last_modified  1795000000000
                @16    11:06:40  edited here
                         title   "s" → "mine"
                         colour  "red"
                @22    11:06:40  changed on the server  (run @17)
                         title          "mine" → "theirs"
                         n              1 → 2
                         last_modified  1795000000000 → 1795000000001
                         colour         "red" → nothing
                         by serverWins/8: serverWins on title
                         @16 superseded
                """)
            expect(
                try device.history("lists/home.n"),
                """
                @9     11:06:40  first heard of from the server  (run @3)
                         n  1
                @22    11:06:40  changed on the server  (run @17)
                         n  1 → 2
                         by serverWins/8: serverWins on title
                         @16 superseded
                """)
            expect(
                try device.blame("lists/home"),
                """
                title pull @22
                n pull @22
                id pull @9
                last_modified pull @22
                """)
        }
    }

    @Test func `tell a rule's document from both sides`() async throws {
        let world = SyncWorld.notes(.custom("both"))
        world.rivalPuts("notes/a", #"{"title":"old"}"#)
        let rule = ConflictRule(name: "both", version: 7) { _ in
            .document(Array(#"{"title":"mine+theirs"}"#.utf8))
        }
        try await SyncDevice.with(world, rules: [rule]) { device in
            try await device.sync()
            try device.patch("notes/a", #"{"title":"mine"}"#)
            world.rivalPuts("notes/a", #"{"title":"theirs","n":2}"#)
            try await device.sync()

            expect(
                try device.blame("notes/a"),
                """
                title both/7 @20
                id pull @9
                last_modified answer @26
                """)
            expect(
                try device.why("notes/a"),
                """
                notes/a: synced
                  the server's word: @26  server.upserted  2026-11-18 11:06:40, run @14
                @20 both/7: merged on title
                  before  @9
                  from    @13 local.updated notes/a  {"set":{"title":"mine"},"unset":[]}
                  from    @20 server.upserted notes/a  {"title":"theirs","n":2,"id":"a","last…
                  from    @19 rule.answered notes/a  {"rule":"both","version":7,"inputs":"fa5…
                  gave up title "mine" of @13
                """)
        }
    }

    @Test func `keep an edit's author while others are pulled, and when it is accepted`()
        async throws
    {
        let world = SyncWorld()
        world.rivalPuts("tasks/t", #"{"title":"s","n":1}"#)
        try await SyncDevice.with(world) { device in
            try await device.sync()
            try device.patch("tasks/t", #"{"title":"mine"}"#)
            world.rivalPuts("tasks/t", #"{"title":"theirs","n":2}"#)
            try await device.sync()
            try await device.sync()

            expect(
                try device.blame("tasks/t"),
                """
                title edit @16
                n pull @24
                id pull @12
                last_modified answer @30
                """)
            expect(
                try device.why("tasks/t"),
                """
                tasks/t: synced
                  the server's word: @30  server.upserted  2026-11-18 11:06:40, run @17
                @24 localWins/8: localWins on title
                  before  @12
                  from    @16 local.updated tasks/t  {"set":{"title":"mine"},"unset":[]}
                  from    @24 server.upserted tasks/t  {"title":"theirs","n":2,"id":"t","last…
                  gave up title "theirs" of @24
                """)
        }
    }

    @Test func `of what waits name what for, and when it goes on`() async throws {
        let refusal = Array(#"{"code":400,"message":"far too long"}"#.utf8)
        let world = SyncWorld([
            FaultRule(.answer(status: 400, body: refusal), method: .put, pathContains: "bad")
        ])
        try await SyncDevice.with(world) { device in
            try device.put("lists/bad", #"{"title":"x"}"#)
            try device.put("tasks/a", #"{"list":"bad"}"#)
            try device.patch("tasks/a", #"{"n":1}"#)
            try device.put("tasks/b", #"{"parent":"a"}"#)
            expect(
                try device.waits(),
                """
                  never sent
                  next: with the next run, which may begin at once
                  refers to lists/bad, made here at @3, which goes first
                  never sent
                  next: after lists/bad, with the next run, which may begin at once
                  goes with @4
                  refers to tasks/a, made here at @4, which goes first
                  never sent
                  next: after tasks/a, with the next run, which may begin at once
                """)
            try await device.sync()
            expect(
                try device.waits(),
                """
                  refused with 400: far too long (@19)
                  sent once, last at @17; answered with 400 (@18, 2026-11-18 11:06:40)
                  next: when it is edited, retried or discarded
                  refers to lists/bad: refused with 400: far too long (@19)
                  never sent
                  next: when that is settled
                  goes with @4
                  refers to tasks/a, which waits for lists/bad (@19)
                  never sent
                  next: when that is settled
                """)
            expect(
                try device.why("tasks/b"),
                """
                tasks/b: created
                  pending: @6 created  2026-11-18 11:06:40
                  waits: refers to tasks/a, which waits for lists/bad (@19)
                  no rule has decided anything about it
                """)
            expect(
                try device.why("lists/bad"),
                """
                lists/bad: error
                  pending: @3 created  2026-11-18 11:06:40
                  waits: refused with 400: far too long (@19)
                  no rule has decided anything about it
                """)
        }
    }

    @Test func `name with which edit each goes, and that an action goes alone`() throws {
        let store = try ScratchStore()
        func edit(_ field: String) -> Event {
            .about(.localUpdated, "tasks/1", #"{"set":{"\#(field)":1},"unset":[]}"#)
        }
        try store.write(.model(.localWins))
        try store.write(
            .about(.serverUpserted, "tasks/1", #"{"id":"1"}"#, asOf: 1, revision: "1"))
        try store.write(
            edit("a"), edit("b"),
            .about(.localRequested, "tasks/1", #"{"action":"close","parameters":{}}"#),
            edit("c"), edit("d"))

        let leaders = try store.journal.read { views in
            try OutboxExplanation.all(views).map { $0.leader?.rawValue }
        }
        #expect(leaders == [nil, 3, nil, nil, 6])
    }

    @Test func `of a write name the answer that refused it, also where a later run brought it`()
        throws
    {
        let store = try ScratchStore()
        func write(_ event: Event, in run: UInt64) throws {
            var event = event
            event.sync = Position(run)
            try store.write(event)
        }
        func begin() throws {
            let begun = #"{"begunAt":0,"bootID":"b","uptime":0}"#
            try store.write(
                Event(.syncStarted, recordedAt: Timestamp(rawValue: 1), json: Array(begun.utf8)))
        }
        func onBoth(_ kind: EventKind, _ text: String) -> Event {
            Event(
                kind, recordedAt: Timestamp(rawValue: 1), collection: "tasks", call: Position(5),
                json: Array(text.utf8))
        }
        try store.write(.model(.localWins))
        try store.write(
            .about(.localCreated, "tasks/1", #"{"n":1}"#),
            .about(.localCreated, "tasks/2", #"{"n":2}"#))
        try begin()
        try write(.about(.requestSent, "tasks/1", "{}", mutation: 2), in: 4)
        try write(.about(.requestSent, "tasks/2", "{}", mutation: 3), in: 4)
        try write(onBoth(.requestAnswered, #"{"status":200}"#), in: 4)
        try write(onBoth(.pushDeferred, #"{"ticket":"j","writes":2}"#), in: 4)
        try write(
            Event(.syncFinished, recordedAt: Timestamp(rawValue: 1), json: Array("{}".utf8)), in: 4)
        try begin()
        for (key, mutation) in [("tasks/1", 2), ("tasks/2", 3)] as [(String, UInt64)] {
            let call = mutation + 3
            try write(.about(.requestAnswered, key, #"{"status":409}"#, call: call), in: 10)
            let refusal = #"{"status":409,"message":"no"}"#
            try write(
                .about(.pushRejected, key, refusal, mutation: mutation, call: call), in: 10)
        }

        let answers = try store.journal.read { views in
            try OutboxExplanation.all(views).map { $0.answer?.position.rawValue }
        }
        #expect(answers == [11, 13])
    }

    @Test func `of what refers to a refused entity that is sent again name no obstacle`()
        async throws
    {
        var model = SyncWorld.usualModel
        model.collections[0].retriesRefused = true
        let world = SyncWorld(
            model: model,
            [FaultRule(.answer(status: 400, body: []), method: .put, pathContains: "bad")])
        try await SyncDevice.with(world) { device in
            try device.put("lists/bad", #"{"title":"x"}"#)
            try device.put("tasks/a", #"{"list":"bad"}"#)
            try await device.sync()

            let entries = try device.replica.journal.read { try $0.outbox(all: false) }
            let task = try #require(entries.first { $0.mutation.key.id == "a" })
            #expect(task.blockers == [] && task.state == .pending)
            #expect(try !device.waits().contains("  next: when that is settled"))
        }
    }

    @Test func `of what waits say when the server wants to be asked again`() async throws {
        let world = SyncWorld([
            FaultRule(.answer(status: 503, fields: [.retryAfter: "30"]), method: .put, nth: 1)
        ])
        try await SyncDevice.with(world) { device in
            try device.put("lists/a", #"{"title":"x"}"#)
            try await device.sync()
            world.clock.advance(by: .seconds(5))
            expect(
                try device.waits(),
                """
                  sent once, last at @14; answered with 503 (server), asking to wait 30 s (@1…
                  next: with the next run, in 25 s, 2026-11-18T11:07:10Z: the server asked fo…
                """)
            expect(
                try device.history("lists/a"),
                """
                @3     11:06:40  created here
                         title  "x"
                @14    11:06:40  sent with PUT /v1/buckets/b/collections/lists/records/a  (ru…
                @15    11:06:40  answered with 503 (server), asking to wait 30 s  (run @4)
                """)
        }
    }

    @Test func `of a write without an answer say that nobody knows`() async throws {
        let world = SyncWorld()
        try await SyncDevice.with(world) { device in
            try await device.sync()
            try device.put("lists/a", #"{"title":"x"}"#)
            device.wire.tap { request, _, pass in
                guard request.isWrite else { return await pass() }
                _ = await pass()
                return .failure(TransportError(.timeout, detail: "lost \u{1B}[31m on the way"))
            }
            try await device.sync()
            expect(
                try device.waits(),
                """
                  sent at @22, and what became of it is not known
                  a write of it failed once (timeout), last at @23; again from 2026-11-18T11:…
                  sent once, last at @22; no answer: timeout; it may have arrived (lost …
                  next: the first run from 2026-11-18T11:06:43Z on, or one that the user asks…
                """)
            expect(
                try device.why("lists/a"),
                """
                lists/a: uploading
                  pending: @14 created  2026-11-18 11:06:40
                  waits: sent at @22, and what became of it is not known
                  waits: a write of it failed once (timeout), last at @23; again from 2026-11…
                  no rule has decided anything about it
                """)
        }
    }

    @Test func `find fields within fields, and ids with dots`() async throws {
        let world = SyncWorld()
        try await SyncDevice.with(world) { device in
            try device.put("tasks/a.b", #"{"place":{"city":"Ulm","x.y":[1,{"z":2}]},"n":1}"#)
            try device.patch("tasks/a.b", #"{"place":{"city":"Ulm","x.y":[1,{"z":3}]}}"#)
            func blamed(_ name: String) throws -> [String] {
                let named = try device.key(name)
                let journal = device.replica.journal
                return try journal.withTimelines { views, timeline in
                    let target = try EntityTarget(reading: named, views, journal)
                    #expect(target.key.id == "a.b")
                    return try timeline(target.key).blame(of: target.field, views).map {
                        "\($0.field) \($0.value ?? "-") \($0.author) \($0.position)"
                    }
                }
            }

            #expect(try blamed("tasks/a.b.place.city") == ["place.city \"Ulm\" created @3"])
            #expect(try blamed("tasks/a.b.place.x.y.1.z") == ["place.x.y.1.z 3 edit @4"])
            #expect(try blamed("tasks/a.b.place.x.y.0") == ["place.x.y.0 1 created @3"])
            #expect(try blamed("tasks/a.b.nope") == [])
            #expect(try blamed("tasks/a.b").count == 2)
        }
    }

    @Test func `of what was made and deleted here tell its end`() async throws {
        try await SyncDevice.with(SyncWorld()) { device in
            try device.put("tasks/bin", #"{"title":"A mistake"}"#)
            try device.delete("tasks/bin")

            #expect(try device.why("tasks/bin") == [])
            expect(
                try device.history("tasks/bin"),
                """
                @3     11:06:40  created here
                         title  "A mistake"
                @4     11:06:40  deleted here
                         title  "A mistake" → nothing
                         @3 annihilated
                         @4 annihilated
                """)
            #expect(try device.blame("tasks/bin") == [])
            #expect(try device.replica.history(of: EntityKey("tasks", "never")) == nil)
        }
    }
}
