// KintoLikenessTests.swift — records that look like tombstones, and the bucket `default`, which the
// server knows by another name as well.

import Foundation
import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents

@testable import SyncSupport

extension `with a real Kinto server` {
    @Suite struct `what looks like something else` {
        @Test func `a record of nothing but a deleted field is no tombstone`() async throws {
            try await KintoWorld.run { world in
                let a = try world.device("a")
                let b = try world.device("b")
                let client = world.client
                for id in ["t1", "7", "gone"] { try await client.put("tasks/\(id)", #"{"n":1}"#) }
                try await world.settle(a, b)
                a.wire.forget()

                try await client.put("tasks/7", #"{"deleted":true}"#)
                try await client.delete("tasks/gone")
                try b.put("tasks/mine", #"{"deleted":true}"#)
                try await b.sync()
                try await a.sync()

                #expect(try Set(a.documents("tasks").keys) == ["t1", "7", "mine"])
                let fetches = a.wire.lines.filter { $0.query.contains("in_id=") }
                #expect(fetches.count == 1)
                try await world.settle(a, b)
                try await world.expectEqual(a, b)
            }
        }

        @Test func `many tombstones are told from records by one request`() async throws {
            try await KintoWorld.run { world in
                let a = try world.device("a")
                let client = world.client
                for number in 1...120 {
                    let key = "tasks/00000000-0000-4000-8000-000000000\(number + 100)"
                    try await client.put(key, "{}")
                    try await client.delete(key)
                }
                try await client.put("tasks/marked", #"{"deleted":true}"#)
                try await client.put("tasks/also", #"{"deleted":true,"n":1}"#)

                try await a.sync()

                #expect(try Set(a.documents("tasks").keys) == ["marked", "also"])
                let requests = a.wire.lines.filter { $0.target == "tasks" }
                #expect(requests.map { $0.query.contains("deleted=true") } == [false, true])
                try await world.settle(a)
                try await world.expectEqual(a)
            }
        }

        @Test func `the user's own bucket is synced in pages like any other`() async throws {
            try await KintoWorld.run(.todo(pageSize: 2)) { other in
                // A bucket of this user, whom nobody else is.
                let user = "own-\(UUID().uuidString.lowercased())"
                let client = KintoClient(
                    origin: other.client.origin, bucket: "default", user: user)
                let world = KintoWorld(
                    client: client, directory: other.directory, model: other.model)
                let a = try world.device(user)
                for number in 1...5 {
                    try await client.put("tasks/t\(number)", #"{"n":\#(number)}"#)
                }

                let first = try await a.sync()
                try a.patch("tasks/t1", #"{"mine":true}"#)
                try a.put("lists/l1", "{}")
                try await client.delete("tasks/t2")
                try await world.settle(a)

                #expect(first.isSynced, "\(first)")
                #expect(try a.documents("tasks").count == 4)
                try await world.expectEqual(a)
                #expect(try await client.records("lists").count == 1)
            }
        }
    }
}
