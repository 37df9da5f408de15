// JSONReadingTests.swift — what is read as JSON, and how it is refused.

import Testing
import TidemarkEvents

@Suite struct `reading JSON` {
    @Test(arguments: JSONCase.all)
    func `each text is accepted, or refused with its code`(_ text: JSONCase) {
        #expect(jsonError(text.bytes)?.code == text.code)
        #expect(jsonValidationError(text.bytes) == jsonError(text.bytes))
    }

    @Test func `the table is large and its names differ`() {
        #expect(JSONCase.all.count >= 120)
        #expect(Set(JSONCase.all.map(\.description)).count == JSONCase.all.count)
        #expect(Set(JSONCase.all.compactMap(\.code)).count == JSONError.Code.allCases.count - 1)
    }

    @Test func `values keep their order and their text`() throws {
        let value = try json(#" {"b":[1.0,-0,null],"a":{"x":"\u00e9\n","y":true}} "#)

        #expect(value.object?.keys == ["b", "a"])
        #expect(value.encoded() == Array(#"{"b":[1.0,-0,null],"a":{"x":"é\n","y":true}}"#.utf8))
        #expect(value["a"]?["x"]?.stringValue == "é\n")
        #expect(value["a"]?["y"]?.boolValue == true)
        #expect(value["b"]?.array?.count == 3)
    }

    @Test func `every escape becomes its scalar`() throws {
        let value = try json(#""\"\\\/\b\f\n\r\t\u0000\u00E9\uD83D\uDE00""#)

        #expect(value == .string("\"\\/\u{8}\u{C}\n\r\t\u{0}é😀"))
    }

    @Test(arguments: [
        (#"{"id":1,"x":2,"id":3}"#, #"duplicate key "id" at byte 14"#),
        (#"{"a\nb":1,"a\u000ab":3}"#, #"duplicate key "a\nb" at byte 10"#),
        ("[1,}", #"unexpected byte 0x7d "}" at byte 3"#),
        ("[1,\u{1}", "unexpected byte 0x01 at byte 3"),
        ("[1", "unexpected end at byte 2"),
        (" 01", "invalid number (leading zero) at byte 1"),
        ("[-]", "invalid number (digit missing) at byte 2"),
        ("\"\n\"", "control character in a string 0x0a at byte 1"),
        (#""a\x""#, #"invalid escape 0x78 "x" at byte 2"#),
        (#""ab\udc00""#, "lone surrogate at byte 3"),
        ("[] ]", "trailing bytes at byte 3"),
        ("  ", "no value at byte 2"),
        ("\u{FEFF}1", "byte order mark at byte 0"),
    ])
    func `an error says what and where`(_ text: String, _ expected: String) {
        #expect(jsonError(Array(text.utf8))?.description == expected)
    }

    @Test func `a depth error stands at the bracket that is too deep`() {
        let text = " " + String(repeating: "[", count: 200)

        #expect(jsonError(Array(text.utf8)) == JSONError(.tooDeep, at: 1 + JSONLimits.depthMax))
    }

    @Test func `depth counts open brackets, not brackets`() throws {
        let wide = "[" + String(repeating: "[[]],", count: 1_000) + "[]]"

        #expect(try json(wide).array?.count == 1_001)
    }

    @Test func `a slice is read alone and counts from its own first byte`() throws {
        let bytes = Array("xx[1,2]yy".utf8)

        #expect(try JSONValue(parsing: bytes[2..<7]) == [1, 2])
        try JSON.validate(bytes[2..<7])
        #expect(throws: JSONError(.trailingBytes, at: 5)) { try JSON.validate(bytes[2...]) }
        #expect(throws: JSONError(.trailingBytes, at: 5)) { try JSONValue(parsing: bytes[2...]) }
    }

    @Test(arguments: [2, 63, 64, 65, 66, 300])
    func `a key twice is found however many keys there are`(_ count: Int) throws {
        let keys = (0..<count).map { "key\($0)" }
        let members = keys.map { #""\#($0)":{"\#($0)":[]}"# }
        try JSON.validate(Array("{\(members.joined(separator: ","))}".utf8))

        for again in [0, count / 2, count - 1] {
            let twice = members + [#""\u006bey\#(again)":0"#]
            let bytes = Array("{\(twice.joined(separator: ","))}".utf8)
            #expect(jsonError(bytes)?.code == .duplicateKey)
            #expect(jsonError(bytes)?.detail == "\"key\(again)\"")
            #expect(jsonValidationError(bytes) == jsonError(bytes))
        }
    }

    @Test func `keys with equal fingerprints are still told apart`() throws {
        let value = try json(#"{"Aa":1,"BB":2}"#)  // 31·65 + 97 = 31·66 + 66

        #expect(value.object?.keys == ["Aa", "BB"])
        #expect(jsonError(Array(#"{"Aa":1,"BB":2,"BB":3}"#.utf8))?.code == .duplicateKey)
    }

    @Test func `a long key is shortened in the error`() {
        let key = String(repeating: "k", count: 1_000)
        let error = jsonError(Array(#"{"\#(key)":1,"\#(key)":2}"#.utf8))

        #expect(error?.detail == "\"" + String(repeating: "k", count: 64) + "…\"")
    }
}
