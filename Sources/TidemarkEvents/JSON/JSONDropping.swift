// JSONDropping.swift — a JSON text without members of some names, wherever they stand.
//
// Told by the bytes alone: in JSON, `"name"` before a colon is always a key, since a quote within a
// string has a backslash before it. So a text that is cut off, or is no JSON elsewhere, loses these
// members, too; a value that does not end takes the rest of the text with it.

extension JSON {
    /// The bytes without members of these names, at any depth, and without the commas that went
    /// with them; all other bytes stay.
    ///
    /// - Parameter names: without escapes; a slash and letters beyond ASCII are found also with the
    ///   escapes of PHP and Python.
    package static func dropping(_ names: [String], from bytes: [UInt8]) -> [UInt8] {
        names.flatMap(spellings).reduce(bytes) { dropping($1, from: $0) }
    }

    /// How a name may be written as a key: as it is, and with escapes that are usual.
    private static func spellings(of name: String) -> [[UInt8]] {
        var key: [UInt8] = []
        JSON.appendString(name, to: &key)
        var all = [String(decoding: key, as: UTF8.self)]
        if name.utf8.contains(UInt8(ascii: "/")) {
            all += all.map { text in
                text.unicodeScalars.map { $0 == "/" ? "\\/" : String($0) }.joined()
            }
        }
        if name.utf8.contains(where: { $0 >= 0x80 }) {
            all += [false, true].flatMap { isUppercase in
                all.map { escapingLetters(of: $0, isUppercase: isUppercase) }
            }
        }
        return all.map { Array($0.utf8) }
    }

    /// A text with all letters beyond ASCII as `\u00e4`, or `\u00E4`.
    private static func escapingLetters(of text: String, isUppercase: Bool) -> String {
        text.utf16.map { unit in
            if unit < 0x80 { return String(Unicode.Scalar(UInt8(unit))) }
            let digits = String(unit, radix: 16, uppercase: isUppercase)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined()
    }

    private static func dropping(_ key: [UInt8], from bytes: [UInt8]) -> [UInt8] {
        // What stays of the bytes before `next`, and its last byte that is no white space.
        var kept: [UInt8] = []
        var last: Int?
        var (next, rest) = (0, 0)
        while let place = bytes.span.firstPlace(of: key.span, from: rest) {
            // After a backslash it is the end of a longer key.
            let before = place > next ? bytes[place - 1] : kept.last
            guard before != UInt8(ascii: "\\"),
                let end = memberEnd(bytes, after: place + key.count)
            else {
                rest = place + key.count
                continue
            }
            let start = kept.count
            kept += bytes[next..<place]
            last = kept[start...].lastIndex { !isSpace($0) } ?? last
            next = end
            // With the comma after it, or else the one before it.
            let comma = skipSpace(bytes, end)
            if comma < bytes.count, bytes[comma] == UInt8(ascii: ",") {
                next = skipSpace(bytes, comma + 1)
            } else if let comma = last, kept[comma] == UInt8(ascii: ",") {
                kept.removeLast(kept.count - comma)
                last = kept.lastIndex { !isSpace($0) }
            }
            rest = next
        }
        return next == 0 ? bytes : kept + bytes[next...]
    }

    /// Where the value of a key ends; nil where no colon follows.
    static func memberEnd(_ bytes: [UInt8], after key: Int) -> Int? {
        var at = skipSpace(bytes, key)
        guard at < bytes.count, bytes[at] == UInt8(ascii: ":") else { return nil }
        at = skipSpace(bytes, at + 1)
        var depth = 0
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: "\""):
                at = stringEnd(bytes, at)
                if depth == 0 { return at }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return withoutSpace(bytes, before: at) }
                depth -= 1
                if depth == 0 { return at + 1 }
            case UInt8(ascii: ","): if depth == 0 { return withoutSpace(bytes, before: at) }
            default: break
            }
            at += 1
        }
        return bytes.count
    }

    /// Where a string ends that begins at a quote.
    private static func stringEnd(_ bytes: [UInt8], _ quote: Int) -> Int {
        var at = quote + 1
        while at < bytes.count, bytes[at] != UInt8(ascii: "\"") {
            at += bytes[at] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(at + 1, bytes.count)
    }

    private static func skipSpace(_ bytes: [UInt8], _ start: Int) -> Int {
        var at = start
        while at < bytes.count, isSpace(bytes[at]) { at += 1 }
        return at
    }

    /// The end of what stands before a place, without the white space between.
    private static func withoutSpace(_ bytes: [UInt8], before place: Int) -> Int {
        (bytes[..<place].lastIndex { !isSpace($0) } ?? 0) + 1
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }
}
