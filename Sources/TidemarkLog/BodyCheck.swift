// BodyCheck.swift — whether the bodies that events refer to are there and whole; each once.

import TidemarkEvents
import TidemarkStore

/// The bodies that were found whole so far.
struct BodyCheck {
    private var whole: Set<BodyReference> = []

    /// Looks at a body; where it is an answer's payload, also at the body that this names.
    ///
    /// - Throws: ``LogError`` at `position`: `missingBody`, `corruptBody`, or `newerFormat`.
    mutating func check(
        _ reference: BodyReference, isAnswer: Bool, at position: Position, _ log: EventLog,
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws {
        guard !whole.contains(reference) else { return }
        let body = try log.body(reference, at: position, transaction)
        whole.insert(reference)
        guard isAnswer, let named = BodyReference(namedBy: body) else { return }
        try check(named, isAnswer: false, at: position, log, transaction)
    }
}
