// MerkleTree.swift — the tree of RFC 6962 over all events, kept as its right edge.
//
//   leaf = SHA-256(0x00 ‖ position, 8 bytes big-endian ‖ header ‖ SHA-256(payload))
//   node = SHA-256(0x01 ‖ left ‖ right)
//
// The payload enters by its hash, so that it can be erased later without changing the root. A
// frame's format, flags and checksum stay outside, so that the same event may be stored in another
// way.

package import TidemarkEvents
import TidemarkStore

/// Thirty-two bytes of SHA-256.
package typealias Hash = [UInt8]

/// The right edge of the tree: the roots of the perfect subtrees, largest first.
package struct MerkleEdge: Sendable, Hashable {
    /// How many events there are.
    package private(set) var size: UInt64 = 0
    /// How many records of commits lie among the events, which are no leaves.
    package var commits: UInt64 = 0
    /// How many records of commits were sealed with their events.
    package var sealedCommits: UInt64 = 0
    /// How many events that were sealed are in the table "log" as well.
    package var keptEvents: UInt64 = 0
    /// The hashes of ``peaks``, one behind the other.
    private var joined: [UInt8] = []

    package init() {}

    /// The edge of so many events of which nothing is known: hashes of nothing.
    init(unknownOf size: UInt64) {
        self.size = size
        joined = [UInt8](repeating: 0, count: size.nonzeroBitCount * Self.hashBytes)
    }

    /// As many hashes as `size` has one-bits.
    package var peaks: [Hash] {
        stride(from: 0, to: joined.count, by: Self.hashBytes).map {
            Array(joined[$0..<$0 + Self.hashBytes])
        }
    }

    /// The tree with one more event, the one at position `size + 1`.
    package mutating func append(leaf: Hash) { append(leaf: leaf.span) }

    /// The tree with one more event, the one at position `size + 1`.
    package mutating func append(leaf: Span<UInt8>) { append(nodes: leaf, ofHeight: 0) }

    /// The tree with more events, by the roots of perfect subtrees over 2^`height` of them, one
    /// behind another; the size must be a multiple of that.
    mutating func append(nodes: Span<UInt8>, ofHeight height: Int) {
        for start in stride(from: 0, to: nodes.count, by: Self.hashBytes) {
            joined.append(nodes.extracting(start..<start + Self.hashBytes))
            var trailing = size >> UInt64(height)
            while trailing & 1 == 1 {
                // The last two peaks become the node above them.
                SHA256Digest.joinLast(of: &joined, after: Self.nodePrefix)
                trailing >>= 1
            }
            size += 1 << UInt64(height)
        }
    }

    /// Takes how much there is of what is no leaf from another edge.
    mutating func takeCounts(of other: MerkleEdge) {
        (commits, sealedCommits, keptEvents) = (
            other.commits, other.sealedCommits, other.keptEvents
        )
    }

    /// Whether both are edges of the same tree.
    package func isSameTree(as other: MerkleEdge) -> Bool {
        size == other.size && joined == other.joined
    }

    /// The root; for no events the hash of nothing, as in RFC 6962, section 2.1.
    package var root: Hash {
        let peaks = peaks
        guard var node = peaks.last else { return SHA256Digest.of([]) }
        for left in peaks.dropLast().reversed() { node = Self.node(left, node) }
        return node
    }

    private static let leafPrefix: UInt8 = 0x00
    private static let nodePrefix: UInt8 = 0x01

    /// The leaf of one event.
    package static func leaf(position: Position, header: [UInt8], payloadHash: Hash) -> Hash {
        var input: [UInt8] = []
        beginLeaf(position, header.span, in: &input)
        input.append(contentsOf: payloadHash)
        return SHA256Digest.of(input)
    }

    /// Makes `input` what a leaf is the hash of, but for the payload's hash, which is to follow.
    static func beginLeaf(_ position: Position, _ header: Span<UInt8>, in input: inout [UInt8]) {
        input.removeAll(keepingCapacity: true)
        input.reserveCapacity(1 + 8 + header.count + hashBytes)
        input.append(leafPrefix)
        position.appendBigEndianBytes(to: &input)
        input.append(header)
    }

    package static func node(_ left: Hash, _ right: Hash) -> Hash {
        SHA256Digest.of(([nodePrefix] + left + right).span)
    }

    /// The root of a perfect subtree over leaves, or other nodes of one height.
    static func root(of nodes: Span<UInt8>) -> Hash {
        guard nodes.count > hashBytes else { return nodes.copied() }
        return root(of: SHA256Digest.joined(nodes, after: nodePrefix).span)
    }

    private static let hashBytes = SHA256Digest.byteCount

    /// The message `tidemark.v1.Edge`.
    package var encoded: [UInt8] {
        var writer = ProtoWriter(capacity: 16 + joined.count)
        writer.varint(1, size)
        writer.bytes(2, joined)
        writer.varint(3, commits)
        writer.varint(4, sealedCommits)
        writer.varint(5, keptEvents)
        return writer.bytes
    }

    /// Reads what ``encoded`` wrote.
    package init(parsing bytes: [UInt8]) throws(ProtoError) {
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: size = try field.unsigned()
            case 2: joined = try field.bytes()
            case 3: commits = try field.unsigned()
            case 4: sealedCommits = try field.unsigned()
            case 5: keptEvents = try field.unsigned()
            default: continue
            }
        }
        guard joined.count == size.nonzeroBitCount * Self.hashBytes else {
            throw .valueOutOfRange(2)
        }
    }
}
