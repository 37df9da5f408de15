// FoldFeed.swift — where the parts of a feed go on: with each page of them.

import TidemarkEvents

extension Fold {
    /// Takes over where a feed goes on after a page.
    func feed(
        _ page: PullPage, of collection: CollectionName, _ event: Event, _ position: Position
    ) throws {
        for part in page.cursors {
            let target = PullTarget(collection, scope: part.name)
            guard part.name != PullTarget.forward || part.value != .end else {
                // Changes are listed from the first on that is seen.
                put(.watermark(target), nil)
                continue
            }
            var row = WatermarkRow(
                cursor: part.value.revision, position: position, recordedAt: event.recordedAt)
            let before = try watermark(target)
            row.epoch = before?.epoch
            if part.name == PullTarget.back {
                // When the backfill began: what is dated later is in none of its blocks.
                let isBegun =
                    before?.cursor.flatMap { FeedCursor($0) }.map { $0 != .end } ?? false
                row.checkedAt = (isBegun ? before?.checkedAt : nil) ?? event.recordedAt
            }
            put(.watermark(target), row.encoded)
        }
        guard let epoch = page.epoch else { return }
        let known = try watermark(PullTarget(collection))
        // A new epoch counts for the backfill first: the list of ids, once it is complete, takes it
        // over and shows what is gone.
        let isAnew = known?.epoch.map { $0 != epoch } ?? false
        let target =
            isAnew ? PullTarget(collection, scope: PullTarget.back) : PullTarget(collection)
        var row =
            try watermark(target)
            ?? WatermarkRow(cursor: nil, position: position, recordedAt: event.recordedAt)
        row.epoch = epoch
        put(.watermark(target), row.encoded)
    }

    /// Forgets where feeds go on that another model lists otherwise, or not at all.
    ///
    /// Both parts begin anew. The backfill alone does where it had ended and is to go further back
    /// now.
    func forgetFeeds(of before: SyncModel, _ event: Event) throws {
        let model = try model()
        for old in before.collections {
            guard let rule = old.feed else { continue }
            let collection = model[old.name]
            let back = PullTarget(old.name, scope: PullTarget.back)
            if let new = collection?.feed, rule.isInOrder(of: new),
                collection?.dates == old.dates
            {
                let goesBack = new.goesFurtherBack(than: rule, at: event.recordedAt)
                if try goesBack && feedCursor(back) == .end { put(.watermark(back), nil) }
                continue
            }
            for target in [back, PullTarget(old.name, scope: PullTarget.forward)]
            where try watermark(target) != nil {
                put(.watermark(target), nil)
            }
        }
    }
}

extension FeedRule {
    /// Whether another one lists by the same keys in the same order.
    fileprivate func isInOrder(of other: FeedRule) -> Bool {
        ExactString(order) == ExactString(other.order)
            && ExactString(change) == ExactString(other.change) && compares == other.compares
    }

    /// Whether it lists what another one leaves out as too old.
    fileprivate func goesFurtherBack(than other: FeedRule, at now: Timestamp) -> Bool {
        guard let known = other.ageMax else { return false }
        return ageMax.map { now.subtracting($0) < now.subtracting(known) } ?? true
    }
}
