// KintoPolicyTests.swift — each conflict policy on a real server, between two replicas.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkViews

@testable import SyncSupport

/// A policy, and what both replicas' edits of `{"title":"old","n":1,"m":1}` come to under it.
private struct PolicyCase: Sendable, CustomTestStringConvertible {
    var policy: ConflictPolicy
    /// The record in the end, when B's edit meets A's.
    var end: String
    var fates: [String]
    var decisions: [String]
    var testDescription: String { "\(policy)" }

    static let all = [
        PolicyCase(
            policy: .serverWins, end: #"{"title":"a","n":2,"m":1}"#, fates: ["superseded"],
            decisions: ["serverWins title"]),
        PolicyCase(
            policy: .localWins, end: #"{"title":"b","n":2,"m":3}"#, fates: ["accepted"],
            decisions: ["localWins title"]),
        PolicyCase(
            policy: .preferNewer(field: "last_modified", margin: .seconds(3600)),
            end: #"{"title":"b","n":2,"m":3}"#, fates: ["accepted"],
            decisions: ["localWins title"]),
        PolicyCase(
            policy: .preferNewer(field: "nothing", margin: .seconds(3600)),
            end: #"{"title":"a","n":2,"m":1}"#, fates: ["superseded"],
            decisions: ["serverWins title"]),
        PolicyCase(
            policy: .overwriteUnlessDirty, end: #"{"title":"b","n":1,"m":3}"#,
            fates: ["accepted"], decisions: ["localWins title n"]),
        PolicyCase(
            policy: .overwriteIfSynced, end: #"{"title":"b","n":1,"m":3}"#, fates: ["accepted"],
            decisions: ["localWins title n"]),
        PolicyCase(
            policy: .mergeFields(.serverWins), end: #"{"title":"a","n":2,"m":3}"#,
            fates: ["merged"], decisions: ["serverWins title"]),
        PolicyCase(
            policy: .mergeFields(.localWins), end: #"{"title":"b","n":2,"m":3}"#,
            fates: ["accepted"], decisions: ["localWins title"]),
        PolicyCase(
            policy: .custom("join"), end: #"{"title":"b+a"}"#, fates: ["merged"],
            decisions: ["merged title"]),
    ]
}

extension `with a real Kinto server` {
    @Suite struct `conflict policies on a real server` {
        private static let join = ConflictRule(name: "join") { question in
            func title(_ bytes: [UInt8]?) throws -> String {
                try bytes.map { try JSONValue(parsing: $0)["title"]?.stringValue ?? "" } ?? ""
            }
            let joined = try title(question.local) + "+" + title(question.server)
            return .document(Array(#"{"title":"\#(joined)"}"#.utf8))
        }

        @Test(arguments: PolicyCase.all)
        fileprivate func `end equal on both replicas, each mutation with one outcome`(
            _ story: PolicyCase
        ) async throws {
            let model = SyncModel(
                name: "notes",
                collections: [
                    CollectionModel(
                        "notes", lastChangeField: "last_modified", conflict: story.policy)
                ])
            try await KintoWorld.run(model) { world in
                let a = try world.device("a", rules: [Self.join])
                let b = try world.device("b", rules: [Self.join])
                try await world.client.put("notes/1", #"{"title":"old","n":1,"m":1}"#)
                try await world.client.put("notes/gone", #"{"title":"old"}"#)
                try await world.settle(a, b)

                try a.patch("notes/1", #"{"title":"a","n":2}"#)
                try b.patch("notes/1", #"{"title":"b","m":3}"#)
                try a.delete("notes/gone")
                try await a.sync()
                try await b.sync()
                try await world.settle(a, b)

                try await world.expectEqual(a, b)
                #expect(
                    try await world.record("notes/1") == JSONValue(parsing: Array(story.end.utf8)))
                #expect(try await world.record("notes/gone") == nil)
                #expect(try a.mutations("notes/1") == ["accepted"])
                #expect(try b.mutations("notes/1") == story.fates)
                #expect(try b.decisions("notes/1") == story.decisions)
            }
        }

        @Test func `a store whose rule nobody has says so, and loses nothing`() async throws {
            let model = SyncModel(
                name: "notes",
                collections: [
                    CollectionModel(
                        "notes", lastChangeField: "last_modified", conflict: .custom("join"))
                ])
            try await KintoWorld.run(model) { world in
                let a = try world.device("a")
                try await world.client.put("notes/1", #"{"title":"old"}"#)
                try await world.settle(a)
                try a.patch("notes/1", #"{"title":"a"}"#)
                try await world.client.put("notes/1", #"{"title":"c"}"#)

                let outcome = try await a.sync()

                #expect(outcome.failed == ["notes": .ruleMissing("join")])
                #expect(try a.mutations("notes/1") == ["pending"])
                try await a.replica.close()
                let again = try world.device("a", rules: [Self.join])
                try await world.settle(again)
                try await world.expectEqual(again)
                #expect(try await world.record("notes/1") == ["title": "a+c"])
            }
        }
    }
}
