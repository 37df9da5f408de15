// KeyRange.swift — a range of field values by their sortable bytes (OrderKey.swift).

import TidemarkStore

/// A half-open range of values, by the bytes of ``OrderKey``.
package struct KeyRange: Sendable, Hashable {
    package var lower: [UInt8]
    package var upper: [UInt8]

    package init(_ lower: [UInt8], _ upper: [UInt8]) {
        self.lower = lower
        self.upper = upper
    }

    /// The values whose bytes begin with these; with the bytes of a whole value, only that value.
    package init(beginning bytes: [UInt8]) {
        var upper = bytes
        while upper.last == .max { upper.removeLast() }
        if let last = upper.popLast() { upper.append(last + 1) }
        self.init(bytes, upper)
    }

    /// What is in both.
    package func intersection(_ other: KeyRange) -> KeyRange {
        KeyRange(
            ByteOrder.precedes(lower, other.lower) ? other.lower : lower,
            ByteOrder.precedes(other.upper, upper) ? other.upper : upper)
    }

    /// Whether nothing is in it.
    package var isEmpty: Bool { !ByteOrder.precedes(lower, upper) }

    package func contains(_ bytes: [UInt8]) -> Bool {
        !ByteOrder.precedes(bytes, lower) && ByteOrder.precedes(bytes, upper)
    }
}
