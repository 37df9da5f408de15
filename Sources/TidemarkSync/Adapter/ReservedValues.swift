// ReservedValues.swift — what an adapter makes of an answer with values that are reserved for this
// device.

public import TidemarkEvents

/// Values that a server reserved for this device.
public struct ReservedValues: Sendable, Hashable {
    /// One of them.
    public struct Value: Sendable, Hashable {
        /// The value: at most 240 bytes of UTF-8, without control characters.
        public var value: String
        /// The moment from which on it can't be used any more; nil where it has no end.
        ///
        /// It is compared with the device's clock when the value is taken.
        public var until: Timestamp?

        public init(_ value: String, until: Timestamp?) {
            self.value = value
            self.until = until
        }
    }

    /// By what the server made them; nil where it says nothing of that.
    ///
    /// Values that were made otherwise and are left here are not handed out any more.
    public var pattern: String?
    /// The values, in the server's order.
    public var values: [Value]
    /// How many parts of the answer are no values, or can't be read.
    public var unreadable: Int

    public init(pattern: String?, values: [Value], unreadable: Int = 0) {
        self.pattern = pattern
        self.values = values
        self.unreadable = unreadable
    }
}
