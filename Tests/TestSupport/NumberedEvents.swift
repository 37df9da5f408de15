// NumberedEvents.swift — what a crash test writes at each position, so that whoever reads it back
// knows every byte.

/// One batch of events as a crash test writes it.
package struct NumberedBatch: Hashable, Sendable {
    /// The position of its first event.
    package let first: UInt64
    package let count: UInt64

    package init(first: UInt64, count: UInt64) {
        self.first = first
        self.count = count
    }

    package var positions: Range<UInt64> { first..<first + count }

    /// The payload of its event at a position.
    package func payload(_ position: UInt64) -> [UInt8] {
        let bytes = position % 29 == 0 ? 3000 : Int(position &* 7919 % 400)
        let filling = String(repeating: "tidemark ", count: bytes / 9)
        return Array(
            #"{"first":\#(first),"count":\#(count),"n":\#(position),"text":"\#(filling)"}"#.utf8)
    }
}
