// FoldFeed.swift — where the parts of a feed go on: with each page of them.

import TidemarkEvents

extension Fold {
    /// Takes over where a feed goes on after a page.
    func feed(
        _ page: PullPage, of collection: CollectionName, _ event: Event, _ position: Position
    ) throws {
        for part in page.cursors {
            let target = PullTarget(collection, scope: part.name)
            var row = WatermarkRow(
                cursor: part.value.revision, position: position, recordedAt: event.recordedAt)
            row.epoch = try watermark(target)?.epoch
            put(.watermark(target), row.encoded)
        }
        guard let epoch = page.epoch else { return }
        let known = try watermark(PullTarget(collection))
        // Of another collection than before only the backfill is: what is gone with that one is
        // known once the ids of this one were listed.
        let isAnew = known?.epoch.map { $0 != epoch } ?? false
        let target =
            isAnew ? PullTarget(collection, scope: PullTarget.back) : PullTarget(collection)
        var row =
            try watermark(target)
            ?? WatermarkRow(cursor: nil, position: position, recordedAt: event.recordedAt)
        row.epoch = epoch
        put(.watermark(target), row.encoded)
    }
}
