// EventLog+Placing.swift — events put where they once were, into a store that is made only to be
// read: a log with holes, and without a Merkle tree.

package import TidemarkEvents
package import TidemarkStore

extension EventLog {
    /// Writes the events of one commit at their positions, which are behind all that are there.
    package func place(
        _ events: [(position: Position, event: Event)], views: [ViewDigest],
        _ transaction: borrowing WriteTransaction
    ) throws {
        guard let first = events.first?.position, let last = events.last?.position else { return }
        for (position, event) in events {
            let frame = EventFrame(event)
            if case .body(let reference) = frame.payload {
                try store(event.payload, as: reference, transaction)
            }
            try transaction.append(log, position.bigEndianBytes, frame.encoded)
        }
        let record = CommitRecord(first: first, last: last, root: [], views: views)
        var edge = try edge(transaction)
        try append(record, &edge, transaction)
        try setIsPart(transaction)
    }

    /// Writes a body that payloads name by its hash.
    package func place(_ body: [UInt8], _ transaction: borrowing WriteTransaction) throws {
        try store(body, as: BodyReference(to: body), transaction)
    }

    /// Has the log end at a position behind its last event, so that the next one stands after it.
    ///
    /// What stands there says nothing, and the hashes of the tree mean nothing from there on.
    package func skip(to last: Position, _ transaction: borrowing WriteTransaction) throws {
        if try lastPosition(transaction) < last {
            let nothing = Event(EventKind(rawValue: 0), recordedAt: Timestamp(rawValue: 0))
            try transaction.append(log, last.bigEndianBytes, EventFrame(nothing).encoded)
        }
        var edge = MerkleEdge(unknownOf: last.rawValue)
        edge.commits = try self.edge(transaction).commits
        try setEdge(edge, transaction)
        try setIsPart(transaction)
    }
}
