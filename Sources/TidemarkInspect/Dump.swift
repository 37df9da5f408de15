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
            let page = try page(from: from, reversed: reversed)
            for (position, result) in page {
                switch result {
                case .success(let event):
                    guard left > 0, filter.allows(position, event) else { continue }
                    try body(position, event)
                    left -= 1
                case .failure(let error):
                    damaged.append(error)
                }
            }
            guard let last = page.last?.0, !isPast(last, filter, reversed: reversed) else { break }
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

    private func page(
        from: Position?, reversed: Bool
    ) throws -> [(Position, Result<Event, LogError>)] {
        var page: [(Position, Result<Event, LogError>)] = []
        try environment.read { transaction in
            try log.forEachFrame(from: from, reversed: reversed, transaction) { position, frame in
                page.append((position, Self.interpret(frame, at: position)))
                return page.count < 1000
            }
        }
        return page
    }

    private static func interpret(
        _ frame: Result<EventFrame, EventFrame.Damage>, at position: Position
    ) -> Result<Event, LogError> {
        switch frame {
        case .failure(let damage):
            return .failure(LogError(damage: damage, at: position))
        case .success(let frame):
            do throws(ProtoError) {
                return .success(try Event(header: frame.header, payload: frame.payload))
            } catch {
                return .failure(LogError(.corruptEvent, at: position, "\(error)"))
            }
        }
    }
}
