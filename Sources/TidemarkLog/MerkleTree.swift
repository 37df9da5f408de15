// MerkleTree.swift — the tree of RFC 6962 over all events, kept as its right edge.
//
//   leaf = SHA-256(0x00 ‖ position, 8 bytes big-endian ‖ header ‖ SHA-256(payload))
//   node = SHA-256(0x01 ‖ left ‖ right)
//
// The payload enters by its hash, so that it can be erased later without changing the root. A
// frame's format, flags and checksum stay outside, so that the same event may be stored in another
// way.

import Crypto
package import TidemarkEvents

/// Thirty-two bytes of SHA-256.
package typealias Hash = [UInt8]

/// The right edge of the tree: the roots of the perfect subtrees, largest first.
package struct MerkleEdge: Sendable, Hashable {
    /// How many events there are.
    package private(set) var size: UInt64 = 0
    /// As many hashes as `size` has one-bits.
    package private(set) var peaks: [Hash] = []

    package init() {}

    /// The tree with one more event, the one at position `size + 1`.
    package mutating func append(leaf: Hash) {
        var node = leaf
        var trailing = size
        while trailing & 1 == 1, let left = peaks.popLast() {
            node = Self.node(left, node)
            trailing >>= 1
        }
        peaks.append(node)
        size += 1
    }

    /// The root; for no events the hash of nothing, as in RFC 6962, section 2.1.
    package var root: Hash {
        guard var node = peaks.last else { return Array(SHA256.hash(data: [UInt8]())) }
        for left in peaks.dropLast().reversed() { node = Self.node(left, node) }
        return node
    }

    /// The leaf of one event.
    package static func leaf(position: Position, header: [UInt8], payloadHash: Hash) -> Hash {
        var sha = SHA256()
        sha.update(data: [0x00] + position.bigEndianBytes)
        sha.update(data: header)
        sha.update(data: payloadHash)
        return Array(sha.finalize())
    }

    package static func node(_ left: Hash, _ right: Hash) -> Hash {
        var sha = SHA256()
        sha.update(data: [0x01])
        sha.update(data: left)
        sha.update(data: right)
        return Array(sha.finalize())
    }

    /// The message `tidemark.v1.Edge`.
    package var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.varint(1, size)
        writer.bytes(2, peaks.flatMap(\.self))
        return writer.bytes
    }

    /// Reads what ``encoded`` wrote.
    package init(parsing bytes: [UInt8]) throws(ProtoError) {
        var reader = ProtoReader(bytes)
        var joined: [UInt8] = []
        while let field = try reader.next() {
            switch field.number {
            case 1: size = try field.unsigned()
            case 2: joined = try field.bytes()
            default: continue
            }
        }
        guard joined.count == size.nonzeroBitCount * 32 else { throw .valueOutOfRange(2) }
        peaks = stride(from: 0, to: joined.count, by: 32).map { Array(joined[$0..<$0 + 32]) }
    }
}
