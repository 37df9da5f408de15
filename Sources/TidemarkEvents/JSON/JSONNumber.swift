// JSONNumber.swift — a number as it was written, compared by what it means.

/// A JSON number: its text verbatim, equal to another of the same decimal value.
///
/// `1`, `1.0` and `10e-1` are equal, and so are `0` and `-0`. No digit is ever lost to a binary
/// format. An exponent whose size passes `Int64.max`, as written or after moving the point behind
/// the last digit, counts as ±`Int64.max`.
public struct JSONNumber: Sendable, CustomStringConvertible {
    /// The number as RFC 8259 writes it, exactly as it came.
    public let text: String

    /// The number with this text, or nil when the text is not a JSON number.
    public init?(text: String) {
        guard JSONScanner.isNumber(Array(text.utf8)) else { return nil }
        self.text = text
    }

    /// An integer in decimal.
    public init(_ value: some BinaryInteger) {
        text = String(value)
    }

    /// The number that a text is, written as an id would be; nil for any other text.
    package init?(wholeNumber text: String) {
        guard let number = Int64(text), String(number) == text else { return nil }
        self.text = text
    }

    /// The number with a text the scanner has accepted.
    init(scanned text: String) {
        self.text = text
    }

    /// The value as an integer, or nil when it is no integer or out of range; never rounded.
    public var int64: Int64? {
        // Nearly every one is written plainly.
        Int64(text) ?? Decimal(text).int64
    }

    /// One text for all writings of the same value: `1` for `1.0` and `10e-1`.
    package var canonicalText: String {
        let value = Decimal(text)
        return value.int64.map { String($0) } ?? value.description
    }

    /// The greatest integer that is not above the number times a power of ten; nil when it is out
    /// of range.
    package func floor(timesTenTo power: Int64 = 0) -> Int64? { Decimal(text).floor(power) }

    /// The nearest binary floating-point value, or nil when that is not finite.
    public var double: Double? {
        guard let value = Double(text), value.isFinite else { return nil }
        return value
    }

    public var description: String { text }
}

extension JSONNumber: Hashable {
    /// Whether both have the same decimal value, however written.
    public static func == (left: Self, right: Self) -> Bool {
        left.text == right.text || Decimal(left.text) == Decimal(right.text)
    }

    /// Hashes the decimal value.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(Decimal(text))
    }
}

/// A decimal value in its one normal form: ±digits × 10^exponent.
///
/// The digits have no zero at either end; zero has none at all, no sign, and exponent 0.
private struct Decimal: Hashable {
    var isNegative = false
    var digits: [UInt8] = []
    var exponent: Int64 = 0

    /// The normal form of a valid JSON number.
    init(_ text: String) {
        var scale: Int64 = 0  // digits behind the point, negated, then zeros taken off the end
        var isFraction = false
        var rest = text.utf8[...]
        reading: while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "-"):
                isNegative = true
            case UInt8(ascii: "."):
                isFraction = true
            case UInt8(ascii: "e"), UInt8(ascii: "E"):
                break reading
            default:
                if isFraction { scale -= 1 }
                let digit = byte &- UInt8(ascii: "0")
                if digit != 0 || !digits.isEmpty { digits.append(digit) }
            }
        }
        while digits.last == 0 {
            digits.removeLast()
            scale += 1
        }
        if digits.isEmpty {
            isNegative = false
        } else {
            exponent = Self.exponent(written: rest, scale: scale)
        }
    }

    /// The exponent that was written plus `scale`, clamped to ±`Int64.max`.
    private static func exponent(written: Substring.UTF8View, scale: Int64) -> Int64 {
        var size: Int64 = 0
        var isNegative = false
        for byte in written {
            if byte == UInt8(ascii: "-") { isNegative = true }
            guard byte >= UInt8(ascii: "0") else { continue }
            let (tens, overflowTens) = size.multipliedReportingOverflow(by: 10)
            let (next, overflow) = tens.addingReportingOverflow(Int64(byte &- UInt8(ascii: "0")))
            if overflowTens || overflow { return isNegative ? -Int64.max : .max }
            size = next
        }
        let (sum, overflow) = (isNegative ? -size : size).addingReportingOverflow(scale)
        if overflow { return scale < 0 ? -Int64.max : .max }
        return max(sum, -Int64.max)
    }

    /// All digits and the exponent: `-15e-1`.
    var description: String {
        let sign = isNegative ? "-" : ""
        return sign + digits.map { String($0) }.joined() + "e\(exponent)"
    }

    /// The exact integer, or nil.
    var int64: Int64? {
        let placesMax: Int64 = 19
        guard exponent >= 0, exponent <= placesMax,
            Int64(digits.count) + exponent <= placesMax
        else { return nil }
        var value: Int64 = 0  // kept at or below zero, because Int64.min has no positive twin
        for digit in digits + Array(repeating: 0, count: Int(exponent)) {
            let (tens, overflowTens) = value.multipliedReportingOverflow(by: 10)
            let (next, overflow) = tens.subtractingReportingOverflow(Int64(digit))
            if overflowTens || overflow { return nil }
            value = next
        }
        if isNegative { return value }
        return value == .min ? nil : -value
    }

    /// The greatest integer not above the value times a power of ten, or nil when out of range.
    func floor(_ power: Int64) -> Int64? {
        var scaled = self
        let (exponent, overflow) = exponent.addingReportingOverflow(power)
        guard !overflow, exponent < 0 else {
            scaled.exponent = exponent
            return overflow ? nil : scaled.int64
        }
        scaled.digits.removeLast(Int(min(Int64(digits.count), -exponent)))
        scaled.exponent = 0
        // What was cut off is not nothing, because the last digit is not zero.
        guard let whole = scaled.int64 else { return nil }
        return isNegative ? (whole == .min ? nil : whole - 1) : whole
    }
}
