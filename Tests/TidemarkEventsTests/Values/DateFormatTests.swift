// DateFormatTests.swift — times as servers write them.

import TestSupport
import Testing

@testable import TidemarkEvents

private func micros(_ text: String, _ format: DateFormat) -> Int64? {
    format.timestamp(Array(text.utf8)[...])?.rawValue
}

@Suite struct `formats of times` {
    @Test(arguments: [
        (#""1970-01-01T00:00:00Z""#, 0), (#""1970-01-01t00:00:01z""#, 1_000_000),
        (#""1970-01-01 00:00:01.25Z""#, 1_250_000), (#""1970-01-01T00:00:00.1234567Z""#, 123_456),
        (#""1970-01-01T01:00:00+01:00""#, 0), (#""1969-12-31T20:30:00-03:30""#, 0),
        (#""1970-01-01T00:00:00-00:00""#, 0), (#""1969-12-31T23:59:59.999999Z""#, -1),
        (#""1970-01-01\u005400:00:00Z""#, 0), (#""2016-12-31T23:59:60Z""#, 1_483_228_800_000_000),
    ])
    func `texts are read as RFC 3339 has them`(text: String, expected: Int64) {
        #expect(micros(text, .iso8601) == expected)
    }

    @Test func `a text without quotes is read the same, and what is finer is cut off`() {
        let micros: Int64 = 1_763_463_999_999_999

        #expect(Timestamp("2025-11-18T12:06:39.999999999+01:00")?.rawValue == micros)
        #expect(Timestamp(Timestamp(rawValue: micros).description)?.rawValue == micros)
        for text in ["", "2025-11-18", #""2025-11-18T11:06:39Z""#, "2025-11-18T11:06:39"] {
            #expect(Timestamp(text) == nil, "\(text)")
        }
    }

    @Test(arguments: [
        #""1970-01-01T00:00:00""#, #""1970-01-01""#, #""1970-13-01T00:00:00Z""#,
        #""1970-02-29T00:00:00Z""#, #""1970-01-01T24:00:00Z""#, #""1970-01-01T00:00:00.Z""#,
        #""1970-01-01T00:00:00+0100""#, #""1970-01-01T00:00:00+24:00""#,
        #""1970-01-01T00:00:00Z ""#, #""+970-01-01T00:00:00Z""#, #""""#, "0", "null", "[]",
    ])
    func `what is no time of that format is none`(text: String) {
        #expect(micros(text, .iso8601) == nil)
    }

    @Test func `numbers are read exactly and cut off downwards`() {
        #expect(micros("1700000000", .seconds) == 1_700_000_000_000_000)
        #expect(micros("1700000000.123456", .seconds) == 1_700_000_000_123_456)
        #expect(micros("1.7e9", .seconds) == 1_700_000_000_000_000)
        #expect(micros("-0.0000001", .seconds) == -1)
        #expect(micros("0.0000009", .seconds) == 0)
        #expect(micros("-1.5", .milliseconds) == -1500)
        #expect(micros("1700000000123", .milliseconds) == 1_700_000_000_123_000)
        for text in ["1e30", "-1e30", "999999999999999999", #""1""#, "true", "null", "[]", "{}"] {
            #expect(micros(text, .seconds) == nil, "\(text)")
            if text != "999999999999999999" { #expect(micros(text, .milliseconds) == nil) }
        }
    }

    @Test func `times are written as their format says`() {
        func text(_ micros: Int64, _ format: DateFormat) -> String {
            String(decoding: format.encoded(Timestamp(rawValue: micros)), as: UTF8.self)
        }
        #expect(text(0, .iso8601) == #""1970-01-01T00:00:00Z""#)
        #expect(text(1_500_000, .iso8601) == #""1970-01-01T00:00:01.500Z""#)
        #expect(text(-1, .iso8601) == #""1969-12-31T23:59:59.999999Z""#)
        #expect(text(1_500_000, .seconds) == "1.5")
        #expect(text(-1, .seconds) == "-0.000001")
        #expect(text(-2_000_000, .seconds) == "-2")
        #expect(text(-1, .milliseconds) == "-1")
    }

    @Test(arguments: [0xDA7E_0001] as [UInt64])
    func `what is written is read back`(seed: UInt64) {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        let last: Int64 = 253_402_300_799_999_999  // the end of the year 9999
        for _ in 0..<4000 {
            var micros = Int64.random(in: -62_135_596_800_000_000...last, using: &random)
            if random.once(in: 3) { micros = micros / 1_000_000 * 1_000_000 }
            for format in [DateFormat.iso8601, .seconds] {
                let written = format.encoded(Timestamp(rawValue: micros))
                #expect(format.timestamp(written[...])?.rawValue == micros, "\(micros) \(format)")
            }
            let whole = Timestamp(milliseconds: micros / 1000)
            let written = DateFormat.milliseconds.encoded(whole)
            #expect(DateFormat.milliseconds.timestamp(written[...]) == whole)
        }
    }
}
