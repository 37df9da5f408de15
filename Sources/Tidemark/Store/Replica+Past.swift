// Replica+Past.swift — the store as it was at an earlier position or time.

public import TidemarkEvents
import TidemarkViews

extension Replica {
    /// Reads the store as it was just after an event.
    ///
    /// Everything that a ``read(_:)`` can ask can be asked: documents, statuses, typed queries,
    /// what waits. The documents are read by the model that was registered then. Within a commit it
    /// is what its events up to there make, which no one ever saw.
    ///
    /// The events since the nearest snapshot before the position are folded into a temporary
    /// directory, which is removed before this returns: some thousand events take a moment, 100,000
    /// take seconds. The caller's thread waits, writers do not. There are no indexes: every query
    /// reads its whole collection. At the last position nothing is folded.
    ///
    /// The context can't be used after. Not to be called inside a `write`.
    ///
    /// - Throws: ``TidemarkError`` `notFound` when there is no such position, what `body` throws,
    ///   and others.
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
                try journal.read(asOf: position, in: directory) { try body(ReadContext($0)) }
            }
        }
    }

    /// Reads the store as it was at a time of this device's clock: after the last event that was
    /// recorded then or before; else like ``read(asOf:_:)-(Position,_)``.
    ///
    /// Where the clock was set back, later events may tell an earlier time: the last one counts.
    ///
    /// - Throws: ``TidemarkError`` `notFound` when every event was recorded later, what `body`
    ///   throws, and others.
    public func read<R>(asOf time: Timestamp, _ body: (ReadContext) throws -> R) throws -> R {
        guard let position = try position(asOf: time) else {
            throw TidemarkError(.notFound, "the first event was recorded after \(time)")
        }
        return try read(asOf: position, body)
    }

    /// The last event that was recorded at a time or before it; nil when every one was later.
    ///
    /// Reads the log backwards from its end.
    public func position(asOf time: Timestamp) throws -> Position? {
        try TidemarkError.mapped { try journal.position(asOf: time) }
    }
}
