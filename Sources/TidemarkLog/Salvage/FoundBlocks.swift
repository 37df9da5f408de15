// FoundBlocks.swift — blocks of sealed events put together from their records, wherever these were
// found; the checksum in the zstd frame proves a block, and a commit's root its events.

import TidemarkEvents
import TidemarkStore

/// The sealed blocks of a damaged file, as they were stored.
package struct FoundBlocks: Sendable {
    private var stored: [(last: Position, bytes: [UInt8])] = []
    /// The blocks that were read last.
    private let cache = SealedCache()
    /// How many blocks may still be searched in vain for a turned bit.
    private var mendingsLeft = 4

    /// What an offset has that is none in the file: behind it the index of the block, 32 bits, and
    /// what the event is in it, 24 bits.
    private static let mark: UInt64 = 1 << 62
    private static let indexBits: UInt64 = 24

    package init() {}

    /// Whether a frame lies in a block.
    static func holds(_ frame: FoundFrame) -> Bool { frame.offset & mark != 0 }

    private static func index(_ frame: FoundFrame) -> Int {
        Int((frame.offset & ~mark) >> indexBits)
    }

    /// The frame's bytes; nil where it lies in no block.
    func bytes(_ frame: FoundFrame) -> [UInt8]? {
        guard Self.holds(frame), let block = block(Self.index(frame)),
            block.contains(frame.position)
        else { return nil }
        return block.withFrame(at: frame.position) { $0.copied() }
    }

    private func block(_ index: Int) -> SealedBlock? {
        let (last, bytes) = stored[index]
        let head = Array(bytes.prefix(SealedCache.headBytes))
        if let known = cache.block(endingAt: last, head) { return known }
        guard let block = try? SealedBlock(parsing: bytes, last: last) else { return nil }
        cache.keep(block, head)
        return block
    }

    /// Puts the blocks together, and hands over the frames and the commits that they hold.
    ///
    /// - Parameters:
    ///   - parts: the records that were found, by the last position of their block.
    ///   - read: reads one.
    mutating func open(
        _ parts: [Position: [FoundPart]], read: (FoundPart) -> [UInt8],
        frame: (FoundFrame) -> Void, commit: (FoundCommit) -> Void
    ) {
        for last in parts.keys.sorted() {
            guard let (bytes, isMended) = whole(parts[last] ?? [], last, read),
                let block = try? SealedBlock(parsing: bytes, last: last),
                last.rawValue - block.first.rawValue < SealedTable.eventsMax
            else { continue }
            let index = UInt64(stored.count)
            stored.append((last, bytes))
            _ = block.forEachRecord(from: block.first) { position, isCommit, record in
                if isCommit {
                    guard let found = try? CommitRecord(framed: record, last: position),
                        found.root.count == SHA256Digest.byteCount
                    else { return true }
                    commit(FoundCommit(first: found.first, last: position, root: found.root))
                } else if (try? EventFrame.Layout(of: record)) != nil {
                    let place = position.rawValue - block.first.rawValue
                    frame(
                        FoundFrame(
                            position: position,
                            offset: Self.mark | (index << Self.indexBits) | place,
                            bytes: UInt32(record.count),
                            checksum: (4..<8).reversed().reduce(0) { $0 << 8 | UInt32(record[$1]) },
                            mendedBit: isMended ? 0 : nil))
                }
                return true
            }
        }
    }

    /// The stored bytes of a block: one of several places of a record is right.
    private mutating func whole(
        _ parts: [FoundPart], _ last: Position, _ read: (FoundPart) -> [UInt8]
    ) -> (bytes: [UInt8], isMended: Bool)? {
        let known = parts.sorted { $0.number < $1.number }
        let first = known.joined(read)
        // Other tables have keys like these.
        guard first.starts(with: [SealedBlock.format, 0x28, 0xB5, 0x2F, 0xFD]) else { return nil }
        if (try? SealedBlock(parsing: first, last: last)) != nil { return (first, false) }
        for (index, part) in known.enumerated() {
            let others = known.filter { $0.number != part.number }
            guard others.count < known.count - 1 else { continue }
            let choice = (others + [known[index]]).sorted { $0.number < $1.number }
            let bytes = choice.joined(read)
            if (try? SealedBlock(parsing: bytes, last: last)) != nil { return (bytes, false) }
        }
        return mend(first, last).map { ($0, true) }
    }

    /// The stored bytes with one bit of them turned back.
    private mutating func mend(_ stored: [UInt8], _ last: Position) -> [UInt8]? {
        guard mendingsLeft > 0, stored.count <= 1 << 16 else { return nil }
        var bytes = stored
        for bit in 0..<8 * bytes.count {
            bytes.turn(bit: bit)
            if (try? SealedBlock(parsing: bytes, last: last)) != nil { return bytes }
            bytes.turn(bit: bit)
        }
        mendingsLeft -= 1
        return nil
    }
}
