// JSONLine.swift — one JSON object on one line, written member by member.

import TidemarkEvents

/// A line being written; names are ASCII words, and must come in sorted order.
struct JSONLine {
    private var bytes: [UInt8] = []

    init(capacity: Int) {
        bytes.reserveCapacity(capacity)
        bytes.append(UInt8(ascii: "{"))
    }

    /// The finished line, without a line end.
    var ended: [UInt8] {
        consuming get {
            bytes.append(UInt8(ascii: "}"))
            return bytes
        }
    }

    private mutating func begin(_ name: String) {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: name.utf8)
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }

    mutating func number(_ name: String, _ value: some FixedWidthInteger) {
        begin(name)
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        var rest = UInt64(value.magnitude)
        var (digits, bound) = (1, rest)
        while bound >= 10 { (digits, bound) = (digits + 1, bound / 10) }
        bytes.append(contentsOf: repeatElement(0, count: digits))
        // From the last digit on.
        for index in stride(from: bytes.count - 1, to: bytes.count - 1 - digits, by: -1) {
            bytes[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }

    /// A position; not written where there is none.
    mutating func reference(_ name: String, _ value: Position?) {
        if let value, value != .start { number(name, value.rawValue) }
    }

    /// A text; not written where there is none.
    mutating func text(_ name: String, _ value: String?) {
        guard let value else { return }
        begin(name)
        JSON.appendString(value, to: &bytes)
    }

    /// A value that is already JSON.
    mutating func json(_ name: String, _ value: [UInt8]) {
        begin(name)
        bytes.append(contentsOf: value)
    }
}
