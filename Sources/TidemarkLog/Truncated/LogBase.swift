// LogBase.swift — what is left of a log's first events once they were dropped: the Merkle tree's
// right edge there, how many commits they were, and the views as they were; the value "base"
// among the tables, the message tidemark.v1.Base.
//
// By the edge all later roots go on as if nothing were gone: what is proven of them is proven.

package import TidemarkEvents
package import TidemarkStore

/// What is left of the events up to a position.
package struct LogBase: Sendable, Hashable {
    /// The tree over the events that were dropped; as `commits` those that they were.
    package var edge: MerkleEdge
    /// The message `tidemark.v1.Snapshot` of the rows at its position, which the views read.
    package var views: [UInt8]

    package init(edge: MerkleEdge, views: [UInt8]) {
        self.edge = edge
        self.views = views
    }

    /// The last event that was dropped.
    package var position: Position { Position(edge.size) }

    package var encoded: [UInt8] {
        var writer = ProtoWriter(capacity: 64 + views.count)
        writer.message(1, edge.encoded)
        writer.bytes(2, views)
        return writer.bytes
    }

    /// Reads what ``encoded`` wrote.
    package init(parsing bytes: [UInt8]) throws(ProtoError) {
        self.init(edge: MerkleEdge(), views: [])
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: edge = try MerkleEdge(parsing: try field.bytes())
            case 2: views = try field.bytes()
            default: continue
            }
        }
        guard edge.size > 0 else { throw .valueOutOfRange(1) }
    }

    /// The base of a store's log; nil where nothing was dropped.
    ///
    /// - Throws: ``LogError`` `corruptBase`.
    package static func find(
        in catalog: Catalog, _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> LogBase? {
        guard let bytes = try catalog.value(.base, transaction) else { return nil }
        do { return try LogBase(parsing: bytes) } catch {
            throw LogError(
                .corruptBase, at: .start,
                "the value \"base\", which says where the log begins: \(error)")
        }
    }

    /// The last event that was dropped; `@0` for none.
    static func position(
        in catalog: Catalog, _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> Position { try find(in: catalog, transaction)?.position ?? .start }
}

/// Where a log begins that lacks its first events.
package struct LogBeginning: Sendable, Hashable {
    /// The first event that it has.
    package var first: Position
    /// Whether it is a part of a log, as a capsule holds one; else what was before was dropped.
    package var isPart: Bool
}

extension EventLog {
    /// Where the log begins, if that is behind its first event; nil where it has that one, or lost
    /// it by damage.
    ///
    /// - Throws: ``LogError`` `corruptBase`.
    package func beginning(
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> LogBeginning? {
        if let base = try base(transaction) {
            return LogBeginning(first: base.position.next, isPart: false)
        }
        guard try isPart(transaction), let first = try firstPosition(transaction),
            first > Position(1)
        else { return nil }
        return LogBeginning(first: first, isPart: true)
    }

    /// What is left of the log's first events; nil where all are there.
    ///
    /// - Throws: ``LogError`` `corruptBase`.
    package func base(
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> LogBase? { try LogBase.find(in: catalog, transaction) }

    /// Refuses a log that begins later than with its first event where nothing says what was
    /// before: its base is gone, and is not taken for one that never was.
    ///
    /// - Throws: ``LogError`` `corruptBase`.
    package func checkBeginning(
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws {
        guard try base(transaction) == nil, let first = try firstPosition(transaction),
            first > Position(1), try !isPart(transaction),
            // A first block that can't be read does not tell where the log begins.
            try sealed.first(transaction) != nil || sealed.last(transaction) == .start
        else { return }
        throw LogError(
            .corruptBase, at: Position(1),
            "the log begins at \(first), and the value \"base\", which says what was before, is "
                + "not there")
    }

    /// Refuses to go on behind an event where those that follow it were dropped.
    ///
    /// - Throws: ``LogError`` `dropped`.
    package func checkHeld(
        after position: Position, _ transaction: borrowing some TableReading & ~Copyable
    ) throws {
        guard let base = try base(transaction), position < base.position else { return }
        throw base.dropped(position)
    }
}

extension LogBase {
    /// Why there is nothing at a position.
    package func dropped(_ asked: Position) -> LogError {
        LogError(.dropped, at: asked, "it was dropped: the log begins at \(position.next)")
    }
}
