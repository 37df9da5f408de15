// BodyCheck.swift — whether the bodies that events refer to are there and whole; each once.

package import TidemarkEvents
package import TidemarkStore

/// The bodies that were found whole so far.
package struct BodyCheck: Sendable {
    private var whole: Set<BodyReference> = []

    package init() {}

    /// Looks at the body of a payload by reference, and at the one that an answer names.
    ///
    /// - Throws: ``LogError`` at `position`: `missingBody`, `corruptBody`, `newerFormat`, or
    ///   `corruptEvent` when the header can't be read.
    package mutating func check(
        _ frame: EventFrame, at position: Position, _ log: EventLog,
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws {
        var event: Event
        do { event = try Event(header: frame.header, payload: []) } catch {
            throw LogError(damage: error, at: position)
        }
        switch frame.payload {
        case .inline(let payload): event.payload = payload
        case .body(let reference):
            event.payload = try look(at: reference, position, log, transaction) ?? []
        }
        if let reference = event.namedBody {
            _ = try look(at: reference, position, log, transaction)
        }
    }

    /// The body, or nil when it was looked at before, and with it what it names.
    private mutating func look(
        at reference: BodyReference, _ position: Position, _ log: EventLog,
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> [UInt8]? {
        guard !whole.contains(reference) else { return nil }
        let body = try log.body(reference, at: position, transaction)
        whole.insert(reference)
        return body
    }
}
