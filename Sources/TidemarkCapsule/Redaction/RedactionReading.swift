// RedactionReading.swift — the state of reading a text as a number, so that its replacement is a
// number if and only if the text is one.

/// The state of reading a text as a number.
struct RedactionReading: Hashable {
    enum Part {
        case start, sign, zero, whole, fraction, none
    }

    private(set) var part = Part.start
    /// How many digits match those of the largest number that fits; nil after the first digit that
    /// differs.
    private(set) var ceiling: Int? = 0

    private static let largest = Array(String(Int64.max).utf8)

    /// Whether the text may still be a number.
    var isNumber: Bool { part != .none }

    /// Whether a 0 has a meaning that other digits do not have.
    var keepsZero: Bool { part != .whole && part != .none }

    /// Whether the next digit may decide whether a number of nineteen digits fits.
    var isAtCeiling: Bool { ceiling != nil && isNumber && part != .fraction }

    mutating func read(_ byte: UInt8) {
        let isDigit = byte &- 0x30 < 10
        if isDigit, part != .fraction, part == .whole || byte != 0x30 {
            ceiling = ceiling.flatMap { read in
                read < Self.largest.count && Self.largest[read] == byte ? read + 1 : nil
            }
        }
        switch part {
        case .start where byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+"): part = .sign
        case .start, .sign, .zero:
            if byte == 0x30 {
                part = .zero
            } else if part == .zero, byte == UInt8(ascii: ".") {
                part = .fraction
            } else {
                part = isDigit ? .whole : .none
            }
        case .whole where byte == UInt8(ascii: "."): part = .fraction
        case .whole, .fraction: if !isDigit { part = .none }
        case .none: break
        }
    }

    /// Whether a text is a whole number with so many digits that it may not fit into 64 bits.
    static func isLong(_ text: [UInt8]) -> Bool {
        guard text.count >= largest.count else { return false }
        var digits = text[...]
        if let sign = digits.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") {
            digits.removeFirst()
        }
        digits = digits.drop { $0 == 0x30 }
        return digits.count == largest.count && digits.allSatisfy { (0x30...0x39).contains($0) }
    }
}
