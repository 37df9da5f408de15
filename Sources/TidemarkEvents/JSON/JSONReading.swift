// JSONReading.swift — the doors for bytes: check them, or make a value of them.
//
// One set of rules holds at every door: RFC 8259 and no more, at most JSONLimits.depthMax deep,
// UTF-8 without a byte order mark, no lone surrogates, unique keys. Numbers may be of any size.

/// Reading and writing JSON without making values.
public enum JSON {
    /// Returns when the bytes are one JSON text, by the rules of
    /// ``JSONValue/init(parsing:)-([UInt8])``.
    public static func validate(_ bytes: [UInt8]) throws(JSONError) {
        try validate(bytes[...])
    }

    /// Returns when the slice is one JSON text; offsets in errors count from its first byte.
    public static func validate(_ bytes: ArraySlice<UInt8>) throws(JSONError) {
        try JSONScanner.whole(bytes) { (scanner, bytes) throws(JSONError) in
            try scanner.skipValue(bytes)
        }
    }

    /// Returns when the bytes are one JSON text that may stand `within` so many levels of others.
    package static func validate(_ bytes: [UInt8], within levels: Int) throws(JSONError) {
        try JSONScanner.whole(bytes[...]) { (scanner, bytes) throws(JSONError) in
            scanner.depth = levels
            try scanner.skipValue(bytes)
        }
    }

    /// Returns when the bytes are one JSON object that may stand `within` so many levels of others.
    ///
    /// - Throws: ``JSONError``; `notAnObject` when the first byte that is no white space is no `{`.
    package static func validateObject(
        _ bytes: [UInt8], within levels: Int = 0
    ) throws(JSONError) {
        try JSONScanner.whole(bytes[...]) { (scanner, bytes) throws(JSONError) in
            guard try scanner.peek(bytes) == UInt8(ascii: "{") else {
                throw JSONError(.notAnObject, at: scanner.at)
            }
            scanner.depth = levels
            try scanner.skipValue(bytes)
        }
    }

    /// Whether bytes that are known to be JSON are an object.
    package static func isObject(_ bytes: [UInt8]) -> Bool {
        bytes.first { $0 != 0x20 && $0 != 0x0A && $0 != 0x0D && $0 != 0x09 } == UInt8(ascii: "{")
    }
}

extension JSONValue {
    /// The value of a JSON text.
    ///
    /// - Throws: ``JSONError`` at the first byte that breaks a rule: RFC 8259 strictly, nesting up
    ///   to ``JSONLimits/depthMax``, valid UTF-8 without a byte order mark, no lone surrogates, no
    ///   key twice in an object.
    public init(parsing bytes: [UInt8]) throws(JSONError) {
        try self.init(parsing: bytes[...])
    }

    /// The value of a JSON text; offsets in errors count from the slice's first byte.
    public init(parsing bytes: ArraySlice<UInt8>) throws(JSONError) {
        self = try JSONScanner.whole(bytes) { (scanner, bytes) throws(JSONError) in
            try scanner.parseValue(bytes)
        }
    }
}
