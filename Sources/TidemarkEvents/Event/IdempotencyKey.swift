// IdempotencyKey.swift — names a write, so that it can be asked for again and is made once.

/// The name of one write: what is asked for twice under the same key is written once.
///
/// It begins with the time at which it was made, and is good for ``daysValid`` days of logged time:
/// a later caller can't be told whether the write was made, and is refused.
public struct IdempotencyKey: Hashable, Sendable, CustomStringConvertible {
    /// How long a key is remembered, in days of logged time.
    public static let daysValid: Int64 = 30
    private static let byteCount = 16
    private static let timeBytes = 6

    /// Six bytes of milliseconds since 1970, big-endian, then ten of chance.
    package let bytes: [UInt8]

    /// A key that nobody has: made of the time and of two random numbers.
    package init(at time: Timestamp, _ random: (UInt64, UInt64)) {
        let milliseconds = UInt64(max(0, time.rawValue / 1000))
        var bytes: [UInt8] = []
        for shift in stride(from: 40, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: milliseconds >> UInt64(shift)))
        }
        bytes += Position(random.0).bigEndianBytes
        bytes += Position(random.1).bigEndianBytes.prefix(2)
        self.bytes = bytes
    }

    /// Reads a header's bytes; nil unless there are sixteen.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// Reads ``description``; nil unless it is 32 hexadecimal digits in lower case.
    public init?(_ text: String) {
        guard let bytes = Hexadecimal.decode(text) else { return nil }
        self.init(bytes: bytes)
    }

    /// Thirty-two hexadecimal digits; what to keep until the write is acknowledged.
    public var description: String { Hexadecimal.encode(bytes) }

    /// When the key was made, to the millisecond.
    public var madeAt: Timestamp {
        Timestamp(rawValue: bytes.prefix(Self.timeBytes).reduce(0) { $0 << 8 | Int64($1) } * 1000)
    }

    /// Whether the key is too old to be known at a time.
    package func isExpired(at now: Timestamp) -> Bool {
        madeAt.adding(seconds: Self.daysValid * 86_400) < now
    }
}
