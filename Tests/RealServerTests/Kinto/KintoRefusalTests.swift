// KintoRefusalTests.swift — what the server refuses: one record, an id, a whole collection.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkViews

@testable import SyncSupport

extension `with a real Kinto server` {
    @Suite struct `what a real server refuses` {
        private static let schema =
            #"{"data":{"schema":{"type":"object","properties":{"title":{"type":"string"}}}}}"#

        @Test func `a refused record and what refers to it wait, and the rest goes on`()
            async throws
        {
            try await KintoWorld.run { world in
                let (a, b) = (try world.device("a"), try world.device("b"))
                try await world.client.send(.put, "/collections/lists", Self.schema)
                try a.put("lists/bad", #"{"title":7}"#)
                try a.put("lists/good", #"{"title":"fine"}"#)
                try a.put("tasks/in-bad", #"{"list":"bad"}"#)
                try a.put("tasks/in-good", #"{"list":"good"}"#)

                let outcome = try await a.sync()
                try await a.sync()

                #expect(outcome.failure == nil && outcome.refused == 1 && outcome.pending == 1)
                #expect(try a.mutations("lists/bad") == ["rejected"])
                #expect(try a.mutations("tasks/in-bad") == ["blocked"])
                #expect(try a.entries().last?.blockers == [EntityKey("lists", "bad")])
                #expect(try a.status("lists/bad") == .error)
                #expect(try a.events(of: "lists/bad").count { $0.event.kind == .requestSent } == 1)
                #expect(try await world.client.records("lists").keys.sorted() == ["good"])
                #expect(try await world.client.records("tasks").keys.sorted() == ["in-good"])
                #expect(try a.documents("lists").keys.sorted() == ["bad", "good"])
                try world.expectWhole(a)

                try a.patch("lists/bad", #"{"title":"seven"}"#)
                #expect(try await a.sync().isSynced)
                try await world.settle(a, b)
                try await world.expectEqual(a, b)
                #expect(try b.documents("tasks").keys.sorted() == ["in-bad", "in-good"])
                #expect(try a.mutations("lists/bad") == ["accepted", "accepted"])
            }
        }

        @Test func `a refused edit that is given up becomes what the server last said`()
            async throws
        {
            try await KintoWorld.run { world in
                let a = try world.device("a")
                try await world.client.send(.put, "/collections/lists", Self.schema)
                try await world.client.put("lists/l", #"{"title":"s"}"#)
                try await world.settle(a)
                try a.patch("lists/l", #"{"title":7}"#)
                try await a.sync()
                try await world.client.put("lists/l", #"{"title":"s","n":1}"#)
                try await a.sync()
                #expect(try a.mutations("lists/l") == ["rejected"])

                try await a.replica.write { try $0.discard(EntityKey("lists", "l")) }
                try await world.settle(a)

                #expect(try a.mutations("lists/l") == ["discarded"])
                try await world.expectEqual(a)
            }
        }

        @Test(arguments: ["a b", "_a", "é", "a.b", "a/b", "a/", "a/b/records/c", "..", "%2F"])
        func `an id that the server does not allow is refused alone`(_ id: String) async throws {
            try await KintoWorld.run { world in
                let a = try world.device("a")
                try a.put("tasks/first", "{}")
                try a.put("tasks/\(id)", "{}")
                try a.put("tasks/second", "{}")

                let outcome = try await a.sync()

                #expect(outcome.failure == nil && outcome.failed.isEmpty, "\(outcome)")
                #expect(try a.mutations("tasks/\(id)") == ["rejected"])
                #expect(
                    !a.wire.lines.contains { $0.isWrite && ![200, 201].contains($0.status) })
                #expect(
                    try await world.client.records("tasks").keys.sorted() == ["first", "second"])
                try await a.replica.write { try $0.discard(EntityKey("tasks", id)) }
                try await world.settle(a)
                try await world.expectEqual(a)
            }
        }

        @Test(arguments: ["[]", #"["system.Authenticated"]"#])
        func `a collection of somebody else stops no other, and goes on when access is given`(
            _ readers: String
        ) async throws {
            try await KintoWorld.run(writers: "basicauth:nobody") { world in
                let a = try world.device("a")
                let everybody = #"{"permissions":{"write":["system.Authenticated"]}}"#
                try await world.client.send(.put, "/collections/tasks", everybody)
                try await world.client.send(
                    .put, "/collections/lists", #"{"permissions":{"read":\#(readers)}}"#)
                try a.put("lists/l", #"{"title":"l"}"#)
                try a.put("tasks/t", #"{"title":"t"}"#)

                let outcome = try await a.sync()

                #expect(outcome.failure == nil)
                #expect(outcome.failed == (readers == "[]" ? ["lists": .forbidden] : [:]))
                #expect(outcome.refused == 1 && !outcome.isSynced)
                #expect(try a.mutations("lists/l") == ["rejected"])
                #expect(try a.mutations("tasks/t") == ["accepted"])
                try world.expectWhole(a)

                try await world.client.send(.put, "/collections/lists", everybody)
                try await a.replica.write { try $0.retry(EntityKey("lists", "l")) }
                try await world.settle(a)
                try await world.expectEqual(a)
            }
        }

        @Test func `a record that is nested too deep hides no other, and stops no write`()
            async throws
        {
            try await KintoWorld.run { world in
                let a = try world.device("a")
                func expectIssue() throws {
                    let messages = try a.replica.issues().map(\.message)
                    let start = "deep: a record: nested too deep at byte "
                    #expect(messages.count == 1 && messages[0].hasPrefix(start), "\(messages)")
                }
                let deep = String(repeating: "[", count: 200) + String(repeating: "]", count: 200)
                try await world.client.put("tasks/good", #"{"title":"g"}"#)
                try await world.client.put("tasks/deep", #"{"x":\#(deep)}"#)
                try a.put("tasks/mine", #"{"title":"m"}"#)

                let outcome = try await a.sync()

                #expect(outcome.failure == nil && outcome.failed.isEmpty && outcome.pending == 0)
                #expect(try a.documents("tasks").keys.sorted() == ["good", "mine"])
                try expectIssue()
                try world.expectWhole(a)

                // A list of everything does not take it for deleted, nor for news.
                #expect(try await a.engine.sync(full: true).held == [:])
                try expectIssue()
                try await world.client.put("tasks/deep", #"{"x":[]}"#)
                try await world.settle(a)
                #expect(try a.replica.issues() == [])
                try await world.expectEqual(a)
            }
        }

        @Test func `a collection that is not there stops no other`() async throws {
            try await KintoWorld.run { world in
                let a = try world.device("a")
                try a.put("lists/l", "{}")
                try a.put("tasks/t", "{}")
                try await world.client.send(.delete, "/collections/lists")

                let outcome = try await a.sync()

                #expect(outcome.failure == nil)
                #expect(outcome.failed.keys.sorted() == ["lists"])
                #expect(try a.mutations("lists/l") == ["pending"])
                #expect(try a.mutations("tasks/t") == ["accepted"])
                try await world.client.send(.put, "/collections/lists", "{}")
                try await world.settle(a)
                try await world.expectEqual(a)
            }
        }
    }
}
