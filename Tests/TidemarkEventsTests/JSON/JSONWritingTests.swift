// JSONWritingTests.swift — the bytes of values.

import Testing
import TidemarkEvents

@Suite struct `writing JSON` {
    func quoted(_ string: String) -> String {
        var output: [UInt8] = []
        JSON.appendString(string, to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    @Test func `short escapes are used where JSON has them`() {
        #expect(quoted("\"\\\n\r\t\u{C}\u{8}") == #""\"\\\n\r\t\f\b""#)
    }

    @Test func `other control characters are four lower-case hex digits`() {
        #expect(
            quoted("\u{0}\u{1}\u{B}\u{E}\u{1B}\u{1F}") == #""\u0000\u0001\u000b\u000e\u001b\u001f""#
        )
    }

    @Test(arguments: [
        "", "/", "\u{7F}", "\u{80}", "é", "e\u{301}", "\u{2028}\u{2029}", "😀", "\u{FEFF}",
    ])
    func `everything else stands as it is`(_ text: String) {
        #expect(Array(quoted(text).utf8) == Array("\"\(text)\"".utf8))
    }

    @Test func `a string is appended, not put in place`() {
        var output = Array("x".utf8)

        JSON.appendString("a\n", to: &output)

        #expect(output == Array(#"x"a\n""#.utf8))
    }

    @Test func `text is compact and in member order`() throws {
        let value = try json(" { \"b\" : [ 1 , 2.50 , { } , [ ] ] , \"a\" : \"\\u0009\\/\" } ")

        #expect(value.encoded() == Array(#"{"b":[1,2.50,{},[]],"a":"\t/"}"#.utf8))
    }

    @Test func `sorted keys are sorted by their bytes at every level`() throws {
        let value = try json(
            #"[{"b":{"z":1,"é":2,"a":3},"😀":4,"":5,"\uFFFF":6,"B":7,"aa":8,"a":9}]"#)

        let sorted = String(decoding: value.encoded(sortedKeys: true), as: UTF8.self)

        let inner = #"{"a":3,"z":1,"é":2}"#
        let end = "\"\u{FFFF}\":6,\"😀\":4}]"
        #expect(sorted == #"[{"":5,"B":7,"a":9,"aa":8,"b":\#(inner),"# + end)
    }
}
