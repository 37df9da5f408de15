// QueryValue.swift — what a property is compared with.

public import Foundation
public import TidemarkEvents

/// A type whose values a query compares with what documents hold.
///
/// Texts, truth values, numbers, dates and ids are; an enum with such raw values is when it says
/// so: `enum Colour: String, Codable, QueryValue`. Other types that are coded as one of them can
/// conform by saying which.
public protocol QueryValue: Sendable {
    /// What the value is in a document.
    var queryLiteral: QueryLiteral { get }
    /// Whether the values of the type are times; usually they are not.
    static var queryKind: IndexField.Kind { get }
}

/// A value as a query compares it: numbers by value, texts by the bytes of their UTF-8.
public enum QueryLiteral: Sendable, Hashable {
    /// What is null, and also what is not there.
    case null
    /// A truth value.
    case bool(Bool)
    case number(JSONNumber)
    case text(String)
    /// A moment, however the server writes it.
    case time(Timestamp)
    /// An entity, by any of the ids that it goes by, whether those are texts or whole numbers.
    case id(EntityKey)
}

extension QueryValue {
    /// Not times.
    public static var queryKind: IndexField.Kind { .value }
}

extension QueryValue where Self: RawRepresentable, RawValue: QueryValue {
    public var queryLiteral: QueryLiteral { rawValue.queryLiteral }
    /// As the raw value is.
    public static var queryKind: IndexField.Kind { RawValue.queryKind }
}

extension QueryValue where Self: BinaryInteger {
    public var queryLiteral: QueryLiteral { .number(JSONNumber(self)) }
}

extension QueryValue where Self: BinaryFloatingPoint & LosslessStringConvertible {
    /// The number as it is coded; an infinity is beyond every number, and what is no number is
    /// null.
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

extension String: QueryValue {
    public var queryLiteral: QueryLiteral { .text(self) }
}

extension Bool: QueryValue {
    /// The truth value.
    public var queryLiteral: QueryLiteral { .bool(self) }
}

extension Date: QueryValue {
    /// The moment, to the nearest microsecond; what is no number is null.
    public var queryLiteral: QueryLiteral {
        if timeIntervalSince1970.isNaN { return .null }
        let microseconds = (timeIntervalSince1970 * 1_000_000).rounded()
        let most = Double(Int64.max).nextDown
        let clamped = min(max(microseconds, -most), most)
        return .time(Timestamp(microseconds: Int64(clamped)))
    }
    /// Times.
    public static var queryKind: IndexField.Kind { .date }
}

extension Optional: QueryValue where Wrapped: QueryValue {
    /// The value, or null.
    public var queryLiteral: QueryLiteral { self?.queryLiteral ?? .null }
    /// As of the value.
    public static var queryKind: IndexField.Kind { Wrapped.queryKind }
}
