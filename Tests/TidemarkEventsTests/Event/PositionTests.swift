// PositionTests.swift — places in the log, as numbers, bytes and text.

import Testing
import TidemarkEvents

@Suite struct `positions` {
    @Test func `a position is written with an at sign and read with or without one`() {
        #expect(Position(1234).description == "@1234")
        #expect(Position("@1234") == Position(1234))
        #expect(Position("1234") == Position(1234))
        #expect(Position("@18446744073709551615") == Position(.max))
    }

    @Test(arguments: ["", "@", "0", "@0", "-1", "@-1", "@@1", "1 ", " 1", "1.0", "x", "@1x"])
    func `what names no event is no position`(_ text: String) {
        #expect(Position(text) == nil)
    }

    @Test func `the order of the bytes is the order of the positions`() {
        let numbers: [UInt64] = [0, 1, 255, 256, 65_535, 65_536, 1 << 32, 1 << 63, .max]
        let positions = numbers.map { Position($0) }

        for (left, right) in zip(positions, positions.dropFirst()) {
            #expect(left < right)
            #expect(left.bigEndianBytes.lexicographicallyPrecedes(right.bigEndianBytes))
        }
        for position in positions {
            #expect(Position(bigEndianBytes: position.bigEndianBytes) == position)
        }
        #expect(Position(0x0102_0304_0506_0708).bigEndianBytes == [1, 2, 3, 4, 5, 6, 7, 8])
    }

    @Test func `only eight bytes are a position`() {
        #expect(Position(bigEndianBytes: [UInt8](repeating: 1, count: 7)) == nil)
        #expect(Position(bigEndianBytes: [UInt8](repeating: 1, count: 9)) == nil)
        #expect(Position(bigEndianBytes: [UInt8]()) == nil)
    }

    @Test func `the first event follows the start`() {
        #expect(Position.start.next == Position(1))
        #expect(Position(1).next == Position(2))
    }
}

@Suite struct `base 64` {
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
        ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
    ])
    func `the examples of RFC 4648 come out`(_ text: String, _ encoded: String) {
        #expect(Base64.encode(Array(text.utf8)) == encoded)
    }

    @Test func `every byte has its place in the alphabet`() {
        #expect(Base64.encode([0xFB, 0xFF, 0xBF]) == "+/+/")
        #expect(Base64.encode([0xFF, 0xFE, 0xFD, 0x00]) == "//79AA==")
    }
}
