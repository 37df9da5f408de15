// FeedChangedTests.swift — a feed that another model lists otherwise, and one of which something
// was here before.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite struct `a feed that another model lists otherwise` {
    private static let feed = FeedRule(order: "released", change: "updated", block: 2)

    private static func model(_ feed: FeedRule?) -> SyncModel {
        SyncModel(name: "news", collections: [CollectionModel("articles", feed: feed)])
    }

    private func cursor(_ scope: String, _ device: SyncDevice) throws -> FeedCursor? {
        try device.replica.journal.read { views in
            try views.feedCursor(PullTarget("articles", scope: scope))
        }
    }

    private func register(_ feed: FeedRule?, _ device: SyncDevice) throws {
        let known = try #require(try device.replica.registration)
        try device.replica.register(
            ModelRegistration(model: Self.model(feed), remote: known.remote))
    }

    /// A device that has listed a feed of four articles.
    private func withDevice(
        _ feed: FeedRule, _ body: (SyncWorld, SyncDevice) async throws -> Void
    ) async throws {
        let world = SyncWorld(model: Self.model(feed))
        for number in 1...4 {
            let day = "2026-01-0\(number)T00:00:00Z"
            world.server.put(
                "articles/a\(number)",
                #"{"released":"\#(day)","updated":"\#(day)","edited":"\#(day)"}"#)
        }
        try await SyncDevice.with(world) { device in
            #expect(try await device.sync().isSynced)
            #expect(try cursor(PullTarget.back, device) == .end)
            #expect(try cursor(PullTarget.forward, device) != nil)
            try await body(world, device)
        }
    }

    @Test(arguments: [
        FeedRule(order: "edited", change: "updated", block: 2),
        FeedRule(order: "released", change: "edited", block: 2),
        FeedRule(order: "released", change: "updated", block: 2, compares: .instants),
    ])
    func `begins anew where its keys are others, or compared otherwise`(
        _ other: FeedRule
    ) async throws {
        try await withDevice(Self.feed) { world, device in
            try register(other, device)
            #expect(try cursor(PullTarget.back, device) == nil)
            #expect(try cursor(PullTarget.forward, device) == nil)

            let day = "2026-01-05T00:00:00Z"
            world.server.put(
                "articles/a2", #"{"released":"\#(day)","updated":"\#(day)","edited":"\#(day)"}"#)
            #expect(try await device.sync().isSynced)

            #expect(try cursor(PullTarget.back, device) == .end)
            #expect(try cursor(PullTarget.forward, device)?.key == FeedKey(day))
            #expect(try device.keys("articles").sorted() == ["a1", "a2", "a3", "a4"])
        }
    }

    @Test func `is forgotten with its rule`() async throws {
        try await withDevice(Self.feed) { _, device in
            try register(nil, device)
            #expect(try cursor(PullTarget.back, device) == nil)
            #expect(try cursor(PullTarget.forward, device) == nil)
        }
    }

    @Test func `begins anew where its collection was in no model meanwhile`() async throws {
        try await withDevice(Self.feed) { _, device in
            let known = try #require(try device.replica.registration)
            for collections in [
                [CollectionModel("others")],
                [CollectionModel("articles", feed: Self.feed), CollectionModel("others")],
            ] {
                let model = SyncModel(name: "news", collections: collections)
                try device.replica.register(
                    ModelRegistration(model: model, remote: known.remote))
                #expect(try cursor(PullTarget.back, device) == nil)
                #expect(try cursor(PullTarget.forward, device) == nil)
            }
        }
    }

    @Test func `begins anew where its dates are of another form`() async throws {
        try await withDevice(Self.feed) { _, device in
            let known = try #require(try device.replica.registration)
            var model = Self.model(Self.feed)
            model.collections[0].dates = .milliseconds
            try device.replica.register(ModelRegistration(model: model, remote: known.remote))
            #expect(try cursor(PullTarget.back, device) == nil)
            #expect(try cursor(PullTarget.forward, device) == nil)
        }
    }

    @Test func `goes on where only its blocks are others, or it ends earlier`() async throws {
        try await withDevice(Self.feed) { _, device in
            let forward = try cursor(PullTarget.forward, device)
            for other in [
                FeedRule(order: "released", change: "updated", block: 3),
                FeedRule(order: "released", change: "updated", ageMax: .days(1)),
            ] {
                try register(other, device)
                #expect(try cursor(PullTarget.back, device) == .end)
                #expect(try cursor(PullTarget.forward, device) == forward)
            }
        }
    }

    @Test func `is listed anew where it drops a member no more`() async throws {
        var model = Self.model(Self.feed)
        (model.collections[0].drops, model.collections[0].pushes) = (["text"], [])
        let world = SyncWorld(model: model)
        for number in 1...4 {
            let day = "2026-01-0\(number)T00:00:00Z"
            world.server.put(
                "articles/a\(number)", #"{"released":"\#(day)","updated":"\#(day)","text":"x"}"#)
        }
        try await SyncDevice.with(world) { device in
            #expect(try await device.sync().isSynced)
            #expect(try device.documents("articles").values.allSatisfy { !$0.contains("text") })

            try register(Self.feed, device)
            #expect(try await device.sync().isSynced)

            let documents = try device.documents("articles")
            #expect(documents.count == 4 && documents.values.allSatisfy { $0.contains("text") })
            #expect(try cursor(PullTarget.back, device) == .end)
            world.server.clearRequestLog()
            #expect(try await device.sync().isSynced)
            #expect(!world.server.requestLog.contains { $0.path.contains("max_released") })
        }
    }

    @Test(arguments: [TimeSpan.days(10), nil])
    func `is listed back again where it goes further back`(_ ageMax: TimeSpan?) async throws {
        var recent = Self.feed
        recent.ageMax = .days(2)
        try await withDevice(recent) { _, device in
            let forward = try cursor(PullTarget.forward, device)
            var other = recent
            other.ageMax = ageMax
            try register(other, device)

            #expect(try cursor(PullTarget.back, device) == nil)
            #expect(try cursor(PullTarget.forward, device) == forward)
            #expect(try await device.sync().isSynced)
            #expect(try cursor(PullTarget.back, device) == .end)
        }
    }
}

@Suite struct `what was fetched before a feed's backfill` {
    private static let feed = FeedRule(
        order: "released", change: "updated", block: 2, ageMax: .days(10),
        reconcileEvery: .days(1))

    /// An article, dated some days from now.
    private static func put(_ id: String, _ days: Int64, _ title: String, _ world: SyncWorld) {
        let now = world.clock.trueNow
        let released = world.clock.start.adding(seconds: days * 86_400)
        world.server.put(
            "articles/\(id)",
            #"{"released":"\#(released)","updated":"\#(now)","title":"\#(title)"}"#)
    }

    @Test(arguments: [-30, 5] as [Int64])
    func `is read again where the backfill does not come to it`(_ days: Int64) async throws {
        let articles = CollectionModel("articles", feed: Self.feed)
        let world = SyncWorld(model: SyncModel(name: "news", collections: [articles]))
        Self.put("a1", days, "before", world)
        try await SyncDevice.with(world) { device in
            let key = try device.key("articles/a1")
            #expect(try await device.sync(.fetch([key]), .remoteChange).isSynced)
            world.clock.advance(by: .seconds(900))
            Self.put("a1", days, "after", world)
            world.clock.advance(by: .seconds(900))
            for number in 2...3 { Self.put("a\(number)", Int64(-number), "new", world) }
            // With the second block the backfill is further back than it goes.
            for number in 4...5 { Self.put("a\(number)", Int64(-5 * number), "old", world) }

            #expect(try await device.sync().isSynced)

            let document = try #require(try device.documents("articles")["a1"])
            #expect(document.contains("after"))
            world.clock.advance(by: .seconds(2 * 86_400))
            world.server.clearRequestLog()
            #expect(try await device.sync().isSynced)
            let paths = world.server.requestLog.map(\.path)
            #expect(paths.contains { $0.contains("_fields=id") })
            #expect(!paths.contains { $0.contains("a1") })
        }
    }

    @Test func `is read again where a model goes further back and drops a member no more`()
        async throws
    {
        var (recent, longer) = (Self.feed, Self.feed)
        recent.ageMax = .days(2)
        longer.ageMax = .days(20)
        var model = SyncModel(
            name: "news", collections: [CollectionModel("articles", feed: recent)])
        (model.collections[0].drops, model.collections[0].pushes) = (["title"], [])
        let world = SyncWorld(model: model)
        // The first is dated ahead of any backfill, the others are older than the feed goes back.
        for (id, days) in [("a1", 5), ("a4", -5), ("a5", -7)] as [(String, Int64)] {
            Self.put(id, days, "told", world)
        }
        // What was changed before them is in no list of changes.
        world.clock.advance(by: .seconds(900))
        for (id, days) in [("a2", -1), ("a3", -3)] as [(String, Int64)] {
            Self.put(id, days, "told", world)
        }
        try await SyncDevice.with(world) { device in
            let key = try device.key("articles/a1")
            #expect(try await device.sync(.fetch([key]), .remoteChange).isSynced)
            #expect(try await device.sync().isSynced)
            let before = try device.documents("articles")
            #expect(before["a1"] != nil && before.values.allSatisfy { !$0.contains("told") })

            let known = try #require(try device.replica.registration)
            let other = SyncModel(
                name: "news", collections: [CollectionModel("articles", feed: longer)])
            try device.replica.register(ModelRegistration(model: other, remote: known.remote))

            // The backfill begins anew, and the ids are listed for what it does not come to.
            let isOwed = try device.replica.journal.read { views in
                try views.isOwed(PullTarget("articles"))
            }
            #expect(isOwed)
            #expect(try await device.sync().isSynced)
            let documents = try device.documents("articles")
            #expect(documents.count == 5 && documents.values.allSatisfy { $0.contains("told") })
            try device.verify()
        }
    }
}
