// EventFrameTests.swift — the bytes around an event, and what is said of damaged ones.

import TestSupport
import Testing
import TidemarkEvents
import TidemarkLog
import TidemarkStore

private func damage(_ bytes: [UInt8]) -> EventFrame.Damage? {
    do throws(EventFrame.Damage) {
        _ = try EventFrame(parsing: bytes.span)
        return nil
    } catch {
        return error
    }
}

/// The bytes with a checksum that fits them.
private func sealed(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    let crc = CRC32C.checksum(of: Array(bytes[..<4]) + Array(bytes[8...]))
    for index in 0..<4 { bytes[4 + index] = UInt8(truncatingIfNeeded: crc >> (8 * UInt32(index))) }
    return bytes
}

@Suite struct `event frames` {
    let frame = EventFrame(sampleEvent(7))

    @Test func `prefix, header and payload lie one after another`() {
        let bytes = frame.encoded

        #expect(bytes[0] == 1)
        #expect(bytes[1] == 0)
        #expect(Int(bytes[2]) | Int(bytes[3]) << 8 == frame.header.count)
        #expect(Array(bytes[8..<8 + frame.header.count]) == sampleEvent(7).headerBytes)
        #expect(Array(bytes[(8 + frame.header.count)...]) == sampleEvent(7).payload)
        #expect(sealed(bytes) == bytes)
    }

    @Test func `a frame reads back as it was written`() throws {
        var random = SplitMix64(seed: 0x5EED_0203)
        for count in 0..<300 {
            var frame = frame
            frame.header = random.bytes(random.below(count + 1))
            frame.payload = .inline(random.bytes(count))

            #expect(try EventFrame(parsing: frame.encoded.span) == frame)
        }
    }

    @Test func `header and payload may be empty, and a header large`() throws {
        var frame = frame
        frame.payload = .inline([])
        #expect(try EventFrame(parsing: frame.encoded.span) == frame)

        frame.header = []
        #expect(frame.encoded.count == EventFrame.prefixBytes)
        #expect(try EventFrame(parsing: frame.encoded.span) == frame)

        frame.header = [UInt8](repeating: 1, count: EventFrame.headerBytesMax)
        #expect(try EventFrame(parsing: frame.encoded.span) == frame)
    }

    @Test func `too few bytes are said to be so`() {
        for count in 0..<EventFrame.prefixBytes {
            #expect(damage(Array(frame.encoded.prefix(count))) == .tooShort(count))
        }
    }

    @Test func `a changed bit anywhere breaks the checksum`() {
        let bytes = frame.encoded
        for index in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[index] ^= 1 << UInt8(bit)
                guard case .checksum = damage(changed) else {
                    Issue.record("bit \(bit) of byte \(index)")
                    return
                }
            }
        }
    }

    @Test func `a frame cut short breaks the checksum`() {
        for count in EventFrame.prefixBytes..<frame.encoded.count {
            guard case .checksum = damage(Array(frame.encoded.prefix(count))) else {
                Issue.record("\(count) bytes")
                return
            }
        }
    }

    @Test func `a whole frame of a newer version is told from a damaged one`() {
        var bytes = frame.encoded
        bytes[0] = 2
        #expect(damage(sealed(bytes)) == .newerFormat(2))

        bytes = frame.encoded
        for flags in [2, 3, 0x80, 0xFF] as [UInt8] {
            bytes[1] = flags
            #expect(damage(sealed(bytes)) == .unknownFlags(flags))
        }
    }

    @Test func `a reference reads back, and is never of another length`() throws {
        var frame = frame
        var random = SplitMix64(seed: 0x5EED_0207)
        frame.payload = .body(BodyReference(bytes: .max - 7, hash: random.bytes(32)))
        let bytes = frame.encoded

        #expect(bytes[1] == 1)
        #expect(bytes.count == 8 + frame.header.count + 40)
        #expect(bytes.count == frame.encodedBytes)
        #expect(try EventFrame(parsing: bytes.span) == frame)
        for rest in [0, 1, 39, 41, 80] {
            let wrong = sealed(bytes.prefix(8 + frame.header.count) + random.bytes(rest))
            #expect(damage(wrong) == .referenceLength(rest))
        }
    }

    @Test func `a header that does not fit is damage`() {
        var bytes = frame.encoded
        bytes[3] = 0xFF

        #expect(damage(sealed(bytes)) == .headerOutOfBounds(0xFF00 | frame.header.count))
    }

    @Test func `damage is described in a sentence`() {
        #expect(
            EventFrame.Damage.checksum(stored: 1, computed: 0xABCD_EF01).description
                == "checksum 00000001 is stored, abcdef01 is computed")
        #expect(EventFrame.Damage.tooShort(3).description == "3 bytes are too few for an event")
    }
}
