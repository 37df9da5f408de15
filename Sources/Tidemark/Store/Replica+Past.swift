// Replica+Past.swift — the store as it was at an earlier position or time.

public import TidemarkEvents
import TidemarkViews

extension Replica {
    /// Reads the store as it was just after an event.
    ///
    /// All that a ``read(_:)`` can ask is available: documents, statuses, typed queries, the
    /// outbox. Documents are read by the model that was registered then. A position within a commit
    /// shows the effect of its events up to there, a state that no read ever saw.
    ///
    /// The events since the nearest snapshot before the position are folded into a temporary
    /// directory, which is removed before this returns: some thousand events take a moment, 100,000
    /// take seconds. Blocks; call it off the main thread. Writers don't wait. There are no indexes:
    /// every query reads its whole collection. At the last position, nothing is folded.
    ///
    /// The context is not valid afterwards. Not to be called inside a `write`.
    ///
    /// - Throws: ``TidemarkError``: `notFound` when there is no such position, `dropped` when the
    ///   log does not reach back to it any more; and what ``read(_:)`` throws.
    public func read<R>(asOf position: Position, _ body: (ReadContext) throws -> R) throws -> R {
        try TidemarkError.mapped {
            let last = try journal.read { $0.last }
            guard position > .start else {
                throw TidemarkError(.notFound, "there is nothing before the first event, @1")
            }
            guard position <= last else {
                throw TidemarkError(
                    .notFound, "there is no event at \(position); the log ends at \(last)")
            }
            return try ScratchDirectory.withLazily { directory in
                try ScratchDirectory.naming {
                    try journal.read(asOf: position, in: directory) { try body(ReadContext($0)) }
                }
            }
        }
    }

    /// Reads the store as it was at a time of this device's clock, after the last event recorded by
    /// then; otherwise like ``read(asOf:_:)-(Position,_)``.
    ///
    /// If the clock was set back, later events may have earlier times: the last such event counts.
    ///
    /// - Throws: ``TidemarkError``: `notFound` when every event that the log still has was recorded
    ///   later; and what ``read(_:)`` throws.
    public func read<R>(asOf time: Timestamp, _ body: (ReadContext) throws -> R) throws -> R {
        guard let position = try position(asOf: time) else {
            throw TidemarkError(.notFound, "the first event was recorded after \(time)")
        }
        return try read(asOf: position, body)
    }

    /// The last event recorded at or before a time; nil when all were recorded later.
    ///
    /// Reads the log backwards from its end. Blocks; call it off the main thread.
    public func position(asOf time: Timestamp) throws -> Position? {
        try TidemarkError.mapped { try journal.position(asOf: time) }
    }
}
