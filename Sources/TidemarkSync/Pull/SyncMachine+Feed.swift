// SyncMachine+Feed.swift — a feed in a run: what changed, where something is here; then the
// backfill, if it is not complete, whatever came of the first; then its ids, where that is due.

import TidemarkEvents
import TidemarkRules
import TidemarkViews

extension SyncMachine {
    /// Begins a part of a feed, or the list of its ids; nil where it is not to be listed.
    mutating func beginFeed(
        _ target: PullTarget, _ collection: CollectionModel, _ rule: FeedRule,
        _ standing: ListStanding
    ) -> SyncAction? {
        state = .pulling
        let feed = standing.feed
        let isAnew = isAnew(collection, standing)
        if !target.isFeed {
            guard !isPaused(target), isReconciled(rule, collection, standing),
                let plan = plan(target, standing)
            else {
                state = .listed(collection)
                return nil
            }
            return look(.contents(plan))
        }
        let isBack = target.scope == PullTarget.back
        let forward = isReset(collection, standing) ? nil : feed.forward
        let known = isBack ? (isAnew ? nil : feed.back) : forward
        let isBegun = isBack ? known != nil && (known != .end || forward != nil) : known != nil
        guard isBack || isBegun, known != .end || !isBegun else { return nil }
        let isFirst = isBack && !isBegun
        let settles = standing.hasUnanswered && (!isBack || isFirst && forward == nil)
        // What was sent may be dated ahead of now.
        let ahead = settles && isBack ? standing.unansweredMoments.max()?.adding(seconds: 1) : nil
        let now = [begun.now, sureTime, ahead].compactMap(\.self).max() ?? begun.now
        let anew = FeedCursor.upTo(FeedDecision(rule, collection.dates).key(of: now))
        let list = FeedListing(
            collection: collection, rule: rule, target: target, asOf: standing.last,
            epoch: newEpoch(collection, standing), cursor: isBegun ? known ?? .end : anew,
            forward: forward, isFirst: isFirst, settles: settles)
        state = .feeding(list)
        return nil
    }

    /// The next step of a part of a feed; nil when it is done.
    mutating func goOn(_ feed: FeedListing) -> SyncAction? {
        if let call = feed.call { return perform(.feed(call)) }
        state = .pulling
        // What was sent before the list began would have been in it: in the backfill, too, where
        // there is nothing else.
        guard feed.settles, !feed.isBack || feed.forward == nil else { return nil }
        var list = Listing(
            feed.collection, after: feed.cursor.revision, epoch: nil, known: [], asOf: feed.asOf)
        (list.target, list.settles) = (feed.target, true)
        return perform(.complete(list))
    }

    /// Goes on with a feed as it is after a block.
    mutating func tookBlock(_ result: PageResult) {
        guard case .feeding = state, let feed = result.feed else {
            trap("is told of a block without its feed")
        }
        state = .feeding(feed)
        if let failure = result.failure { return pauseFeed(failure) }
        guard feed.blocks <= feed.collection.pagesMax else {
            return pauseFeed(
                .noProgress("the feed has more than \(feed.collection.pagesMax) blocks (pagesMax)"))
        }
    }

    /// Leaves a part of a feed to a later run.
    mutating func pauseFeed(_ failure: SyncFailure) {
        guard case .feeding(let feed) = state else { trap("leaves a feed that it does not list") }
        outcome.failed[feed.collection.name] = outcome.failed[feed.collection.name] ?? failure
        state = .pulling
    }

    /// Whether the backfill begins anew: a run is to list everything, or the collection was dropped
    /// on the server and made again.
    private func isAnew(_ collection: CollectionModel, _ standing: ListStanding) -> Bool {
        isFull || standing.feed.isOwed || isReset(collection, standing)
    }

    /// Whether it is another collection than the one of which something is listed.
    private func isReset(_ collection: CollectionModel, _ standing: ListStanding) -> Bool {
        guard let epoch = epochs[collection.name], let known = standing.mark?.epoch else {
            return false
        }
        return epoch != known && epoch != standing.feed.epoch
    }

    /// The identity of the collection, where none is known or another one.
    ///
    /// With another one the backfill begins anew. It is the feed's once its ids were listed, so
    /// that what is gone with the collection before goes here, too.
    private func newEpoch(_ collection: CollectionModel, _ standing: ListStanding) -> Revision? {
        let isNew = standing.mark?.epoch == nil || isReset(collection, standing)
        return isNew ? epochs[collection.name] : nil
    }

    /// Whether the ids of all entities are listed.
    private func isReconciled(
        _ rule: FeedRule, _ collection: CollectionModel, _ standing: ListStanding
    ) -> Bool {
        if isFull || standing.isOwed || standing.isHeld || standing.cut != nil { return true }
        let epoch = standing.mark?.epoch == nil ? nil : epochs[collection.name]
        return FullPullRule.isDue(
            .init(epoch: standing.mark?.epoch, at: standing.mark?.fullAt), epoch: epoch,
            now: serverTime, every: rule.reconcileEvery)
    }
}

extension SyncScope {
    /// The collections that a run of this scope lists, in the order of the model.
    func pulled(_ model: SyncModel) -> [CollectionModel] {
        switch self {
        case .all: model.collections
        case .pull(let names): model.pulled(names)
        case .select(let parts):
            model.collections.filter { collection in
                parts.contains { $0.collection == collection.name }
            }
        case .folders(let folders):
            model.collections.filter { collection in
                folders.contains { $0.collection == collection.name }
            }
        case .push, .fetch, .reserve, .cleanUp: []
        }
    }

    /// Whether a run of this scope sends what is pending, and asks about what was sent before.
    var pushes: Bool {
        switch self {
        case .all, .push: true
        case .pull, .fetch, .select, .folders, .reserve, .cleanUp: false
        }
    }
}
