// SHA256Digest.swift — SHA-256 of bytes where they lie: of short ones by the processor's
// instructions where it has them (CTidemarkSHA256), else by swift-crypto.

import CTidemarkSHA256
import Crypto

/// SHA-256 without copies.
package enum SHA256Digest {
    /// Thirty-two bytes.
    package static let byteCount = 32

    /// Of as many bytes or more the library's own cost no longer counts.
    private static let longBytes = 4_096

    private static let isInProcessor = tidemark_has_sha256() != 0

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
        guard isInProcessor, bytes.count < longBytes else {
            return appendByLibrary(bytes, to: &output)
        }
        unsafe withDigests(1, to: &output) { digest in
            unsafe bytes.withUnsafeBufferPointer { bytes in
                unsafe tidemark_sha256(bytes.baseAddress, bytes.count, digest)
            }
        }
    }

    /// Adds the hash of `first` and behind it that of `second`, which takes less than one after the
    /// other.
    package static func append(
        _ first: Span<UInt8>, _ second: Span<UInt8>, to output: inout [UInt8]
    ) {
        guard isInProcessor, first.count < longBytes, second.count < longBytes else {
            append(first, to: &output)
            return append(second, to: &output)
        }
        unsafe withDigests(2, to: &output) { digests in
            unsafe first.withUnsafeBufferPointer { first in
                unsafe second.withUnsafeBufferPointer { second in
                    unsafe tidemark_sha256_two(
                        first.baseAddress, first.count, second.baseAddress, second.count, digests)
                }
            }
        }
    }

    /// Puts the hash of `prefix` and the last two hashes of `hashes` in the place of these.
    package static func joinLast(of hashes: inout [UInt8], after prefix: UInt8) {
        let bytes = 2 * byteCount
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1 + bytes) { input in
            unsafe input.initializeElement(at: 0, to: prefix)
            _ = unsafe input.extracting(1...).initialize(fromContentsOf: hashes.suffix(bytes))
            hashes.removeLast(bytes)
            append(unsafe UnsafeBufferPointer(input).span, to: &hashes)
        }
    }

    /// The hashes of `prefix` and two of `hashes` each, in their order; half as many.
    package static func joined(_ hashes: Span<UInt8>, after prefix: UInt8) -> [UInt8] {
        var joined: [UInt8] = []
        joined.reserveCapacity(hashes.count / 2)
        var inputs: (first: [UInt8], second: [UInt8]) = ([], [])
        var start = 0
        func fill(_ input: inout [UInt8]) {
            input.removeAll(keepingCapacity: true)
            input.append(prefix)
            input.append(hashes.extracting(start..<start + 2 * byteCount))
            start += 2 * byteCount
        }
        while start + 4 * byteCount <= hashes.count {
            fill(&inputs.first)
            fill(&inputs.second)
            append(inputs.first.span, inputs.second.span, to: &joined)
        }
        if start < hashes.count {
            fill(&inputs.first)
            append(inputs.first.span, to: &joined)
        }
        return joined
    }

    /// Adds room for hashes to `output`, and what `write` writes there.
    private static func withDigests(
        _ count: Int, to output: inout [UInt8], _ write: (UnsafeMutablePointer<UInt8>) -> Void
    ) {
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count * byteCount) {
            guard let start = $0.baseAddress else { return }
            unsafe write(start)
            unsafe output.append(contentsOf: $0)
        }
    }

    /// The same by the library alone.
    static func appendByLibrary(_ bytes: Span<UInt8>, to output: inout [UInt8]) {
        var hash = SHA256()
        unsafe bytes.withUnsafeBytes { buffer in unsafe hash.update(bufferPointer: buffer) }
        unsafe hash.finalize().withUnsafeBytes { digest in
            unsafe output.append(contentsOf: digest)
        }
    }
}
