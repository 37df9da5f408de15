// SpanCopy.swift — copying lent bytes out, the one way to keep them.

extension Span where Element == UInt8 {
    /// The bytes in an array of their own.
    package func copied() -> [UInt8] {
        unsafe withUnsafeBufferPointer { unsafe Array($0) }
    }
}
