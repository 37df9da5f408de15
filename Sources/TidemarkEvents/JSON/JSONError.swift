// JSONError.swift — why some bytes are not JSON, and where.

/// Why bytes were refused as JSON: a code, and the place.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A reason, in a word.
    @nonexhaustive public enum Code: String, Sendable, CaseIterable {
        /// The bytes end inside a value.
        case unexpectedEnd
        /// A byte stands where the grammar allows no such byte.
        case unexpectedByte
        /// A number is not of RFC 8259's form: leading zero, no digit after `.`, `e` or `-`.
        case invalidNumber
        /// A string holds a raw control character (below 0x20).
        case invalidString
        /// A backslash is followed by something that is no escape.
        case invalidEscape
        /// A `\u` escape names half of a surrogate pair.
        case loneSurrogate
        /// A string holds bytes that are not UTF-8.
        case invalidUTF8
        /// An object has the same key twice, compared after unescaping.
        case duplicateKey
        /// Arrays and objects are nested deeper than ``JSONLimits/depthMax``.
        case tooDeep
        /// Something other than white space follows the value.
        case trailingBytes
        /// The bytes begin with a byte order mark.
        case byteOrderMark
        /// There is no value: no bytes, or white space only.
        case empty
        /// The value is valid so far but no object, where one is needed.
        case notAnObject
    }

    /// What to switch on.
    public var code: Code
    /// Where, in bytes from the first byte that was given to read.
    public var offset: Int
    /// What was found there, for a person to read; may be empty.
    public var detail: String

    /// An error from its parts.
    public init(_ code: Code, at offset: Int, detail: String = "") {
        self.code = code
        self.offset = offset
        self.detail = detail
    }

    /// One line: what, which, and where, for example `duplicate key "id" at byte 17`.
    public var description: String {
        detail.isEmpty ? "\(phrase) at byte \(offset)" : "\(phrase) \(detail) at byte \(offset)"
    }

    private var phrase: String {
        switch code {
        case .unexpectedEnd: "unexpected end"
        case .unexpectedByte: "unexpected byte"
        case .invalidNumber: "invalid number"
        case .invalidString: "control character in a string"
        case .invalidEscape: "invalid escape"
        case .loneSurrogate: "lone surrogate"
        case .invalidUTF8: "invalid UTF-8"
        case .duplicateKey: "duplicate key"
        case .tooDeep: "nested too deep"
        case .trailingBytes: "trailing bytes"
        case .byteOrderMark: "byte order mark"
        case .empty: "no value"
        case .notAnObject: "not an object"
        }
    }
}

/// Bounds on what is read as JSON.
public enum JSONLimits {
    /// The most arrays and objects that may be open at once.
    public static let depthMax = 128
}
