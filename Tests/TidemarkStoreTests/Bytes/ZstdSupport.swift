// ZstdSupport.swift — zstd frames put together by hand (RFC 8878), right and wrong ones.

import Foundation
import TidemarkStore

/// A zstd frame of blocks that repeat one byte, without a checksum.
struct HandMadeFrame {
    /// The content size that the header gives, right or wrong; nil to give none.
    var size: UInt64?
    /// The window as a power of two.
    var windowLog = 17
    /// Four bytes of it stand in the header when it isn't 0.
    var dictionary: UInt32 = 0
    /// How often each block repeats its byte.
    var blocks: [Int] = []

    static let magic: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]

    var bytes: [UInt8] {
        var bytes = Self.magic
        bytes.append((size == nil ? 0 : 0xC0) | (dictionary == 0 ? 0 : 3))
        bytes.append(UInt8((windowLog - 10) << 3))
        if dictionary != 0 { bytes += little(UInt64(dictionary), 4) }
        if let size { bytes += little(size, 8) }
        for (index, count) in blocks.enumerated() {
            let isLast: UInt64 = index == blocks.count - 1 ? 1 : 0
            bytes += little(UInt64(count) << 3 | 1 << 1 | isLast, 3) + [0]
        }
        return bytes
    }

    private func little(_ value: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// A GiB of zeros in 32 KiB.
    static func bomb(size: UInt64?, windowLog: Int = 17) -> HandMadeFrame {
        HandMadeFrame(
            size: size, windowLog: windowLog,
            blocks: [Int](repeating: 128 << 10, count: 8 << 10))
    }
}

/// Why bytes were refused; nil when they were not.
func refusal(_ bytes: [UInt8], bytesMax: Int = 1 << 20) -> ZstdError.Code? {
    do throws(ZstdError) {
        _ = try Zstd.decompress(bytes, bytesMax: bytesMax)
        return nil
    } catch {
        return error.code
    }
}

/// What this process has in memory, from the kernel; nil where it doesn't say.
enum ProcessMemory {
    /// Bytes in memory now.
    static var now: Int? { read("VmRSS:") }
    /// The most since ``forgetPeak()``.
    static var peak: Int? { read("VmHWM:") }

    static func forgetPeak() {
        try? Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
    }

    private static func read(_ name: String) -> Int? {
        let status = try? String(contentsOf: URL(filePath: "/proc/self/status"), encoding: .utf8)
        let line = status?.split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.split(whereSeparator: { $0.isWhitespace }).dropFirst().first.flatMap {
            Int($0)
        }.map { $0 << 10 }
    }
}
