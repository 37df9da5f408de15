// LeafHashing.swift — the Merkle tree over events that are being appended, by two threads: one that
// is there for it, and whoever waits for the result, which takes what is left meanwhile.

import TidemarkEvents
import TidemarkStore

/// The hashes of events that follow those of a right edge, in parts that are hashed independently.
///
/// A part that is a whole subtree of the log's tree is hashed up to the root of that.
final class LeafHashing: Sendable {
    /// How many leaves the subtree of a part has, as a power of two.
    private static let height = 6

    /// The nodes of a part, in the order of the log.
    private struct Part {
        /// The height of the nodes: 0 for leaves.
        var height: Int
        /// The nodes, one behind another.
        var nodes: [UInt8]
    }

    private struct State {
        /// The first part that nobody has taken yet.
        var next = 0
        /// How many are done.
        var done = 0
        var parts: [Part?]
    }

    private let frames: [UInt8]
    private let items: [PreparedEvents.Item]
    private let before: MerkleEdge
    /// The items of each part.
    private let ranges: [Range<Int>]
    private let state: Monitor<State>

    init(_ frames: [UInt8], _ items: [PreparedEvents.Item], after edge: MerkleEdge) {
        self.frames = frames
        self.items = items
        before = edge
        var ranges: [Range<Int>] = []
        var start = 0
        while start < items.count {
            let place = edge.size + UInt64(start)
            let rest = 1 << Self.height - Int(place & (1 << UInt64(Self.height) - 1))
            let end = min(start + rest, items.count)
            ranges.append(start..<end)
            start = end
        }
        self.ranges = ranges
        state = Monitor(State(parts: ranges.map { _ in nil }))
    }

    /// Begins on a thread of its own; where there is none, all is left to who waits.
    func begin() {
        _ = Background { self.work() }
    }

    /// The right edge with the events; hashes what nobody has begun with, and waits for the rest.
    func finished() -> MerkleEdge {
        work()
        let parts = state.waitUntil { $0.done == $0.parts.count ? $0.parts : nil }
        var edge = before
        for part in parts {
            guard let part else { continue }
            edge.append(nodes: part.nodes.span, ofHeight: part.height)
        }
        return edge
    }

    /// Takes one part after another until none is left.
    private func work() {
        while true {
            let index = state.withLock { state in
                defer { state.next += 1 }
                return state.next
            }
            guard index < ranges.count else { return }
            let part = part(ranges[index])
            state.withLock { state in
                state.parts[index] = part
                state.done += 1
            }
            state.wakeAll()
        }
    }

    private func part(_ range: Range<Int>) -> Part {
        let frames = frames
        var leaves = MerkleLeaves(capacity: range.count)
        for index in range {
            let item = items[index]
            leaves.append(
                Position(before.size + UInt64(index) + 1), frames.span.extracting(item.header),
                frames.span.extracting(item.payload), isReference: item.isReference)
        }
        leaves.finish()
        guard range.count == 1 << Self.height else { return Part(height: 0, nodes: leaves.hashes) }
        return Part(height: Self.height, nodes: MerkleEdge.root(of: leaves.hashes.span))
    }
}
