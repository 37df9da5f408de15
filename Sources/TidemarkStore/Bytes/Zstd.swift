// Zstd.swift — one zstd frame a time: compressed with size and checksum in it, decompressed within
// a bound that the caller sets.

import CZstd

/// Compression by zstd (RFC 8878).
package enum Zstd {
    /// The largest window that ``decompress(_:bytesMax:)`` allows, as a power of two: 8 MiB.
    package static let windowLogMax: Int32 = 23

    /// Compresses bytes, none included, into one frame with a content size and a checksum.
    ///
    /// - Parameter level: 1 to 19; 3 is zstd's own choice between speed and size.
    /// - Throws: `outOfMemory`, or `damaged` for what zstd should never answer.
    package static func compress(
        _ bytes: [UInt8], level: Int32 = 3
    ) throws(ZstdError) -> [UInt8] {
        guard let context = unsafe ZSTD_createCCtx() else { throw noContext }
        defer { unsafe ZSTD_freeCCtx(context) }
        for (parameter, value) in [
            (ZSTD_c_compressionLevel, level), (ZSTD_c_checksumFlag, 1), (ZSTD_c_contentSizeFlag, 1),
        ] {
            try check(unsafe ZSTD_CCtx_setParameter(context, parameter, value))
        }
        var result = 0
        let room = ZSTD_compressBound(bytes.count)
        let frame = unsafe [UInt8](unsafeUninitializedCapacity: room) { target, count in
            result = unsafe bytes.withUnsafeBytes { source in
                unsafe ZSTD_compress2(
                    context, target.baseAddress, room, source.baseAddress, source.count)
            }
            count = ZSTD_isError(result) == 0 ? result : 0
        }
        try check(result)
        return frame
    }

    /// Decompresses exactly one frame, with nothing before or behind it.
    ///
    /// Memory is taken for what was decompressed and never for what the frame says it holds.
    ///
    /// - Parameter bytesMax: the most bytes that the content may have.
    /// - Throws: any ``ZstdError``; whatever the bytes are, nothing else happens.
    package static func decompress(
        _ bytes: [UInt8], bytesMax: Int
    ) throws(ZstdError) -> [UInt8] {
        let size = try contentSize(bytes)
        guard size <= UInt64(max(bytesMax, 0)) else {
            throw ZstdError(.tooLarge, "\(size) bytes, at most \(bytesMax) are allowed here")
        }
        guard let context = unsafe ZSTD_createDCtx() else { throw noContext }
        defer { unsafe ZSTD_freeDCtx(context) }
        try check(unsafe ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, windowLogMax))
        let content = try unsafe decompress(bytes, context, bytesMax: bytesMax)
        guard content.count == Int(size) else {
            throw ZstdError(.damaged, "\(content.count) bytes, but its size is given as \(size)")
        }
        return content
    }

    /// What can be told without decompressing: that it is one whole frame, and of which size.
    private static func contentSize(_ bytes: [UInt8]) throws(ZstdError) -> UInt64 {
        guard !bytes.isEmpty else { throw ZstdError(.empty, "there are no bytes") }
        guard bytes.count >= 4 else { throw ZstdError(.truncated, "\(bytes.count) bytes") }
        // A skippable frame has another one, and holds nothing.
        guard Array(bytes.prefix(4)) == [0x28, 0xB5, 0x2F, 0xFD] else {
            throw ZstdError(.notAFrame, "the first four bytes are no frame's")
        }
        // zstd itself looks at the window only when it needs one.
        guard bytes.count < 6 || bytes[4] & 0x20 != 0 || bytes[5] <= (windowLogMax - 10) << 3 else {
            throw ZstdError(.windowTooLarge, "a window over \(1 << windowLogMax) bytes")
        }
        let (length, size, dictionary) = unsafe bytes.withUnsafeBytes { source in
            unsafe (
                ZSTD_findFrameCompressedSize(source.baseAddress, source.count),
                ZSTD_getFrameContentSize(source.baseAddress, source.count),
                ZSTD_getDictID_fromFrame(source.baseAddress, source.count)
            )
        }
        guard dictionary == 0 else {
            throw ZstdError(.unknownDictionary, "there is no dictionary \(dictionary)")
        }
        try check(length)
        guard length == bytes.count else {
            throw ZstdError(.trailingBytes, "\(bytes.count - length) bytes follow the frame")
        }
        switch size {
        case .max: throw ZstdError(.unknownSize, "the frame does not say how large its content is")
        case .max - 1: throw ZstdError(.damaged, "the frame's header can't be read")
        default: return size
        }
    }

    private static func decompress(
        _ bytes: [UInt8], _ context: OpaquePointer, bytesMax: Int
    ) throws(ZstdError) -> [UInt8] {
        var content: [UInt8] = []
        var offset = 0
        var room = ZSTD_DStreamOutSize()
        while true {
            var result = 0
            var made = 0
            let step = unsafe [UInt8](unsafeUninitializedCapacity: room) { target, count in
                unsafe bytes.withUnsafeBytes { source in
                    var input = unsafe ZSTD_inBuffer(
                        src: source.baseAddress, size: source.count, pos: offset)
                    var output = unsafe ZSTD_outBuffer(
                        dst: target.baseAddress, size: room, pos: 0)
                    result = unsafe ZSTD_decompressStream(context, &output, &input)
                    unsafe (offset, made) = (input.pos, output.pos)
                }
                count = made
            }
            try check(result)
            guard made <= bytesMax - content.count else {
                throw ZstdError(.tooLarge, "more than \(bytesMax) bytes")
            }
            if content.isEmpty { content = step } else { content += step }
            if result == 0 { return content }
            guard made > 0 || offset < bytes.count else {
                throw ZstdError(.truncated, "the frame goes on after its last byte")
            }
            // Large steps for what turned out to be large.
            room = min(max(room, content.count), 16 << 20)
        }
    }

    private static var noContext: ZstdError {
        ZstdError(.outOfMemory, "there is no memory for a context")
    }

    /// Throws what a result that is an error stands for.
    private static func check(_ result: Int) throws(ZstdError) {
        guard ZSTD_isError(result) != 0 else { return }
        let error = ZSTD_getErrorCode(result)
        let code: ZstdError.Code =
            switch error {
            case ZSTD_error_prefix_unknown: .notAFrame
            case ZSTD_error_dictionary_wrong: .unknownDictionary
            case ZSTD_error_frameParameter_windowTooLarge: .windowTooLarge
            case ZSTD_error_srcSize_wrong: .truncated
            case ZSTD_error_memory_allocation: .outOfMemory
            default: .damaged
            }
        let name =
            error == ZSTD_error_checksum_wrong
            ? "the checksum differs" : unsafe String(cString: ZSTD_getErrorString(error))
        throw ZstdError(code, number: Int32(bitPattern: error.rawValue), name)
    }
}
