// JSONReadable.swift — the types that are decoded from a single JSON value.

import Foundation
import TidemarkEvents

/// A type that is written as one JSON string, number or literal.
protocol JSONReadable {
    /// Reads the value at a node.
    ///
    /// - Throws: `DecodingError`.
    init(reading node: Int, of session: DecodingSession) throws
}

extension Bool: JSONReadable {
    init(reading node: Int, of session: DecodingSession) throws {
        guard session.kind(node) == .bool else { throw session.mismatch("Bool", Bool.self, node) }
        self = session.tape.isTrue(node)
    }
}

extension String: JSONReadable {
    init(reading node: Int, of session: DecodingSession) throws {
        guard session.kind(node) == .string else {
            throw session.mismatch("a text", String.self, node)
        }
        self = session.tape.text(node)
    }
}

// MARK: - Numbers

extension FixedWidthInteger {
    /// Reads a number that is whole, in any notation: `1`, `1.0`, `10e-1`.
    init(reading node: Int, of session: DecodingSession) throws {
        guard session.kind(node) == .number else {
            throw session.mismatch("\(Self.self)", Self.self, node)
        }
        if let small = session.tape.integer(node), let value = Self(exactly: small) {
            self = value
            return
        }
        let number = session.tape.number(node)
        if let value = Self(number.text) {
            self = value
        } else if let whole = number.int64, let value = Self(exactly: whole) {
            self = value
        } else {
            throw session.mismatch("\(Self.self)", Self.self, node)
        }
    }
}

extension Int: JSONReadable {}
extension Int8: JSONReadable {}
extension Int16: JSONReadable {}
extension Int32: JSONReadable {}
extension Int64: JSONReadable {}
extension Int128: JSONReadable {}
extension UInt: JSONReadable {}
extension UInt8: JSONReadable {}
extension UInt16: JSONReadable {}
extension UInt32: JSONReadable {}
extension UInt64: JSONReadable {}
extension UInt128: JSONReadable {}

extension BinaryFloatingPoint where Self: LosslessStringConvertible {
    /// Reads the nearest number, which must be finite.
    init(reading node: Int, of session: DecodingSession) throws {
        guard session.kind(node) == .number, let value = Self(session.tape.number(node).text),
            value.isFinite
        else { throw session.mismatch("\(Self.self)", Self.self, node) }
        self = value
    }
}

extension Double: JSONReadable {}
extension Float: JSONReadable {}

extension Decimal: JSONReadable {
    /// Reads a number with all of its digits.
    init(reading node: Int, of session: DecodingSession) throws {
        guard session.kind(node) == .number else {
            throw session.mismatch("Decimal", Decimal.self, node)
        }
        let number = session.tape.number(node)
        guard let value = Decimal(string: number.text), !value.isNaN,
            JSONNumber(text: value.description) == number
        else { throw session.mismatch("a number that Decimal holds exactly", Decimal.self, node) }
        self = value
    }
}

extension JSONNumber: JSONReadable {
    init(reading node: Int, of session: DecodingSession) throws {
        guard session.kind(node) == .number else {
            throw session.mismatch("a number", JSONNumber.self, node)
        }
        self = session.tape.number(node)
    }
}

// MARK: - Others

extension JSONValue: JSONReadable {
    init(reading node: Int, of session: DecodingSession) throws {
        try self.init(parsing: session.tape.raw(node))
    }
}

extension Date: JSONReadable {
    /// Reads a time in the collection's format.
    init(reading node: Int, of session: DecodingSession) throws {
        let kind = session.kind(node)
        guard kind == .string || kind == .number,
            let time = session.names.dates.timestamp(session.tape.raw(node))
        else {
            let example = String(
                decoding: session.names.dates.encoded(Self.exampleTime), as: UTF8.self)
            throw session.mismatch("a time such as \(example)", Date.self, node)
        }
        self.init(time)
    }

    private static var exampleTime: Timestamp { Timestamp(rawValue: 1_795_000_000_000_000) }
}

extension URL: JSONReadable {
    init(reading node: Int, of session: DecodingSession) throws {
        guard session.kind(node) == .string, let url = URL(string: session.tape.text(node)) else {
            throw session.mismatch("a URL", URL.self, node)
        }
        self = url
    }
}

extension Data: JSONReadable {
    init(reading node: Int, of session: DecodingSession) throws {
        guard session.kind(node) == .string,
            let data = Data(base64Encoded: session.tape.text(node))
        else { throw session.mismatch("bytes in base64", Data.self, node) }
        self = data
    }
}
