// PreparedEvents.swift — the part of appending that needs no transaction: frames, and the tree.

package import TidemarkEvents
import TidemarkStore

/// Events as they will be stored, and the Merkle tree with them.
package struct PreparedEvents: Sendable {
    /// One event's frame among ``frames``; and its payload with a reference if it lies beside the
    /// log.
    struct Item: Sendable {
        var frame: Range<Int>
        var headerBytes: Int
        var isReference: Bool
        var body: (reference: BodyReference, bytes: [UInt8])?

        var header: Range<Int> {
            let start = frame.lowerBound + EventFrame.prefixBytes
            return start..<start + headerBytes
        }

        var payload: Range<Int> { header.upperBound..<frame.upperBound }
    }

    private enum Tree: Sendable {
        case ready(MerkleEdge)
        /// Being hashed on a thread of its own.
        case hashing(LeafHashing)
    }

    /// The frames of all events, one behind another.
    let frames: [UInt8]
    let items: [Item]
    private let tree: Tree

    /// The right edge of the tree with them; waits for it.
    var edge: MerkleEdge {
        switch tree {
        case .ready(let edge): edge
        case .hashing(let hashing): hashing.finished()
        }
    }

    /// From how many events on a thread of its own is worth its start.
    package static let countForThread = 128

    /// Makes the frames of events that will follow those of an edge; many of them are hashed
    /// meanwhile, and while they are stored.
    package init(_ events: [Event], after edge: MerkleEdge) {
        var bytes = 0
        for index in events.indices { bytes += events[index].payload.count + 128 }
        var frames = ProtoWriter(capacity: bytes)
        var items: [Item] = []
        items.reserveCapacity(events.count)
        for index in events.indices {
            items.append(EventFrame.append(events[index], to: &frames))
        }
        self.init(joined: frames.bytes, items, after: edge)
    }

    /// Frames as they were stored before; the bodies that they refer to are stored apart.
    package init(frames: [EventFrame], after edge: MerkleEdge) {
        var bytes: [UInt8] = []
        var items: [Item] = []
        for frame in frames {
            let start = bytes.count
            bytes += frame.encoded
            var isReference = false
            if case .body = frame.payload { isReference = true }
            items.append(
                Item(
                    frame: start..<bytes.count, headerBytes: frame.header.count,
                    isReference: isReference))
        }
        self.init(joined: bytes, items, after: edge)
    }

    private init(joined frames: [UInt8], _ items: [Item], after edge: MerkleEdge) {
        self.frames = frames
        self.items = items
        let hashing = LeafHashing(frames, items, after: edge)
        if items.count < Self.countForThread {
            tree = .ready(hashing.finished())
        } else {
            hashing.begin()
            tree = .hashing(hashing)
        }
    }
}
