// EventBatches.swift — the events of a log in order, read by another thread while those before are
// being folded.

package import TidemarkEvents
package import TidemarkStore

/// An entity that an event to come names, and what finding it in memory takes.
package struct ExpectedEntity: Sendable, Hashable {
    package let entity: EntityKey
    /// Its bytes.
    package let key: [UInt8]
    /// Their hash, as ``ByteOrder`` makes it.
    package let hash: UInt32

    package init(_ entity: EntityKey) {
        self.entity = entity
        key = entity.bytes
        hash = ByteOrder.hash(key)
    }
}

extension EventLog {
    /// Some events that follow one another, and what came behind them.
    private struct Batch: Sendable {
        /// With their positions, the last one first: they are taken out from the end, uncopied.
        var events: [(position: Position, event: Event)] = []
        /// The entity of each, in the same order.
        var expected: [ExpectedEntity?] = []
        /// The position of the last one.
        var last: Position?
        /// What made the next one unreadable.
        var failure: (any Error)?
    }

    private static let eventsPerBatch = 1_024
    private static let bytesPerBatch = 1 << 20
    /// How many are announced together before the first of them comes.
    private static let eventsAnnounced = 64

    /// Walks over events in order, as ``forEach(from:reversed:_:_:)`` does; `body` says whether to
    /// go on.
    ///
    /// They are read in transactions of their own, so the log must not change meanwhile, and of
    /// what a writing transaction appended nothing is seen.
    ///
    /// - Parameter announce: is told the entities of the next events, in no order, before `body`
    ///   gets each of them.
    package func forEachAhead(
        from first: Position, through last: Position, in environment: Environment,
        announcing announce: (ArraySlice<ExpectedEntity?>) -> Void,
        _ body: (Position, Event, ExpectedEntity?) throws -> Bool
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
            var unannounced = batch.events.count
            while let (position, event) = batch.events.popLast() {
                let index = batch.events.count
                if index < unannounced {
                    let next = max(0, unannounced - Self.eventsAnnounced)..<unannounced
                    announce(batch.expected[next])
                    unannounced = next.lowerBound
                }
                guard try body(position, event, batch.expected[index]) else {
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
                    batch.expected.append(event.key.map { ExpectedEntity($0) })
                    bytes += event.payload.count
                    return batch.events.count < Self.eventsPerBatch && bytes < Self.bytesPerBatch
                }
            }
        } catch { batch.failure = error }
        batch.last = batch.events.last?.position
        batch.events.reverse()
        batch.expected.reverse()
        return batch
    }
}
