// HexadecimalTests.swift — bytes as digits, and back.

import TestSupport
import Testing
import TidemarkEvents

@Suite struct `hexadecimal digits` {
    @Test func `are those of every byte, and give it back`() {
        let bytes = Array(UInt8.min ... .max)
        let text = Hexadecimal.encode(bytes)

        #expect(text.hasPrefix("000102030405060708090a0b0c0d0e0f10"))
        #expect(text.hasSuffix("f8f9fafbfcfdfeff") && text.utf8.count == 512)
        #expect(Hexadecimal.decode(text) == bytes)
        #expect(Hexadecimal.encode([]) == "" && Hexadecimal.decode("") == [])
    }

    @Test(arguments: ["0", "0g", "0A", " 00", "00 ", "0x", "é0", "０0"])
    func `are refused where there is anything else`(_ text: String) {
        #expect(Hexadecimal.decode(text) == nil)
    }
}
