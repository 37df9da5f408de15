// DjangoTests.swift — two replicas and a plain client on a real server by Django REST framework,
// which was not made for sync, end equal.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync

@testable import SyncSupport

@Suite(.serialized, .enabled(if: DjangoClient.isThere, "\(DjangoClient.reason)"))
struct `with a real server by Django REST framework` {
    @Test func `what is made, edited and deleted on any side ends equal on all three`()
        async throws
    {
        try await DjangoWorld.run { world in
            let (a, b) = (try world.device("a"), try world.device("b"))
            try a.put("projects/house", #"{"name":"House"}"#)
            try a.put("items/paint", #"{"title":"Paint","project":"house"}"#)
            try b.put("items/sweep", #"{"title":"Sweep"}"#)
            let milk = try await world.client.make("items", #"{"title":"Milk"}"#)
            try await world.settle(a, b)
            try await world.expectSame(a, b)
            #expect(try await world.titles() == ["Milk", "Paint", "Sweep"])
            let (house, paint) = (try a.serverID("projects/house"), try a.serverID("items/paint"))
            let sweep = try b.serverID("items/sweep")
            #expect(try b.document("items/\(paint)")?.contains(#""project":\#(house),"#) == true)

            try a.patch("items/\(sweep)", #"{"notes":"all of it"}"#)
            try b.delete("items/\(paint)")
            try b.put("items/tea", #"{"title":"Tea","project":"\#(house)"}"#)
            try await world.client.patch("items/\(milk)", #"{"done":true}"#)
            try await world.settle(a, b)
            try await world.expectSame(a, b)
            #expect(try await world.titles() == ["Milk", "Sweep", "Tea"])
            #expect(try !a.has("items/paint"))

            try await world.client.delete("items/\(milk)")
            try await world.settle(a, b)
            try await world.expectSame(a, b)
            #expect(try !a.has("items/\(milk)"))
            let lists = a.wire.lines.filter { $0.method == .get && $0.target == "api/items" }
            #expect(lists.dropFirst().allSatisfy { $0.query.contains("updated_at__gte=") })
        }
    }

    @Test func `edits of two fields meet, and of the same one the server's stays until it is told`()
        async throws
    {
        try await DjangoWorld.run { world in
            let (a, b) = (try world.device("a"), try world.device("b"))
            let id = try await world.client.make("items", #"{"title":"old","notes":"old"}"#)
            let key = "items/\(id)"
            try await world.settle(a, b)

            try a.patch(key, #"{"title":"a"}"#)
            try b.patch(key, #"{"notes":"b"}"#)
            try await world.settle(a, b)
            try await world.expectSame(a, b)
            #expect(try b.mutations(key) == ["accepted"])
            #expect(try a.document(key)?.contains(#""title":"a","notes":"b""#) == true)

            try a.patch(key, #"{"title":"aa"}"#)
            try b.patch(key, #"{"title":"bb"}"#)
            try await world.settle(a, b)
            try await world.expectSame(a, b)
            #expect(try await world.titles() == ["aa"])
            let issue = try #require(try b.replica.issues().first)
            #expect(issue.kind == .conflict && issue.fields == ["title"])

            try await b.replica.answer(issue.id, .keepMine)
            try await world.settle(b, a)
            try await world.expectSame(a, b)
            #expect(try await world.titles() == ["bb"])
            #expect(try b.replica.issues() == [])
        }
    }

    @Test func `an edit of what is deleted before it arrives gives way`() async throws {
        try await DjangoWorld.run { world in
            let a = try world.device("a")
            let client = world.client
            let id = try await client.make("items", #"{"title":"Milk"}"#)
            try await world.settle(a)
            try a.patch("items/\(id)", #"{"done":true}"#)
            a.wire.once(.leaving, where: { $0.method == .patch }) {
                try await client.delete("items/\(id)")
            }

            try await a.sync()
            try await world.settle(a)

            #expect(a.wire.lines.contains { $0.method == .patch && $0.status == 404 })
            #expect(try !a.has("items/\(id)"))
            try await world.expectSame(a)
        }
    }

    @Test func `what goes without a trace is learnt from a list of everything`() async throws {
        try await DjangoWorld.run { world in
            let a = try world.device("a")
            let house = try await world.client.make("projects", #"{"name":"House"}"#)
            let paint = try await world.client.make(
                "items", #"{"title":"Paint","project":\#(house)}"#)
            for title in ["Milk", "Tea"] {
                try await world.client.make("items", #"{"title":"\#(title)"}"#)
            }
            try await world.settle(a)

            // Its items go with it (CASCADE), and no list tells of any.
            try await world.client.delete("projects/\(house)")
            try await world.settle(a)
            #expect(try a.has("projects/\(house)") && a.has("items/\(paint)"))
            let outcome = try await a.engine.sync(full: true)

            #expect(outcome.isSynced, "\(outcome)")
            try await world.expectSame(a)
            #expect(try await world.titles() == ["Milk", "Tea"])
        }
    }

    @Test func `what goes without a trace is asked for where lists have neither dates nor cursors`()
        async throws
    {
        try await DjangoWorld.run(hasDates: false) { world in
            let (a, client) = (try world.device("a"), world.client)
            let house = try await client.make("projects", #"{"name":"House"}"#)
            for number in 1...15 {
                try await client.make("items", #"{"title":"\#(number)","project":\#(house)}"#)
            }
            for number in 16...40 {
                try await client.make("items", #"{"title":"\#(number)"}"#)
            }
            try await world.settle(a)
            #expect(try a.documents("items").count == 40)

            // Its items go with it (CASCADE).
            try await client.delete("projects/\(house)")
            let outcome = try await a.sync()

            #expect(outcome.isSynced, "\(outcome)")
            #expect(try a.documents("items").count == 25)
            try await world.expectSame(a)
            let gone = a.wire.lines.filter { $0.method == .get && $0.status == 404 }
            #expect(gone.count == 16)
            #expect(a.wire.lines.allSatisfy { !$0.query.contains("updated_at__gte=") })
        }
    }

    @Test func `a token that has run out is asked for once more`() async throws {
        try await DjangoWorld.run { world in
            let authorization = world.client.authorization
            let asked = SyncCounter()
            let a = try world.device("a") {
                .authorization(asked.count() == 0 ? "Token of-yesterday" : authorization)
            }
            try a.put("items/tea", #"{"title":"Tea"}"#)

            let outcome = try await a.sync()

            #expect(outcome.isSynced && asked.value == 2, "\(outcome)")
            try await world.settle(a)
            try await world.expectSame(a)
        }
    }
}
