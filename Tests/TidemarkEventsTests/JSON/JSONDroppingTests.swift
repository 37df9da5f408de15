// JSONDroppingTests.swift — members that are cut out of a text, JSON or not.

import Testing

@testable import TidemarkEvents

@Suite struct `members that are dropped` {
    private func drop(_ text: String, _ names: [String] = ["t"]) -> String {
        String(decoding: JSON.dropping(names, from: Array(text.utf8)), as: UTF8.self)
    }

    @Test(arguments: [
        (#"{"t":"x","a":1}"#, #"{"a":1}"#), (#"{"a":1,"t":"x"}"#, #"{"a":1}"#),
        (#"{"a":1, "t" : "x" , "b":2}"#, #"{"a":1, "b":2}"#), (#"{"t":"x"}"#, "{}"),
        (#"{ "a" : 1.0,"t":"a\"},\\","b":[ ]}"#, #"{ "a" : 1.0,"b":[ ]}"#),
        (#"{"t":{"a":[1,{"b":"}"}]},"c":1}"#, #"{"c":1}"#), (#"{"t":[],"t":null}"#, "{}"),
        (#"{"a":1,"t":-1.5e3}"#, #"{"a":1}"#), (#"{"t":true}"#, "{}"),
        (#"[{"t":1},{"a":{"t":2,"b":3}}]"#, #"[{},{"a":{"b":3}}]"#),
        ("{\n  \"a\": 1,\n  \"t\": 2\n}", "{\n  \"a\": 1\n}"),
    ])
    func `go with one comma, at any depth, and nothing else does`(
        _ expected: (text: String, left: String)
    ) throws {
        #expect(drop(expected.text) == expected.left)
        #expect(drop(expected.left) == expected.left)
        _ = try JSONValue(parsing: Array(expected.left.utf8))
    }

    @Test(arguments: [
        #"{"a":{"schl\u00fcssel":"x"},"b":1}"#, #"{"a":{"schl\u00FCssel":"x"},"b":1}"#,
        #"{"a":{"schlüssel":"x"},"b":1}"#, #"{"a":{"to\/ken":"x"},"b":1}"#,
        #"{"a":{"to/ken":"x"},"b":1}"#, #"{"a":{"\ud83d\udd11":"x"},"b":1}"#,
    ])
    func `are found with and without the escapes that servers write`(_ text: String) {
        #expect(drop(text, ["schlüssel", "to/ken", "🔑"]) == #"{"a":{},"b":1}"#)
    }

    @Test(arguments: [
        #"{"a":"t","tt":1,"T":2}"#, #"["t",1]"#, #"{"a":"\"t\":1"}"#, "", "<t>", "5", #""t""#,
        #"{"a\"t":1}"#,
    ])
    func `are told from what only looks like them`(_ text: String) {
        #expect(drop(text) == text)
    }

    @Test(arguments: [
        (#"{"a":1,"t":"secr"#, #"{"a":1"#), (#"oops {"t":"x"}"#, "oops {}"),
        (#"[{"t":1},{"a":]"#, #"[{},{"a":]"#), (#"{"t":{"a":1"#, "{"), (#"{"t":"x\"#, "{"),
        (#"{"t":"#, "{"),
    ])
    func `go from what is no JSON, too, with all that follows where they don't end`(
        _ expected: (text: String, left: String)
    ) {
        #expect(drop(expected.text) == expected.left)
    }

    @Test func `may have several names, with any letters in them`() {
        #expect(drop(#"{"t":1,"é\"":2,"a":3}"#, ["é\"", "t"]) == #"{"a":3}"#)
    }

    @Test func `leave every valid text valid, and without them`() throws {
        for seed in UInt64(1)...500 {
            var random = SeededNumbers(seed)
            let text = random.json(depth: 4)
            let left = drop(text)
            let value = try? JSONValue(parsing: Array(left.utf8))
            #expect(value.map { !Self.holds($0, "t") } ?? false, "seed \(seed): \(text) -> \(left)")
        }
    }

    @Test func `go as if each was cut out of the whole text by itself`() {
        for seed in UInt64(1)...2_000 {
            var random = SeededNumbers(seed)
            let whole = random.json(depth: 4)
            let text = random.damaged(whole)
            let names = ["t", "a"]

            let left = JSON.dropping(names, from: text)

            let expected = names.reduce(text) { Self.dropping($1, from: $0) }
            #expect(left == expected, "seed \(seed): \(String(decoding: text, as: UTF8.self))")
        }
    }

    @Test func `go from a large text at once`() {
        let items = (0..<20_000).map { #"{"id":\#($0),"t":"\#($0)"}"# }
        let left = (0..<20_000).map { #"{"id":\#($0)}"# }
        let text = "[" + items.joined(separator: ",") + "]"

        #expect(drop(text) == "[" + left.joined(separator: ",") + "]")
        // White space is looked through once.
        let space = String(repeating: " ", count: 100_000)
        let many = String(repeating: #""t":{}"#, count: 20_000)
        #expect(drop("{\(space)\(many)}") == "{\(space)}")
    }

    /// Cuts one member after another out of the whole text.
    private static func dropping(_ name: String, from bytes: [UInt8]) -> [UInt8] {
        let (comma, key) = (UInt8(ascii: ","), Array("\"\(name)\"".utf8))
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
        var result = bytes
        var rest = 0
        while let place = result[rest...].firstRange(of: key) {
            let isWhole =
                place.lowerBound == 0 || result[place.lowerBound - 1] != UInt8(ascii: "\\")
            guard isWhole, let end = JSON.memberEnd(result, after: place.upperBound) else {
                rest = place.upperBound
                continue
            }
            var member = place.lowerBound..<end
            let after = result[end...].firstIndex { !isSpace($0) }
            let before = result[..<place.lowerBound].lastIndex { !isSpace($0) }
            if let after, result[after] == comma {
                let next = result[(after + 1)...].firstIndex { !isSpace($0) } ?? result.count
                member = place.lowerBound..<next
            } else if let before, result[before] == comma {
                member = before..<end
            }
            result.removeSubrange(member)
            rest = member.lowerBound
        }
        return result
    }

    private static func holds(_ value: JSONValue, _ name: String) -> Bool {
        switch value {
        case .object(let object):
            object.contains { $0.key == name || holds($0.value, name) }
        case .array(let list): list.contains { holds($0, name) }
        case .null, .bool, .number, .string: false
        }
    }
}

/// JSON by chance.
private struct SeededNumbers {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    private mutating func below(_ count: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(count))
    }

    private mutating func space() -> String { ["", "", " ", "\n"][below(4)] }

    /// The text, or one with another byte in it, without one, or cut off.
    mutating func damaged(_ text: String) -> [UInt8] {
        var bytes = Array(text.utf8)
        guard !bytes.isEmpty else { return bytes }
        let place = below(bytes.count)
        switch below(4) {
        case 0: bytes[place] = Array(#"",:{}[]\ t"#.utf8)[below(10)]
        case 1: bytes.remove(at: place)
        case 2: bytes.removeLast(place)
        default: break
        }
        return bytes
    }

    mutating func json(depth: Int) -> String {
        let scalars = [
            "1", "-2.5", "true", "null", #""t""#, #""\"t\":""#, #""a,}]""#, #""\\""#, "{}", "[]",
        ]
        guard depth > 0, below(3) > 0 else { return scalars[below(scalars.count)] }
        let count = below(4)
        if below(2) == 0 {
            let items = (0..<count).map { _ in space() + json(depth: depth - 1) + space() }
            return "[" + items.joined(separator: ",") + "]"
        }
        // Names may be there twice only where they go.
        var names = ["t", "a", "b", "tt", "c"].map { "\"\($0)\"" }
        let items = (0..<count).map { _ in
            let name = names.remove(at: below(names.count))
            return space() + name + space() + ":" + space() + json(depth: depth - 1) + space()
        }
        return "{" + items.joined(separator: ",") + "}"
    }
}
