// FeedAheadTests.swift — records of a feed whose changes are dated ahead of the server's time.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite struct `changes of a feed that are dated ahead` {
    private static let model = SyncModel(
        name: "news",
        collections: [
            CollectionModel(
                "articles", feed: .init(order: "released", change: "updated", block: 2))
        ])

    private static func put(
        _ id: String, _ updated: String, on world: SyncWorld, _ title: String = ""
    ) {
        world.server.put(
            "articles/\(id)",
            #"{"released":"2026-01-03T00:00:00Z","updated":"\#(updated)","title":"\#(title)"}"#)
    }

    private static let last = "2026-01-02T00:00:00Z"

    private func forward(_ device: SyncDevice) throws -> FeedKey? {
        try device.replica.journal.read { views in
            try views.feedCursor(PullTarget("articles", scope: PullTarget.forward))?.key
        }
    }

    /// A device that has two articles, and then a server with others, dated ahead.
    private func with(
        _ hours: [Int], _ body: (SyncWorld, SyncDevice) async throws -> Void
    ) async throws {
        let world = SyncWorld(model: Self.model)
        for (id, day) in [("a1", 1), ("a2", 2)] {
            world.server.put(
                "articles/\(id)",
                #"{"released":"2026-01-0\#(day)T00:00:00Z","updated":"2026-01-0\#(day)T00:00:00Z"}"#
            )
        }
        try await SyncDevice.with(world) { device async throws in
            #expect(try await device.sync().isSynced)
            #expect(try forward(device) == FeedKey(Self.last))
            for (number, hour) in hours.enumerated() {
                Self.put("f\(number + 1)", "2030-01-01T0\(hour):00:00Z", on: world)
            }
            try await body(world, device)
            try device.verify()
        }
    }

    @Test(arguments: [[1, 2, 3, 4], [1, 1, 1, 1, 1]])
    func `come also beyond a block, and again once they are changed`(_ hours: [Int]) async throws {
        try await with(hours) { world, device async throws in
            #expect(try await device.sync().isSynced)
            let all = ["a1", "a2"] + hours.indices.map { "f\($0 + 1)" }
            #expect(try device.keys("articles").sorted() == all)

            Self.put("f4", "2030-01-01T05:00:00Z", on: world, "changed")
            Self.put("f5", "2030-01-01T06:00:00Z", on: world)
            #expect(try await device.sync().isSynced)
            #expect(try device.documents("articles")["f4"]?.contains("changed") == true)
            #expect(try device.keys("articles").contains("f5"))

            // What is dated as it should be moves the list, and nothing else does.
            #expect(try forward(device) == FeedKey(Self.last))
            let position = try device.position()
            #expect(try await device.sync().isSynced)
            #expect(try device.position().rawValue == position.rawValue + 1)
            Self.put("a3", "2026-01-04T00:00:00Z", on: world)
            #expect(try await device.sync().isSynced)
            #expect(try forward(device) == FeedKey("2026-01-04T00:00:00Z"))
        }
    }

    @Test func `are listed from where the feed goes on, after a run that was cut off amid them`()
        async throws
    {
        try await with([1, 2, 3, 4]) { _, device async throws in
            device.wire.tap { request, _, pass in
                request.path?.contains("2030-01-01T02") != true
                    ? await pass() : .failure(TransportError(.offline, detail: "away"))
            }
            #expect(try await device.sync().failure == .offline("away"))
            #expect(try device.keys("articles").sorted() == ["a1", "a2", "f1", "f2"])
            #expect(try forward(device) == FeedKey(Self.last))
            device.wire.tap(nil)
            try device.restart()

            #expect(try await device.sync().isSynced)
            #expect(
                try device.keys("articles").sorted() == ["a1", "a2", "f1", "f2", "f3", "f4"])
            #expect(try forward(device) == FeedKey(Self.last))
        }
    }
}
