// RadicaleTokenTests.swift — tokens that the server forgot, and answers that were lost.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync

@testable import SyncSupport

extension `with a real CalDAV server` {
    @Suite struct `tokens of a calendar` {
        private static let hasFiles = RadicaleClient.files != nil

        @Test(.enabled(if: Self.hasFiles, "TIDEMARK_RADICALE_FILES names no folder"))
        func `after the server forgot its tokens, everything is listed and nothing is left over`()
            async throws
        {
            try await RadicaleWorld.run { world in
                let (a, b) = (try world.device("a"), try world.device("b"))
                for number in 1...5 { try await world.client.write("tasks/t\(number)", "s") }
                try await world.settle(a, b)
                try a.write("tasks/t1", "a")
                try b.delete("tasks/t2")

                try world.client.expireTokens("tasks")
                try await world.client.remove("tasks/t3")
                try await world.client.write("tasks/t4", "c")
                try await world.client.write("tasks/t6", "c")
                a.wire.forget()
                let outcome = try await a.sync()
                try await world.settle(a, b)

                #expect(outcome.isSynced)
                #expect(
                    a.wire.lines.contains { $0.target.hasSuffix("tasks") && $0.status == 403 })
                try await world.expectEqual(a, b)
                let items = try await world.client.items("tasks")
                #expect(items.keys.sorted() == ["t1.ics", "t4.ics", "t5.ics", "t6.ics"])
                #expect(try await world.summary("tasks/t1") == "a")
            }
        }

        @Test func `a calendar that was dropped and made anew is taken as it is now`() async throws
        {
            try await RadicaleWorld.run { world in
                let (a, b) = (try world.device("a"), try world.device("b"))
                for number in 1...3 { try await world.client.write("lists/l\(number)", "s") }
                try await world.settle(a, b)

                try await world.client.dropCalendar("lists")
                try await world.client.makeCalendar("lists")
                try await world.client.write("lists/l2", "anew")
                try await world.client.write("lists/l4", "new")
                try await world.client.write("lists/l3", "s")
                try await world.settle(a, b)

                try await world.expectEqual(a, b)
                #expect(try a.documents("lists").keys.sorted() == ["l2", "l3", "l4"])
            }
        }

        @Test func `a calendar that is gone stops only itself`() async throws {
            try await RadicaleWorld.run { world in
                let a = try world.device("a")
                try await world.settle(a)
                try await world.client.dropCalendar("lists")
                try a.write("lists/l", "a")
                try a.write("tasks/t", "a")

                let outcome = try await a.sync()

                #expect(outcome.failed["lists"]?.name == "client")
                #expect(try await world.summary("tasks/t") == "a")
                #expect(try a.mutations("lists/l") == ["pending"])
            }
        }

        @Test(arguments: ["lists", "tasks"], KintoTransport.Moment.allCases)
        func `a write whose answer is lost is asked after, and ends where it should`(
            _ collection: String, _ lost: KintoTransport.Moment
        ) async throws {
            try await RadicaleWorld.run { world in
                let (a, b) = (try world.device("a"), try world.device("b"))
                let key = "\(collection)/x"
                for (edit, end) in [("one", "one"), ("two", "two"), (nil, nil)] {
                    try a.carryOut(edit, on: key)
                    a.wire.once(lost, where: \.isWrite) {
                        throw TransportError(.connectionLost)
                    }
                    let outcome = try await a.sync()
                    #expect(outcome.failure == nil && outcome.unsettled == 1)
                    #expect(try a.mutations(key).last == "unknown")

                    try await world.settle(a, b)

                    #expect(try await world.summary(key) == end)
                    try await world.expectEqual(a, b)
                }
            }
        }
    }
}
