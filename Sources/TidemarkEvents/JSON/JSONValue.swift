// JSONValue.swift — any JSON value.

/// A JSON value, with numbers and key order as they were written.
///
/// Equality is by meaning: numbers by decimal value, objects in any member order, and strings byte
/// for byte (composed and decomposed "é" differ, as they do for servers).
public enum JSONValue: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number, its text verbatim.
    case number(JSONNumber)
    /// A string, unescaped.
    case string(String)
    case array([JSONValue])
    /// An object, its members in order.
    case object(JSONObject)

    /// Whether both mean the same.
    public static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.string(let left), .string(let right)): ExactString(left) == ExactString(right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        case (.null, _), (.bool, _), (.number, _), (.string, _), (.array, _), (.object, _): false
        }
    }
}

extension JSONValue {
    /// The string, or nil when this is none.
    public var stringValue: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The object, or nil when this is none.
    public var object: JSONObject? {
        if case .object(let value) = self { value } else { nil }
    }

    /// The elements, or nil when this is no array.
    public var array: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    /// The truth value, or nil when this is none.
    public var boolValue: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The number as an exact integer, or nil when this is no number or not exact.
    public var int64Value: Int64? {
        if case .number(let value) = self { value.int64 } else { nil }
    }

    /// The member's value, or nil when this is no object or has no such key.
    public subscript(key: String) -> JSONValue? {
        object?[key]
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    public init(stringLiteral value: String) {
        self = .string(value)
    }

    public init(integerLiteral value: Int64) {
        self = .number(JSONNumber(value))
    }

    /// `true` or `false`.
    public init(booleanLiteral value: Bool) {
        self = .bool(value)
    }

    /// `null`.
    public init(nilLiteral: ()) {
        self = .null
    }

    public init(arrayLiteral elements: JSONValue...) {
        self = .array(elements)
    }

    /// An object with these members in this order; the keys must differ.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        var object = JSONObject()
        for (key, value) in elements {
            precondition(object[key] == .none, "a JSON object needs unique keys")
            object.append(newKey: key, value)
        }
        self = .object(object)
    }
}

extension JSONValue: CustomStringConvertible {
    /// The compact JSON text.
    public var description: String { String(decoding: encoded(), as: UTF8.self) }
}
