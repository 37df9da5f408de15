// PrintableText.swift — makes text of servers and strangers safe for a terminal.
//
// A terminal takes control characters as commands, and other characters change its text direction.
// Both are shown as JSON escapes: \u001b, \u202e.

extension EventText {
    /// Bytes as one line of text.
    package static func onOneLine(_ bytes: [UInt8]) -> String {
        printable(String(decoding: bytes, as: UTF8.self))
    }

    /// The text on one line: line breaks become spaces, and characters that a terminal obeys are
    /// escaped.
    package static func printable(_ text: String) -> String {
        escaped(text) { "\t\n\r".unicodeScalars.contains($0) ? " " : nil }
    }

    /// The text with all characters escaped that a terminal obeys, line breaks included.
    package static func escaped(_ text: String) -> String { escaped(text) { _ in nil } }

    /// JSON with the same characters escaped; it still parses to the same value, and white space
    /// stays.
    package static func escaped(json: [UInt8]) -> [UInt8] {
        guard !json.allSatisfy({ isPlain($0) || $0 == 0x0A || $0 == 0x09 }) else { return json }
        let text = String(decoding: json, as: UTF8.self)
        return Array(escaped(text) { [0x09: "\t", 0x0A: "\n", 0x0D: " "][$0.value] }.utf8)
    }

    private static func escaped(
        _ text: String, as other: (Unicode.Scalar) -> String?
    ) -> String {
        guard !text.utf8.allSatisfy(isPlain) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if !scalar.isObeyed {
                result.unicodeScalars.append(scalar)
            } else if let other = other(scalar) {
                result += other
            } else {
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            }
        }
        return result
    }

    private static func isPlain(_ byte: UInt8) -> Bool { (0x20..<0x7F).contains(byte) }
}

extension Unicode.Scalar {
    /// Whether a terminal takes it as a command, a line break or a change of direction.
    ///
    /// Characters that join letters and emoji are none of these.
    fileprivate var isObeyed: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        case .format: value != 0x200C && value != 0x200D
        default: false
        }
    }
}
