// SyncRecorder+Placeholders.swift — how it stands in the log that the server was asked for entities
// that are here as placeholders.

import TidemarkEvents
import TidemarkViews

extension SyncRecorder {
    /// Logs what the server said to a question after placeholders, and of which it said nothing:
    /// those stay what they are.
    mutating func refetched(
        _ records: [ServerRecord], _ below: RecordsBelow?, of ids: [String],
        _ collection: CollectionName, _ exchange: ReadExchange, _ draft: Draft
    ) throws -> PageResult {
        let read = try log(exchange, draft)
        var news = PageResult()
        var places: [ExactString: PullPage.Place] = [:]
        var verdicts: [ServerNews.Verdict] = []
        for record in records {
            places[ExactString(record.id)] = .same
            // A part says nothing of what is here as a whole.
            if record.isPartial, try !isStandIn(record.id, collection, draft) {
                verdicts.append(.same)
                continue
            }
            verdicts.append(try verdict(on: record, collection, exchange.asOf, draft))
            guard verdicts.last == .new else { continue }
            let event = record.event(collection, read, mutation: nil, draft.now)
            guard let position = try say(event, draft) else { continue }
            news.count += 1
            places[ExactString(record.id)] = .event(position)
        }
        var page = PullPage()
        page.scope = PullPage.refetchScope
        page.ids = ids
        page.isPartial = records.contains(where: \.isPartial)
        page.places = ids.map { places[ExactString($0)] ?? .absent }
        news.applied = [AppliedPage(collection: collection, count: news.count)]
        var tree = try below?.decision(
            under: verdicts, exchange, known(draft))
        try append(&tree, to: &page, read, &news, draft)
        let position = try appendPage(page, collection, read.start, call: read.call, draft)
        try append(absent: tree, below: [:], position, read, &news, draft)
        return news
    }

    private func isStandIn(
        _ id: String, _ collection: CollectionName, _ draft: Draft
    ) throws -> Bool {
        try draft.fold.isPlaceholder(draft.fold.resolve(EntityKey(collection, id)))
    }

    /// Logs which entities a page names.
    @discardableResult
    func appendPage(
        _ page: PullPage, _ collection: CollectionName, _ start: Position, call: Position?,
        _ draft: Draft
    ) throws -> Position {
        try draft.append(
            Event(
                .pullPage, recordedAt: draft.now, collection: collection, sync: start, call: call,
                json: page.encoded))
    }
}
