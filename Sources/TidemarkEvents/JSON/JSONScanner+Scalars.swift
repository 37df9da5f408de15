// JSONScanner+Scalars.swift — numbers and the three words.

/// A value that holds no other, as offsets into the text.
enum JSONScalar {
    case null
    case bool(Bool)
    case number(Range<Int>)
    case string(JSONStringToken)
}

extension JSONScanner {
    /// Takes a string, a number or a word.
    @inline(__always)
    mutating func scalar(_ bytes: Span<UInt8>) throws(JSONError) -> JSONScalar {
        switch try peek(bytes) {
        case UInt8(ascii: "\""):
            return .string(try string(bytes))
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            return .number(try number(bytes))
        case UInt8(ascii: "t"):
            try word("true", bytes)
            return .bool(true)
        case UInt8(ascii: "f"):
            try word("false", bytes)
            return .bool(false)
        case UInt8(ascii: "n"):
            try word("null", bytes)
            return .null
        default:
            throw unexpected(bytes)
        }
    }

    private mutating func word(_ word: String, _ bytes: Span<UInt8>) throws(JSONError) {
        for byte in word.utf8 {
            guard try peek(bytes) == byte else { throw unexpected(bytes) }
            at += 1
        }
    }

    /// Takes a number: `-`?, digits without a leading zero, then a fraction, then an exponent.
    mutating func number(_ bytes: Span<UInt8>) throws(JSONError) -> Range<Int> {
        let start = at
        if bytes[at] == UInt8(ascii: "-") { at += 1 }
        let integerStart = at
        try digits(bytes)
        if bytes[integerStart] == UInt8(ascii: "0"), at > integerStart + 1 {
            throw JSONError(.invalidNumber, at: integerStart, detail: "(leading zero)")
        }
        if at < bytes.count, bytes[at] == UInt8(ascii: ".") {
            at += 1
            try digits(bytes)
        }
        if at < bytes.count, bytes[at] | 0x20 == UInt8(ascii: "e") {
            at += 1
            if at < bytes.count, bytes[at] == UInt8(ascii: "+") || bytes[at] == UInt8(ascii: "-") {
                at += 1
            }
            try digits(bytes)
        }
        return start..<at
    }

    /// Takes one digit or more.
    @inline(__always)
    private mutating func digits(_ bytes: Span<UInt8>) throws(JSONError) {
        let start = at
        while at < bytes.count, bytes[at] &- UInt8(ascii: "0") < 10 { at += 1 }
        if at == start { throw JSONError(.invalidNumber, at: at, detail: "(digit missing)") }
    }

    /// Whether these bytes are one number and nothing else.
    static func isNumber(_ text: [UInt8]) -> Bool {
        guard !text.isEmpty else { return false }
        var scanner = JSONScanner(source: text[...])
        guard (try? scanner.number(text.span)) != nil else { return false }
        return scanner.at == text.count
    }
}
