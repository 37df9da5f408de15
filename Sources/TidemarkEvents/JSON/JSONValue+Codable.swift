// JSONValue+Codable.swift — values of unknown shape inside the app's own types.
//
// Tidemark's own decoder and encoder take the text of a number as it is. Others hand numbers out
// in binary formats only: there a number is an integer of 64 bits, or else the nearest Double.

/// A decoder of JSON that gives values as they came.
package protocol JSONTextDecoder {
    /// The value that is decoded.
    func jsonValue() throws -> JSONValue
    /// The same as a number.
    ///
    /// - Throws: `DecodingError` where it is none.
    func jsonNumber() throws -> JSONNumber
}

/// An encoder of JSON that takes values as they are.
package protocol JSONTextEncoder {
    /// Writes a value; its members or elements join those that are there.
    func encode(json value: JSONValue)
}

extension JSONValue: Codable {
    public init(from decoder: any Decoder) throws {
        if let decoder = decoder as? any JSONTextDecoder {
            self = try decoder.jsonValue()
            return
        }
        if let object = try? decoder.container(keyedBy: AnyCodingKey.self) {
            var members = JSONObject()
            for key in object.allKeys {
                members[key.stringValue] = try object.decode(JSONValue.self, forKey: key)
            }
            self = .object(members)
        } else if var array = try? decoder.unkeyedContainer() {
            var elements: [JSONValue] = []
            while !array.isAtEnd { elements.append(try array.decode(JSONValue.self)) }
            self = .array(elements)
        } else {
            let single = try decoder.singleValueContainer()
            if single.decodeNil() {
                self = .null
            } else if let value = try? single.decode(Bool.self) {
                self = .bool(value)
            } else if let value = try? single.decode(String.self) {
                self = .string(value)
            } else {
                self = .number(try single.decode(JSONNumber.self))
            }
        }
    }

    public func encode(to encoder: any Encoder) throws {
        if let encoder = encoder as? any JSONTextEncoder {
            encoder.encode(json: self)
            return
        }
        switch self {
        case .object(let members):
            var object = encoder.container(keyedBy: AnyCodingKey.self)
            for (key, value) in members {
                try object.encode(value, forKey: AnyCodingKey(stringValue: key))
            }
        case .array(let elements):
            var array = encoder.unkeyedContainer()
            for element in elements { try array.encode(element) }
        case .null, .bool, .number, .string:
            var single = encoder.singleValueContainer()
            switch self {
            case .bool(let value): try single.encode(value)
            case .string(let value): try single.encode(value)
            case .number(let value): try single.encode(value)
            case .null, .array, .object: try single.encodeNil()
            }
        }
    }
}

extension JSONNumber: Codable {
    public init(from decoder: any Decoder) throws {
        if let decoder = decoder as? any JSONTextDecoder {
            self = try decoder.jsonNumber()
            return
        }
        let single = try decoder.singleValueContainer()
        if let value = try? single.decode(Int64.self) {
            self.init(value)
        } else if let value = try? single.decode(UInt64.self) {
            self.init(value)
        } else {
            let value = try single.decode(Double.self)
            guard let number = JSONNumber(text: value.jsonText) else {
                throw DecodingError.dataCorruptedError(
                    in: single, debugDescription: "\(value) is no JSON number")
            }
            self = number
        }
    }

    /// Writes the number.
    ///
    /// - Throws: `EncodingError` when no binary format holds it and the encoder takes no other.
    public func encode(to encoder: any Encoder) throws {
        if let encoder = encoder as? any JSONTextEncoder {
            encoder.encode(json: .number(self))
            return
        }
        var single = encoder.singleValueContainer()
        if let value = int64 {
            try single.encode(value)
        } else if let value = UInt64(text) {
            try single.encode(value)
        } else if let value = double {
            try single.encode(value)
        } else {
            throw EncodingError.invalidValue(
                self,
                .init(codingPath: encoder.codingPath, debugDescription: "\(text) is too large"))
        }
    }
}

extension BinaryFloatingPoint where Self: LosslessStringConvertible {
    /// The shortest text that gives this number again, as JSON writes it: `1`, not `1.0`.
    ///
    /// No JSON number when this is not finite.
    package var jsonText: String {
        let text = "\(self)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

/// A coding key of any name.
package struct AnyCodingKey: CodingKey {
    package let stringValue: String
    package let intValue: Int?

    package init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    package init(intValue: Int) {
        stringValue = "\(intValue)"
        self.intValue = intValue
    }

    /// The key of that name.
    package init(_ name: String) { self.init(stringValue: name) }
}
