// JSONWritable.swift — the types that are encoded as a single JSON string, number or literal.

import Foundation
import TidemarkEvents

/// A value that is written without a container.
protocol JSONWritable {
    /// The JSON text.
    ///
    /// - Throws: `EncodingError` when JSON has no such value.
    func json(for encoder: EntityEncoder) throws -> [UInt8]
}

extension Bool: JSONWritable {
    func json(for encoder: EntityEncoder) -> [UInt8] { Array((self ? "true" : "false").utf8) }
}

extension String: JSONWritable {
    func json(for encoder: EntityEncoder) -> [UInt8] {
        var output: [UInt8] = []
        JSON.appendString(self, to: &output)
        return output
    }
}

extension FixedWidthInteger {
    func json(for encoder: EntityEncoder) -> [UInt8] { Array(String(self).utf8) }
}

extension Int: JSONWritable {}
extension Int8: JSONWritable {}
extension Int16: JSONWritable {}
extension Int32: JSONWritable {}
extension Int64: JSONWritable {}
extension Int128: JSONWritable {}
extension UInt: JSONWritable {}
extension UInt8: JSONWritable {}
extension UInt16: JSONWritable {}
extension UInt32: JSONWritable {}
extension UInt64: JSONWritable {}
extension UInt128: JSONWritable {}

extension BinaryFloatingPoint where Self: LosslessStringConvertible {
    func json(for encoder: EntityEncoder) throws -> [UInt8] {
        guard isFinite else {
            throw encoder.refusal(self, "is \(self), and JSON has no such number")
        }
        return Array(jsonText.utf8)
    }
}

extension Double: JSONWritable {}
extension Float: JSONWritable {}

extension Decimal: JSONWritable {
    func json(for encoder: EntityEncoder) throws -> [UInt8] {
        if isNaN { throw encoder.refusal(self, "is NaN, and JSON has no such number") }
        return Array(description.utf8)
    }
}

extension JSONNumber: JSONWritable {
    func json(for encoder: EntityEncoder) -> [UInt8] { Array(text.utf8) }
}

extension JSONValue: JSONWritable {
    func json(for encoder: EntityEncoder) -> [UInt8] { encoded(sortedKeys: true) }
}

extension Date: JSONWritable {
    /// A time that was read is compared by its text, also where a server would not read that.
    func json(for encoder: EntityEncoder) throws -> [UInt8] {
        let problem = "is a time too far away to be written"
        guard let time = Timestamp(self) else { throw encoder.refusal(self, problem) }
        if encoder.collection.dates == .iso8601, !time.isWithinTexts {
            encoder.node.problem = encoder.sentence(problem)
        }
        return encoder.collection.dates.encoded(time)
    }
}

extension Timestamp {
    /// Whether it is in the years 1 to 9999, which alone a text can say.
    fileprivate var isWithinTexts: Bool {
        let fromYear1: Int64 = -62_135_596_800_000_000
        let toYear10000: Int64 = 253_402_300_800_000_000
        return rawValue >= fromYear1 && rawValue < toYear10000
    }
}

extension URL: JSONWritable {
    func json(for encoder: EntityEncoder) -> [UInt8] { absoluteString.json(for: encoder) }
}

extension Data: JSONWritable {
    func json(for encoder: EntityEncoder) -> [UInt8] {
        [UInt8(ascii: "\"")] + Array(base64EncodedData()) + [UInt8(ascii: "\"")]
    }
}

extension EntityEncoder {
    /// The error for a value that can't be written.
    func refusal(_ value: Any, _ phrase: String) -> EncodingError {
        .invalidValue(
            value, .init(codingPath: codingPath, debugDescription: sentence(phrase)))
    }

    /// What is wrong with the value that is encoded, and where it is.
    func sentence(_ phrase: String) -> String {
        let path = DecodingProblem.text(DecodingProblem.steps(codingPath, collection.keys))
        return "\"\(path)\" \(phrase)"
    }
}
