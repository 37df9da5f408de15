// JSONReading.swift — the doors for bytes: check them, make a value of them, or cut them up.
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

    /// Where the elements of an array stand, verbatim, without white space around them.
    ///
    /// - Parameters:
    ///   - bytes: one JSON text; all of it is checked.
    ///   - key: the member of the top-level object that holds the array, or nil when the text
    ///     itself is the array.
    /// - Returns: byte ranges of `bytes` in order, or nil when there is no such member or it is
    ///   no array.
    /// - Throws: ``JSONError`` when the bytes are not valid, or when a key is given and the text
    ///   is no object.
    public static func arrayElements(
        of bytes: [UInt8], at key: String? = nil
    ) throws(JSONError) -> [Range<Int>]? {
        try JSONScanner.whole(bytes[...]) { (scanner, bytes) throws(JSONError) in
            guard let key else { return try scanner.elementRanges(bytes) }
            guard try scanner.peek(bytes) == UInt8(ascii: "{") else {
                throw JSONError(.notAnObject, at: scanner.at)
            }
            let wanted = ExactString(key)
            var found: [Range<Int>]?
            try scanner.members(bytes) { (scanner, bytes, key) throws(JSONError) in
                if ExactString(scanner.text(key)) == wanted {
                    found = try scanner.elementRanges(bytes)
                } else {
                    try scanner.skipValue(bytes)
                }
            }
            return found
        }
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

extension JSONScanner {
    /// Walks over one value: the ranges of its elements, or nil when it is no array.
    fileprivate mutating func elementRanges(
        _ bytes: Span<UInt8>
    ) throws(JSONError) -> [Range<Int>]? {
        guard try peek(bytes) == UInt8(ascii: "[") else {
            try skipValue(bytes)
            return nil
        }
        var ranges: [Range<Int>] = []
        try elements(bytes) { (scanner, bytes) throws(JSONError) in
            let start = scanner.at
            try scanner.skipValue(bytes)
            ranges.append(start..<scanner.at)
        }
        return ranges
    }
}
