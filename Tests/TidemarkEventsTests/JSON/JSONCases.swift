// JSONCases.swift — texts and whether they are JSON; after the ideas of JSONTestSuite.

import TidemarkEvents

/// A text, and the code it is refused with, or nil when it is valid.
struct JSONCase: Sendable, CustomStringConvertible {
    var description: String
    var bytes: [UInt8]
    var code: JSONError.Code?

    init(_ name: String, _ text: String, _ code: JSONError.Code? = nil) {
        self.init(name, bytes: Array(text.utf8), code)
    }

    init(_ name: String, bytes: [UInt8], _ code: JSONError.Code? = nil) {
        description = name
        self.bytes = bytes
        self.code = code
    }

    /// A string value with these bytes between its quotes.
    init(_ name: String, inString bytes: [UInt8], _ code: JSONError.Code? = nil) {
        self.init(name, bytes: [0x22] + bytes + [0x22], code)
    }

    static let all = accepted + structures + numbers + strings + encodings

    static let accepted: [JSONCase] = [
        JSONCase("null", "null"),
        JSONCase("true", "true"),
        JSONCase("false", "false"),
        JSONCase("zero", "0"),
        JSONCase("negative zero", "-0"),
        JSONCase("a digit", "7"),
        JSONCase("a negative integer", "-123"),
        JSONCase("a fraction", "0.5"),
        JSONCase("a fraction that ends in zeros", "1.000"),
        JSONCase("an exponent", "1e2"),
        JSONCase("a capital exponent", "1E2"),
        JSONCase("a signed exponent", "1e+2"),
        JSONCase("a negative exponent", "1E-2"),
        JSONCase("an exponent with leading zeros", "1e007"),
        JSONCase("zero with an exponent", "0e1"),
        JSONCase("zero with a fraction and an exponent", "-0.0e-0"),
        JSONCase("a number beyond a double", "1e999"),
        JSONCase("a number below a double", "123e-10000000"),
        JSONCase("an exponent of forty digits", "1e" + String(repeating: "9", count: 40)),
        JSONCase("five thousand digits", String(repeating: "7", count: 5_000)),
        JSONCase("an empty string", #""""#),
        JSONCase("plain text", #""plain""#),
        JSONCase("every short escape", #""\"\\\/\b\f\n\r\t""#),
        JSONCase("an escaped letter", #""\u0041""#),
        JSONCase("an escaped NUL", #""\u0000""#),
        JSONCase("escapes in both cases", #""\uabCD\uABcd""#),
        JSONCase("a surrogate pair", #""\ud83d\ude00""#),
        JSONCase("the first pair", #""\uD800\uDC00""#),
        JSONCase("the last pair", #""\uDBFF\uDFFF""#),
        JSONCase("an escaped noncharacter", #""\uFFFF""#),
        JSONCase("an escaped backslash before a u", #""\\u0000""#),
        JSONCase("a raw delete", "\"\u{7F}\""),
        JSONCase("raw two-byte text", "\"é\""),
        JSONCase("raw three-byte text", "\"你\u{2028}\u{2029}\""),
        JSONCase("raw four-byte text", "\"😀\u{10FFFF}\""),
        JSONCase("a byte order mark inside a string", "\"\u{FEFF}\""),
        JSONCase("a comment inside a string", #""/* no */ // no""#),
        JSONCase("an empty array", "[]"),
        JSONCase("an empty array with space", "[ \t\r\n]"),
        JSONCase("an array of mixed values", #"[null,1,"a",{},[]]"#),
        JSONCase("an array with space everywhere", " [ 1 , 2 ] "),
        JSONCase("an empty object", "{}"),
        JSONCase("an object with space everywhere", "\r\n{ \"a\" : 1\t,\n\"b\" : 2 } "),
        JSONCase("an empty key", #"{"":0}"#),
        JSONCase("an escaped key", #"{"a\nb":0}"#),
        JSONCase("keys that differ in case", #"{"a":1,"A":2}"#),
        JSONCase("composed and decomposed keys", "{\"é\":1,\"e\u{301}\":2}"),
        JSONCase("one key on two levels", #"{"a":{"a":{"a":1}}}"#),
        JSONCase("one key in sibling objects", #"[{"a":1},{"a":1}]"#),
        JSONCase("128 arrays", nested("[", 128, "]")),
        JSONCase("128 objects", nested(#"{"a":"#, 128, "}", core: "0")),
    ]

    static let structures: [JSONCase] = [
        JSONCase("no bytes", "", .empty),
        JSONCase("white space only", " \n\t\r", .empty),
        JSONCase("an unclosed array", "[1", .unexpectedEnd),
        JSONCase("an opening bracket", "[", .unexpectedEnd),
        JSONCase("a closing bracket", "]", .unexpectedByte),
        JSONCase("a trailing comma in an array", "[1,]", .unexpectedByte),
        JSONCase("a leading comma in an array", "[,1]", .unexpectedByte),
        JSONCase("two commas in an array", "[1,,2]", .unexpectedByte),
        JSONCase("a comma alone", "[,]", .unexpectedByte),
        JSONCase("a missing comma", "[1 2]", .unexpectedByte),
        JSONCase("a colon in an array", "[1:2]", .unexpectedByte),
        JSONCase("an array closed as an object", "[1}", .unexpectedByte),
        JSONCase("an array that ends after a comma", "[1,", .unexpectedEnd),
        JSONCase("an array closed twice", "[1]]", .trailingBytes),
        JSONCase("an unclosed object", #"{"a":1"#, .unexpectedEnd),
        JSONCase("an opening brace", "{", .unexpectedEnd),
        JSONCase("a trailing comma in an object", #"{"a":1,}"#, .unexpectedByte),
        JSONCase("two commas in an object", #"{"a":1,,"b":2}"#, .unexpectedByte),
        JSONCase("a key without a value", #"{"a"}"#, .unexpectedByte),
        JSONCase("a colon without a value", #"{"a":}"#, .unexpectedByte),
        JSONCase("two colons", #"{"a"::1}"#, .unexpectedByte),
        JSONCase("an equals sign for a colon", #"{"a"=1}"#, .unexpectedByte),
        JSONCase("a comma for a colon", #"{"a",1}"#, .unexpectedByte),
        JSONCase("a bare key", "{a:1}", .unexpectedByte),
        JSONCase("a number as a key", "{1:1}", .unexpectedByte),
        JSONCase("null as a key", "{null:1}", .unexpectedByte),
        JSONCase("a key in single quotes", "{'a':1}", .unexpectedByte),
        JSONCase("a key that ends the text", #"{"a"#, .unexpectedEnd),
        JSONCase("an object closed as an array", #"{"a":1]"#, .unexpectedByte),
        JSONCase("a key twice", #"{"a":1,"a":1}"#, .duplicateKey),
        JSONCase("a key twice, once escaped", #"{"a":1,"\u0061":1}"#, .duplicateKey),
        JSONCase("the empty key twice", #"{"":1,"":2}"#, .duplicateKey),
        JSONCase("a key twice in an inner object", #"[{"b":{"a":1,"c":2,"a":3}}]"#, .duplicateKey),
        JSONCase("129 arrays", nested("[", 129, "]"), .tooDeep),
        JSONCase("129 objects", nested(#"{"a":"#, 129, "}", core: "0"), .tooDeep),
        JSONCase("100,000 opening brackets", String(repeating: "[", count: 100_000), .tooDeep),
        JSONCase("two values", "1 2", .trailingBytes),
        JSONCase("two objects", "{}{}", .trailingBytes),
        JSONCase("a word after a value", "[] x", .trailingBytes),
        JSONCase("a comma after a value", "1,", .trailingBytes),
        JSONCase("a line comment", "1 // one", .trailingBytes),
        JSONCase("a block comment", "[/* one */1]", .unexpectedByte),
        JSONCase("a NUL after a value", "1\u{0}", .trailingBytes),
        JSONCase("a vertical tab as space", "[\u{B}1]", .unexpectedByte),
        JSONCase("a form feed as space", "[\u{C}1]", .unexpectedByte),
        JSONCase("a no-break space as space", "[\u{A0}1]", .unexpectedByte),
        JSONCase("a wide space as space", "[\u{2060}1]", .unexpectedByte),
        JSONCase("a capital word", "True", .unexpectedByte),
        JSONCase("a cut word", "tru", .unexpectedEnd),
        JSONCase("a cut word in an array", "[nul]", .unexpectedByte),
        JSONCase("a word too long", "nulll", .trailingBytes),
        JSONCase("undefined", "undefined", .unexpectedByte),
        JSONCase("a star", "*", .unexpectedByte),
        JSONCase("a lone quote", "\"", .unexpectedEnd),
        JSONCase("single quotes", "'a'", .unexpectedByte),
    ]

    static let numbers: [JSONCase] = [
        JSONCase("NaN", "NaN", .unexpectedByte),
        JSONCase("nan", "nan", .unexpectedByte),
        JSONCase("Infinity", "Infinity", .unexpectedByte),
        JSONCase("minus Infinity", "-Infinity", .invalidNumber),
        JSONCase("minus NaN", "-NaN", .invalidNumber),
        JSONCase("a minus alone", "-", .invalidNumber),
        JSONCase("two minuses", "--1", .invalidNumber),
        JSONCase("a plus", "+1", .unexpectedByte),
        JSONCase("a leading zero", "01", .invalidNumber),
        JSONCase("two zeros", "00", .invalidNumber),
        JSONCase("a negative leading zero", "-012", .invalidNumber),
        JSONCase("a leading zero before a point", "00.5", .invalidNumber),
        JSONCase("a leading point", ".5", .unexpectedByte),
        JSONCase("a minus and a point", "-.5", .invalidNumber),
        JSONCase("a trailing point", "1.", .invalidNumber),
        JSONCase("a point before an exponent", "1.e5", .invalidNumber),
        JSONCase("two points", "1.2.3", .trailingBytes),
        JSONCase("an exponent without digits", "1e", .invalidNumber),
        JSONCase("a signed exponent without digits", "1e+", .invalidNumber),
        JSONCase("an exponent with two signs", "1e+-2", .invalidNumber),
        JSONCase("an exponent with a point", "1e2.5", .trailingBytes),
        JSONCase("two exponents", "1e2e3", .trailingBytes),
        JSONCase("an exponent alone", "e5", .unexpectedByte),
        JSONCase("hexadecimal", "0x1F", .trailingBytes),
        JSONCase("an underscore", "1_000", .trailingBytes),
        JSONCase("a number with a letter", "[1a]", .unexpectedByte),
        JSONCase("a space behind the minus", "- 1", .invalidNumber),
        JSONCase("full-width digits", "１", .unexpectedByte),
    ]

    static let strings: [JSONCase] = [
        JSONCase("an unclosed string", #""abc"#, .unexpectedEnd),
        JSONCase("a raw line feed", "\"a\nb\"", .invalidString),
        JSONCase("a raw tab", "\"\t\"", .invalidString),
        JSONCase("a raw NUL", "\"\u{0}\"", .invalidString),
        JSONCase("a raw 0x1F", "\"\u{1F}\"", .invalidString),
        JSONCase("a raw tab in a key", "{\"\t\":1}", .invalidString),
        JSONCase("an unknown escape", #""\x41""#, .invalidEscape),
        JSONCase("an escaped apostrophe", #""\'""#, .invalidEscape),
        JSONCase("a capital escape", #""\N""#, .invalidEscape),
        JSONCase("a vertical tab escape", #""\v""#, .invalidEscape),
        JSONCase("a digit escape", #""\0""#, .invalidEscape),
        JSONCase("a capital U escape", #""\U0041""#, .invalidEscape),
        JSONCase("an escaped emoji", #""\😀""#, .invalidEscape),
        JSONCase("three hex digits", #""\u041""#, .invalidEscape),
        JSONCase("a letter among hex digits", #""\u00g0""#, .invalidEscape),
        JSONCase("a sign among hex digits", #""\u+041""#, .invalidEscape),
        JSONCase("a backslash that ends the text", #""\"#, .unexpectedEnd),
        JSONCase("an escaped closing quote", #""\""#, .unexpectedEnd),
        JSONCase("hex digits that end the text", #""\u00"#, .unexpectedEnd),
        JSONCase("a high surrogate alone", #""\ud800""#, .loneSurrogate),
        JSONCase("a low surrogate alone", #""\udc00""#, .loneSurrogate),
        JSONCase("a high surrogate before text", #""\ud800abcdef""#, .loneSurrogate),
        JSONCase("a high surrogate before a short escape", #""\ud800\n""#, .loneSurrogate),
        JSONCase("a high surrogate before a letter", #""\ud800\u0041""#, .loneSurrogate),
        JSONCase("two high surrogates", #""\ud800\ud800""#, .loneSurrogate),
        JSONCase("a swapped pair", #""\udc00\ud800""#, .loneSurrogate),
        JSONCase("a low surrogate behind a pair", #""\ud83d\ude00\ude00""#, .loneSurrogate),
        JSONCase("a lone surrogate in a key", #"{"\udfff":1}"#, .loneSurrogate),
        JSONCase("a high surrogate before bad hex", #""\ud800\uzzzz""#, .invalidEscape),
    ]

    static let encodings: [JSONCase] = [
        JSONCase("a byte order mark", "\u{FEFF}{}", .byteOrderMark),
        JSONCase("a byte order mark alone", "\u{FEFF}", .byteOrderMark),
        JSONCase("a byte order mark behind space", " \u{FEFF}{}", .unexpectedByte),
        JSONCase("UTF-16", bytes: [0xFF, 0xFE, 0x5B, 0x00, 0x5D, 0x00], .unexpectedByte),
        JSONCase("UTF-16 without a mark", bytes: [0x00, 0x5B, 0x00, 0x5D], .unexpectedByte),
        JSONCase("a continuation byte", inString: [0x80], .invalidUTF8),
        JSONCase("a byte that never occurs", inString: [0xFF], .invalidUTF8),
        JSONCase("Latin-1", inString: [0xE9], .invalidUTF8),
        JSONCase("a two-byte form of a slash", inString: [0xC0, 0xAF], .invalidUTF8),
        JSONCase("a two-byte form of 0x7F", inString: [0xC1, 0xBF], .invalidUTF8),
        JSONCase("a three-byte form of a slash", inString: [0xE0, 0x80, 0xAF], .invalidUTF8),
        JSONCase("a three-byte form of U+07FF", inString: [0xE0, 0x9F, 0xBF], .invalidUTF8),
        JSONCase("a four-byte form of U+FFFF", inString: [0xF0, 0x8F, 0xBF, 0xBF], .invalidUTF8),
        JSONCase("the first surrogate in UTF-8", inString: [0xED, 0xA0, 0x80], .invalidUTF8),
        JSONCase("the last surrogate in UTF-8", inString: [0xED, 0xBF, 0xBF], .invalidUTF8),
        JSONCase("the scalar below surrogates", inString: [0xED, 0x9F, 0xBF]),
        JSONCase("the scalar above surrogates", inString: [0xEE, 0x80, 0x80]),
        JSONCase("U+110000", inString: [0xF4, 0x90, 0x80, 0x80], .invalidUTF8),
        JSONCase("a lead byte above F4", inString: [0xF5, 0x80, 0x80, 0x80], .invalidUTF8),
        JSONCase("a cut two-byte scalar", inString: [0xC3], .invalidUTF8),
        JSONCase("a cut three-byte scalar", inString: [0xE4, 0xBD], .invalidUTF8),
        JSONCase("a cut four-byte scalar", inString: [0xF0, 0x9F, 0x98], .invalidUTF8),
        JSONCase("a scalar cut by the end", bytes: [0x22, 0xE4, 0xBD], .invalidUTF8),
        JSONCase(
            "a bad byte in a key", bytes: [0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D], .invalidUTF8),
        JSONCase("a bad byte outside strings", bytes: [0x5B, 0xFF, 0x5D], .unexpectedByte),
        JSONCase("a bad byte behind the value", bytes: [0x31, 0xFF], .trailingBytes),
        JSONCase("a lead byte after an escape", inString: [0x5C, 0xC3, 0xA9], .invalidEscape),
    ]

    private static func nested(
        _ open: String, _ depth: Int, _ close: String, core: String = ""
    ) -> String {
        String(repeating: open, count: depth) + core + String(repeating: close, count: depth)
    }
}
