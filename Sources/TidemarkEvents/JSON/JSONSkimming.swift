// JSONSkimming.swift — looking at bytes that are known to be JSON, without checking them again.

extension JSON {
    /// The UTF-8 of a string's JSON text; nil when nothing in it is escaped, so that it stands
    /// between the quotes.
    package static func unescapedText(_ raw: ArraySlice<UInt8>) -> [UInt8]? {
        guard raw.contains(UInt8(ascii: "\\")) else { return nil }
        let token = JSONStringToken(content: 1..<max(1, raw.count - 1), hasEscapes: true)
        return JSONScanner(source: raw).unescaped(token)
    }

    /// The value of a number's JSON text where it is a plain integer of at most 18 digits.
    package static func smallInteger(_ raw: ArraySlice<UInt8>) -> Int64? {
        let isNegative = raw.first == UInt8(ascii: "-")
        let digits = isNegative ? raw.dropFirst() : raw
        guard (1...18).contains(digits.count) else { return nil }
        var value: Int64 = 0
        for byte in digits {
            let digit = byte &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            value = value * 10 + Int64(digit)
        }
        return isNegative ? -value : value
    }

    /// The members of an object with these names, in their order: the bytes of each value as they
    /// came, or nil where there is no such member.
    ///
    /// - Parameters:
    ///   - names: the UTF-8 of the keys.
    ///   - bytes: an object that was checked before; of anything else the result means nothing.
    package static func members(
        _ names: [[UInt8]], of bytes: ArraySlice<UInt8>
    ) -> [ArraySlice<UInt8>?] {
        var found = [ArraySlice<UInt8>?](repeating: nil, count: names.count)
        var left = names.count
        guard left > 0 else { return found }
        let start = bytes.startIndex
        forEachMember(of: bytes) { key, value in
            let name = bytes[start + key.lowerBound..<start + key.upperBound]
            for index in names.indices where found[index] == nil && isKey(names[index], name) {
                found[index] = bytes[start + value.lowerBound..<start + value.upperBound]
                left -= 1
                break
            }
            return left > 0
        }
        return found
    }

    /// Walks over the members of an object, in their order; `body` says whether to go on.
    ///
    /// - Parameters:
    ///   - bytes: an object that was checked before; of anything else what is found means nothing.
    ///   - body: takes where the key stands, without its quotes, and where the value does, both
    ///     counted from the first byte.
    @inline(__always)
    static func forEachMember(
        of bytes: ArraySlice<UInt8>, _ body: (_ key: Range<Int>, _ value: Range<Int>) -> Bool
    ) {
        var skimmer = JSONSkimmer()
        let span = bytes.span
        skimmer.skip(to: UInt8(ascii: "{"), span)
        while skimmer.skip(to: UInt8(ascii: "\""), span) {
            let key = skimmer.at..<stringEnd(span, skimmer.at) - 1
            skimmer.at = key.upperBound + 1
            guard skimmer.skip(to: UInt8(ascii: ":"), span) else { break }
            skimmer.skipWhitespace(span)
            let value = skimmer.value(span)
            guard value.upperBound <= bytes.count, !value.isEmpty else { break }
            guard body(key, value) else { break }
        }
    }

    /// The offset behind the string whose content begins at one; more than there are without an
    /// end.
    @inline(__always)
    static func stringEnd(_ bytes: Span<UInt8>, _ start: Int) -> Int {
        var end = start
        while end < bytes.count {
            switch bytes[end] {
            case UInt8(ascii: "\""): return end + 1
            case UInt8(ascii: "\\"): end += 2
            default: end += 1
            }
        }
        return bytes.count + 1
    }

    private static func isKey(_ name: [UInt8], _ key: ArraySlice<UInt8>) -> Bool {
        if key.count == name.count, key.elementsEqual(name) { return !key.contains(0x5C) }
        guard key.count > name.count, key.contains(0x5C) else { return false }
        let token = JSONStringToken(content: 0..<key.count, hasEscapes: true)
        return JSONScanner(source: key).unescaped(token) == name
    }
}

/// A place in bytes that are known to be JSON.
private struct JSONSkimmer {
    var at = 0

    /// Goes behind the next such byte; false where there is none.
    @discardableResult
    mutating func skip(to byte: UInt8, _ bytes: Span<UInt8>) -> Bool {
        while at < bytes.count {
            at += 1
            if bytes[at - 1] == byte { return true }
        }
        return false
    }

    mutating func skipWhitespace(_ bytes: Span<UInt8>) {
        while at < bytes.count, bytes[at] <= 0x20 { at += 1 }
    }

    /// Takes one value.
    mutating func value(_ bytes: Span<UInt8>) -> Range<Int> {
        let start = at
        var depth = 0
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: "\""):
                at += 1
                at = JSON.stringEnd(bytes, at)
                if depth == 0 { return start..<at }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return start..<at }
                depth -= 1
                if depth == 0 {
                    at += 1
                    return start..<at
                }
            case 0...0x20, UInt8(ascii: ","):
                if depth == 0 { return start..<at }
            default: break
            }
            at += 1
        }
        return start..<at
    }
}
