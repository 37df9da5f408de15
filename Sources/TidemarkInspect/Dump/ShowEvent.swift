// ShowEvent.swift — one event, and the body that it names; where the log begins.

package import TidemarkEvents
package import TidemarkLog
import TidemarkStore
package import TidemarkViews

extension Journal {
    /// The first event that the log has, and when it was recorded; nil where there is none.
    package func firstEvent() throws -> (position: Position, recordedAt: Timestamp)? {
        try environment.read { transaction in
            guard let first = try log.firstPosition(transaction),
                let event = try log.event(at: first, transaction)
            else { return nil }
            return (first, event.recordedAt)
        }
    }

    /// Where the log begins, if that is behind its first event.
    package func beginning() throws -> LogBeginning? {
        try environment.read { try log.beginning($0) }
    }

    /// The event at a position, and the body that its payload names; nil when there is no event.
    ///
    /// - Throws: ``LogError`` when its bytes, or those of a body, are damaged.
    package func show(_ position: Position) throws -> (event: Event, body: [UInt8]?)? {
        try environment.read { transaction in
            guard let event = try log.event(at: position, transaction) else { return nil }
            let body = try event.namedBody.map { try log.body($0, at: position, transaction) }
            return (event, body)
        }
    }
}

extension LogBeginning {
    /// Where the log begins, and where the events before are, for people.
    package var words: String {
        isPart
            ? "the capsule begins at \(first): what was before is not in it"
            : "the log begins at \(first): what was before was dropped"
    }

    /// Where an event is that is before it, in two or three words.
    package var absence: String { "before \(first), \(isPart ? "not in it" : "dropped")" }
}
