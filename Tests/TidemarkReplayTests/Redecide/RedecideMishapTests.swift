// RedecideMishapTests.swift — a crash, a lost answer, one that comes twice, where none
// was recorded.

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

@Suite struct `a mishap that was not recorded` {
    private func recorded() async throws -> Capsule {
        try await SyncDevice.capsule { recording in
            recording.world.server.put("lists/a", #"{"title":"home"}"#)
            try await recording.mustSync()
            try recording.patch("lists/a", #"{"title":"mine"}"#)
            try await recording.mustSync()
        }
    }

    private func aftermath(
        _ capsule: Capsule, _ mishap: RedecideMishap
    ) async throws -> RedecideAftermath {
        let adapter = try SyncWorld.remote.makeAdapter()
        let report = try await decided(capsule, adapter: adapter, mishaps: [mishap])
        #expect(report.divergence == nil)
        return try #require(report.aftermath)
    }

    @Test func `an end of the process after a write was logged has it read back`() async throws {
        let capsule = try await recorded()
        let sent = try #require(capsule.last(.requestSent) { $0.entity == "a" })
        let aftermath = try await aftermath(capsule, .restart(sent.position))
        #expect(
            aftermath.acts.contains { $0.contains("GET /v1/buckets/b/collections/lists/records/a") }
        )
        #expect(!aftermath.acts.contains { $0.contains("PUT") })
        #expect(aftermath.pending == 1 && aftermath.outcomes.count == 1)
    }

    @Test func `a lost answer to a write leaves it in the outbox, and has it read back`()
        async throws
    {
        let capsule = try await recorded()
        let accepted = try #require(capsule.last(.pushAccepted))
        let aftermath = try await aftermath(capsule, .drop(accepted.position))
        #expect(aftermath.acts.first?.contains("connectionLost") == true)
        #expect(!aftermath.acts.contains { $0.contains("PUT") })
        #expect(aftermath.pending == 1 && aftermath.outcomes.count == 2)
    }

    @Test func `an answer that comes twice changes nothing more`() async throws {
        let capsule = try await recorded()
        let accepted = try #require(capsule.last(.pushAccepted))
        let aftermath = try await aftermath(capsule, .duplicate(accepted.position))
        #expect(aftermath.pending == 0 && aftermath.refused == 0)
        #expect(!aftermath.acts.contains { $0.contains("PUT") })
    }

    @Test func `a page that comes twice is nothing new`() async throws {
        let capsule = try await recorded()
        let page = try #require(capsule.last(.pullPage))
        let aftermath = try await aftermath(capsule, .duplicate(page.position))
        #expect(!aftermath.acts.contains { $0.contains("server.upserted") })
    }
}
