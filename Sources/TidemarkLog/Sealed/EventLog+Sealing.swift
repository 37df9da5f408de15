// EventLog+Sealing.swift — moving the first records of the table "log" into a block.
//
// The records stay what they are, byte for byte, and so do all roots. A block is written, and what
// it holds removed from "log", in one transaction.

package import TidemarkEvents
package import TidemarkStore

/// What was sealed.
package struct Sealing: Sendable, Hashable {
    package var first: Position
    package var last: Position
    package var commits = 0
    package var blocks = 0
    /// How many bytes the records had, and how many the blocks have.
    package var (recordBytes, storedBytes) = (0, 0)
    /// How many events stay in the table "log" as well.
    package var kept = 0

    package var events: Int { Int(last.rawValue - first.rawValue + 1) }

    /// Adds what was sealed behind it.
    package mutating func add(_ other: Sealing) {
        last = other.last
        commits += other.commits
        blocks += other.blocks
        recordBytes += other.recordBytes
        storedBytes += other.storedBytes
        kept += other.kept
    }
}

extension EventLog {
    /// How many events a block holds, and how many bytes of records, roughly.
    package static let (sealedEventsMax, sealedBytesMax) = (256, 256 << 10)

    /// Moves the first events that are not sealed into one block, as many as it holds.
    ///
    /// - Parameters:
    ///   - last: the last event that may be sealed; the log's last one never is.
    ///   - named: returns which of the events up to one are to stay in "log" as well, given the
    ///     entities that those in the block are about.
    /// - Returns: what was sealed; nil where nothing is left to be.
    /// - Throws: ``LogError`` where a record is damaged: nothing is sealed then.
    package func seal(
        through last: Position, _ transaction: borrowing WriteTransaction,
        named: (_ entities: Set<EntityKey>, _ last: Position) throws -> Set<Position> = { _, _ in
            []
        }
    ) throws -> Sealing? {
        var edge = try edge(transaction)
        let last = min(last, Position(edge.size - min(edge.size, 1)))
        var records: [[UInt8]] = []
        var (keys, formerKeys): ([[UInt8]], [[UInt8]]) = ([], [])
        var (first, end): (Position?, Position) = (nil, .start)
        var (events, bytes) = (0, 0)
        var entities: Set<EntityKey> = []
        let sealed = try self.sealed.last(transaction)
        let start = sealed.next.bigEndianBytes
        try transaction.scan(log, from: start, prefix: [], reversed: false) { key, value in
            if CommitRecord.isKey(key) {
                _ = try CommitRecord(framed: value, last: end)
            } else {
                guard let position = Position(key), first == nil || position == end.next else {
                    throw LogError(.missingEvent, at: end.next, "nothing behind it is sealed")
                }
                guard position <= last, events < Self.sealedEventsMax,
                    bytes < Self.sealedBytesMax
                else { return false }
                if let former = try formerCommit(endingAt: end, transaction) {
                    records.append(former.framed)
                    formerKeys.append(end.bigEndianBytes)
                }
                do {
                    let layout = try EventFrame.Layout(of: value)
                    let header = value.extracting(layout.header).copied()
                    try Event(header: header, payload: []).key.map { _ = entities.insert($0) }
                } catch { throw LogError(damage: error, at: position) }
                first = first ?? position
                end = position
                events += 1
            }
            keys.append(key.copied())
            records.append(value.copied())
            bytes += value.count
            return true
        }
        guard let first else { return nil }
        guard sealed.next == first else {
            throw LogError(.missingEvent, at: first, "nothing that it follows on is sealed")
        }
        if let former = try formerCommit(endingAt: end, transaction) {
            records.append(former.framed)
            formerKeys.append(end.bigEndianBytes)
        }
        let stored = try SealedBlock.stored(records)
        guard let block = try? SealedBlock(parsing: stored, last: end), block.holds(records) else {
            throw LogError(.corruptEvent, at: first, "what would be sealed can't be read again")
        }
        try self.sealed.append(stored, last: end, transaction)
        let kept = try named(entities, end).filter { $0 >= first }
        for key in keys {
            guard !kept.isEmpty, let position = Position(key.span), kept.contains(position) else {
                _ = try transaction.delete(log, key)
                continue
            }
        }
        if let formerCommits {
            for key in formerKeys { _ = try transaction.delete(formerCommits, key) }
        }
        let commits = UInt64(block.commitCount)
        edge.commits -= commits - UInt64(formerKeys.count)
        edge.sealedCommits += commits
        edge.keptEvents += UInt64(kept.count)
        try setEdge(edge, transaction)
        return Sealing(
            first: first, last: end, commits: block.commitCount, blocks: 1,
            recordBytes: block.recordBytes, storedBytes: stored.count, kept: kept.count)
    }

    /// Removes events from the table "log" that are sealed, and that no row names any more.
    package func release(
        _ positions: [Position], edge: inout MerkleEdge, _ transaction: borrowing WriteTransaction
    ) throws {
        for position in positions
        where try transaction.delete(log, position.bigEndianBytes) {
            edge.keptEvents -= min(edge.keptEvents, 1)
        }
    }
}
