// SyncRecorder+Combined.swift — how an answer about several collections stands in the log: as pages
// that move no watermark.

import TidemarkEvents
import TidemarkViews

extension SyncRecorder {
    /// Logs what is new of several collections; an answer without news is kept back.
    ///
    /// - Parameter pages: in the order of the model.
    mutating func combined(
        _ pages: [CombinedPage], _ exchange: ReadExchange, _ draft: Draft
    ) throws -> PageResult {
        let known = known(draft)
        var new: [CombinedPage] = []
        for var page in pages {
            let name = page.collection
            let overtaken = page.records.overtaken
            page.records = try page.records.indices.filter {
                try !overtaken.contains($0)
                    && known.verdict(on: page.records[$0], in: name, asOf: exchange.asOf) == .new
            }.map { page.records[$0] }
            page.unreadable = try page.unreadable.filter { try known.isNew($0, in: name) }
            if !page.records.isEmpty || !page.unreadable.isEmpty { new.append(page) }
        }
        var news = PageResult()
        guard !new.isEmpty || exchange.isClockNews else {
            note(exchange)
            return news
        }
        let read = try log(exchange, draft)
        for page in new {
            let before = news.count
            var named = PullPage()
            named.scope = PullPage.combinedScope
            for record in page.records {
                let place = try append(record, .new, page.collection, read, &news, draft)
                named.ids.append(record.id)
                named.places.append(place)
            }
            for record in page.unreadable {
                try append(record, page.collection, read, draft)
            }
            news.count += page.unreadable.count
            if !named.ids.isEmpty {
                try appendPage(named, page.collection, read.start, call: read.call, draft)
            }
            news.applied.append(
                AppliedPage(collection: page.collection, count: news.count - before))
        }
        return news
    }
}
