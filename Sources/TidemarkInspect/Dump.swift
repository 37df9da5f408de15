// Dump.swift — walking over the log for people and programs.

package import TidemarkEvents
package import TidemarkLog
import TidemarkStore
package import TidemarkViews

extension Journal {
    /// Walks over the events that a filter allows, in order or backwards, at most `limit` of them.
    ///
    /// Read in pages of their own transactions, so that a slow reader holds no old page of the
    /// store.
    ///
    /// - Returns: the events whose bytes are damaged; they were passed over.
    package func dump(
        _ filter: EventFilter, limit: Int? = nil, reversed: Bool = false,
        _ body: (Position, Event) throws -> Void
    ) throws -> [LogError] {
        var damaged: [LogError] = []
        var left = limit ?? .max
        var from = reversed ? filter.to : filter.from
        while left > 0 {
            let page = try page(filter, from: from, reversed: reversed, eventsMax: left)
            for (position, result) in page.events {
                switch result {
                case .success(let event):
                    try body(position, event)
                    left -= 1
                case .failure(let error):
                    damaged.append(error)
                }
            }
            guard let last = page.last, !isPast(last, filter, reversed: reversed) else { break }
            if reversed, last.rawValue == 1 { break }
            from = reversed ? Position(last.rawValue - 1) : last.next
        }
        return damaged
    }

    private func isPast(_ position: Position, _ filter: EventFilter, reversed: Bool) -> Bool {
        reversed
            ? filter.from.map { position <= $0 } ?? false
            : filter.to.map { position >= $0 } ?? false
    }

    /// What one short transaction read.
    private struct Page {
        /// The events that the filter allows, and the damaged ones.
        var events: [(Position, Result<Event, LogError>)] = []
        /// The last position looked at.
        var last: Position?
    }

    /// Reads until a page is full: of frames looked at, of events, or of their bytes.
    private func page(
        _ filter: EventFilter, from: Position?, reversed: Bool, eventsMax: Int
    ) throws -> Page {
        var page = Page()
        var (frames, events, bytes) = (0, 0, 0)
        try environment.read { transaction in
            try log.forEachFrame(from: from, reversed: reversed, transaction) { position, frame in
                page.last = position
                frames += 1
                do {
                    let whole: EventFrame
                    do { whole = try frame.get() } catch {
                        throw LogError(damage: error, at: position)
                    }
                    // What the filter keeps out costs no payload.
                    let header: Event
                    do { header = try Event(header: whole.header, payload: []) } catch {
                        throw LogError(damage: error, at: position)
                    }
                    if filter.allows(position, header) {
                        let event = try log.event(whole, at: position, transaction)
                        page.events.append((position, .success(event)))
                        events += 1
                        bytes += event.payload.count
                    }
                } catch let error as LogError {
                    page.events.append((position, .failure(error)))
                }
                return frames < 1000 && events < eventsMax && bytes < Self.pageBytesMax
            }
        }
        return page
    }

    private static var pageBytesMax: Int { 4 << 20 }
}
