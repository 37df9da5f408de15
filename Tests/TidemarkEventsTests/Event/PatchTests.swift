// PatchTests.swift — the difference of two documents, and what it does to a third.

import TestSupport
import Testing

@testable import TidemarkEvents

private func document(_ text: String) throws -> JSONDocument {
    try JSONDocument(parsing: Array(text.utf8))
}

private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

extension SplitMix64 {
    fileprivate static let fields = ["a", "b", "c", "id", "é", "e\u{301}", "\"q\"", "😀", ""]

    fileprivate mutating func document() throws -> JSONDocument {
        var object = JSONObject()
        for _ in 0..<below(7) { object[pick(Self.fields)] = try value(depth: 2) }
        return try JSONDocument(parsing: text(of: .object(object)))
    }

    fileprivate mutating func patch() throws -> Patch {
        var patch = Patch()
        var left = Set(Self.fields.map { Array($0.utf8) })
        for _ in 0..<below(6) {
            let field = pick(Self.fields)
            guard left.remove(Array(field.utf8)) != nil else { continue }
            if below(3) == 0 {
                patch.unset.append(field)
            } else {
                patch.set.append(Patch.Field(field, try value(depth: 2).encoded()))
            }
        }
        return patch
    }
}

@Suite struct `patches` {
    @Test func `only fields that differ are in the difference`() throws {
        let patch = Patch(
            from: try document(#"{"id":"1","title":"tea","n":1,"old":true}"#),
            to: try document(#"{"n":2,"title":"tea","id":"1","new":[1, 2]}"#))

        #expect(text(patch.encoded) == #"{"set":{"n":2,"new":[1, 2]},"unset":["old"]}"#)
        #expect(patch.fieldNames == ["n", "new", "old"])
    }

    @Test(arguments: [
        (#"{"a":1}"#, #"{"a":1.0}"#), (#"{"a":1}"#, #"{"a":10e-1}"#),
        (#"{"a":{"x":1,"y":2}}"#, #"{"a":{"y":2, "x":1}}"#), (#"{"a":"A"}"#, #"{"a":"\u0041"}"#),
        (#"{"a":1,"b":2}"#, #"{ "b" : 2, "a" : 1 }"#),
    ])
    func `what means the same is no change`(_ old: String, _ new: String) throws {
        #expect(Patch(from: try document(old), to: try document(new)).isEmpty)
    }

    @Test(arguments: [false, true])
    func `of many members each is compared a few times, in whatever order`(
        _ isReversed: Bool
    ) throws {
        let count = 5_000
        func members(changed: Int? = nil) -> [String] {
            (0..<count).map { #""m\#($0)":\#($0 == changed ? -1 : $0)"# }
        }
        let changed = members(changed: 2_500)
        let old = try document("{" + members().joined(separator: ",") + "}")
        let new = try document(
            "{" + (isReversed ? changed.reversed() : changed).joined(separator: ",") + "}")

        var compared = 0
        let patch = Patch(from: old, to: new, except: [], counting: &compared)

        #expect(patch == Patch(set: [Patch.Field("m2500", Array("-1".utf8))]))
        #expect(compared <= (isReversed ? 4 : 2) * count)
    }

    @Test func `members that come and go between others leave the rest as it is`() throws {
        let patch = Patch(
            from: try document(#"{"a":1,"gone":2,"b":3,"c":4,"last":5}"#),
            to: try document(#"{"new":0,"a":1,"b":3,"more":6,"c":7}"#))

        #expect(
            text(patch.encoded) == #"{"set":{"new":0,"more":6,"c":7},"unset":["gone","last"]}"#)
    }

    @Test func `null and absent are different`() throws {
        let patch = Patch(from: try document(#"{"a":null}"#), to: try document("{}"))

        #expect(patch == Patch(unset: ["a"]))
    }

    @Test func `fields that are to be left alone are neither set nor removed`() throws {
        let patch = Patch(
            from: try document(#"{"id":"1","last_modified":5,"a":1}"#),
            to: try document(#"{"id":"2","a":2}"#), except: ["id", "last_modified"])

        #expect(patch == Patch(set: [Patch.Field("a", Array("2".utf8))]))
    }

    @Test func `untouched fields keep their bytes and their place`() throws {
        let patch = Patch(
            set: [Patch.Field("b", Array("[ 1 ]".utf8)), Patch.Field("d", Array("4".utf8))],
            unset: ["c"])

        let result = patch.applied(to: try document(#"{"a":1.50,"b":2,"c":3,"e":"\u0041"}"#))

        #expect(text(result) == #"{"a":1.50,"b":[ 1 ],"e":"\u0041","d":4}"#)
    }

    @Test func `names that differ only in composition are different fields`() throws {
        let composed = Patch(set: [Patch.Field("\u{E9}", Array("1".utf8))])
        let decomposed = Patch(set: [Patch.Field("e\u{301}", Array("2".utf8))])

        let both = composed.followed(by: decomposed)

        #expect(both.set.count == 2)
        #expect(both.value(of: "\u{E9}") == Array("1".utf8))
        #expect(both.value(of: "e\u{301}") == Array("2".utf8))
    }

    @Test(arguments: [3, 200])
    func `values are found by their names among few and among many`(_ count: Int) {
        let numbered = (0..<count).map { Patch.Field("m\($0)", Array("\($0)".utf8)) }
        let accented = [
            Patch.Field("\u{E9}", Array("1".utf8)), Patch.Field("e\u{301}", Array("2".utf8)),
        ]
        let patch = Patch(set: numbered + accented, unset: ["gone", "m1"])

        let values = PatchValues(patch)

        for name in patch.fieldNames + ["none"] {
            #expect(values[name] == patch.value(of: name), "\(name)")
        }
        #expect(values["m1"] == Array("1".utf8) && values["gone"] == nil)
    }

    @Test(arguments: [0x5EED_0106] as [UInt64])
    func `a difference turns one document into the other`(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        for round in 0..<1_500 {
            let (old, new) = (try random.document(), try random.document())

            let patch = Patch(from: old, to: new)
            let result = patch.applied(to: old)

            #expect(
                try JSONValue(parsing: result) == JSONValue(parsing: new.bytes),
                "seed \(seed), round \(round)")
            #expect(Patch(from: new, to: try JSONDocument(parsing: result)).isEmpty)
            #expect(try Patch(parsing: patch.encoded) == patch, "seed \(seed), round \(round)")
        }
    }

    @Test(arguments: [0x5EED_0107] as [UInt64])
    func `two patches joined do what they do one after the other`(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        for round in 0..<1_500 {
            let start = try random.document()
            let (first, second) = (try random.patch(), try random.patch())

            let joined = first.followed(by: second).applied(to: start)
            let middle = try JSONDocument(parsing: first.applied(to: start))
            let steps = second.applied(to: middle)

            #expect(
                try JSONValue(parsing: joined) == JSONValue(parsing: steps),
                "seed \(seed), round \(round)")
        }
    }

    @Test(arguments: ["", "[]", "{", #"{"set":[]}"#, #"{"set":{"a":}}"#, #"{"set":1}"#])
    func `what is no patch is refused`(_ text: String) {
        #expect(throws: JSONError.self) { try Patch(parsing: Array(text.utf8)) }
    }

    @Test func `members that are missing are empty`() throws {
        #expect(try Patch(parsing: Array("{}".utf8)).isEmpty)
        #expect(
            try Patch(parsing: Array(#"{"unset":["a",1,null]}"#.utf8)) == Patch(unset: ["a"]))
    }
}
