// JSONDocumentTests.swift — changing members while every other byte stays.

import Testing

@testable import TidemarkEvents

@Suite struct `JSON documents` {
    let text = Array(" { \"a\" : 1.0 ,\n\"\\u0062\":[ 1, 2 ], \"c\":{\"x\" :null} } ".utf8)

    func applying(
        _ set: [(key: String, value: String)] = [], unset: [String] = [], to bytes: [UInt8]? = nil
    ) throws -> String {
        let document = try JSONDocument(parsing: bytes ?? text)
        let set = set.map { (key: $0.key, value: Array($0.value.utf8)) }
        return String(decoding: document.applying(set: set, unset: unset), as: UTF8.self)
    }

    @Test func `members are found with their raw bytes`() throws {
        let document = try JSONDocument(parsing: text)

        #expect(document.keys == ["a", "b", "c"])
        #expect(document.rawValue("a").map(Array.init) == Array("1.0".utf8))
        #expect(document.rawValue("b").map(Array.init) == Array("[ 1, 2 ]".utf8))
        #expect(document.value("c") == ["x": nil])
        #expect(document.value("d") == .none)
        #expect(document.rawValue("\\u0062") == nil)
        #expect(Array(text[document.members[1].keyRange]) == Array(#""\u0062""#.utf8))
    }

    @Test func `places are kept where many of many members are looked up, and lead to the same`()
        throws
    {
        let names = (0..<200).map { "m\($0)" } + ["\u{E9}", "e\u{301}"]
        let members = names.enumerated().map { #""\#($1)":\#($0)"# }
        var document = try JSONDocument(
            parsing: Array("{\(members.joined(separator: ","))}".utf8))

        document.keepPlaces(for: 3)
        #expect(!document.keepsPlaces)
        document.keepPlaces(for: 200)
        #expect(document.keepsPlaces)

        for (place, name) in names.enumerated() {
            #expect(document.rawValue(name).map(Array.init) == Array("\(place)".utf8), "\(name)")
        }
        #expect(document.rawValue("m200") == nil)
        var few = try JSONDocument(parsing: text)
        few.keepPlaces()
        #expect(!few.keepsPlaces)
    }

    @Test(arguments: ["[]", " 1", "null", "\"{}\"", "[{]"])
    func `a text without a top-level object is refused`(_ text: String) throws {
        let start = text.hasPrefix(" ") ? 1 : 0

        #expect(throws: JSONError(.notAnObject, at: start)) {
            try JSONDocument(parsing: Array(text.utf8))
        }
    }

    @Test(arguments: [
        ("", JSONError.Code.empty), ("{", .unexpectedEnd), ("{}x", .trailingBytes),
        (#"{"a":{"b":1,"b":2}}"#, .duplicateKey), (#"{"a":01}"#, .invalidNumber),
    ])
    func `an object that is not valid is refused`(_ text: String, _ code: JSONError.Code) {
        let error = #expect(throws: JSONError.self) {
            try JSONDocument(parsing: Array(text.utf8))
        }
        #expect(error?.code == code)
    }

    @Test func `replaced members keep their place and their key's bytes`() throws {
        #expect(
            try applying([("b", "[]"), ("a", "2")]) == #"{"a":2,"\u0062":[],"c":{"x" :null}}"#)
    }

    @Test func `new members follow in the order given`() throws {
        #expect(
            try applying([("z", "1"), ("a\"", "2")])
                == #"{"a":1.0,"\u0062":[ 1, 2 ],"c":{"x" :null},"z":1,"a\"":2}"#)
        #expect(try applying([("z", "1")], to: Array("{}".utf8)) == #"{"z":1}"#)
    }

    @Test func `unset members are gone, missing ones do not matter`() throws {
        #expect(try applying(unset: ["a", "nope"]) == #"{"\u0062":[ 1, 2 ],"c":{"x" :null}}"#)
        #expect(try applying(unset: ["c", "b", "a"]) == "{}")
    }

    @Test func `when nothing changes the bytes are the old ones`() throws {
        let same = String(decoding: text, as: UTF8.self)

        #expect(try applying() == same)
        #expect(try applying([("a", "1.0"), ("b", "[ 1, 2 ]")], unset: ["nope"]) == same)
        #expect(try applying([("a", "1")]) != same)
    }

    @Test func `a key in both lists is set, and the last value for a key counts`() throws {
        let bytes = Array(#"{"a":1,"b":2}"#.utf8)

        #expect(try applying([("a", "3")], unset: ["a"], to: bytes) == #"{"a":3,"b":2}"#)
        #expect(
            try applying([("n", "1"), ("a", "3"), ("n", "2"), ("a", "4")], to: bytes)
                == #"{"a":4,"b":2,"n":2}"#)
    }

    @Test func `composed and decomposed keys are two members`() throws {
        let bytes = Array("{\"\u{E9}\":1,\"e\u{301}\":2}".utf8)

        let result = try applying([("e\u{301}", "3")], unset: ["\u{E9}"], to: bytes)

        #expect(Array(result.utf8) == Array("{\"e\u{301}\":3}".utf8))
    }

    @Test func `documents are equal when their bytes are`() throws {
        let one = try JSONDocument(parsing: Array("{}".utf8))

        #expect(one == (try JSONDocument(parsing: Array("{}".utf8))))
        #expect(one != (try JSONDocument(parsing: Array("{ }".utf8))))
    }
}

@Suite struct `JSON array elements` {
    func elements(_ text: String, at key: String? = nil) throws -> [String]? {
        let bytes = Array(text.utf8)
        return try JSON.arrayElements(of: bytes, at: key)?.map {
            String(decoding: bytes[$0], as: UTF8.self)
        }
    }

    @Test func `elements are cut out verbatim`() throws {
        let text = #" {"n":[0], "data" : [ {"a" : 1} , [2,3],"x,]" ,null] ,"more":[9]}"#

        #expect(try elements(text, at: "data") == [#"{"a" : 1}"#, "[2,3]", #""x,]""#, "null"])
        #expect(try elements(#"{"d\u0061ta":[1]}"#, at: "data") == ["1"])
        #expect(try elements(#"{"data":[]}"#, at: "data") == [])
    }

    @Test func `without a key the text itself is the array`() throws {
        #expect(try elements(#" [ {"a":1}, 2 ] "#) == [#"{"a":1}"#, "2"])
        #expect(try elements("[]") == [])
        #expect(try elements(#"{"data":[1]}"#) == nil)
    }

    @Test func `a missing member, an inner one, or one that is no array gives nothing`() throws {
        #expect(try elements(#"{"a":[1]}"#, at: "data") == nil)
        #expect(try elements(#"{"a":{"data":[1]}}"#, at: "data") == nil)
        #expect(try elements(#"{"data":{"x":[1]}}"#, at: "data") == nil)
        #expect(try elements(#"{"data":null}"#, at: "data") == nil)
    }

    @Test func `elements are whatever stands between matching brackets and commas`() throws {
        let text = #"[01, "\ud800" ,[1,,{"a":"]"}], nul x]"#

        #expect(try elements(text) == ["01", #""\ud800""#, #"[1,,{"a":"]"}]"#, "nul x"])
        let deep = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
        #expect(try elements("[\(deep)]") == [deep])
    }

    @Test func `the structure of the whole text is checked`() {
        #expect(throws: JSONError(.notAnObject, at: 0)) { try elements("[1]", at: "data") }
        #expect(throws: JSONError(.trailingBytes, at: 13)) {
            try elements(#"{"data":[1]} x"#, at: "data")
        }
        #expect(throws: JSONError(.unexpectedByte, at: 18)) {
            try elements(#"{"data":[1],"b":[1}"#, at: "data")
        }
        #expect(throws: JSONError(.unexpectedByte, at: 3)) { try elements("[1,,2]") }
        #expect(throws: JSONError(.unexpectedByte, at: 3)) { try elements("[1,]") }
        #expect(throws: JSONError(.unexpectedEnd, at: 4)) { try elements(#"["a]"#) }
        #expect(throws: JSONError(.duplicateKey, at: 12)) {
            try elements(#"{"data":[1],"data":[2]}"#, at: "data")
        }
        #expect(throws: JSONError(.empty, at: 1)) { try elements(" ") }
    }
}
