// Dump.swift — reads the log event by event, for people and programs.

package import TidemarkEvents
package import TidemarkLog
import TidemarkStore
package import TidemarkViews

extension Journal {
    /// Reads the events that a filter allows, in log order or reversed, at most `limit` of them.
    ///
    /// It reads in pages, each with a transaction of its own, so that a slow reader does not hold
    /// old LMDB pages. The next page is read on another thread while `body` handles the one before.
    ///
    /// - Returns: the events whose bytes are damaged; they were skipped.
    package func dump(
        _ filter: EventFilter, limit: Int? = nil, reversed: Bool = false,
        _ body: (Position, Event) throws -> Void
    ) throws -> [LogError] {
        var damaged: [LogError] = []
        var left = limit ?? .max
        var ahead: Background<Result<Page, any Error>>?
        // When this returns, no thread reads any more, so the store may be closed.
        defer { _ = ahead?.value }
        while left > 0 {
            let page: Page
            if let ahead {
                page = try ahead.value.get()
            } else {
                let first = reversed ? filter.to : filter.from
                page = try self.page(filter, from: first, reversed: reversed, eventsMax: left)
            }
            let following = following(page, filter, reversed: reversed)
            left -= page.count
            ahead =
                left > 0 && following != nil
                ? Background { [left] in
                    Result {
                        try self.page(filter, from: following, reversed: reversed, eventsMax: left)
                    }
                }
                : nil
            for (position, result) in page.events {
                switch result {
                case .success(let event): try body(position, event)
                case .failure(let error):
                    damaged.append(error)
                }
            }
            if following == nil { break }
        }
        return damaged
    }

    /// The position at which the next page begins; nil when there is none.
    private func following(_ page: Page, _ filter: EventFilter, reversed: Bool) -> Position? {
        guard let last = page.last else { return nil }
        if reversed {
            guard last.rawValue > 1, last > filter.from ?? .start else { return nil }
            return Position(last.rawValue - 1)
        }
        guard last < filter.to ?? Position(.max) else { return nil }
        return last.next
    }

    /// The events read in one short transaction.
    private struct Page: Sendable {
        /// The events that the filter allows, and the damaged ones.
        var events: [(Position, Result<Event, LogError>)] = []
        /// How many of them are not damaged.
        var count = 0
        /// The last position that was read.
        var last: Position?
    }

    /// Reads until a page is full: by its number of frames or of events, or by their bytes.
    private func page(
        _ filter: EventFilter, from: Position?, reversed: Bool, eventsMax: Int
    ) throws -> Page {
        var page = Page()
        var (frames, bytes) = (0, 0)
        try environment.read { transaction in
            try log.forEachFrame(from: from, reversed: reversed, transaction) { position, frame in
                page.last = position
                guard filter.spans(position) else { return false }
                frames += 1
                do {
                    let whole: EventFrame
                    do { whole = try frame.get() } catch {
                        throw LogError(damage: error, at: position)
                    }
                    // The payload of an event that the filter excludes is not read.
                    var event: Event
                    do { event = try Event(header: whole.header, payload: []) } catch {
                        throw LogError(damage: error, at: position)
                    }
                    if filter.allows(position, event) {
                        event.payload = try log.payload(whole, at: position, transaction)
                        page.events.append((position, .success(event)))
                        page.count += 1
                        bytes += event.payload.count
                    }
                } catch let error as LogError {
                    page.events.append((position, .failure(error)))
                }
                return frames < 1000 && page.count < eventsMax && bytes < Self.pageBytesMax
            }
        }
        return page
    }

    private static var pageBytesMax: Int { 4 << 20 }
}
