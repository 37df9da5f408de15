// FeedPageDecision.swift — what of a feed's block is logged, decided by the rows as they are before
// it, and where the feed goes on.

import TidemarkEvents
import TidemarkRules
import TidemarkViews

/// What a block of a feed brings.
package struct FeedPageDecision {
    /// Its records, each id once: the last of those with the same one.
    private(set) var records: [ServerRecord] = []
    /// What each of them means for the log.
    private(set) var verdicts: [ServerNews.Verdict] = []
    /// What can't be read, or has no key, and was not noted yet.
    private(set) var unreadable: [UnreadableRecord] = []
    /// What the next step depends on; what is counted while the records are written is missing.
    private(set) var result = PageResult()
    /// Whether the block is logged now.
    private(set) var isLogged: Bool
    /// The keys of its first and its last record.
    let first: FeedKey?
    let last: FeedKey?
    /// Where parts of the feed go on, as far as that is new.
    private(set) var cursors: [Named<FeedCursor>] = []

    package init(
        _ page: ListPage, of feed: FeedListing, _ exchange: ReadExchange, _ news: ServerNews
    ) throws {
        let rules = FeedDecision(feed.rule, feed.collection.dates)
        let sorted = Self.sorted(page, feed, rules)
        (first, last) = (sorted.keys.first, sorted.keys.last)
        var after = feed
        after.blocks += 1
        isLogged = exchange.concern != nil || exchange.isClockNews
        // A server's time that is not believed would let a change of the future hide others.
        let now = try news.serverTime ?? news.begun.now
        if let later = Self.laterBeginning(feed, exchange, rules) {
            // What was released since would be missing.
            after.cursor = later
            result.feed = after
            return
        }
        let facts = FeedBlockFacts(
            keys: sorted.keys, lastID: page.records.last?.id,
            count: page.records.count + page.unreadable.count, hasMore: page.next != nil)
        let isSure = try Self.isTimeSure(exchange, news)
        let turn: FeedTurn
        do {
            turn = try rules.turn(
                facts, isBack: feed.isBack, at: feed.cursor, now: now, isSure: isSure)
        } catch {
            after.isOver = true
            result.feed = after
            result.failure = .noProgress("\(error)")
            // The list does not work again.
            isLogged = exchange.isClockNews
            return
        }
        let collection = feed.collection.name
        records = sorted.records
        verdicts = try records.map {
            try news.verdict(on: $0, in: collection, asOf: exchange.asOf)
        }
        // A record of which the log holds a newer answer is listed again by the next run; a feed
        // that was wiped begins anew with it.
        let isStale =
            try verdicts.contains(.outdated) || news.fold.isWiped(collection, after: feed.asOf)
        after.cursor = isStale ? feed.cursor : turn.cursor
        after.isOver = isStale || turn.isOver
        if feed.isFirst, !isStale {
            after.isFirst = false
            if feed.forward == nil, facts.count > 0 {
                let changes = records.compactMap { rules.key(feed.rule.change, of: $0) }
                // Where none of them counts, what changes from now on is listed.
                let asked = min(exchange.asked ?? now, now)
                after.forward = .from(rules.latest(changes, now) ?? rules.key(of: asked))
            }
        }
        let place = isStale ? after.cursor : turn.later ?? turn.cursor
        let isMoved = after.cursor != feed.cursor && place != feed.cursor
        // Among changes dated ahead nothing moves.
        if feed.kept == nil, isMoved || feed.isFirst && !isStale {
            cursors.append(Named(feed.target.scope, place))
        }
        after.kept = feed.kept ?? (turn.isAhead && !isStale ? place : nil)
        if let kept = after.kept, after.isOver { after.cursor = kept }
        if feed.isBack, let forward = after.forward, forward != feed.forward {
            cursors.append(Named(PullTarget.forward, forward))
        } else if feed.isFirst, !isStale, after.forward == nil {
            // Of a collection that was dropped on the server what was known goes.
            let target = PullTarget(collection, scope: PullTarget.forward)
            if try news.fold.feedCursor(target) != nil {
                cursors.append(Named(PullTarget.forward, .end))
            }
        }
        if !feed.isBack { after.forward = after.kept ?? after.cursor }
        unreadable = try sorted.unreadable.filter { try news.isNew($0, in: collection) }
        result.count = unreadable.count
        result.feed = after
        result.isComplete = after.isOver
        let named = Set(records.map { ExactString($0.id) })
        let isNews =
            try verdicts.contains(.new) || !unreadable.isEmpty || !cursors.isEmpty
            || news.namesAbsent(named, PullTarget(collection))
        isLogged = isLogged || isNews
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

    /// Whether the time is sure enough to end the backfill by it for good.
    ///
    /// The device's clock counts until the server's is known, unless the first answer is far from
    /// it.
    private static func isTimeSure(_ exchange: ReadExchange, _ news: ServerNews) throws -> Bool {
        guard try news.serverTime == nil else { return try !news.fold.isTimeInDoubt() }
        guard let time = exchange.answer.serverTime else { return true }
        return time.distance(to: news.begun.now).magnitude <= ServerClock.deviceSlack.magnitude
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
            let key = rules.key(field, of: record)
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
}

extension FeedDecision {
    /// The key of a record in a field; of one that is deleted, what the adapter says.
    fileprivate func key(_ field: String, of record: ServerRecord) -> FeedKey? {
        guard !record.isDeleted, let document = record.document else { return record.feedKey }
        return key(JSON.value(field, of: document))
    }
}
