// JSONScanner.swift — the grammar of RFC 8259, written once; all that reads JSON walks with it.
//
// The bytes are lent as a span to every call, so the hot loops run on two registers. `source` is
// the same bytes as a slice, for making strings. Offsets count from the first byte of both.
// Recursion is at most JSONLimits.depthMax deep.

/// A place in a JSON text, and what must be remembered to go on from there.
struct JSONScanner {
    let source: ArraySlice<UInt8>
    /// The offset of the next unread byte.
    var at = 0
    var depth = 0
    /// The keys seen so far of every open object, the innermost last.
    var openKeys: [JSONKeyMark] = []

    /// Walks a whole text: `body` reads its one value, and nothing may follow.
    static func whole<Result>(
        _ source: ArraySlice<UInt8>,
        _ body: (inout JSONScanner, Span<UInt8>) throws(JSONError) -> Result
    ) throws(JSONError) -> Result {
        let bytes = source.span
        var scanner = JSONScanner(source: source)
        if bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF {
            throw JSONError(.byteOrderMark, at: 0)
        }
        scanner.skipWhitespace(bytes)
        if scanner.at == bytes.count { throw JSONError(.empty, at: scanner.at) }
        let result = try body(&scanner, bytes)
        scanner.skipWhitespace(bytes)
        if scanner.at < bytes.count { throw JSONError(.trailingBytes, at: scanner.at) }
        return result
    }

    /// Walks over one value, making nothing of it.
    mutating func skipValue(_ bytes: Span<UInt8>) throws(JSONError) {
        switch try peek(bytes) {
        case UInt8(ascii: "{"):
            try members(bytes) { (scanner, bytes, _) throws(JSONError) in
                try scanner.skipValue(bytes)
            }
        case UInt8(ascii: "["):
            try elements(bytes) { (scanner, bytes) throws(JSONError) in
                try scanner.skipValue(bytes)
            }
        default:
            _ = try scalar(bytes)
        }
    }

    /// Walks over one value and makes it.
    mutating func parseValue(_ bytes: Span<UInt8>) throws(JSONError) -> JSONValue {
        switch try peek(bytes) {
        case UInt8(ascii: "{"):
            var object = JSONObject()
            try members(bytes) { (scanner, bytes, key) throws(JSONError) in
                object.append(newKey: scanner.text(key), try scanner.parseValue(bytes))
            }
            return .object(object)
        case UInt8(ascii: "["):
            var array: [JSONValue] = []
            try elements(bytes) { (scanner, bytes) throws(JSONError) in
                array.append(try scanner.parseValue(bytes))
            }
            return .array(array)
        default:
            switch try scalar(bytes) {
            case .null: return .null
            case .bool(let value): return .bool(value)
            case .number(let range): return .number(JSONNumber(scanned: text(range)))
            case .string(let token): return .string(text(token))
            }
        }
    }
}

// MARK: - Objects and arrays

extension JSONScanner {
    /// Walks over an object; `each` reads one member's value, standing on its first byte.
    @inline(__always)
    mutating func members(
        _ bytes: Span<UInt8>,
        _ each: (inout JSONScanner, Span<UInt8>, JSONStringToken) throws(JSONError) -> Void
    ) throws(JSONError) {
        try enter()
        if openKeys.capacity == 0 { openKeys.reserveCapacity(16) }
        var keys = JSONKeys(openKeys: openKeys.count)
        skipWhitespace(bytes)
        if try peek(bytes) == UInt8(ascii: "}") { return leave() }
        while true {
            guard try peek(bytes) == UInt8(ascii: "\"") else { throw unexpected(bytes) }
            let key = try string(bytes)
            try remember(key, in: &keys, bytes)
            skipWhitespace(bytes)
            guard try peek(bytes) == UInt8(ascii: ":") else { throw unexpected(bytes) }
            at += 1
            skipWhitespace(bytes)
            try each(&self, bytes, key)
            if try isLast(bytes, closing: UInt8(ascii: "}")) { break }
        }
        openKeys.removeLast(openKeys.count - keys.base)
        leave()
    }

    /// Walks over an array; `each` reads one element, standing on its first byte.
    @inline(__always)
    mutating func elements(
        _ bytes: Span<UInt8>,
        _ each: (inout JSONScanner, Span<UInt8>) throws(JSONError) -> Void
    ) throws(JSONError) {
        try enter()
        skipWhitespace(bytes)
        if try peek(bytes) == UInt8(ascii: "]") { return leave() }
        while true {
            try each(&self, bytes)
            if try isLast(bytes, closing: UInt8(ascii: "]")) { break }
        }
        leave()
    }

    /// After a member or an element: takes a comma, or stands on the closing bracket.
    private mutating func isLast(_ bytes: Span<UInt8>, closing: UInt8) throws(JSONError) -> Bool {
        skipWhitespace(bytes)
        let byte = try peek(bytes)
        if byte == closing { return true }
        guard byte == UInt8(ascii: ",") else { throw unexpected(bytes) }
        at += 1
        skipWhitespace(bytes)
        return false
    }

    private mutating func enter() throws(JSONError) {
        guard depth < JSONLimits.depthMax else { throw JSONError(.tooDeep, at: at) }
        depth += 1
        at += 1
    }

    private mutating func leave() {
        depth -= 1
        at += 1
    }
}

// MARK: - Bytes

extension JSONScanner {
    /// The next byte, not taken.
    @inline(__always)
    func peek(_ bytes: Span<UInt8>) throws(JSONError) -> UInt8 {
        guard at < bytes.count else { throw JSONError(.unexpectedEnd, at: at) }
        return bytes[at]
    }

    /// Takes space, tab, line feed and carriage return, and nothing else.
    @inline(__always)
    mutating func skipWhitespace(_ bytes: Span<UInt8>) {
        while at < bytes.count {
            let byte = bytes[at]
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
            at += 1
        }
    }

    /// The error of the next byte being what it is.
    func unexpected(_ bytes: Span<UInt8>) -> JSONError {
        JSONError(.unexpectedByte, at: at, detail: Self.name(bytes[at]))
    }

    /// A byte for a person to read: `0x7d "}"`.
    static func name(_ byte: UInt8) -> String {
        let hex = "0x" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16)
        guard byte > 0x20, byte < 0x7F else { return hex }
        return "\(hex) \"\(Character(Unicode.Scalar(byte)))\""
    }
}
