// SyncRecorder+Feed.swift — how a block of a feed stands in the log: its entities, and where the
// feed goes on, in one commit; it does not go on behind what was left out.

import TidemarkEvents
import TidemarkRules
import TidemarkViews

extension SyncRecorder {
    /// Logs a block and the entities in it that are new; a block without news that moves nothing is
    /// kept back.
    mutating func block(
        _ page: ListPage, _ feed: FeedListing, _ exchange: ReadExchange, _ draft: Draft
    ) throws -> PageResult {
        let collection = feed.collection.name
        let known = known(draft)
        let decision = try FeedPageDecision(page, of: feed, exchange, known)
        if decision.verdicts.contains(.outdated) { stale.insert(collection) }
        lists[collection] = feed.asOf
        guard decision.isLogged else {
            note(exchange)
            return decision.result
        }
        var news = decision.result
        let read = try log(exchange, draft)
        guard news.failure == nil,
            !decision.records.isEmpty || !decision.cursors.isEmpty
                || !decision.unreadable.isEmpty
        else { return news }
        var named = PullPage()
        named.scope = feed.scope
        try append(
            decision.records, decision.verdicts, unreadable: decision.unreadable, to: &named,
            collection, read, &news, draft)
        named.parameters = feed.parameters
        let isTaken = !zip(decision.verdicts, named.places).contains { verdict, place in
            verdict == .new && place == .same
        }
        if isTaken {
            named.cursors = decision.cursors
            named.epoch = decision.cursors.isEmpty ? nil : feed.epoch
        } else {
            // A conflict that no rule decided was left out: a later run asks for the block again.
            var again = feed
            again.blocks += 1
            again.isOver = true
            again.cursor = feed.kept ?? feed.cursor
            news.feed = again
            news.isComplete = true
        }
        try appendPage(named, collection, read.start, call: read.call, draft)
        news.applied = [
            AppliedPage(
                collection: collection, count: news.count, first: decision.first?.text,
                last: decision.last?.text)
        ]
        return news
    }
}
