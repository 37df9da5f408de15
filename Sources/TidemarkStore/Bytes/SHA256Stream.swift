// SHA256Stream.swift — SHA-256 of bytes that come one part after another.

import Crypto

/// The hash of all that was added so far.
package struct SHA256Stream: Sendable {
    private var hash = SHA256()

    package init() {}

    /// Adds bytes behind those before.
    package mutating func add(_ bytes: ArraySlice<UInt8>) {
        unsafe bytes.withUnsafeBytes { buffer in unsafe hash.update(bufferPointer: buffer) }
    }

    /// Thirty-two bytes.
    package var digest: [UInt8] { Array(hash.finalize()) }
}
