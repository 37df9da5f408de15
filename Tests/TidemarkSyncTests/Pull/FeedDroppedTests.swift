// FeedDroppedTests.swift — a feed whose collection was dropped on the server and made anew.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite struct `a feed whose collection was dropped and made anew` {
    private static let articles = "/v1/buckets/b/collections/articles"
    private static let model = SyncModel(
        name: "news",
        collections: [
            CollectionModel(
                "articles", feed: .init(order: "released", change: "updated", block: 2))
        ])

    /// A device that has five articles, and then a server with others in a collection made anew.
    private func with(
        _ numbers: ClosedRange<Int>, _ body: (SyncWorld, SyncDevice) async throws -> Void
    ) async throws {
        let world = SyncWorld(model: Self.model)
        func put(_ number: Int) {
            let day = "2026-01-0\(number)T00:00:00Z"
            world.server.put(
                "articles/a\(number)", #"{"released":"\#(day)","updated":"\#(day)"}"#)
        }
        for number in 1...5 { put(number) }
        try await SyncDevice.with(world) { device async throws in
            #expect(try await device.sync().isSynced)
            world.server.request(.delete, Self.articles)
            world.clock.advance(by: .seconds(1))
            world.server.request(.put, Self.articles)
            for number in numbers { put(number) }
            try await body(world, device)
            try device.verify()
        }
    }

    @Test func `goes on where its backfill broke off`() async throws {
        try await with(3...9) { world, device async throws in
            device.wire.tap { _, number, pass in
                number <= 2 ? await pass() : .failure(TransportError(.offline, detail: "away"))
            }
            #expect(try await device.sync().failure == .offline("away"))
            #expect(try device.keys("articles").count > 5)
            device.wire.tap(nil)
            world.server.clearRequestLog()

            #expect(try await device.sync().isSynced)

            let blocks = world.server.requestLog.map(\.path).filter { $0.contains("max_released") }
            // The first block of a backfill is up to now.
            #expect(try #require(blocks.first).contains("2026-01-07"))
            #expect(try device.keys("articles").sorted() == (3...9).map { "a\($0)" })
            let position = try device.position()
            #expect(try await device.sync().isSynced)
            #expect(try device.position().rawValue == position.rawValue + 1)
        }
    }

    @Test func `is listed anew, and what is gone with the old one goes`() async throws {
        try await with(3...6) { world, device async throws in
            #expect(try await device.sync().isSynced)

            #expect(try device.keys("articles").sorted() == ["a3", "a4", "a5", "a6"])
            let position = try device.position()
            #expect(try await device.sync().isSynced)
            #expect(try device.position().rawValue == position.rawValue + 1)
        }
    }

    @Test func `has no place among the changes of the old one where the new one is empty`()
        async throws
    {
        let world = SyncWorld(model: Self.model)
        func put(_ id: String, _ day: String) {
            world.server.put("articles/\(id)", #"{"released":"\#(day)","updated":"\#(day)"}"#)
        }
        put("a1", "2026-01-05T00:00:00Z")
        try await SyncDevice.with(world) { device async throws in
            func forward() throws -> FeedCursor? {
                try device.replica.journal.read { views in
                    try views.feedCursor(PullTarget("articles", scope: PullTarget.forward))
                }
            }
            #expect(try await device.sync().isSynced)
            #expect(try forward() != nil)
            world.server.request(.delete, Self.articles)
            world.clock.advance(by: .seconds(1))
            world.server.request(.put, Self.articles)

            #expect(try await device.sync().isSynced)
            #expect(try forward() == nil)
            #expect(try device.keys("articles") == [])

            // Older than the changes of the old one.
            put("a2", "2026-01-02T00:00:00Z")
            #expect(try await device.sync().isSynced)
            #expect(try device.keys("articles") == ["a2"])
            #expect(try forward()?.key == FeedKey("2026-01-02T00:00:00Z"))
        }
    }
}
