// MerkleLeavesTests.swift — leaves that are hashed two at a time are those of one at a time.

import Testing
import TidemarkEvents
import TidemarkStore

@testable import TidemarkLog

@Suite struct `leaves in pairs` {
    private enum Kind: CaseIterable {
        case inline, empty, long, reference, unknown

        var payload: [UInt8] {
            switch self {
            case .inline: Array("{\"title\":\"Milk\"}".utf8)
            case .empty, .unknown: []
            case .long: [UInt8](repeating: 7, count: 5_000)
            case .reference:
                [UInt8](repeating: 1, count: 8) + SHA256Digest.of([UInt8](repeating: 9, count: 3))
            }
        }

        func leaf(_ position: Position, _ header: [UInt8]) -> [UInt8] {
            switch self {
            case .unknown: [UInt8](repeating: 0, count: 32)
            case .reference:
                MerkleEdge.leaf(
                    position: position, header: header, payloadHash: Array(payload.dropFirst(8)))
            case .inline, .empty, .long:
                MerkleEdge.leaf(
                    position: position, header: header, payloadHash: SHA256Digest.of(payload))
            }
        }
    }

    /// All sequences of so many.
    private static func sequences(_ count: Int) -> [[Kind]] {
        guard count > 0 else { return [[]] }
        return sequences(count - 1).flatMap { start in Kind.allCases.map { start + [$0] } }
    }

    @Test(arguments: 1...4)
    func `are in the order of their events, whatever these are`(_ count: Int) {
        for sequence in Self.sequences(count) {
            var leaves = MerkleLeaves()
            var expected: [UInt8] = []
            for (number, kind) in sequence.enumerated() {
                let position = Position(UInt64(number) + 5)
                let header = [UInt8](repeating: UInt8(number), count: 40 * number)
                let payload = kind.payload
                if kind == .unknown {
                    leaves.appendUnknown()
                } else {
                    leaves.append(
                        position, header.span, payload.span, isReference: kind == .reference)
                }
                expected += kind.leaf(position, header)
            }
            leaves.finish()
            #expect(leaves.hashes == expected, "\(sequence)")
        }
    }

    @Test func `are folded up to the root of their subtree`() {
        let leaves = (0..<64).map { SHA256Digest.of([UInt8($0)]) }
        var edge = MerkleEdge()
        for leaf in leaves { edge.append(leaf: leaf) }
        let all = leaves.flatMap(\.self)
        let root = MerkleEdge.root(of: all.span)
        #expect(root == edge.root)
        let first = leaves[0]
        let own = MerkleEdge.root(of: first.span)
        #expect(own == first)
    }
}
