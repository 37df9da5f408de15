// JSONScanner+Strings.swift — strings: their bytes checked, their escapes undone.

/// A string in the text: what is between the quotes, still escaped.
struct JSONStringToken {
    /// Offsets of the bytes between the quotes.
    var content: Range<Int>
    /// Whether there is a backslash in it.
    var hasEscapes: Bool
}

extension JSONScanner {
    /// Takes a string, standing on its opening quote.
    mutating func string(_ bytes: Span<UInt8>) throws(JSONError) -> JSONStringToken {
        let start = at + 1
        var end = start
        var hasEscapes = false
        while end < bytes.count {
            let byte = bytes[end]
            if byte == UInt8(ascii: "\"") {
                at = end + 1
                return JSONStringToken(content: start..<end, hasEscapes: hasEscapes)
            } else if byte == UInt8(ascii: "\\") {
                hasEscapes = true
                end = try Self.escape(bytes, at: end).end
            } else if byte >= 0x80 {
                end = try Self.multibyte(bytes, at: end)
            } else if byte < 0x20 {
                throw JSONError(.invalidString, at: end, detail: Self.name(byte))
            } else {
                end += 1
            }
        }
        throw JSONError(.unexpectedEnd, at: bytes.count)
    }

    /// The text of a string that was taken.
    func text(_ token: JSONStringToken) -> String {
        token.hasEscapes
            ? String(decoding: unescaped(token), as: UTF8.self) : text(token.content)
    }

    /// The text at these offsets, as it stands.
    func text(_ range: Range<Int>) -> String {
        String(decoding: slice(range), as: UTF8.self)
    }

    /// The bytes at these offsets.
    func slice(_ range: Range<Int>) -> ArraySlice<UInt8> {
        let start = source.startIndex
        return source[start + range.lowerBound..<start + range.upperBound]
    }

    /// The UTF-8 of a string that was taken, its escapes undone.
    func unescaped(_ token: JSONStringToken) -> [UInt8] {
        let bytes = source.span
        var output: [UInt8] = []
        output.reserveCapacity(token.content.count)
        var at = token.content.lowerBound
        while at < token.content.upperBound {
            if bytes[at] == UInt8(ascii: "\\"), let escape = try? Self.escape(bytes, at: at) {
                output.append(contentsOf: String(escape.scalar).utf8)
                at = escape.end
            } else {
                output.append(bytes[at])
                at += 1
            }
        }
        return output
    }
}

// MARK: - Escapes

extension JSONScanner {
    /// The scalar an escape (or a pair of them) stands for, and the offset behind it.
    private static func escape(
        _ bytes: Span<UInt8>, at start: Int
    ) throws(JSONError) -> (scalar: Unicode.Scalar, end: Int) {
        guard start + 1 < bytes.count else { throw JSONError(.unexpectedEnd, at: bytes.count) }
        let end = start + 2
        switch bytes[start + 1] {
        case UInt8(ascii: "\""): return ("\"", end)
        case UInt8(ascii: "\\"): return ("\\", end)
        case UInt8(ascii: "/"): return ("/", end)
        case UInt8(ascii: "b"): return ("\u{8}", end)
        case UInt8(ascii: "f"): return ("\u{C}", end)
        case UInt8(ascii: "n"): return ("\n", end)
        case UInt8(ascii: "r"): return ("\r", end)
        case UInt8(ascii: "t"): return ("\t", end)
        case UInt8(ascii: "u"): return try unicodeEscape(bytes, at: start)
        default:
            throw JSONError(.invalidEscape, at: start, detail: name(bytes[start + 1]))
        }
    }

    /// `\uXXXX`, or a pair of them for a scalar above U+FFFF.
    private static func unicodeEscape(
        _ bytes: Span<UInt8>, at start: Int
    ) throws(JSONError) -> (scalar: Unicode.Scalar, end: Int) {
        let high = try fourHexDigits(bytes, at: start + 2)
        if let scalar = Unicode.Scalar(high) { return (scalar, start + 6) }
        let next = start + 6
        guard high < 0xDC00, next + 1 < bytes.count,
            bytes[next] == UInt8(ascii: "\\"), bytes[next + 1] == UInt8(ascii: "u")
        else { throw JSONError(.loneSurrogate, at: start) }
        let low = try fourHexDigits(bytes, at: next + 2)
        guard low >= 0xDC00, low < 0xE000,
            let scalar = Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
        else { throw JSONError(.loneSurrogate, at: start) }
        return (scalar, next + 6)
    }

    private static func fourHexDigits(
        _ bytes: Span<UInt8>, at start: Int
    ) throws(JSONError) -> UInt32 {
        var value: UInt32 = 0
        for at in start..<start + 4 {
            guard at < bytes.count else { throw JSONError(.unexpectedEnd, at: bytes.count) }
            let byte = bytes[at]
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: throw JSONError(.invalidEscape, at: at, detail: name(byte))
            }
            value = value << 4 | UInt32(digit)
        }
        return value
    }
}

// MARK: - UTF-8

extension JSONScanner {
    /// The offset behind a multi-byte scalar; the table is Unicode's (core specification, 3-7).
    private static func multibyte(_ bytes: Span<UInt8>, at start: Int) throws(JSONError) -> Int {
        let lead = bytes[start]
        let count: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch lead {
        case 0xC2...0xDF:
            count = 2
        case 0xE0...0xEF:
            count = 3
            if lead == 0xE0 { second = 0xA0...0xBF }  // shorter forms
            if lead == 0xED { second = 0x80...0x9F }  // surrogates
        case 0xF0...0xF4:
            count = 4
            if lead == 0xF0 { second = 0x90...0xBF }  // shorter forms
            if lead == 0xF4 { second = 0x80...0x8F }  // above U+10FFFF
        default:
            throw JSONError(.invalidUTF8, at: start, detail: name(lead))
        }
        guard start + count <= bytes.count, second.contains(bytes[start + 1]) else {
            throw JSONError(.invalidUTF8, at: start, detail: name(lead))
        }
        for at in start + 2..<start + count where bytes[at] & 0xC0 != 0x80 {
            throw JSONError(.invalidUTF8, at: start, detail: name(lead))
        }
        return start + count
    }
}
