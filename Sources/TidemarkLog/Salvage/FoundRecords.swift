// FoundRecords.swift — what looks like a record of the log in a damaged file, and where it lies.
//
// Found is not proven. A frame's checksum says that it is a frame, not that it is of this log; the
// same position may be found more than once, with other bytes: pages that were freed keep what was
// in them. Payloads stay where they are; a record takes some 30 bytes of memory.

package import TidemarkEvents

/// A frame whose checksum holds, or holds once one bit is turned back.
package struct FoundFrame: Hashable, Sendable {
    package var position: Position
    /// Where it begins in the file.
    package var offset: UInt64
    package var bytes: UInt32
    /// The checksum as it should be.
    package var checksum: UInt32
    /// The bit that has to be turned, counted from the frame's first byte; nil for none.
    package var mendedBit: Int32?
    /// Whether one bit of its position was turned, going by its neighbours.
    package var isMoved = false

    /// Whether it is as it was found.
    var isAsFound: Bool { mendedBit == nil && !isMoved }

    /// Whether two are the same bytes at the same position.
    func isCopy(of other: FoundFrame) -> Bool {
        position == other.position && bytes == other.bytes && checksum == other.checksum
    }

    /// By position; of copies, those as they were found first.
    static func precedes(_ left: FoundFrame, _ right: FoundFrame) -> Bool {
        left.order < right.order
    }

    private var order: (UInt64, UInt32, UInt32, Int, UInt64) {
        (position.rawValue, bytes, checksum, isAsFound ? 0 : 1, offset)
    }
}

/// The record of a commit, which nothing but its root proves.
package struct FoundCommit: Hashable, Sendable {
    /// Its first event; `@0` where only its end and root are known.
    package var first: Position
    package var last: Position
    package var root: Hash

    package init(first: Position, last: Position, root: Hash) {
        self.first = first
        self.last = last
        self.root = root
    }

    /// Reads the beginning of a record; what the views made of the commit is passed over.
    ///
    /// Nil where it can't be one.
    init?(beginning bytes: [UInt8], last: Position) {
        var reader = ProtoReader(bytes)
        guard let one = try? reader.next(), one.number == 1, let first = try? one.position(),
            let two = try? reader.next(), two.number == 2, let root = try? two.bytes(),
            root.count == 32, first <= last, last.rawValue < FoundRecords.positionsMax
        else { return nil }
        self.init(first: first, last: last, root: root)
    }
}

/// A record of a body: a part of its stored bytes.
package struct FoundPart: Hashable, Sendable {
    package var number: UInt32
    package var offset: UInt64
    package var bytes: UInt32
}

extension [FoundPart] {
    /// The stored bytes of records from the first on; of several for one number, the first.
    func joined(_ read: (FoundPart) -> [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        var number: UInt32 = 0
        for part in self where part.number == number {
            bytes += read(part)
            number += 1
        }
        return bytes
    }
}

/// Everything that was found.
package struct FoundRecords: Sendable {
    /// More events than any log has.
    static let positionsMax: UInt64 = 1 << 48

    package var frames: [FoundFrame] = []
    package var commits: [FoundCommit] = []
    /// By the SHA-256 of the body.
    package var parts: [Hash: [FoundPart]] = [:]
    /// Records of sealed blocks, by the last position of their block, with some that are others'.
    package var sealedParts: [Position: [FoundPart]] = [:]
    /// The blocks that these make.
    package var blocks = FoundBlocks()
    /// Pages that begin a body of any table: their data's offset, by the length that they say.
    package var bodyHeads: [UInt64: [UInt64]] = [:]
    /// How many events the right edges speak of that were found, at most.
    package var edgeSize: UInt64 = 0
    /// The ids that the store was found to bear.
    package var storeIDs: Set<String> = []
    /// Frames whose checksum holds, of a format that this version does not know.
    package var newer = 0

    package init() {}

    /// Takes a right edge in: what its store's log was once, and so the end of a commit.
    mutating func note(_ edge: MerkleEdge) {
        edgeSize = max(edgeSize, edge.size)
        guard edge.size > 0, edge.size < Self.positionsMax else { return }
        commits.append(
            FoundCommit(first: .start, last: Position(edge.size), root: edge.root))
    }

    /// Takes in what sealed blocks hold.
    mutating func openBlocks(read: (FoundPart) -> [UInt8]) {
        var (frames, commits): ([FoundFrame], [FoundCommit]) = ([], [])
        blocks.open(
            sealedParts, read: read, frame: { frames.append($0) }, commit: { commits.append($0) })
        sealedParts = [:]
        self.frames += frames
        self.commits += commits
    }

    /// Brings what was found into order, and leaves out copies.
    ///
    /// Where a sealed event lacks between two that stay on their page, both seem to have a turned
    /// bit in their position; the frame in the block says that they have none.
    package mutating func settle() {
        let sealed = Set(frames.lazy.filter(FoundBlocks.holds).map(\.position))
        frames.removeAll { $0.isMoved && sealed.contains($0.position) }
        frames.sort(by: FoundFrame.precedes)
        var kept = 0
        for index in frames.indices where kept == 0 || !frames[index].isCopy(of: frames[kept - 1]) {
            frames[kept] = frames[index]
            kept += 1
        }
        frames.removeLast(frames.count - kept)
        commits = Set(commits).sorted {
            ($0.last, $0.first) == ($1.last, $1.first)
                ? $0.root.lexicographicallyPrecedes($1.root)
                : ($0.last.rawValue, $0.first.rawValue) < ($1.last.rawValue, $1.first.rawValue)
        }
    }

    /// The place in ``frames`` of the first one at a position or later.
    func frameIndex(_ position: Position) -> Int {
        var (low, high) = (0, frames.count)
        while low < high {
            let middle = (low + high) / 2
            if frames[middle].position < position { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
