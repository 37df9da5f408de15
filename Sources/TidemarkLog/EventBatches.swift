// EventBatches.swift — the events of a log in order, read by another thread while those before are
// being folded.

package import TidemarkEvents
package import TidemarkStore

extension EventLog {
    /// Some events that follow one another, and what came behind them.
    private struct Batch: Sendable {
        /// With their positions, the last one first: they are taken out from the end, uncopied.
        var events: [(position: Position, event: Event)] = []
        /// The position of the last one.
        var last: Position?
        /// What made the next one unreadable.
        var failure: (any Error)?
    }

    private static let eventsPerBatch = 1_024
    private static let bytesPerBatch = 1 << 20

    /// Walks over events in order, as ``forEach(from:reversed:_:_:)`` does; `body` says whether to
    /// go on.
    ///
    /// They are read in transactions of their own, so the log must not change meanwhile, and of
    /// what a writing transaction appended nothing is seen.
    package func forEachAhead(
        from first: Position, through last: Position, in environment: Environment,
        _ body: (Position, Event) throws -> Bool
    ) throws {
        guard first <= last else { return }
        func begin(_ next: Position) -> Background<Batch> {
            Background { self.batch(from: next, through: last, environment) }
        }
        var ahead = begin(first)
        while true {
            var batch = ahead.takeValue()
            let isLast = batch.failure != nil || (batch.last ?? last) >= last
            if let end = batch.last, !isLast { ahead = begin(end.next) }
            while let (position, event) = batch.events.popLast() {
                guard try body(position, event) else {
                    if !isLast { _ = ahead.value }
                    return
                }
            }
            if let failure = batch.failure { throw failure }
            if isLast { return }
        }
    }

    private func batch(
        from first: Position, through last: Position, _ environment: Environment
    ) -> Batch {
        var batch = Batch()
        var bytes = 0
        do {
            try environment.read { transaction in
                try forEach(from: first, transaction) { position, event in
                    guard position <= last else { return false }
                    batch.events.append((position, event))
                    bytes += event.payload.count
                    return batch.events.count < Self.eventsPerBatch && bytes < Self.bytesPerBatch
                }
            }
        } catch { batch.failure = error }
        batch.last = batch.events.last?.position
        batch.events.reverse()
        return batch
    }
}
