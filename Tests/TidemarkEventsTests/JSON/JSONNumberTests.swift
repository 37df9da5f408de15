// JSONNumberTests.swift — numbers keep their text and compare by value.

import Testing
import TidemarkEvents

@Suite struct `JSON numbers` {
    func number(_ text: String) throws -> JSONNumber {
        try #require(JSONNumber(text: text))
    }

    @Test(arguments: [
        ["1", "1.0", "10e-1", "0.1e1", "1E0", "1e+0", "100e-2", "1.000"],
        ["0", "-0", "0.0", "-0.00e5", "0e99999999999999999999"],
        ["-12.5", "-125e-1", "-0.125E2", "-12.50"],
        ["1000", "1e3", "10.0e2"],
        [
            "1e9223372036854775807", "1e9223372036854775808", "10e9223372036854775807",
            "1e99999999999999999999",
        ],
        ["1e-9223372036854775807", "1e-99999999999999999999", "0.1e-9223372036854775807"],
    ])
    func `equal values are equal and hash equally`(_ texts: [String]) throws {
        let numbers = try texts.map(number)

        #expect(Set(numbers).count == 1)
        for other in numbers { #expect(numbers[0] == other) }
    }

    @Test func `different values differ`() throws {
        let texts = [
            "0", "1", "-1", "10", "11", "101", "1.01", "0.1", "1e999", "1e998", "-1e999",
            "12345678901234567890", "12345678901234567891", "9007199254740992", "9007199254740993",
            "1e9223372036854775807", "1e9223372036854775806", "1e-9223372036854775807",
            "-1e9223372036854775807", "2e9223372036854775807",
        ]

        #expect(Set(try texts.map(number)).count == texts.count)
    }

    @Test func `the text stays as it came`() throws {
        let digits = String(repeating: "1234567890", count: 500)
        for text in ["1.0", "-0", "1E+05", "1e999", digits] {
            #expect(try number(text).text == text)
            #expect(try json(text).encoded() == Array(text.utf8))
        }
        #expect(try number(digits) == number(digits + ".0"))
        #expect(try number(digits) != number(digits + ".01"))
    }

    @Test(arguments: ["", " 1", "1 ", "+1", ".5", "1.", "01", "NaN", "1e", "0x1", "--1", "１"])
    func `other text is no number`(_ text: String) {
        #expect(JSONNumber(text: text) == nil)
    }

    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("7", 7), ("1e3", 1_000), ("1.0", 1), ("120e-1", 12),
            ("9223372036854775807", Int64.max), ("-9223372036854775808", .min),
            ("-9.223372036854775808e18", .min), ("0e999999999999999999999", 0),
            ("9223372036854775808", nil), ("-9223372036854775809", nil), ("1.5", nil),
            ("1e19", nil),
            ("1e-1", nil), ("1e999999999", nil), ("99999999999999999999", nil),
            ("0.0000000000000000000000001", nil), ("1e9223372036854775807", nil),
        ] as [(String, Int64?)])
    func `an integer is exact or nothing`(_ text: String, _ expected: Int64?) throws {
        #expect(try number(text).int64 == expected)
    }

    @Test func `a double is finite or nothing`() throws {
        #expect(try number("1.5").double == 1.5)
        #expect(try number("-0").double == 0)
        #expect(try number("0.1").double == 0.1)
        #expect(try number("1e308").double == 1e308)
        #expect(try number("1e309").double == nil)
        #expect(try number("-1e999").double == nil)
        #expect(try number("1e-999").double == 0)
        #expect(try number(String(repeating: "9", count: 5_000)).double == nil)
        #expect(try number("1e99999999999999999999999").double == nil)
        #expect(try number("0." + String(repeating: "3", count: 5_000)).double == 1.0 / 3)
    }

    @Test func `integers become numbers`() {
        #expect(JSONNumber(Int64.min).text == "-9223372036854775808")
        #expect(JSONNumber(UInt64.max).text == "18446744073709551615")
        #expect(JSONNumber(UInt64.max).int64 == nil)
    }
}
