// SealedTable.swift — the events before the table "log", in blocks.
//
//   table   key                                       value
//   sealed  position of a block's last event, number  a part of the block's bytes
//           of the record: 8 and 4 bytes b. e.        (SealedBlock.swift), ≤ 3,900 bytes
//
// Blocks are never changed, and follow one another without a hole up to the first event in "log".

package import TidemarkEvents
package import TidemarkStore

/// The table "sealed".
package struct SealedTable: Sendable {
    static let name = "sealed"
    /// No block holds more events.
    static let eventsMax: UInt64 = 1 << 24

    let table: Table
    private let catalog: Catalog
    private let cache = SealedCache()

    init(_ environment: Environment) {
        table = environment.table(Self.name)
        catalog = Catalog(environment)
    }

    static func key(_ last: Position, _ number: UInt32 = 0) -> [UInt8] {
        last.bigEndianBytes
            + (0..<4).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    // MARK: Writing

    /// Stores a block behind all others.
    func append(
        _ stored: [UInt8], last: Position, _ transaction: borrowing WriteTransaction
    ) throws {
        for (number, part) in Self.parts(stored).enumerated() {
            try transaction.append(table, Self.key(last, UInt32(number)), part)
        }
    }

    /// Removes the blocks up to an event, and makes the one that goes on behind it anew.
    ///
    /// - Returns: how many bytes less there are.
    func drop(
        through last: Position, _ transaction: borrowing WriteTransaction
    ) throws -> Int {
        var keys: [[UInt8]] = []
        var bytes = 0
        var next: Position?
        try transaction.scan(table, from: nil, prefix: [], reversed: false) { key, part in
            guard let end = Position(bigEndianBytes: key.copied().prefix(8)) else {
                throw LogError(.corruptEvent, at: last, "a key of the sealed events is none")
            }
            if end > last, next == nil { next = end }
            guard end <= last || end == next else { return false }
            keys.append(key.copied())
            bytes += part.count
            return true
        }
        guard let next else {
            throw LogError(.missingEvent, at: last.next, "no sealed event follows")
        }
        let block: SealedBlock
        do { block = try self.block(endingAt: next, transaction).get() } catch {
            throw LogError(damage: error, at: last.next)
        }
        var rest: [[UInt8]] = []
        _ = block.forEachRecord(from: max(last.next, block.first)) { _, _, record in
            rest.append(record.copied())
            return true
        }
        let stored = block.first > last.next ? [] : try SealedBlock.stored(rest)
        guard let made = try? SealedBlock(parsing: stored, last: next),
            made.first == last.next, made.holds(rest)
        else {
            throw LogError(.corruptEvent, at: last.next, "what would be left can't be read again")
        }
        for key in keys { try transaction.delete(table, key) }
        for (number, part) in Self.parts(stored).enumerated() {
            try transaction.put(table, Self.key(next, UInt32(number)), part)
        }
        return bytes - stored.count
    }

    /// The records that a block's bytes are stored in.
    private static func parts(_ stored: [UInt8]) -> [[UInt8]] {
        stride(from: 0, to: stored.count, by: EventLog.bodyRecordBytesMax).map {
            Array(stored[$0..<min($0 + EventLog.bodyRecordBytesMax, stored.count)])
        }
    }

    // MARK: Reading

    /// The last event that is sealed; `@0` for none.
    package func last(
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> Position {
        try transaction.last(table).flatMap { Position(bigEndianBytes: $0.key.prefix(8)) }
            ?? .start
    }

    /// How many blocks there are, and how many bytes they take.
    package func size(
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> (blocks: Int, bytes: Int) {
        var size = (blocks: 0, bytes: 0)
        try transaction.scan(table, from: nil, prefix: [], reversed: false) { key, part in
            if key.count == 12, (8..<12).allSatisfy({ key[$0] == 0 }) { size.blocks += 1 }
            size.bytes += part.count
            return true
        }
        return size
    }

    /// The first event that is sealed; nil for none.
    func first(_ transaction: borrowing some TableReading & ~Copyable) throws -> Position? {
        guard let found = try transaction.first(table),
            let last = Position(bigEndianBytes: found.key.prefix(8))
        else { return nil }
        return try? block(endingAt: last, transaction).get().first
    }

    /// The block that holds an event; nil where it isn't sealed.
    ///
    /// Keeps the last ones that were asked for.
    ///
    /// - Throws: ``LogError`` where the block can't be read.
    func block(
        holding position: Position, _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> SealedBlock? {
        guard let (last, head) = try head(at: position, transaction) else { return nil }
        if let known = cache.block(endingAt: last, head) {
            return known.contains(position) ? known : nil
        }
        switch try block(endingAt: last, transaction) {
        case .failure(let damage): throw LogError(damage: damage, at: position)
        case .success(let block):
            cache.keep(block, head)
            return block.contains(position) ? block : nil
        }
    }

    /// The last event of the first block that ends with an event or behind it.
    private func end(
        at position: Position, _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> Position? { try head(at: position, transaction)?.last }

    /// The same, and the bytes that the block begins with, by which it is told from another one
    /// that ended there before the log was truncated.
    private func head(
        at position: Position, _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> (last: Position, head: [UInt8])? {
        var found: (Position, [UInt8])?
        try transaction.scan(table, from: Self.key(position), prefix: [], reversed: false) {
            key, part in
            guard let last = Position(bigEndianBytes: key.copied().prefix(8)) else { return false }
            let count = min(part.count, SealedCache.headBytes)
            found = (last, part.extracting(0..<count).copied())
            return false
        }
        return found
    }

    /// The last event of the last block that ends before an event.
    private func end(
        before position: Position, _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> Position? {
        var found: Position?
        try transaction.scan(table, from: Self.key(position), prefix: [], reversed: true) {
            key, _ in
            let last = Position(bigEndianBytes: key.copied().prefix(8))
            guard last != position else { return true }
            found = last
            return false
        }
        return found
    }

    func block(
        endingAt last: Position, _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> Result<SealedBlock, EventFrame.Damage> {
        var stored: [UInt8] = []
        try transaction.scan(table, from: nil, prefix: last.bigEndianBytes, reversed: false) {
            _, part in
            stored += part.copied()
            return true
        }
        return Result { () throws(EventFrame.Damage) in
            do throws(SealedBlock.Damage) {
                return try SealedBlock(parsing: stored, last: last)
            } catch { throw .sealed(error, through: last) }
        }
    }

    /// A block, or what is wrong with it, and which events it should hold.
    struct Found {
        let first: Position
        let last: Position
        let block: Result<SealedBlock, EventFrame.Damage>
    }

    /// Walks over the blocks in order, or backwards; `body` says whether to go on.
    ///
    /// - Parameter start: the event whose block is the first one; nil for the end of the table.
    /// - Returns: what `body` said last.
    @discardableResult
    func forEachBlock(
        from start: Position? = nil, reversed: Bool = false,
        _ transaction: borrowing some TableReading & ~Copyable, _ body: (Found) throws -> Bool
    ) throws -> Bool {
        let sealed = try last(transaction)
        let dropped = try LogBase.position(in: catalog, transaction)
        guard sealed > .start, reversed || start ?? .start <= sealed else { return true }
        var next = try end(at: min(start ?? (reversed ? sealed : .start), sealed), transaction)
        while let last = next {
            let before = try end(before: last, transaction)
            let block = try block(endingAt: last, transaction)
            // Of a damaged block it is known where the one before it ends.
            let first = (try? block.get().first) ?? before?.next ?? dropped.next
            guard try body(Found(first: first, last: last, block: block)) else { return false }
            next = reversed ? before : last < sealed ? try end(at: last.next, transaction) : nil
        }
        return true
    }

    /// Walks over the records of events and commits in order, or backwards.
    ///
    /// Of a block that can't be read, each event is one that can't be. `damaged` and `body` say
    /// whether to go on.
    ///
    /// - Returns: what `body` said last.
    func forEachRecord(
        from start: Position? = nil, reversed: Bool = false,
        _ transaction: borrowing some TableReading & ~Copyable,
        damaged: (Position, EventFrame.Damage) throws -> Bool,
        _ body: (_ position: Position, _ isCommit: Bool, _ record: Span<UInt8>) throws -> Bool
    ) throws -> Bool {
        try forEachBlock(from: start, reversed: reversed, transaction) { found in
            let from = start ?? (reversed ? found.last : found.first)
            if reversed, from < found.first { return false }
            switch found.block {
            case .success(let block):
                return try block.forEachRecord(
                    from: reversed ? min(from, found.last) : max(from, found.first),
                    reversed: reversed, body)
            case .failure(let damage):
                let (low, high) =
                    reversed
                    ? (found.first, min(from, found.last)) : (max(from, found.first), found.last)
                let top = max(low, high).rawValue
                // A key that is another one may say that the block holds ever so many.
                for step in 0...min(top - low.rawValue, Self.eventsMax) {
                    let number = reversed ? top - step : low.rawValue + step
                    guard try damaged(Position(number), damage) else { return false }
                }
                return true
            }
        }
    }
}

/// The blocks that were read last: whoever asks for one event of a block asks for others.
final class SealedCache: Sendable {
    private static let blocksMax = 8
    /// As far as the length of the content, which no other block with that last event has.
    static let headBytes = 20

    private let blocks = Lock<[(block: SealedBlock, head: [UInt8])]>([])

    /// - Parameter head: what the stored block begins with.
    func block(endingAt last: Position, _ head: [UInt8]) -> SealedBlock? {
        blocks.withLock { blocks in
            let index = blocks.firstIndex { $0.block.last == last && $0.head == head }
            guard let index else { return nil }
            let found = blocks.remove(at: index)
            blocks.append(found)
            return found.block
        }
    }

    func keep(_ block: SealedBlock, _ head: [UInt8]) {
        blocks.withLock { blocks in
            blocks.removeAll { $0.block.last == block.last }
            if blocks.count == Self.blocksMax { blocks.removeFirst() }
            blocks.append((block, head))
        }
    }
}
