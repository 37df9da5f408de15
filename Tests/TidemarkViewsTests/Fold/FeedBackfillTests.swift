// FeedBackfillTests.swift — when a feed's backfill began, which tells what it passed over.

import Testing
import TidemarkEvents
import TidemarkViews

@testable import ViewsSupport

@Suite struct `the backfill of a feed in the fold` {
    private let memory = MemoryFold()

    init() throws {
        let articles = CollectionModel(
            "articles", feed: .init(order: "released", change: "updated"))
        try memory.apply([.registered(SyncModel(name: "news", collections: [articles]))])
    }

    /// A block behind which it goes on somewhere; what is known of the backfill then.
    private func block(_ cursor: FeedCursor, at time: Int64) throws -> WatermarkRow {
        var page = PullPage()
        page.scope = PullTarget.back
        page.cursors = [Named(PullTarget.back, cursor)]
        try memory.apply([
            Event(
                .pullPage, recordedAt: Timestamp(rawValue: time), collection: "articles",
                json: page.encoded)
        ])
        return try #require(
            try memory.fold.watermark(PullTarget("articles", scope: PullTarget.back)))
    }

    @Test func `keeps when it began, however long it takes, until it begins anew`() throws {
        let first = try block(.upTo(FeedKey("2026-01-09T00:00:00Z")), at: 100)
        #expect(first.checkedAt == Timestamp(rawValue: 100))

        let second = try block(.upTo(FeedKey("2026-01-05T00:00:00Z")), at: 200)
        #expect(second.checkedAt == Timestamp(rawValue: 100))
        #expect(second.recordedAt == Timestamp(rawValue: 200))

        let last = try block(.end, at: 300)
        #expect(last.checkedAt == Timestamp(rawValue: 100))

        let anew = try block(.upTo(FeedKey("2026-02-09T00:00:00Z")), at: 400)
        #expect(anew.checkedAt == Timestamp(rawValue: 400))
    }
}
