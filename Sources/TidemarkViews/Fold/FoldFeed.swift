// FoldFeed.swift — where the parts of a feed go on: with each page of them.

import TidemarkEvents

extension Fold {
    /// Takes over where a feed goes on after a page.
    func feed(
        _ page: PullPage, of collection: CollectionName, _ event: Event, _ position: Position
    ) throws {
        for part in page.cursors {
            let target = PullTarget(collection, scope: part.name)
            let row = WatermarkRow(
                cursor: part.value.revision, position: position, recordedAt: event.recordedAt)
            put(.watermark(target), row.encoded)
        }
        guard let epoch = page.epoch else { return }
        let place = RowKey.watermark(PullTarget(collection))
        var row =
            try get(place).map { try WatermarkRow(parsing: $0) }
            ?? WatermarkRow(cursor: nil, position: position, recordedAt: event.recordedAt)
        row.epoch = epoch
        put(place, row.encoded)
    }
}
