// FoldSince.swift — the rule `since`: a collection that is listed by date continues from the last
// change that its lists named.

import TidemarkEvents
import TidemarkRules

/// Keeps the since-date of the next list.
struct FoldSince: FoldRule {
    let name = "since"
    let moments: FoldMoments = [.take, .mark]

    func isRule(of collection: CollectionModel) -> Bool { collection.since != nil }

    /// Notes the last change that a page names; it counts once the list is complete.
    func take(
        _ page: PullPage, _ collection: CollectionModel, _ event: Event, _ position: Position,
        _ fold: Fold
    ) throws {
        guard page.isOfList else { return }
        let times = Dictionary(
            page.times.map { (ExactString($0.name), $0.value) }, uniquingKeysWith: { $1 })
        var latest: Timestamp?
        for id in page.named {
            let time =
                try times[ExactString(id)]
                ?? fold.entity(fold.resolve(EntityKey(collection.name, id))).serverTime
            if let time { latest = max(time, latest ?? time) }
        }
        guard let latest else { return }
        let target = page.target(collection.name)
        var row = try fold.listed(target) ?? ListedRow(sync: event.sync)
        // A new run's list begins from nothing, unless it continues an unfinished one.
        if row.state == nil, row.sync != event.sync { row = ListedRow(sync: event.sync) }
        row.latest = max(latest, row.latest ?? latest)
        fold.put(.listed(target), row.encoded)
    }

    /// Whether a list of changes could go on from the date of before.
    private func isUsable(
        _ before: WatermarkRow, _ list: PullCompleted, _ collection: CollectionModel
    ) -> Bool {
        guard list.isFull, let rule = collection.since else { return true }
        return SinceDecision.date(
            rule, since: before.since, checkedAt: before.checkedAt, now: list.asked) != nil
    }

    /// Takes over the dates of the list's pages.
    func mark(
        _ row: inout WatermarkRow, after before: WatermarkRow?, _ list: PullCompleted,
        _ collection: CollectionModel, _ event: Event, _ fold: Fold
    ) throws {
        let target = PullTarget(collection.name, scope: list.scope)
        row.since = before?.since
        row.checkedAt = before?.checkedAt
        // What was deleted before an entity came into reach no list of everything tells: the next
        // list of changes does, from the date of before on.
        let keepsDate = try list.keepsSince || list.isFull && fold.owed(target)?.keepsDate == true
        if keepsDate, let before, isUsable(before, list, collection) { return }
        // A change later than the server's time then would hide what changes until it.
        guard let asked = try fold.believed(list.asked, of: event) else { return }
        row.checkedAt = asked
        let listed = try fold.listed(target).flatMap {
            $0.state != nil || $0.sync == event.sync ? $0 : nil
        }
        row.since = SinceDecision.next(
            before?.since, latest: listed?.latest, asked: asked, isWhole: list.isFull)
    }
}
