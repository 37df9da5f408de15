// FrameMending.swift — which one bit of a frame was turned, by its checksum.
//
// CRC32C is linear: the difference between the checksum that is stored and the one that is computed
// depends on which bits were turned, not on what the frame says. For one bit it is another
// difference at each place. What is mended so is a guess until a commit's root proves it.

import TidemarkStore

extension EventFrame {
    /// The bit, counted from the frame's first byte, that makes its checksum hold when turned;
    /// nil where no single one does.
    static func turnedBit(of bytes: [UInt8]) -> Int? {
        guard bytes.count > prefixBytes else { return nil }
        var crc = CRC32C()
        crc.update(bytes.span.extracting(0..<4))
        crc.update(bytes.span.extracting(8..<bytes.count))
        var stored: UInt32 = 0
        for index in (4..<8).reversed() { stored = stored << 8 | UInt32(bytes[index]) }
        let difference = stored ^ crc.value
        guard difference != 0 else { return nil }
        if difference.nonzeroBitCount == 1 { return 32 + difference.trailingZeroBitCount }
        // What turning the last bit makes, then the one before it, and so on.
        var pattern = polynomial
        for bit in (0..<8 * (bytes.count - 4)).reversed() {
            if pattern == difference { return bit < 32 ? bit : bit + 32 }
            pattern = pattern & 1 == 1 ? pattern >> 1 ^ polynomial : pattern >> 1
        }
        return nil
    }

    /// That of CRC32C, reflected.
    private static let polynomial: UInt32 = 0x82F6_3B78
}

extension [UInt8] {
    /// Turns a bit, counted from the first byte's lowest.
    mutating func turn(bit: Int) { self[bit / 8] ^= 1 << UInt8(bit % 8) }
}
