// FoldSince.swift — the last change of the lists so far, of collections that are listed by date.

import TidemarkEvents
import TidemarkRules

extension Fold {
    /// Takes note of the last change that a page names.
    ///
    /// It counts only once the list was noted as complete.
    func paged(_ page: PullPage, of collection: CollectionName, _ event: Event) throws {
        guard try knownCollection(collection)?.since != nil,
            page.scope != PullPage.refetchScope
        else { return }
        let times = Dictionary(
            page.times.map { (ExactString($0.name), $0.value) }, uniquingKeysWith: { $1 })
        var latest: Timestamp?
        for id in page.named {
            let time =
                try times[ExactString(id)]
                ?? entity(resolve(EntityKey(collection, id))).serverTime
            if let time { latest = max(time, latest ?? time) }
        }
        guard let latest else { return }
        var row = try listed(collection) ?? ListedRow(sync: event.sync)
        // Another run has begun the list anew, unless it goes on with it.
        if row.state == nil, row.sync != event.sync { row = ListedRow(sync: event.sync) }
        row.latest = max(latest, row.latest ?? latest)
        put(.listed(collection), row.encoded)
    }

    /// Takes over what the pages of a list named, now that it was noted as complete.
    func promote(
        _ row: inout WatermarkRow, _ before: WatermarkRow?, _ event: Event,
        _ payload: PullCompleted, _ collection: CollectionName
    ) throws {
        row.since = before?.since
        row.checkedAt = try believed(payload.asked, of: event) ?? before?.checkedAt
        guard let listed = try listed(collection) else { return }
        guard listed.state != nil || listed.sync == event.sync, var latest = listed.latest else {
            return
        }
        if listed.state != nil, listed.begun != event.sync {
            // What changed between the runs may stand on a page that was fetched before.
            guard let asked = payload.asked else { return }
            latest = min(latest, asked)
        }
        row.since = SinceDecision.next(before?.since, latest: latest, isWhole: payload.isFull)
    }
}
