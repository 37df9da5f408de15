// QueryValue.swift — the values that properties are compared with.

public import Foundation
public import TidemarkEvents

/// A type whose values a query can compare with values in documents.
///
/// Strings, booleans, numbers, dates and ids conform. An enum with such raw values conforms by
/// declaring it: `enum Colour: String, Codable, QueryValue`. Other types that are coded as one of
/// these can conform by returning its literal. `UUID` and `URL` do not, as servers write them in
/// other ways than Swift, in small letters and without percents: declare such a property as a text
/// or as a type of your own.
public protocol QueryValue: Sendable {
    /// The value's form in a document.
    var queryLiteral: QueryLiteral { get }
    /// Whether the type's values are times; usually they are not.
    static var queryKind: IndexField.Kind { get }
}

/// A value in the form that queries compare: numbers by value, strings by the bytes of their UTF-8.
@nonexhaustive public enum QueryLiteral: Sendable, Hashable {
    /// Null, or a missing value.
    case null
    /// A boolean.
    case bool(Bool)
    case number(JSONNumber)
    case text(String)
    /// A moment, in any notation of the server.
    case time(Timestamp)
    /// An entity, by any of its ids, which may be strings or whole numbers.
    case id(EntityKey)

    /// Whether both are the same value; texts are where their bytes are.
    public static func == (left: QueryLiteral, right: QueryLiteral) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.text(let left), .text(let right)): ExactString(left) == ExactString(right)
        case (.time(let left), .time(let right)): left == right
        case (.id(let left), .id(let right)): left == right
        case (.null, _), (.bool, _), (.number, _), (.text, _), (.time, _), (.id, _): false
        }
    }

    /// Adds the value.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .number(let value): hasher.combine(value)
        case .text(let value): hasher.combine(ExactString(value))
        case .time(let value): hasher.combine(value)
        case .id(let value): hasher.combine(value)
        }
    }
}

extension QueryValue {
    /// Not a time.
    public static var queryKind: IndexField.Kind { .value }
}

extension QueryValue where Self: RawRepresentable, RawValue: QueryValue {
    public var queryLiteral: QueryLiteral { rawValue.queryLiteral }
    /// The kind of the raw value.
    public static var queryKind: IndexField.Kind { RawValue.queryKind }
}

extension QueryValue where Self: BinaryInteger {
    public var queryLiteral: QueryLiteral { .number(JSONNumber(self)) }
}

extension QueryValue where Self: BinaryFloatingPoint & LosslessStringConvertible {
    /// The number as it is coded; infinity compares as greater than every number, and NaN is null.
    public var queryLiteral: QueryLiteral {
        if isNaN { return .null }
        let text = isFinite ? description : (self < 0 ? "-1e999" : "1e999")
        return JSONNumber(text: text).map { .number($0) } ?? .null
    }
}

extension ID: QueryValue where Of: Entity {
    /// The entity that the id names.
    public var queryLiteral: QueryLiteral { .id(Of.key(self)) }
}

extension Int: QueryValue {}
extension Int8: QueryValue {}
extension Int16: QueryValue {}
extension Int32: QueryValue {}
extension Int64: QueryValue {}
extension UInt: QueryValue {}
extension UInt8: QueryValue {}
extension UInt16: QueryValue {}
extension UInt32: QueryValue {}
extension UInt64: QueryValue {}
extension Double: QueryValue {}
extension Float: QueryValue {}

extension Decimal: QueryValue {
    /// The number as it is coded, of which queries compare the nearest `Double`; NaN is null.
    public var queryLiteral: QueryLiteral {
        isNaN ? .null : JSONNumber(text: description).map { .number($0) } ?? .null
    }
}

extension String: QueryValue {
    public var queryLiteral: QueryLiteral { .text(self) }
}

extension Bool: QueryValue {
    /// The boolean.
    public var queryLiteral: QueryLiteral { .bool(self) }
}

extension Date: QueryValue {
    /// The moment, to the nearest microsecond, as it is stored; a date that is NaN is null.
    public var queryLiteral: QueryLiteral {
        if let time = Timestamp(self) { return .time(time) }
        if timeIntervalSince1970.isNaN { return .null }
        let microseconds = (timeIntervalSince1970 * 1_000_000).rounded()
        let most = Double(Int64.max).nextDown
        let clamped = min(max(microseconds, -most), most)
        return .time(Timestamp(microseconds: Int64(clamped)))
    }
    /// A time.
    public static var queryKind: IndexField.Kind { .date }
}

extension Optional: QueryValue where Wrapped: QueryValue {
    /// The value, or null.
    public var queryLiteral: QueryLiteral { self?.queryLiteral ?? .null }
    /// The kind of the wrapped value.
    public static var queryKind: IndexField.Kind { Wrapped.queryKind }
}
