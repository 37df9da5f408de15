// Zstd+Frames.swift — several zstd frames behind one another: where each of them lies, and how much
// it says it holds.

import CZstd

/// One frame among several, as its header describes it.
package struct ZstdFrame: Sendable, Hashable {
    /// Where it lies.
    package var range: Range<Int>
    /// How large its content is; what ``Zstd/decompress(_:bytesMax:)`` holds it to.
    package var contentBytes: UInt64
}

extension Zstd {
    /// The frame that begins at an offset; nothing is decompressed.
    ///
    /// - Throws: ``ZstdError`` where no whole frame with a content size begins there.
    package static func frame(
        in bytes: [UInt8], at offset: Int
    ) throws(ZstdError) -> ZstdFrame {
        let rest = bytes.count - offset
        guard rest > 0 else { throw ZstdError(.empty, "there are no bytes") }
        guard rest >= 4, Array(bytes[offset..<offset + 4]) == [0x28, 0xB5, 0x2F, 0xFD] else {
            throw ZstdError(.notAFrame, "the four bytes at \(offset) are no frame's")
        }
        let (length, size) = unsafe bytes.withUnsafeBytes { source in
            let start = unsafe source.baseAddress.map { unsafe $0 + offset }
            return unsafe (
                ZSTD_findFrameCompressedSize(start, rest), ZSTD_getFrameContentSize(start, rest)
            )
        }
        guard ZSTD_isError(length) == 0 else {
            throw ZstdError(
                ZSTD_getErrorCode(length) == ZSTD_error_srcSize_wrong ? .truncated : .damaged,
                "the frame at \(offset) has no end")
        }
        guard length > 0, length <= rest else {
            throw ZstdError(.truncated, "the frame at \(offset) goes on after the last byte")
        }
        switch size {
        case .max:
            throw ZstdError(
                .unknownSize, "the frame at \(offset) does not say how large its content is")
        case .max - 1:
            throw ZstdError(.damaged, "the header of the frame at \(offset) can't be read")
        default: return ZstdFrame(range: offset..<offset + length, contentBytes: size)
        }
    }
}
