// PreparedEvents.swift — the part of appending that needs no transaction: frames and leaves.

package import TidemarkEvents
import TidemarkStore

/// Events as they will be stored, with their leaves of the Merkle tree.
package struct PreparedEvents: Sendable {
    /// One event's frame and leaf; and its payload with a reference if it lies beside the log.
    struct Item: Sendable {
        var frame: [UInt8]
        var body: (reference: BodyReference, bytes: [UInt8])?
        var leaf: Hash
    }

    private(set) var items: [Item]
    /// The right edge of the tree with them.
    private(set) var edge: MerkleEdge

    /// From how many events on a second thread is worth its start.
    private static let countForTwo = 128

    /// Encodes and hashes events that will follow those of an edge; many of them on two threads.
    package init(_ events: [Event], after edge: MerkleEdge) {
        self.edge = edge
        let last = Position(edge.size)
        let middle = events.count < Self.countForTwo ? events.count : events.count / 2
        let rest =
            middle == events.count
            ? nil
            : Background {
                Self.items(events[middle...], after: Position(last.rawValue + UInt64(middle)))
            }
        items = Self.items(events[..<middle], after: last)
        for item in items { self.edge.append(leaf: item.leaf) }
        guard let rest else { return }
        for item in rest.value { self.edge.append(leaf: item.leaf) }
        items += rest.value
    }

    private static func items(_ events: ArraySlice<Event>, after last: Position) -> [Item] {
        var position = last
        return events.map { event in
            position = position.next
            let frame = EventFrame(event)
            var body: (reference: BodyReference, bytes: [UInt8])?
            if case .body(let reference) = frame.payload { body = (reference, event.payload) }
            let leaf = MerkleEdge.leaf(
                position: position, header: frame.header, payloadHash: frame.payload.hash)
            return Item(frame: frame.encoded, body: body, leaf: leaf)
        }
    }
}
