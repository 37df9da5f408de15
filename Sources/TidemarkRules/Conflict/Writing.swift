// Writing.swift — whether a value is what a server makes of another one: another writing of the
// same. Of letters only those of ASCII, so that every system decides alike.

package import TidemarkEvents

/// How servers write values otherwise.
enum Writing {
    /// Whether a known normalisation makes `stored` of `sent`, and leaves `before` as it is.
    ///
    /// A value from before that is not normalised tells of a server that does not normalise: then
    /// somebody wrote the new one so.
    static func isNormalised(
        _ sent: JSONValue?, as stored: JSONValue?, before: JSONValue?
    ) -> Bool {
        switch (sent, stored) {
        case (nil, .null?), (.null?, nil): return true
        case (.string(let sent)?, .string(let stored)?):
            if let time = RFC3339.parse(sent), time == RFC3339.parse(stored) { return true }
            if let time = RFC3339.parseLocal(sent), time == RFC3339.parseLocal(stored) {
                return true
            }
            var known: [UInt8]?
            if case .string(let text)? = before { known = Array(text.utf8) }
            let (sent, stored) = (Array(sent.utf8), Array(stored.utf8))
            return Normalisation.allCases.contains { normalise in
                normalise(sent) == stored && known.map { normalise($0) == $0 } ?? true
            }
        default: return false
        }
    }

    /// What servers do to texts.
    private enum Normalisation: CaseIterable {
        case trimming, lowercasing, uppercasing, trimmingAndLowercasing, trimmingAndUppercasing

        func callAsFunction(_ text: [UInt8]) -> [UInt8] {
            switch self {
            case .trimming: trimmed(text)
            case .lowercasing: lowercased(text)
            case .uppercasing: uppercased(text)
            case .trimmingAndLowercasing: lowercased(trimmed(text))
            case .trimmingAndUppercasing: uppercased(trimmed(text))
            }
        }
    }

    private static func lowercased(_ text: [UInt8]) -> [UInt8] {
        text.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
    }

    private static func uppercased(_ text: [UInt8]) -> [UInt8] {
        text.map { (0x61...0x7A).contains($0) ? $0 - 0x20 : $0 }
    }

    /// Without white space at both ends.
    private static func trimmed(_ text: [UInt8]) -> [UInt8] {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
        guard let first = text.firstIndex(where: { !isSpace($0) }),
            let last = text.lastIndex(where: { !isSpace($0) })
        else { return [] }
        return Array(text[first...last])
    }
}

extension JSONValue {
    /// Whether it is what servers give to a field that nobody sets, or leave out.
    package var isEmpty: Bool {
        switch self {
        case .null: true
        case .bool(let flag): !flag
        case .number(let number): number.double == 0
        case .string(let text): text.isEmpty
        case .array(let items): items.isEmpty
        case .object(let object): object.isEmpty
        }
    }
}

extension JSONValue? {
    /// Whether it is a text that was sent, without white space at one of its ends, or at both, as
    /// Python's `strip` and PHP's `trim` cut it off, and Laravel with what has no width.
    package func isTrimmed(_ sent: JSONValue?) -> Bool {
        guard case .string(let stored)? = self, case .string(let sent)? = sent else { return false }
        let (part, whole) = (Array(stored.unicodeScalars), Array(sent.unicodeScalars))
        let start = whole.prefix(while: \.isCutOff).count - part.prefix(while: \.isCutOff).count
        guard start >= 0, whole[start...].starts(with: part) else { return false }
        return whole[(start + part.count)...].allSatisfy(\.isCutOff)
    }

    /// Whether there is nothing, and what a server took is empty: that it may leave out.
    package func leavesOut(_ sent: JSONValue?) -> Bool { self == nil && sent?.isEmpty == true }
}

extension Unicode.Scalar {
    /// Whether servers cut it off the ends of texts.
    ///
    /// The list is fixed: what was decided once is decided so with every version of Unicode.
    fileprivate var isCutOff: Bool {
        switch value {
        case 0, 0x09...0x0D, 0x1C...0x20, 0x85, 0xA0, 0x1680, 0x180E, 0x2000...0x200B, 0x200E,
            0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF:
            true
        default: false
        }
    }
}
