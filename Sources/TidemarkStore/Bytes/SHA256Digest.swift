// SHA256Digest.swift — SHA-256 of bytes where they lie; the hash itself is swift-crypto's.

import Crypto

/// SHA-256 without copies.
package enum SHA256Digest {
    /// Thirty-two bytes.
    package static let byteCount = 32

    /// The hash of some bytes.
    package static func of(_ bytes: Span<UInt8>) -> [UInt8] {
        var digest: [UInt8] = []
        append(bytes, to: &digest)
        return digest
    }

    /// The hash of some bytes.
    package static func of(_ bytes: [UInt8]) -> [UInt8] { of(bytes.span) }

    /// Adds the 32 bytes of the hash of `bytes` to `output`.
    package static func append(_ bytes: Span<UInt8>, to output: inout [UInt8]) {
        var hash = SHA256()
        unsafe bytes.withUnsafeBytes { buffer in unsafe hash.update(bufferPointer: buffer) }
        append(hash, to: &output)
    }

    /// Puts the hash of `prefix` and the last `count` bytes of `bytes` in the place of these.
    package static func foldEnd(_ count: Int, of bytes: inout [UInt8], after prefix: [UInt8]) {
        var hash = SHA256()
        unsafe prefix.withUnsafeBytes { buffer in unsafe hash.update(bufferPointer: buffer) }
        unsafe bytes.withUnsafeBytes { buffer in
            unsafe hash.update(
                bufferPointer: UnsafeRawBufferPointer(rebasing: buffer.suffix(count)))
        }
        bytes.removeLast(count)
        append(hash, to: &bytes)
    }

    private static func append(_ hash: SHA256, to output: inout [UInt8]) {
        unsafe hash.finalize().withUnsafeBytes { digest in
            unsafe output.append(contentsOf: digest)
        }
    }
}
