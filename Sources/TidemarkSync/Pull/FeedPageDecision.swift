// FeedPageDecision.swift — what of a feed's block is logged, decided by the rows as they are before
// it, and where the feed goes on.

import TidemarkEvents
import TidemarkRules
import TidemarkViews

/// What a block of a feed brings.
package struct FeedPageDecision {
    /// Its records, each id once: the last of those with the same one.
    let records: [ServerRecord]
    /// What each of them means for the log.
    let verdicts: [ServerNews.Verdict]
    /// What can't be read, or has no key, and was not noted yet.
    let unreadable: [UnreadableRecord]
    /// What the next step depends on; what is counted while the records are written is missing.
    let result: PageResult
    /// Whether the block is logged now.
    let isLogged: Bool
    /// The keys of its first and its last record.
    let first: FeedKey?
    let last: FeedKey?
    /// Where parts of the feed go on, as far as that is new.
    let cursors: [Named<FeedCursor>]

    package init(
        _ page: ListPage, of feed: FeedListing, _ exchange: ReadExchange, _ news: ServerNews
    ) throws {
        let rules = FeedDecision(feed.rule, feed.collection.dates)
        let sorted = Self.sorted(page, feed, rules)
        (first, last) = (sorted.keys.first, sorted.keys.last)
        var result = PageResult()
        var after = feed
        after.blocks += 1
        let now = max(
            try news.serverTime ?? news.begun.now, exchange.answer.serverTime ?? news.begun.now)
        if let later = Self.laterBeginning(feed, exchange, rules) {
            // What was released since would be missing.
            after.cursor = later
            result.feed = after
            (records, verdicts, unreadable, cursors) = ([], [], [], [])
            (self.result, isLogged) = (result, exchange.concern != nil || exchange.isClockNews)
            return
        }
        let facts = FeedBlockFacts(
            keys: sorted.keys, lastID: Self.lastID(page), count: Self.count(page),
            hasMore: page.next != nil)
        let turn: FeedTurn
        do {
            turn = try rules.turn(facts, isBack: feed.isBack, at: feed.cursor, now: now)
        } catch {
            after.isOver = true
            result.feed = after
            result.failure = .noProgress("\(error)")
            (records, verdicts, unreadable, cursors) = ([], [], [], [])
            (self.result, isLogged) = (result, exchange.isClockNews)
            return
        }
        let collection = feed.collection.name
        let verdicts = try sorted.records.map {
            try news.verdict(on: $0, in: collection, asOf: exchange.asOf)
        }
        // A record of which the log holds a newer answer is listed again by the next run.
        let isStale = verdicts.contains(.outdated)
        after.cursor = isStale ? feed.cursor : turn.cursor
        after.isOver = isStale || turn.isOver
        if feed.isFirst, !isStale {
            after.isFirst = false
            if feed.forward == nil {
                let changes = sorted.records.compactMap { record in
                    record.document.flatMap { try? JSONDocument(parsing: $0) }
                        .flatMap { rules.key(feed.rule.change, in: $0) }
                }
                after.forward = rules.latest(changes, now).map { .from($0) }
            }
        }
        var cursors: [Named<FeedCursor>] = []
        if after.cursor != feed.cursor || feed.isFirst && !isStale {
            cursors.append(Named(feed.target.scope, after.cursor))
        }
        if feed.isBack, let forward = after.forward, forward != feed.forward {
            cursors.append(Named(PullTarget.forward, forward))
        }
        if !feed.isBack { after.forward = after.cursor }
        self.cursors = cursors
        records = sorted.records
        self.verdicts = verdicts
        unreadable = try sorted.unreadable.filter { try news.isNew($0, in: collection) }
        result.count = unreadable.count
        result.feed = after
        result.isComplete = after.isOver
        let named = Set(records.map { ExactString($0.id) })
        isLogged =
            try verdicts.contains(.new) || !unreadable.isEmpty || !cursors.isEmpty
            || exchange.concern != nil || exchange.isClockNews
            || news.namesAbsent(named, PullTarget(collection))
        self.result = result
    }

    /// Where the backfill begins instead, where the first answer shows that the device's clock is
    /// behind the server's; nil where it is not.
    private static func laterBeginning(
        _ feed: FeedListing, _ exchange: ReadExchange, _ rules: FeedDecision
    ) -> FeedCursor? {
        guard feed.isFirst, feed.blocks == 0, case .upTo(let key) = feed.cursor,
            let begun = rules.time(of: key), let asked = exchange.asked, asked > begun,
            let time = exchange.answer.serverTime
        else { return nil }
        return .upTo(rules.key(of: time))
    }

    // MARK: Records and their keys

    private struct Sorted {
        var records: [ServerRecord] = []
        var keys: [FeedKey] = []
        var unreadable: [UnreadableRecord]
    }

    /// The records with a key, and what is put aside.
    private static func sorted(
        _ page: ListPage, _ feed: FeedListing, _ rules: FeedDecision
    ) -> Sorted {
        var sorted = Sorted(unreadable: page.unreadable)
        let field = feed.isBack ? feed.rule.order : feed.rule.change
        var places: [ExactString: Int] = [:]
        for record in page.records {
            let document =
                record.isDeleted
                ? nil : record.document.flatMap { try? JSONDocument(parsing: $0) }
            let key = document.map { rules.key(field, in: $0) } ?? record.feedKey
            if let key { sorted.keys.append(key) }
            guard key != nil || record.isDeleted else {
                sorted.unreadable.append(
                    UnreadableRecord(
                        id: record.id, bytes: record.document ?? [],
                        problem: "\"\(field)\", by which it is listed, is missing or no time"))
                continue
            }
            if let place = places[ExactString(record.id)] {
                sorted.records[place] = record
            } else {
                places[ExactString(record.id)] = sorted.records.count
                sorted.records.append(record)
            }
        }
        return sorted
    }

    private static func lastID(_ page: ListPage) -> String? { page.records.last?.id }

    private static func count(_ page: ListPage) -> Int {
        page.records.count + page.unreadable.count
    }
}
