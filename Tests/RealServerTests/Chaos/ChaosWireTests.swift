// ChaosWireTests.swift — a replica behind a rate limiter: what it sends, as somebody else wrote it
// down. Real time passes here: a few seconds.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync

@testable import SyncSupport

extension `with a real Kinto server` {
    @Suite(.enabled(if: WireLog.isThere, "\(WireLog.reason)")) struct `behind a rate limiter` {
        @Test func `a replica waits as long as it is asked to, repeats nothing and converges`()
            async throws
        {
            try await KintoWorld.run { world in
                let remote = Remote.kinto(
                    origin: try #require(WireLog.url), bucket: world.client.bucket)
                let replica = try await Replica.open(
                    at: world.path("a"), model: world.model, remote: remote)
                let engine = try SyncEngine(replica, remote: remote) {
                    .basic(user: "a", password: "secret")
                }

                // Others of the same user ask for more than is let through, until the replica was
                // refused as well: how fast it asks does not matter.
                try await Self.crowding {
                    while try await engine.sync().failure?.retryAfterSeconds == nil {}
                }
                for round in 1...4 {
                    try await world.client.put("lists/l\(round)", #"{"title":"\#(round)"}"#)
                    try await replica.write { tx in
                        for number in 1...3 {
                            let key = EntityKey("tasks", "t\(number)")
                            try tx.put(key, Array(#"{"list":"l1","n":\#(round)}"#.utf8))
                        }
                    }
                    try await Self.sync(engine)
                }

                try await replica.close()
                let device = try world.device("a", remote: remote)
                try await world.expectEqual(device)
                #expect(try device.documents("tasks").count == 3)
                let log = try WireLog(bucket: world.client.bucket)
                #expect(log.lines.count { $0.status == 429 } > 0)
                #expect(log.lines.flatMap(\.writes).count >= 12)
                #expect(log.findings == [])
            }
        }

        /// Sends requests of the replica's user, as fast as they are refused, meanwhile.
        private static func crowding(_ body: () async throws -> Void) async throws {
            let authority = String(try #require(WireLog.url).trimmingPrefix("http://"))
            let credentials = "Basic " + Data("a:secret".utf8).base64EncodedString()
            let ended = SyncCounter()
            Thread.detachNewThread {
                while ended.value == 0 {
                    _ = try? PlainHTTP(
                        "GET", authority: authority, path: "/v1/",
                        fields: [(name: "Authorization", value: credentials)], body: nil)
                }
            }
            defer { _ = ended.count() }
            try await body()
        }

        /// Syncs until both sides are equal, waiting as long as the server asks; while it has to
        /// wait it tries all the same.
        private static func sync(_ engine: SyncEngine) async throws {
            for _ in 0..<20 {
                let outcome = try await engine.sync()
                if outcome.isSynced { return }
                guard let seconds = outcome.failure?.retryAfterSeconds else {
                    Issue.record("\(outcome)")
                    return
                }
                _ = try await engine.sync()
                try await Dependencies.live.sleep(.seconds(seconds))
            }
            Issue.record("not synced after 20 runs")
        }
    }
}
