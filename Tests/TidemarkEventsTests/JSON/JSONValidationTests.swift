// JSONValidationTests.swift — texts that must be objects, or stand inside other texts.

import TestSupport
import Testing
import TidemarkEvents

@Suite struct `checking JSON without reading it` {
    private func nested(_ levels: Int) -> [UInt8] {
        Array((String(repeating: "[", count: levels) + String(repeating: "]", count: levels)).utf8)
    }

    private func nestedObject(_ levels: Int) -> [UInt8] {
        Array(
            (String(repeating: #"{"a":"#, count: levels - 1) + "{}"
                + String(repeating: "}", count: levels - 1)).utf8)
    }

    private func code(_ body: () throws(JSONError) -> Void) -> JSONError.Code? {
        do {
            try body()
            return nil
        } catch { return error.code }
    }

    @Test func `an object is one, with white space around it or without`() {
        for text in ["{}", " \t\r\n{ } ", #"{"a":[1,{"b":null}]}"#] {
            #expect(
                code { () throws(JSONError) in try JSON.validateObject(Array(text.utf8)) } == nil)
        }
    }

    @Test func `anything else that is JSON is no object, and it says where`() {
        for text in ["[]", "1", "null", #""{}""#, "true"] {
            #expect(throws: JSONError(.notAnObject, at: 2), "\(text)") {
                try JSON.validateObject(Array(("  " + text).utf8))
            }
        }
    }

    @Test func `what is no JSON is refused for that`() {
        let cases: [(String, JSONError.Code)] = [
            ("", .empty), ("{", .unexpectedEnd), ("{}x", .trailingBytes),
            (#"{"a":1,"a":1}"#, .duplicateKey), (#"{"a":01}"#, .invalidNumber),
            (#"{"a":"\ud800"}"#, .loneSurrogate),
        ]
        for (text, expected) in cases {
            let found = code { () throws(JSONError) in
                try JSON.validateObject(Array(text.utf8))
            }
            #expect(found == expected, "\(text)")
        }
    }

    @Test(arguments: [0, 1, 4, JSONLimits.depthMax - 1])
    func `within levels of others there is room for as many fewer`(_ levels: Int) {
        let room = JSONLimits.depthMax - levels
        func validate(_ count: Int) -> JSONError.Code? {
            code { () throws(JSONError) in try JSON.validate(nested(count), within: levels) }
        }
        func validateObject(_ count: Int) -> JSONError.Code? {
            code { () throws(JSONError) in
                try JSON.validateObject(nestedObject(count), within: levels)
            }
        }

        #expect(validate(room) == nil)
        #expect(validate(room + 1) == .tooDeep)
        #expect(validateObject(room) == nil)
        #expect(validateObject(room + 1) == .tooDeep)
    }

    @Test func `random texts are judged as by reading them`() throws {
        let seed: UInt64 = 0x5EED_0111
        var random = SplitMix64(seed: seed)
        for round in 0..<1000 {
            let value = try random.value()
            var text = random.text(of: value)
            if random.once(in: 3), !text.isEmpty { text[random.below(text.count)] ^= 1 }
            let read = Result { try JSONValue(parsing: text) }
            let isObject = Result { try JSON.validateObject(text) }
            let isJSON = Result { try JSON.validate(text, within: 0) }

            let isValue = (try? read.get()) != nil
            #expect(((try? isJSON.get()) != nil) == isValue, "seed \(seed), round \(round)")
            var expected = false
            if case .object? = try? read.get() { expected = true }
            #expect(((try? isObject.get()) != nil) == expected, "seed \(seed), round \(round)")
            #expect(
                !isValue || JSON.isObject(text) == expected, "seed \(seed), round \(round)")
        }
    }
}
