// CRC32CTests.swift — the checksum of RFC 3720.

import TestSupport
import Testing

@testable import TidemarkStore

@Suite struct `the checksum` {
    /// RFC 3720, appendix B.4, and the usual check value.
    static let vectors: [([UInt8], UInt32)] = [
        ([], 0),
        (Array("123456789".utf8), 0xE306_9283),
        ([UInt8](repeating: 0, count: 32), 0x8A91_36AA),
        ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43),
        (Array(0..<32), 0x46DD_794E),
        (Array((0..<32).reversed()), 0x113F_DB5C),
        (
            [
                0x01, 0xC0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
                0x00, 0x00, 0x14, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0x00, 0x14,
                0x00, 0x00, 0x00, 0x18, 0x28, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00,
                0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
            ], 0xD996_3A56
        ),
    ]

    @Test(arguments: vectors)
    func `the published vectors come out`(_ bytes: [UInt8], _ checksum: UInt32) {
        #expect(CRC32C.checksum(of: bytes) == checksum)
    }

    @Test func `it can be computed in parts, cut anywhere`() {
        var random = SplitMix64(seed: 0x5EED_0201)
        for count in 0..<100 {
            let bytes = random.bytes(count)
            let cut = random.below(count + 1)
            var crc = CRC32C()
            crc.update(Array(bytes[..<cut]))
            crc.update(Array(bytes[cut...]))

            #expect(crc.value == CRC32C.checksum(of: bytes))
        }
    }

    @Test func `it is the same as bit by bit`() {
        var random = SplitMix64(seed: 0x5EED_0202)
        for count in Array(0..<64) + [287, 288, 289, 350, 575, 576, 577, 1_000, 4_096] {
            let bytes = random.bytes(count)
            var crc: UInt32 = 0xFFFF_FFFF
            for byte in bytes {
                crc ^= UInt32(byte)
                for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0x82F6_3B78 : crc >> 1 }
            }
            #expect(CRC32C.checksum(of: bytes) == crc ^ 0xFFFF_FFFF)
        }
    }
}

@Suite struct `the checksum without the processor's instruction` {
    @Test(arguments: 0..<80) func `is the same`(count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }
        var tables = CRC32C()
        tables.updateByTables(bytes.span)
        #expect(tables.value == CRC32C.checksum(of: bytes))
    }
}
