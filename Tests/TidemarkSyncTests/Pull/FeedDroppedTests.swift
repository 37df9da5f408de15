// FeedDroppedTests.swift — a feed whose collection was dropped on the server and made anew.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

@Suite struct `a feed whose collection was dropped and made anew` {
    private static let articles = "/v1/buckets/b/collections/articles"

    @Test func `is listed anew, and what is gone with the old one goes`() async throws {
        let model = SyncModel(
            name: "news",
            collections: [
                CollectionModel(
                    "articles", feed: .init(order: "released", change: "updated", block: 2))
            ])
        let world = SyncWorld(model: model)
        func put(_ number: Int) {
            let day = "2026-01-0\(number)T00:00:00Z"
            world.server.put(
                "articles/a\(number)", #"{"released":"\#(day)","updated":"\#(day)"}"#)
        }
        for number in 1...5 { put(number) }
        try await SyncDevice.with(world) { device in
            #expect(try await device.sync().isSynced)
            world.server.request(.delete, Self.articles)
            world.clock.advance(by: .seconds(1))
            world.server.request(.put, Self.articles)
            for number in 3...6 { put(number) }

            #expect(try await device.sync().isSynced)

            #expect(try device.keys("articles").sorted() == ["a3", "a4", "a5", "a6"])
            let position = try device.position()
            #expect(try await device.sync().isSynced)
            #expect(try device.position().rawValue == position.rawValue + 1)
        }
    }
}
