// FeedOwedTests.swift — a feed of which everything is to be listed, and whose backfill fails.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite struct `a feed of which everything is to be listed` {
    private static let model = SyncModel(
        name: "news",
        collections: [
            CollectionModel("articles", feed: .init(order: "released", change: "updated"))
        ])

    /// The blocks of the backfill that were asked for.
    private func blocks(_ world: SyncWorld) -> [String] {
        world.server.requestLog.map(\.path).filter { $0.contains("max_released") }
    }

    private func isOwed(_ device: SyncDevice) throws -> Bool {
        try device.replica.journal.read { views in try views.isOwed(PullTarget("articles")) }
    }

    @Test func `is so until its backfill began anew, though its ids were listed`() async throws {
        let world = SyncWorld(model: Self.model)
        for number in 1...3 {
            let day = "2026-01-0\(number)T00:00:00Z"
            world.server.put(
                "articles/a\(number)", #"{"released":"\#(day)","updated":"\#(day)"}"#)
        }
        try await SyncDevice.with(world) { device in
            #expect(try await device.sync().isSynced)
            world.server.faults = FaultPlan([
                FaultRule(.answer(status: 500), pathContains: "max_released", nth: 1)
            ])
            let full = try await device.engine.sync(full: true)
            #expect(full.failed["articles"] == .server(status: 500, retryAfterSeconds: nil))
            #expect(try isOwed(device))

            world.server.clearRequestLog()
            #expect(try await device.sync().isSynced)
            // The first block of a backfill is up to now.
            #expect(try #require(blocks(world).first).contains("2026-11-18"))
            #expect(try !isOwed(device))

            world.server.clearRequestLog()
            #expect(try await device.sync().isSynced)
            #expect(blocks(world) == [])
            try device.verify()
        }
    }
}
