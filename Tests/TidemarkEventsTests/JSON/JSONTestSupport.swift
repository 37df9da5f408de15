// JSONTestSupport.swift — seeded JSON texts, and seeded damage to them.

import TestSupport
import Testing
import TidemarkEvents

// MARK: - Values

extension SplitMix64 {
    private static let pieces = [
        "a", "id", "Z", "0", " ", "\"", "\\", "/", "\n", "\r", "\t", "\u{8}", "\u{C}", "\u{0}",
        "\u{1F}", "\u{7F}", "\u{80}", "é", "e\u{301}", "ß", "я", "你", "\u{2028}", "\u{FEFF}",
        "\u{FFFF}", "😀", "\u{10FFFF}", "{", "]", ",", ":", "u0041",
    ]

    private static let numbers = [
        "0", "-0", "1", "-1", "10", "12345678901234567890", "1.5", "-0.25", "1e5", "1E+5", "2e-7",
        "0.0", "0e0", "1e999", "-1E-999", "100.00", "9223372036854775807",
    ]

    mutating func string() -> String {
        (0..<below(7)).map { _ in pick(Self.pieces) }.joined()
    }

    mutating func number() -> String {
        below(3) > 0 ? pick(Self.numbers) : String(Int64(truncatingIfNeeded: next() >> 20))
    }

    /// A value at most `depth` containers deep.
    mutating func value(depth: Int = 4) throws -> JSONValue {
        switch below(depth > 0 ? 9 : 5) {
        case 0: return .null
        case 1: return .bool(below(2) == 0)
        case 2: return .number(try #require(JSONNumber(text: number())))
        case 3, 4: return .string(string())
        case 5, 6: return .array(try (0..<below(5)).map { _ in try value(depth: depth - 1) })
        default:
            var object = JSONObject()
            for _ in 0..<below(6) { object[string()] = try value(depth: depth - 1) }
            return .object(object)
        }
    }

    /// A text of `value`, with white space and escapes where they are allowed.
    mutating func text(of value: JSONValue) -> [UInt8] {
        let inner: [UInt8]
        switch value {
        case .null, .bool, .number:
            inner = value.encoded()
        case .string(let string):
            inner = text(of: string)
        case .array(let elements):
            var parts: [[UInt8]] = []
            for element in elements { parts.append(text(of: element)) }
            inner =
                Array("[".utf8) + (parts.isEmpty ? space() : Array(parts.joined(by: ",")))
                + Array("]".utf8)
        case .object(let object):
            var parts: [[UInt8]] = []
            for (key, value) in object {
                parts.append(
                    space() + text(of: key) + space() + Array(":".utf8) + text(of: value))
            }
            inner =
                Array("{".utf8) + (parts.isEmpty ? space() : Array(parts.joined(by: ",")))
                + Array("}".utf8)
        }
        return space() + inner + space()
    }

    private mutating func space() -> [UInt8] {
        below(4) > 0 ? [] : (0..<below(3)).map { _ in pick([0x20, 0x09, 0x0A, 0x0D]) }
    }

    private mutating func text(of string: String) -> [UInt8] {
        guard below(3) == 0 else { return JSONValue.string(string).encoded() }
        let escaped = string.utf16.map { unit in
            let hex = String(unit, radix: 16, uppercase: below(2) == 0)
            return "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
        }
        return Array("\"\(escaped.joined())\"".utf8)
    }
}

// MARK: - Damage

extension SplitMix64 {
    private static let splinters: [[UInt8]] =
        [
            "\"", "\\", "{", "}", "[", "]", ",", ":", "0", "-", ".", "e", "+", "1", " ", "\n",
            "\u{0}", "\u{B}", "\u{A0}", "\u{FEFF}", "NaN", "Infinity", "true", "null", "\\ud800",
            "\\udc00", "\\u00", "\\x", "\"a\":1,", "//", "'",
        ].map { Array($0.utf8) } + [[0xFF], [0xC3], [0x80], [0xED, 0xA0, 0x80], [0xC0, 0xAF]]

    /// `text` with one to three changes, which may leave it valid.
    mutating func damaged(_ text: [UInt8]) -> [UInt8] {
        var text = text
        for _ in 0...below(3) {
            let start = below(text.count + 1)
            let end = min(text.count, start + below(6))
            switch below(7) {
            case 0: text.removeSubrange(start..<end)
            case 1: text.insert(contentsOf: text[start..<end], at: start)
            case 2: text.replaceSubrange(start..<end, with: pick(Self.splinters))
            case 3: if start < text.count { text[start] ^= 1 << UInt8(below(8)) }
            case 4: if below(4) == 0 { text.removeSubrange(start...) }
            default: text.insert(contentsOf: pick(Self.splinters), at: start)
            }
        }
        return text
    }
}

// MARK: - Reading

extension [[UInt8]] {
    func joined(by separator: String) -> JoinedSequence<Self> {
        joined(separator: Array<UInt8>(separator.utf8))
    }
}

func json(_ text: String) throws -> JSONValue {
    try JSONValue(parsing: Array(text.utf8))
}

/// The error of refusing these bytes, or nil when they are accepted.
func jsonError(_ bytes: [UInt8]) -> JSONError? {
    do throws(JSONError) {
        _ = try JSONValue(parsing: bytes)
        return nil
    } catch {
        return error
    }
}

/// The error of refusing these bytes without making values, or nil when they are accepted.
func jsonValidationError(_ bytes: [UInt8]) -> JSONError? {
    do throws(JSONError) {
        try JSON.validate(bytes)
        return nil
    } catch {
        return error
    }
}
