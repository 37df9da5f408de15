// CRC32C.swift — the Castagnoli checksum (RFC 3720, appendix B.4): by the processor's instruction
// where it has one, else by tables, eight bytes at a step.

import CLMDB

/// The CRC32C of bytes; can be continued.
package struct CRC32C: Sendable {
    private var state: UInt32 = 0xFFFF_FFFF

    package init() {}

    package var value: UInt32 { state ^ 0xFFFF_FFFF }

    package static func checksum(of bytes: [UInt8]) -> UInt32 {
        var crc = CRC32C()
        crc.update(bytes)
        return crc.value
    }

    package mutating func update(_ bytes: [UInt8]) { update(bytes.span) }

    @inline(__always)
    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        guard Self.isInProcessor else {
            return unsafe updateByTables(bytes.bindMemory(to: UInt8.self).span)
        }
        guard let start = bytes.baseAddress else { return }
        state = unsafe Self.lane.withUnsafeBufferPointer { lane in
            unsafe tidemark_crc32c(state, start, bytes.count, lane.baseAddress)
        }
    }

    package mutating func update(_ bytes: Span<UInt8>) {
        guard Self.isInProcessor else { return updateByTables(bytes) }
        state = unsafe bytes.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return state }
            return unsafe Self.lane.withUnsafeBufferPointer { lane in
                unsafe tidemark_crc32c(state, start, buffer.count, lane.baseAddress)
            }
        }
    }

    private static let isInProcessor = tidemark_has_crc32c() != 0

    /// The same without the instruction.
    mutating func updateByTables(_ bytes: Span<UInt8>) {
        var crc = state
        var index = 0
        let tables = Self.tables.span
        while index + 8 <= bytes.count {
            let low =
                crc ^ UInt32(bytes[index]) ^ UInt32(bytes[index + 1]) << 8
                ^ UInt32(bytes[index + 2]) << 16 ^ UInt32(bytes[index + 3]) << 24
            crc = tables[7 * 256 + Int(low & 0xFF)]
            crc ^= tables[6 * 256 + Int(low >> 8 & 0xFF)]
            crc ^= tables[5 * 256 + Int(low >> 16 & 0xFF)]
            crc ^= tables[4 * 256 + Int(low >> 24)]
            crc ^= tables[3 * 256 + Int(bytes[index + 4])]
            crc ^= tables[2 * 256 + Int(bytes[index + 5])]
            crc ^= tables[256 + Int(bytes[index + 6])]
            crc ^= tables[Int(bytes[index + 7])]
            index += 8
        }
        while index < bytes.count {
            crc = crc >> 8 ^ tables[Int((crc ^ UInt32(bytes[index])) & 0xFF)]
            index += 1
        }
        state = crc
    }

    /// Four tables of 256 entries: table k has what becomes of a state of which only byte k is not
    /// zero, over as many zero bytes as a lane has.
    private static let lane: [UInt32] = (0..<4 * 256).map { place in
        var crc = CRC32C()
        crc.state = UInt32(place & 0xFF) << UInt32((place >> 8) * 8)
        let zeros = [UInt8](repeating: 0, count: Int(TIDEMARK_CRC32C_LANE))
        crc.updateByTables(zeros.span)
        return crc.state
    }

    /// Eight tables of 256 entries: table k advances a byte by k further zero bytes.
    private static let tables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 8 * 256)
        for byte in 0..<256 {
            var crc = UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0x82F6_3B78 : crc >> 1 }
            tables[byte] = crc
        }
        for index in 256..<8 * 256 {
            let previous = tables[index - 256]
            tables[index] = previous >> 8 ^ tables[Int(previous & 0xFF)]
        }
        return tables
    }()
}
