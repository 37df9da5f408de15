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

/// What a crash test writes under one key, after its number: a commit of one to four events.
package struct NumberedWrite: Hashable, Sendable {
    package let number: Int

    package init(_ number: Int) { self.number = number }

    /// The entities that it makes, an event each.
    package var ids: [String] { (0...number % 4).map { "\(number)-\($0)" } }
    package var document: [UInt8] { Array(#"{"n":\#(number)}"#.utf8) }
}
