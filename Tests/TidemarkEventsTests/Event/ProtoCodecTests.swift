// ProtoCodecTests.swift — the one way in which fields are written, and everything else refused.

import TestSupport
import Testing
import TidemarkEvents

/// All fields of a message, or why it was refused.
private func read(_ bytes: [UInt8]) -> Result<[UInt32], ProtoError> {
    Result { () throws(ProtoError) in
        var numbers: [UInt32] = []
        var reader = ProtoReader(bytes)
        while let field = try reader.next() { numbers.append(field.number) }
        return numbers
    }
}

private func firstField(_ bytes: [UInt8]) throws -> ProtoField {
    var reader = ProtoReader(bytes)
    return try #require(try reader.next())
}

@Suite struct `canonical protobuf` {
    @Test func `the examples of the protobuf documentation come out`() {
        var writer = ProtoWriter()
        writer.varint(1, 150)
        writer.string(2, "testing")

        #expect(
            writer.bytes == [0x08, 0x96, 0x01, 0x12, 0x07] + Array("testing".utf8))
    }

    @Test func `defaults are not written`() {
        var writer = ProtoWriter()
        writer.varint(1, 0)
        writer.signed(2, 0)
        writer.flag(3, false)
        writer.position(4, nil)
        writer.bytes(5, [UInt8]())
        writer.string(6, "")

        #expect(writer.bytes.isEmpty)
    }

    @Test func `an element of a repeated field is written also when empty`() throws {
        var writer = ProtoWriter()
        writer.message(3, [UInt8]())
        writer.message(3, [1])

        #expect(writer.bytes == [0x1A, 0x00, 0x1A, 0x01, 0x01])
        #expect(read(writer.bytes) == .success([3, 3]))
    }

    @Test func `a negative number takes ten bytes`() throws {
        var writer = ProtoWriter()
        writer.signed(1, -1)

        #expect(writer.bytes == [0x08] + [UInt8](repeating: 0xFF, count: 9) + [0x01])
        #expect(try firstField(writer.bytes).signed() == -1)
    }

    @Test(arguments: [
        [0x08, 0x80, 0x00],  // zero in two bytes
        [0x08, 0x81, 0x00],  // one in two bytes
        [0x08, 0xFF, 0xFF, 0x00],
        [0x88, 0x00, 0x01],  // the tag itself
        [0x12, 0x81, 0x00, 0x61],  // a length
        [0x08] + [UInt8](repeating: 0xFF, count: 9) + [0x02],  // 65 bits
        [0x08] + [UInt8](repeating: 0x80, count: 10) + [0x01],  // eleven bytes
    ])
    func `a varint that is longer than it need be is refused`(_ bytes: [UInt8]) {
        #expect(read(bytes) == .failure(.varintNotMinimal))
    }

    @Test func `a zero that is written is refused`() {
        #expect(read([0x08, 0x00]) == .failure(.defaultWritten(1)))
    }

    @Test func `a field after a higher one is refused`() {
        #expect(read([0x10, 0x01, 0x08, 0x01]) == .failure(.fieldOrder(1)))
        #expect(read([0x08, 0x01, 0x08, 0x02]) == .success([1, 1]))
        #expect(read([0x00, 0x01]) == .failure(.fieldOrder(0)))
    }

    @Test(arguments: [1, 3, 4, 5, 6, 7] as [UInt8])
    func `other wire types are refused`(_ type: UInt8) {
        #expect(read([0x08 | type, 1, 1, 1, 1, 1, 1, 1, 1]) == .failure(.wireType(1)))
    }

    @Test func `a field of the other wire type is refused`() throws {
        let number = try firstField([0x08, 0x01])
        let text = try firstField([0x0A, 0x01, 0x61])

        #expect(throws: ProtoError.wireType(1)) { try number.bytes() }
        #expect(throws: ProtoError.wireType(1)) { try number.string() }
        #expect(throws: ProtoError.wireType(1)) { try text.unsigned() }
        #expect(throws: ProtoError.wireType(1)) { try text.signed() }
        #expect(throws: ProtoError.wireType(1)) { try text.flag() }
        #expect(throws: ProtoError.wireType(1)) { try text.position() }
        #expect(throws: ProtoError.wireType(1)) { try text.small() }
    }

    @Test func `values out of range are refused`() throws {
        var writer = ProtoWriter()
        writer.varint(1, UInt64(UInt32.max) + 1)

        let field = try firstField(writer.bytes)

        #expect(throws: ProtoError.valueOutOfRange(1)) { try field.small() }
        #expect(try field.unsigned() == UInt64(UInt32.max) + 1)
    }

    @Test func `a text that is not UTF-8 is refused`() throws {
        let field = try firstField([0x0A, 0x02, 0xC3, 0x28])

        #expect(throws: ProtoError.invalidUTF8(1)) { try field.string() }
        #expect(try field.bytes() == [0xC3, 0x28])
    }

    @Test func `every cut through the middle of a field is refused`() {
        var writer = ProtoWriter()
        writer.varint(1, 300)
        let first = writer.bytes.count
        writer.string(2, "hello")
        let second = writer.bytes.count
        writer.varint(3, .max)

        for count in 0...writer.bytes.count {
            let isWhole = [0, first, second, writer.bytes.count].contains(count)
            let result = read(Array(writer.bytes.prefix(count)))
            if isWhole {
                #expect((try? result.get()) != nil, "\(count) bytes")
            } else {
                #expect(result == .failure(.truncated), "\(count) bytes")
            }
        }
    }

    @Test(arguments: [0x5EED_0102] as [UInt64])
    func `random fields come back as they were written`(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        for round in 0..<3_000 {
            var writer = ProtoWriter()
            var numbers: [(UInt32, UInt64?, [UInt8])] = []
            var number: UInt32 = 0
            for _ in 0..<random.below(8) {
                number += UInt32(1 + random.below(random.below(4) == 0 ? 5_000 : 3))
                if random.below(2) == 0 {
                    let value = max(1, random.next() >> UInt64(random.below(64)))
                    writer.varint(number, value)
                    numbers.append((number, value, []))
                } else {
                    let value = (0...random.below(200)).map { UInt8(truncatingIfNeeded: $0) }
                    writer.bytes(number, value)
                    numbers.append((number, nil, value))
                }
            }

            var reader = ProtoReader(writer.bytes)
            for (number, value, bytes) in numbers {
                let field = try #require(try reader.next(), "seed \(seed), round \(round)")
                #expect(field.number == number)
                if let value {
                    #expect(try field.unsigned() == value, "seed \(seed), round \(round)")
                } else {
                    #expect(try field.bytes() == bytes, "seed \(seed), round \(round)")
                }
            }
            #expect(try reader.next() == nil)
        }
    }

    @Test(arguments: [0x5EED_0103] as [UInt64])
    func `random bytes are read or refused, and never more than once`(_ seed: UInt64) {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        var accepted = 0
        for _ in 0..<20_000 {
            let bytes = (0..<random.below(12)).map { _ in
                random.below(2) == 0 ? UInt8(random.below(32)) : UInt8(random.below(256))
            }
            if case .success = read(bytes) { accepted += 1 }
        }
        #expect(accepted > 100 && accepted < 19_900)
    }
}
