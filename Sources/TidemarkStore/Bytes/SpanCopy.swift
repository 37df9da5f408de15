// SpanCopy.swift — copying lent bytes out, the one way to keep them; and where they lie.

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

    /// The number of the 4 KiB of memory in which the bytes begin; for keys lent by a snapshot.
    ///
    /// The keys of one page of a tree follow one another, and have the same number, as no page is
    /// smaller and each begins at a multiple of its size.
    package var page: UInt {
        unsafe withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) >> 12 }
    }
}
