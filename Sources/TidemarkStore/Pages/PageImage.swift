// PageImage.swift — one page of LMDB's file as its bytes say it, read without LMDB.
//
//   offset  width  field
//        0      8  its own number
//       10      2  flags: 1 branch, 2 leaf, 4 overflow, 8 meta
//       12      2  branch and leaf: the end of the node offsets; 4 bytes in an overflow page: how
//                  many pages it is the first of
//       14      2  branch and leaf: where the nodes begin
//       16         branch and leaf: an offset of 2 bytes for each node, in the order of their keys
//
// A node: 8 bytes (a leaf's size of the data, 4, and flags, 2; or a branch's page number, 6; the
// size of the key, 2), the key, the data. Data that a leaf has no room for lies on overflow pages:
// then the node holds the number of the first of them.

/// One page of LMDB's file.
///
/// Nothing in it is believed: what lies out of bounds is nil.
package struct PageImage: Sendable {
    package enum Kind: Sendable { case branch, leaf, overflow, meta }

    /// The bytes before the node offsets, and before an overflow page's data.
    package static let headerBytes = 16

    /// A key with what belongs to it.
    package struct Node: Sendable {
        package var key: Range<Int>
        /// Where a branch leads, or the first of the overflow pages that hold a leaf's data.
        package var page: UInt64?
        /// How many bytes a leaf's data has.
        package var dataBytes: Int
        /// Where a leaf's data lies in this page; nil for a branch and on overflow pages.
        package var data: Range<Int>?
        /// Whether the data is the record of a named table.
        package var isTable: Bool
        /// All bytes that the node takes up in its page.
        package var bytes: Range<Int>
    }

    private enum Flag {
        static let bigData: UInt64 = 1
        static let table: UInt64 = 2
    }

    package let bytes: [UInt8]

    /// A page, or the pages of an overflow run with the header at their beginning.
    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package var number: UInt64 { bytes.integer(at: 0, bytes: 8) }

    /// Nil for flags that no page on disk has.
    package var kind: Kind? {
        switch bytes.integer(at: 10, bytes: 2) {
        case 1: .branch
        case 2: .leaf
        case 4: .overflow
        case 8: .meta
        default: nil
        }
    }

    /// How many pages an overflow run has, by its first page.
    package var overflowPages: Int { Int(bytes.integer(at: 12, bytes: 4)) }

    /// Where the node offsets end.
    package var lower: Int { Int(bytes.integer(at: 12, bytes: 2)) }

    /// Where the nodes begin.
    package var upper: Int { Int(bytes.integer(at: 14, bytes: 2)) }

    /// How many nodes a branch or a leaf has; nil where its bounds can't be.
    package var nodeCount: Int? {
        guard lower >= Self.headerBytes, lower <= upper, upper <= bytes.count, lower % 2 == 0
        else { return nil }
        return (lower - Self.headerBytes) / 2
    }

    /// All nodes of a page of that kind; nil where one lies out of bounds, or where they do not
    /// fill the room that the page says they take, none over another.
    package func nodes(of kind: Kind) -> [Node]? {
        guard let count = nodeCount else { return nil }
        var nodes: [Node] = []
        nodes.reserveCapacity(count)
        // Where the node ends that begins at an even offset; 0 where none does.
        var ends = [Int](repeating: 0, count: bytes.count / 2 + 1)
        for index in 0..<count {
            guard let node = node(index, of: kind), node.bytes.lowerBound % 2 == 0 else {
                return nil
            }
            ends[node.bytes.lowerBound / 2] = (node.bytes.upperBound + 1) & ~1
            nodes.append(node)
        }
        var (end, filled) = (upper, 0)
        while filled < count, end < bytes.count, ends[end / 2] > 0 {
            end = ends[end / 2]
            filled += 1
        }
        return filled == count && end == bytes.count ? nodes : nil
    }

    /// The node at a place below ``nodeCount`` of a page of that kind; nil where it lies out of
    /// bounds or has flags that none of ours has.
    package func node(_ index: Int, of kind: Kind) -> Node? {
        let start = Int(bytes.integer(at: Self.headerBytes + 2 * index, bytes: 2))
        return start >= upper ? node(at: start, of: kind) : nil
    }

    /// What a node of a page of that kind would be that lies at an offset; nil where none can.
    package func node(at start: Int, of kind: Kind) -> Node? {
        guard start + 8 <= bytes.count else { return nil }
        let key = start + 8..<start + 8 + Int(bytes.integer(at: start + 6, bytes: 2))
        guard key.upperBound <= bytes.count else { return nil }
        if kind == .branch {
            return Node(
                key: key, page: bytes.integer(at: start, bytes: 6), dataBytes: 0, data: nil,
                isTable: false, bytes: start..<key.upperBound)
        }
        let size = Int(bytes.integer(at: start, bytes: 4))
        let flags = bytes.integer(at: start + 4, bytes: 2)
        guard flags & ~(Flag.bigData | Flag.table) == 0, flags != Flag.bigData | Flag.table
        else { return nil }
        let end = key.upperBound + (flags & Flag.bigData != 0 ? 8 : size)
        guard end <= bytes.count else { return nil }
        var node = Node(
            key: key, page: nil, dataBytes: size, data: key.upperBound..<end,
            isTable: flags & Flag.table != 0, bytes: start..<end)
        if flags & Flag.bigData != 0 {
            node.page = bytes.integer(at: key.upperBound, bytes: 8)
            node.data = nil
        }
        return node
    }
}
