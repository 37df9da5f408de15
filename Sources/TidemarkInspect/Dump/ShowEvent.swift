// ShowEvent.swift — one event, and the body that it names.

package import TidemarkEvents
import TidemarkLog
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

    /// The first event of a log whose first events were dropped; nil where none were.
    package func firstHeld() throws -> Position? {
        try environment.read { try log.base($0)?.position.next }
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
