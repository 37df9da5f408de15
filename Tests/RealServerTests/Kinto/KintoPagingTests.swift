// KintoPagingTests.swift — lists in pages, and what changes on the server between two pages.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync

@testable import SyncSupport

extension `with a real Kinto server` {
    @Suite struct `lists of several pages` {
        @Test(arguments: [2, 3])
        func `a change between two pages of a first pull is not lost`(_ pageSize: Int) async throws
        {
            try await KintoWorld.run(.todo(pageSize: pageSize)) { world in
                let a = try world.device("a")
                let client = world.client
                for number in 1...13 {
                    try await client.put("tasks/t\(number)", #"{"n":\#(number)}"#)
                }
                a.wire.once(.answered, where: Self.isFirstPage) {
                    // The list is newest first: t1 was to come last, t13 has come already.
                    try await client.put("tasks/t1", #"{"n":100}"#)
                    try await client.put("tasks/t13", #"{"n":1300}"#)
                    try await client.delete("tasks/t2")
                    try await client.put("tasks/t14", #"{"n":14}"#)
                }

                let outcome = try await a.sync()

                let pages = a.wire.lines.filter { $0.target == "tasks" }
                #expect(outcome.isSynced)
                #expect(pages.count >= 13 / pageSize)
                #expect(pages.allSatisfy { $0.query.contains("_limit=\(pageSize)") })
                try await world.settle(a)
                try await world.expectEqual(a)
                #expect(try a.documents("tasks").count == 13)
            }
        }

        @Test func `a change between two pages of a later pull is not lost`() async throws {
            try await KintoWorld.run(.todo(pageSize: 2)) { world in
                let a = try world.device("a")
                let client = world.client
                for number in 1...4 {
                    try await client.put("tasks/t\(number)", #"{"n":\#(number)}"#)
                }
                try await world.settle(a)
                for number in 2...12 { try await client.put("tasks/t\(number)", #"{"n":0}"#) }
                try a.patch("tasks/t1", #"{"mine":true}"#)
                a.wire.once(.answered, where: Self.isFirstPage) {
                    try await client.put("tasks/t1", #"{"n":100}"#)
                    try await client.delete("tasks/t2")
                    try await client.put("tasks/t3", #"{"n":300}"#)
                }

                try await a.sync()
                try await world.settle(a)

                try await world.expectEqual(a)
                #expect(
                    try await world.record("tasks/t1")
                        == JSONValue(parsing: Array(#"{"n":100,"mine":true}"#.utf8)))
                #expect(try a.documents("tasks")["t2"] == nil)
            }
        }

        @Test
        func `a pull that breaks off between two pages goes on with the next run`()
            async throws
        {
            try await KintoWorld.run(.todo(pageSize: 3)) { world in
                let a = try world.device("a")
                let client = world.client
                for number in 1...12 {
                    try await client.put("tasks/t\(number)", #"{"n":\#(number)}"#)
                }
                a.wire.hook { moment, line in
                    guard moment == .answered, line.query.contains("_token") else { return }
                    throw TransportError(.connectionLost)
                }

                let broken = try await a.sync()
                let seen = try a.documents("tasks").count
                a.wire.hook(nil)
                try await client.delete("tasks/t12")
                try await world.settle(a)

                #expect(broken.failed["tasks"]?.name == "timeout")
                #expect(seen == 3)
                try await world.expectEqual(a)
            }
        }

        @Test func `an edit made between two pages is kept`() async throws {
            try await KintoWorld.run(.todo(pageSize: 2)) { world in
                let a = try world.device("a")
                let client = world.client
                for number in 1...6 {
                    try await client.put("tasks/t\(number)", #"{"n":\#(number)}"#)
                }
                a.wire.once(.answered, where: Self.isFirstPage) {
                    try a.put("tasks/t1", #"{"mine":1}"#)
                    try a.put("tasks/new", #"{"mine":2}"#)
                }

                try await a.sync()
                try await world.settle(a)

                try await world.expectEqual(a)
                #expect(
                    try await world.record("tasks/t1")
                        == JSONValue(parsing: Array(#"{"n":1,"mine":1}"#.utf8)))
            }
        }

        private static func isFirstPage(_ line: KintoTransport.Line) -> Bool {
            line.target == "tasks" && line.query.contains("_limit")
                && !line.query.contains("_token")
        }
    }
}
