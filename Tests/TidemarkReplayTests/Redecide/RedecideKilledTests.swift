// RedecideKilledTests.swift — a process ends while several lists are asked for at once: what was
// logged by then is decided once more, up to its last commit.

import Testing
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkHTTP
import TidemarkReplay
import TidemarkSync
import TidemarkTesting

@testable import CapsuleSupport
@testable import SyncSupport

@Suite struct `a run that was killed amid lists` {
    private static let names = ["a", "b", "c", "d", "e"]

    /// A pull of five lists, three at once, whose process ends after so many commits.
    private func recorded(commits: Int) async throws -> Capsule {
        let model = SyncModel(
            name: "five", collections: Self.names.map { CollectionModel(CollectionName($0)) },
            settings: SyncSettings(parallel: 3))
        return try await SyncDevice.capsule(model: model) { device in
            for name in Self.names { device.world.server.put("\(name)/1", #"{"n":1}"#) }
            let outcome = try await device.run(dyingAfter: commits)
            #expect(outcome == nil)
        }
    }

    private func decide(_ capsule: Capsule) async throws -> RedecideReport {
        try await decided(capsule, adapter: try SyncWorld.remote.makeAdapter())
    }

    @Test(arguments: 1...5) func `is decided up to its end`(_ commits: Int) async throws {
        let capsule = try await recorded(commits: commits)
        #expect(capsule.last(.syncFinished) == nil)
        let start = try #require(capsule.last(.syncStarted)).position
        let own = capsule.commits.map(\.entries).filter { entries in
            entries.contains { $0.position == start || $0.event.sync == start }
        }.flatMap(\.self)

        let report = try await decide(capsule)

        if let found = report.divergence { Issue.record("\(found.text)") }
        #expect(report.notDecided.map(\.why) == [])
        #expect(report.runs == 1 && report.acts == own.count)
    }

    @Test(arguments: 2...5) func `names what differs in its first list`(_ commits: Int) async throws
    {
        let capsule = try await recorded(commits: commits)
        let page = try #require(capsule.last(.pullPage) { $0.collection == "a" })
        let planted = capsule.changing(page.position) { $0.replace(#""1""#, #""2""#) }
        #expect(planted != capsule)

        let report = try await decide(planted.withoutDigests)

        #expect(report.divergence?.position == page.position)
        #expect(report.divergence?.kind == .different)
    }
}
