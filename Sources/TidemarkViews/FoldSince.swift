// FoldSince.swift — the last change of the lists so far, of collections that are listed by date.

import TidemarkEvents
import TidemarkRules

extension Fold {
    /// Takes note of the last change that a page names.
    ///
    /// It counts only once the list was noted as complete.
    func paged(_ event: Event) throws {
        guard let collection = event.collection,
            try knownCollection(collection)?.since != nil
        else { return }
        guard let page = PullPagePayload(event.payload),
            page.scope != PullPagePayload.refetchScope
        else { return }
        var latest: Timestamp?
        for id in page.named {
            let time =
                try page.times[ExactString(id)]
                ?? entity(resolve(EntityKey(collection, id))).serverTime
            if let time { latest = max(time, latest ?? time) }
        }
        guard let latest else { return }
        let place = RowKey.listed(collection)
        var row = ListedRow(latest: latest, sync: event.sync)
        // Another run has begun the list anew.
        if let before = try listed(collection), before.sync == event.sync {
            row.latest = max(latest, before.latest)
        }
        put(place, row.encoded)
    }

    func listed(_ collection: CollectionName) throws -> ListedRow? {
        try get(.listed(collection)).map { try ListedRow(parsing: $0) }
    }

    /// Takes over what the pages of a list named, now that it was noted as complete.
    func promote(
        _ row: inout WatermarkRow, _ before: WatermarkRow?, _ event: Event,
        _ payload: PullCompletedPayload, _ collection: CollectionName
    ) throws {
        row.since = before?.since
        row.checkedAt = try believed(payload.asked, of: event) ?? before?.checkedAt
        guard let listed = try listed(collection) else { return }
        put(.listed(collection), nil)
        guard listed.sync == event.sync else { return }
        row.since = SinceDecision.next(
            before?.since, latest: listed.latest, isWhole: payload.isFull)
    }
}

/// What the pages of a list named that is not complete yet: 'l' collection.
struct ListedRow: Sendable, Hashable {
    /// The last change among it.
    var latest: Timestamp
    /// The run that lists.
    var sync: Position?

    init(latest: Timestamp, sync: Position?) {
        self.latest = latest
        self.sync = sync
    }

    var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.signed(1, latest.rawValue)
        writer.position(2, sync)
        return writer.bytes
    }

    init(parsing bytes: [UInt8]) throws(ProtoError) {
        self.init(latest: Timestamp(rawValue: 0), sync: nil)
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: latest = Timestamp(rawValue: try field.signed())
            case 2: sync = try field.position()
            default: continue
            }
        }
    }
}
