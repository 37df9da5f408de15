// MerkleTests.swift — the tree is the one of RFC 6962.

import TestSupport
import Testing
import TidemarkEvents
import TidemarkLog

@Suite struct `the Merkle tree` {
    /// SHA-256(0x00 ‖ data) of the eight inputs that Certificate Transparency tests with.
    static let leaves = [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "0298d122906dcfc10892cb53a73992fc5b9f493ea4c9badb27b791b4127a7fe7",
        "07506a85fd9dd2f120eb694f86011e5bb4662e5c415a62917033d4a9624487e7",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "4271a26be0d8a84f0bd54c8c302e7cb3a3b5d1fa6780a40bcce2873477dab658",
        "b08693ec2e721597130641e8211e7eedccb4c26413963eee6c1e2ed16ffb1a5f",
        "46f6ffadd3d06a09ff3c5860d2755c8b9819db7df44251788c7d8e3180de8eb1",
    ]

    /// The published roots over the first one, two, … eight of them.
    static let roots = [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ]

    @Test func `the published roots come out at every size`() {
        var edge = MerkleEdge()
        for (leaf, root) in zip(Self.leaves, Self.roots) {
            edge.append(leaf: bytes(hexadecimal: leaf))

            #expect(hexadecimal(edge.root) == root)
            #expect(edge.peaks.count == edge.size.nonzeroBitCount)
        }
        #expect(edge.size == 8)
    }

    @Test func `the root of no events is the hash of nothing`() {
        #expect(
            hexadecimal(MerkleEdge().root)
                == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    }

    @Test func `a leaf hashes position, header and the hash of the payload`() {
        // SHA-256(00 ‖ 0000000000000001 ‖ 0802 ‖ SHA-256("{}")), by another implementation.
        let leaf = MerkleEdge.leaf(
            position: Position(1), header: [0x08, 0x02], payload: Array("{}".utf8))

        #expect(
            hexadecimal(leaf) == "750bd96f3f9af93a6074dbba51cb1d76a91aaa4f21ac254daa1156240db5d3b0")
        #expect(
            leaf
                != MerkleEdge.leaf(
                    position: Position(2), header: [0x08, 0x02], payload: Array("{}".utf8)))
    }

    @Test func `the edge tells the root of the recursive definition at every size`() {
        var random = SplitMix64(seed: 0x5EED_0204)
        var leaves: [Hash] = []
        var edge = MerkleEdge()
        for _ in 0..<130 {
            leaves.append(random.bytes(32))
            edge.append(leaf: leaves[leaves.count - 1])

            #expect(edge.root == recursiveRoot(leaves[...]))
        }
    }

    /// RFC 6962, section 2.1, word for word.
    private func recursiveRoot(_ leaves: ArraySlice<Hash>) -> Hash {
        guard leaves.count > 1 else { return leaves.first ?? [] }
        var split = 1
        while split * 2 < leaves.count { split *= 2 }
        return MerkleEdge.node(
            recursiveRoot(leaves.prefix(split)), recursiveRoot(leaves.dropFirst(split)))
    }

    @Test func `an edge reads back as it was written, at every size`() throws {
        var random = SplitMix64(seed: 0x5EED_0205)
        var edge = MerkleEdge()
        for _ in 0..<70 {
            #expect(try MerkleEdge(parsing: edge.encoded) == edge)
            edge.append(leaf: random.bytes(32))
        }
    }

    @Test func `an edge with too few or too many hashes is refused`() {
        var edge = MerkleEdge()
        for _ in 0..<3 { edge.append(leaf: [UInt8](repeating: 1, count: 32)) }
        var short = ProtoWriter()
        short.varint(1, 3)
        short.bytes(2, [UInt8](repeating: 1, count: 32))
        var wrongSize = ProtoWriter()
        wrongSize.varint(1, 4)
        wrongSize.bytes(2, [UInt8](repeating: 1, count: 64))

        #expect(throws: ProtoError.valueOutOfRange(2)) { try MerkleEdge(parsing: short.bytes) }
        #expect(throws: ProtoError.valueOutOfRange(2)) { try MerkleEdge(parsing: wrongSize.bytes) }
        for count in 1..<edge.encoded.count {
            #expect(throws: ProtoError.self) {
                try MerkleEdge(parsing: Array(edge.encoded.prefix(count)))
            }
        }
    }
}
