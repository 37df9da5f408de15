// BodyCheck.swift — whether the bodies that events refer to are there and whole; each once.

import TidemarkEvents
import TidemarkStore

/// The bodies that were found whole so far.
struct BodyCheck {
    private var whole: Set<BodyReference> = []

    /// Looks at a body that holds an event's payload; where that is an answer's, also at the body
    /// that it names.
    ///
    /// - Returns: the event with its payload, and why that is not what this version writes; nil of
    ///   an event that names nothing.
    /// - Throws: ``LogError`` at `position`: `missingBody`, `corruptBody`, or `newerFormat`.
    mutating func check(
        _ reference: BodyReference, of event: Event, at position: Position, _ log: EventLog,
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> (event: Event, problem: PayloadProblem?)? {
        guard !whole.contains(reference) || event.holdsMembers else { return nil }
        let body = try log.body(reference, at: position, transaction)
        whole.insert(reference)
        guard event.holdsMembers else { return nil }
        var event = event
        event.payload = body
        let (named, problem) = event.checkedPayload
        if let named { try check(named, at: position, log, transaction) }
        return (event, problem)
    }

    /// Looks at a body.
    mutating func check(
        _ reference: BodyReference, at position: Position, _ log: EventLog,
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws {
        guard !whole.contains(reference) else { return }
        _ = try log.body(reference, at: position, transaction)
        whole.insert(reference)
    }
}
