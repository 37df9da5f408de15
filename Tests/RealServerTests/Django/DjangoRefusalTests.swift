// DjangoRefusalTests.swift — what a real server by Django REST framework refuses, and what gets no
// answer from it.

import DocExamples
import Foundation
import HTTPTypes
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync

@testable import SyncSupport

extension `with a real server by Django REST framework` {
    @Suite struct `what it refuses` {
        @Test func `is an issue with the server's words, and goes with the mistake`() async throws {
            try await DjangoWorld.run { world in
                let (a, b) = (try world.device("a"), try world.device("b"))
                try a.put("items/long", #"{"title":"Paint the whole house, and the fence"}"#)
                try a.put("items/fine", #"{"title":"Sweep","starts_at":"2026-12-01T10:00:00Z"}"#)

                let outcome = try await a.sync()

                #expect(outcome.refused == 1 && outcome.counts.pushed == 1, "\(outcome)")
                let words = "Ensure this field has no more than 20 characters."
                var issue = try #require(try a.replica.issues().first)
                #expect(issue.kind == .rejected && issue.key == EntityKey("items", "long"))
                #expect(issue.message == "400 title: \(words)")
                #expect(issue.details.map(\.path) == ["title"])
                #expect(issue.details.map(\.message) == [words])

                try a.patch("items/long", #"{"title":"Paint it all"}"#)
                try await world.settle(a, b)
                try await world.expectSame(a, b)
                #expect(try a.replica.issues() == [])

                // What is wrong with the whole of it names no field.
                try a.patch("items/fine", #"{"ends_at":"2026-11-01T10:00:00Z"}"#)
                try await a.sync()
                issue = try #require(try a.replica.issues().first)
                #expect(issue.message == "400 The end must be after the start.")
                #expect(issue.details.isEmpty)

                try a.discard("items/fine")
                try await world.settle(a, b)
                try await world.expectSame(a, b)
            }
        }

        @Test func `for want of permission is an issue as well, and stops nothing else`()
            async throws
        {
            try await DjangoWorld.run { world in
                let a = try world.device("a")
                let owner = try await DjangoClient(signingUpAt: world.client.origin)
                let shared = try await owner.make(
                    "projects", #"{"name":"Theirs","members":[\#(world.client.user)]}"#)
                try await world.settle(a)
                try a.patch("projects/\(shared)", #"{"name":"Mine"}"#)
                try a.put("items/tea", #"{"title":"Tea"}"#)

                let outcome = try await a.sync()

                #expect(outcome.refused == 1 && outcome.counts.pushed == 1, "\(outcome)")
                #expect(outcome.failure == nil && outcome.failed.isEmpty)
                #expect(
                    try a.replica.issues().map(\.message)
                        == ["403 You do not have permission to perform this action."])
                try a.discard("projects/\(shared)")
                try await world.settle(a)
                try await world.expectSame(a)
            }
        }

        /// Real time passes here: some seconds.
        @Test func `for now is sent when it may be, and made once`() async throws {
            try await DjangoWorld.run(isTrial: true) { world in
                let replica = try await Replica.open(
                    at: world.path("a"), model: world.model, remote: world.remote)
                let authorization = world.client.authorization
                let engine = SyncEngine(
                    replica, remote: world.remote, adapter: EverydayAdapter(),
                    transport: URLSessionTransport.urlSession
                ) { .authorization(authorization) }
                try await world.client.crowding {
                    while try await engine.sync().failure?.retryAfterSeconds == nil {}
                }
                for number in 1...8 {
                    try await replica.write { tx in
                        let key = EntityKey("items", "i\(number)")
                        try tx.put(key, Array(#"{"title":"\#(number)"}"#.utf8))
                    }
                }

                try await Self.sync(engine)

                try await replica.close()
                #expect(try await world.titles() == (1...8).map { "\($0)" })
                try await world.expectSame(try world.device("a"))
            }
        }

        /// Syncs until both sides are equal, waiting as long as the server asks.
        private static func sync(_ engine: SyncEngine) async throws {
            for _ in 0..<60 {
                let outcome = try await engine.sync()
                if outcome.isSynced { return }
                guard let seconds = outcome.failure?.retryAfterSeconds else {
                    Issue.record("\(outcome)")
                    return
                }
                try await Dependencies.live.sleep(.seconds(seconds))
            }
            Issue.record("not synced after 60 runs")
        }
    }

    @Suite struct `a write without an answer` {
        @Test(arguments: KintoTransport.Moment.allCases, ["Tea", "Tea "])
        func `that makes something is found again, and nothing is made twice`(
            _ lost: KintoTransport.Moment, _ title: String
        ) async throws {
            try await DjangoWorld.run { world in
                let (a, b) = (try world.device("a"), try world.device("b"))
                let house = try await world.client.make("projects", #"{"name":"House"}"#)
                try await world.settle(a, b)
                try a.put("items/tea", #"{"title":"\#(title)","project":"\#(house)"}"#)
                a.wire.once(lost, where: { $0.method == .post }) {
                    throw TransportError(.connectionLost)
                }
                try await a.sync()
                #expect(try a.mutations("items/tea") == ["unknown"])

                try await world.settle(a, b)

                try await world.expectSame(a, b)
                #expect(try await world.titles() == ["Tea"])
                #expect(try a.mutations("items/tea") == ["accepted"])
                #expect(
                    a.wire.lines.count { $0.method == .post } == (lost == .answered ? 1 : 2))
            }
        }

        @Test(arguments: KintoTransport.Moment.allCases, [HTTPRequest.Method.patch, .delete])
        func `that changes or deletes something is done once`(
            _ lost: KintoTransport.Moment, _ method: HTTPRequest.Method
        ) async throws {
            try await DjangoWorld.run { world in
                let (a, b) = (try world.device("a"), try world.device("b"))
                let id = try await world.client.make("items", #"{"title":"Tea"}"#)
                let key = "items/\(id)"
                try await world.settle(a, b)
                if method == .delete {
                    try a.delete(key)
                } else {
                    try a.patch(key, #"{"title":"Green tea"}"#)
                }
                a.wire.once(lost, where: { $0.method == method }) {
                    throw TransportError(.timeout)
                }
                try await a.sync()
                try await world.settle(a, b)

                try await world.expectSame(a, b)
                #expect(try await world.titles() == (method == .delete ? [] : ["Green tea"]))
                #expect(try a.mutations(key) == ["accepted"])
            }
        }
    }
}

extension DjangoClient {
    /// Sends requests, as fast as they are refused, meanwhile.
    fileprivate func crowding(_ body: () async throws -> Void) async throws {
        let ended = SyncCounter()
        Thread.detachNewThread {
            while ended.value == 0 { _ = try? answer("GET", "/items/?page_size=1") }
        }
        defer { _ = ended.count() }
        try await body()
    }
}
