// Position.swift — an event's place in the log.

/// An event's place in the log: 1, 2, 3 …, dense, never reused.
///
/// Written `@1234` everywhere.
public struct Position: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number; 0 is the place before the first event.
    public let rawValue: UInt64

    /// The place with that number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The place with that number.
    public init(_ rawValue: UInt64) { self.rawValue = rawValue }

    /// Before the first event.
    public static let start = Position(0)

    /// The place after this one.
    public var next: Position { Position(rawValue == .max ? .max : rawValue + 1) }

    /// `@` and the number.
    public var description: String { "@\(rawValue)" }

    /// Earlier in the log is smaller.
    public static func < (left: Position, right: Position) -> Bool {
        left.rawValue < right.rawValue
    }

    /// How many bytes ``bigEndianBytes`` are.
    package static let byteCount = 8

    /// Eight bytes, big-endian: the order of the bytes is the order of the positions.
    package var bigEndianBytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(8)
        appendBigEndianBytes(to: &bytes)
        return bytes
    }

    /// Adds ``bigEndianBytes`` to `output`.
    package func appendBigEndianBytes(to output: inout [UInt8]) {
        for shift in stride(from: 56, through: 0, by: -8) {
            output.append(UInt8(truncatingIfNeeded: rawValue >> UInt64(shift)))
        }
    }

    /// Reads what ``bigEndianBytes`` wrote; nil unless there are exactly eight bytes.
    package init?(bigEndianBytes bytes: [UInt8]) { self.init(bytes.span) }

    /// Reads what ``bigEndianBytes`` wrote; nil unless there are exactly eight bytes.
    package init?(bigEndianBytes bytes: ArraySlice<UInt8>) { self.init(bytes.span) }

    /// Reads ``bigEndianBytes`` where they lie; nil unless there are exactly eight bytes.
    package init?(_ bytes: Span<UInt8>) {
        guard bytes.count == 8 else { return nil }
        var value: UInt64 = 0
        for index in 0..<8 { value = value << 8 | UInt64(bytes[index]) }
        self.init(value)
    }

    /// Reads `@1234` or `1234`.
    public init?(_ text: some StringProtocol) {
        let digits = text.hasPrefix("@") ? text.dropFirst() : text[...]
        guard let value = UInt64(digits), value > 0 else { return nil }
        self.init(value)
    }
}

/// As a number.
extension Position: Codable {}
