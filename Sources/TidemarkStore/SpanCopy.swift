// SpanCopy.swift — copying lent bytes out, the one way to keep them.

extension [UInt8] {
    /// Adds lent bytes at the end.
    package mutating func append(_ lent: Span<UInt8>) {
        unsafe lent.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }
}

extension Span where Element == UInt8 {
    /// The bytes in an array of their own.
    package func copied() -> [UInt8] {
        unsafe withUnsafeBufferPointer { unsafe Array($0) }
    }
}
