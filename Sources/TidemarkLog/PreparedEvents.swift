// PreparedEvents.swift — the part of appending that needs no transaction: frames, and the tree.

package import TidemarkEvents
import TidemarkStore

/// Events as they will be stored, and the Merkle tree with them.
package struct PreparedEvents: Sendable {
    /// One event's frame; and its payload with a reference if it lies beside the log.
    struct Item: Sendable {
        var frame: EventFrame
        var body: (reference: BodyReference, bytes: [UInt8])?
    }

    private enum Tree: Sendable {
        case ready(MerkleEdge)
        /// Being hashed on a thread of its own.
        case hashing(Background<MerkleEdge>)
    }

    let items: [Item]
    private let tree: Tree

    /// The right edge of the tree with them; waits for it.
    var edge: MerkleEdge {
        switch tree {
        case .ready(let edge): edge
        case .hashing(let edge): edge.value
        }
    }

    /// From how many events on a thread of its own is worth its start.
    package static let countForThread = 128

    /// Makes the frames of events that will follow those of an edge; many of them are hashed
    /// meanwhile, and while they are stored.
    package init(_ events: [Event], after edge: MerkleEdge) {
        let items = events.map { event in
            let frame = EventFrame(event)
            guard case .body(let reference) = frame.payload else { return Item(frame: frame) }
            return Item(frame: frame, body: (reference, event.payload))
        }
        self.items = items
        tree =
            items.count < Self.countForThread
            ? .ready(Self.edge(items, after: edge))
            : .hashing(Background { Self.edge(items, after: edge) })
    }

    /// Frames as they were stored before; the bodies that they refer to are stored apart.
    package init(frames: [EventFrame], after edge: MerkleEdge) {
        items = frames.map { Item(frame: $0) }
        tree = .ready(Self.edge(items, after: edge))
    }

    private static func edge(_ items: [Item], after edge: MerkleEdge) -> MerkleEdge {
        var edge = edge
        for item in items {
            edge.append(
                leaf: MerkleEdge.leaf(
                    position: Position(edge.size + 1), header: item.frame.header,
                    payloadHash: item.frame.payload.hash))
        }
        return edge
    }
}
