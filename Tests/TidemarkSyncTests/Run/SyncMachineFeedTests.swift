// SyncMachineFeedTests.swift — the order of a feed's parts in a run, without a store or a server.

import Testing
import TidemarkEvents
import TidemarkSync
import TidemarkViews

@Suite struct `a feed in a run` {
    private static let forward = FeedKey("2023-11-01T00:00:00Z")
    private static let back = FeedKey("2023-10-01T00:00:00Z")
    static let changes = "feed articles from(2023-11-01T00:00:00Z)"
    private static let backfill = "feed articles upTo(2023-10-01T00:00:00Z)"
    static let anew = "feed articles upTo(2023-11-14T22:13:20Z)"
    private static let ids = "list articles"

    private static func script(
        ids: IDSource = .client, traits: ServerTraits = ServerTraits(hasFeeds: true),
        isFull: Bool = false, _ change: (inout FeedStanding) -> Void = { _ in }
    ) -> MachineScript {
        var script = MachineScript(
            [
                CollectionModel(
                    "articles", ids: ids, feed: .init(order: "released", change: "updated"))
            ], traits: traits, isFull: isFull)
        var feed = FeedStanding()
        (feed.forward, feed.back) = (.from(forward), .upTo(back))
        change(&feed)
        script.feeds["articles"] = feed
        return script
    }

    @Test func `begins with the backfill, from now`() {
        var run = Self.script { ($0.forward, $0.back) = (nil, nil) }
        #expect(run.run() == [Self.anew, "end"])
    }

    @Test func `lists what changed, and then the rest of the backfill`() {
        var run = Self.script()
        #expect(run.run() == [Self.changes, Self.backfill, "end"])
    }

    @Test func `lists only what changed once the backfill is complete`() {
        var run = Self.script { $0.back = .end }
        #expect(run.run() == [Self.changes, "end"])
    }

    @Test func `begins anew where the backfill found nothing`() {
        var run = Self.script { ($0.forward, $0.back) = (nil, .end) }
        #expect(run.run() == [Self.anew, "end"])
    }

    @Test func `goes on with the backfill whatever came of the changes`() {
        var run = Self.script()
        run.replies[Self.changes] = [.answer(.failure(.malformed("")))]
        #expect(run.run() == [Self.changes, Self.backfill, "end"])
        #expect(run.machine.outcome.failed["articles"] == .malformed(""))
    }

    @Test(arguments: [SyncFailure.offline(""), .tooManyRequests(retryAfterSeconds: 9)])
    func `ends with the run`(_ failure: SyncFailure) {
        var run = Self.script()
        run.replies[Self.changes] = [.answer(.failure(failure))]
        #expect(run.run() == [Self.changes, "end \(failure.kind)"])
    }

    @Test func `settles what was sent without an answer, once the changes are listed`() {
        var run = Self.script(ids: .serverText)
        run.unanswered = ["articles"]
        #expect(
            run.run() == [Self.changes, "complete articles/forward", Self.backfill, "end"])
    }

    @Test func `begins anew in a run of everything, and lists the ids`() {
        var run = Self.script(isFull: true)
        #expect(run.run() == [Self.changes, Self.anew, Self.ids, "end"])
    }

    @Test(arguments: [changes, anew])
    func `lists the ids whatever came of the parts before`(_ part: String) {
        var run = Self.script(isFull: true)
        run.replies[part] = [.answer(.failure(.malformed("")))]
        #expect(run.run() == [Self.changes, Self.anew, Self.ids, "end"])
        #expect(run.machine.outcome.failed["articles"] == .malformed(""))
    }

    @Test func `settles what was sent without an answer with the whole of an empty feed`() {
        var run = Self.script(ids: .serverText) { ($0.forward, $0.back) = (nil, .end) }
        run.unanswered = ["articles"]
        #expect(run.run() == [Self.anew, "complete articles/back", "end"])
    }

    @Test func `settles nothing with the rest of a backfill`() {
        var run = Self.script(ids: .serverText) { $0.forward = nil }
        run.unanswered = ["articles"]
        #expect(run.run() == [Self.backfill, "end"])
    }
}
