// OrderKeyTests.swift — the order of the bytes is the order of the values.

import TestSupport
import Testing

@testable import TidemarkEvents

/// The bytes of a JSON text as a value.
private func key(
    _ text: String?, _ kind: IndexField.Kind = .value, _ dates: DateFormat = .iso8601
) -> [UInt8] {
    var key: [UInt8] = []
    OrderKey.append(text.map { Array($0.utf8)[...] }, kind: kind, dates: dates, to: &key)
    return key
}

private func isAscending(_ keys: [[UInt8]]) -> Bool {
    zip(keys, keys.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) }
}

@Suite struct `order keys` {
    @Test func `values of different types stand in one order`() {
        let texts = [
            "null", "false", "true", "-1e400", "-9223372036854775808", "-9007199254740993",
            "-9007199254740992", "-1.5", "-1", "-1e-400", "1e-300", "0.5", "1", "1.5", "2", "10",
            "9007199254740992", "9007199254740993", "9223372036854775806",
            "9223372036854775806.5e0", "9223372036854775807", "9223372036854775808", "1e300",
            "1e400", #""""#, #""\u0000""#, #""\u0000a""#, #""\u0001""#, #""0""#, #""a""#,
            #""a\u0000""#, #""aa""#, #""b""#, #""é""#, #""\ud83d\ude00""#, "[1]", "[]", "{}",
        ]
        let same = ["9223372036854775806.5e0"]  // not an integer: as the one below it
        #expect(isAscending(texts.filter { !same.contains($0) }.map { key($0) }))
        #expect(key(same[0]) == key("9223372036854775806"))
    }

    @Test func `what means the same has the same bytes`() {
        #expect(key(nil) == key("null"))
        #expect(key("1") == key("1.0"))
        #expect(key("1") == key("10e-1"))
        #expect(key("0") == key("-0"))
        #expect(key("-0.0") == key("0"))
        #expect(key("9007199254740993") == key("9007199254740993.0"))
        #expect(key("1e999999999999999999999999") == key("1e400"))
        #expect(key(#""\u0061\/""#) == key(#""a/""#))
        #expect(key("[1, 2]") == key("[1,2]"))
    }

    @Test(arguments: [0x0DE2_0001, 0x0DE2_0002] as [UInt64])
    func `numbers with three decimal places stand in the order of their values`(seed: UInt64) {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        let middles: [Int128] = [
            0, 1 << 52, 1 << 53, 1 << 54, 1 << 62, 1 << 63, -(1 << 53), -(1 << 63), 1 << 66,
        ]
        for _ in 0..<4000 {
            let middle = random.pick(middles) * 1000
            let numbers = (0..<2).map { _ in
                let near = Int128(random.below(3_000_001)) - 1_500_000
                return middle + near / (random.once(in: 2) ? 1 : 1000) * 1
            }
            let whole = numbers.map { random.once(in: 3) ? $0 / 1000 * 1000 : $0 }
            let texts = whole.map { number in
                let digits = String(number.magnitude % 1000 + 1000).dropFirst()
                return (number < 0 ? "-" : "") + "\(number.magnitude / 1000).\(digits)"
            }
            let (left, right) = (key(texts[0]), key(texts[1]))
            let areIntegers = whole.allSatisfy {
                $0 % 1000 == 0 && Int64(exactly: $0 / 1000) != nil
            }
            let places = "\(texts), seed \(seed)"
            if whole[0] < whole[1] {
                #expect(!right.lexicographicallyPrecedes(left), "\(places)")
                if areIntegers || Double(texts[0]) != Double(texts[1]) {
                    #expect(left.lexicographicallyPrecedes(right), "\(places)")
                }
            } else if whole[0] == whole[1] {
                #expect(left == right, "\(places)")
            }
        }
    }

    @Test(arguments: [0x0DE2_0003] as [UInt64])
    func `doubles and texts stand in their own order`(seed: UInt64) {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        for _ in 0..<4000 {
            let doubles = (0..<2).map { _ -> Double in
                let double = Double(bitPattern: random.next())
                return double.isFinite ? double : 0
            }
            let keys = doubles.map { key("\($0)") }
            #expect(
                (doubles[0] < doubles[1]) == keys[0].lexicographicallyPrecedes(keys[1]),
                "\(doubles), seed \(seed)")

            let texts = [random.string(), random.string()]
            let textKeys = texts.map { key(JSONValue.string($0).description) }
            #expect(
                texts[0].utf8.lexicographicallyPrecedes(texts[1].utf8)
                    == textKeys[0].lexicographicallyPrecedes(textKeys[1]),
                "\(texts), seed \(seed)")
        }
    }

    @Test(arguments: [0x0DE2_0004, 0x0DE2_0005] as [UInt64])
    func `several values, one behind the other, compare one after the other`(
        seed: UInt64
    ) throws {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        for round in 0..<4000 {
            let rows = try (0..<2).map { _ in
                try (0..<3).map { _ in
                    var part: [UInt8] = []
                    let value = try random.value(depth: 1)
                    OrderKey.append(value, kind: .value, dates: .iso8601, to: &part)
                    #expect(part == key(value.description))
                    return part
                }
            }
            let first = zip(rows[0], rows[1]).first { $0 != $1 }
            let whole = rows.map { $0.flatMap(\.self) }
            #expect(
                whole[0].lexicographicallyPrecedes(whole[1])
                    == (first?.0.lexicographicallyPrecedes(first?.1 ?? []) ?? false),
                "seed \(seed), round \(round)")

            var parts: [[UInt8]] = []
            var at = 0
            while let end = OrderKey.end(of: whole[0][...], from: at) {
                parts.append(Array(whole[0][at..<end]))
                at = end
            }
            #expect(parts == rows[0] && at == whole[0].count)
            #expect(OrderKey.end(of: rows[0][0].dropLast(), from: 0) == nil)
        }
    }

    @Test func `times stand between numbers and texts, whatever their offset`() {
        let keys = [
            "null", "99", #""0001-01-01T00:00:00Z""#, #""1969-12-31T23:59:59.999999Z""#,
            #""2026-11-18T12:06:40+01:00""#, #""2026-11-18T11:06:40.5Z""#, #""2026-11-18""#,
        ].map { key($0, .date) }
        #expect(isAscending(keys))
        #expect(
            key(#""2026-11-18T12:06:40+01:00""#, .date) == key(#""2026-11-18T11:06:40Z""#, .date))
        #expect(key("1.5", .date, .seconds) == key("1500", .date, .milliseconds))
        var time: [UInt8] = []
        OrderKey.append(Timestamp(rawValue: 1_500_000), to: &time)
        #expect(key("1.5", .date, .seconds) == time)
    }
}
