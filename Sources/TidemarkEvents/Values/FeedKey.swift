// FeedKey.swift — the key by which a feed is listed.

/// A key of a feed: what a field of a record holds, as the server wrote it.
///
/// It goes back to the server verbatim.
public struct FeedKey: Sendable, Hashable {
    /// The text, or the digits of the number.
    public let text: String
    /// Whether it is a number.
    public let isNumber: Bool

    /// A text.
    public init(_ text: String) { self.init(text, isNumber: false) }

    private init(_ text: String, isNumber: Bool) {
        self.text = text
        self.isNumber = isNumber
    }

    /// The key in a JSON value; nil for anything but a text that is not empty, and a number.
    public init?(_ value: JSONValue) {
        switch value {
        case .string(let text) where !text.isEmpty: self.init(text)
        case .number(let number): self.init(number.text, isNumber: true)
        default: return nil
        }
    }

    /// The key as a JSON value.
    public var value: JSONValue {
        isNumber ? JSONNumber(text: text).map { .number($0) } ?? .string(text) : .string(text)
    }
}

extension FeedKey: CustomStringConvertible {
    public var description: String { text }
}
