// JSONValueTests.swift — values and objects: equality, order, literals, accessors.

import Testing
import TidemarkEvents

@Suite struct `JSON values` {
    @Test func `literals make values`() throws {
        let value: JSONValue = ["a": [1, -2, true, nil, "x"], "b": [:], "c": []]

        #expect(value == (try json(#"{"a":[1,-2,true,null,"x"],"b":{},"c":[]}"#)))
        #expect(value.description == #"{"a":[1,-2,true,null,"x"],"b":{},"c":[]}"#)
    }

    @Test func `accessors answer for their own case only`() {
        let values: [JSONValue] = [nil, true, 7, "s", [1], ["k": 1]]

        #expect(values.map(\.boolValue) == [nil, true, nil, nil, nil, nil])
        #expect(values.map(\.int64Value) == [nil, nil, 7, nil, nil, nil])
        #expect(values.map(\.stringValue) == [nil, nil, nil, "s", nil, nil])
        #expect(values.map(\.array) == [nil, nil, nil, nil, [1], nil])
        #expect(values.map(\.object) == [nil, nil, nil, nil, nil, ["k": 1]])
        #expect(values.map { $0["k"] } == [nil, nil, nil, nil, nil, .some(1)])
    }

    @Test func `a null member is there, a missing one is not`() throws {
        let value = try json(#"{"a":null}"#)

        #expect(value["a"] == .some(.null))
        #expect(value["b"] == .none)
    }

    @Test func `values of different kinds differ`() {
        let values: [JSONValue] = [
            nil, true, false, 0, 1, "", "1", "true", [], [nil], [:], ["": nil],
        ]

        #expect(Set(values).count == values.count)
    }

    @Test func `strings compare byte for byte`() throws {
        let composed: JSONValue = "\u{E9}"
        let decomposed: JSONValue = "e\u{301}"

        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
        #expect(try json("{\"\u{E9}\":1}") != json("{\"e\u{301}\":1}"))
        #expect(try json("{\"\u{E9}\":1,\"e\u{301}\":2}")["e\u{301}"] == 2)
    }

    @Test func `arrays keep their order in comparisons`() {
        #expect(JSONValue.array([1, 2]) != .array([2, 1]))
        #expect(JSONValue.array([1]) != .array([1, 1]))
    }
}

@Suite struct `JSON objects` {
    @Test func `setting keeps the place, appends what is new, and nil removes`() {
        var object: JSONObject = ["a": 1, "b": 2, "c": 3]

        object["b"] = "two"
        object["d"] = .some(.null)
        object["a"] = .none
        object["missing"] = .none

        #expect(object.keys == ["b", "c", "d"])
        #expect(object.map(\.value) == ["two", 3, nil])
        #expect(object.count == 3)
        #expect(object["a"] == .none)
    }

    @Test func `a bare nil removes`() {
        var object: JSONObject = ["a": 1]

        object["a"] = nil

        #expect(object.isEmpty)
    }

    @Test func `a removed key comes back at the end`() {
        var object: JSONObject = ["a": 1, "b": 2]

        object["a"] = .none
        object["a"] = 1

        #expect(object.keys == ["b", "a"])
    }

    @Test func `order does not matter to equality and hash`() throws {
        let one = try json(#"{"a":1,"b":{"x":[1],"y":null}}"#)
        let other = try json(#"{"b":{"y":null,"x":[1.0]},"a":1e0}"#)

        #expect(one == other)
        #expect(one.hashValue == other.hashValue)
        #expect(one.encoded() != other.encoded())
        #expect(one.encoded(sortedKeys: true) == Array(#"{"a":1,"b":{"x":[1],"y":null}}"#.utf8))
    }

    @Test func `objects differ by a key, a value or a count`() {
        let object: JSONObject = ["a": 1, "b": 2]

        #expect(object != ["a": 1])
        #expect(object != ["a": 1, "c": 2])
        #expect(object != ["c": 1, "a": 1])
        #expect(object != ["b": 1, "a": 2])
        #expect(object != ["a": 1, "b": 2, "c": 3])
        #expect(JSONObject() == [:])
    }

    @Test func `deep objects in another order compare in linear time`() throws {
        var one: JSONValue = 1
        var other: JSONValue = 1
        for _ in 0..<100 {
            one = ["a": one, "b": 2]
            other = ["b": 2, "a": other]
        }

        #expect(one == other)
        #expect(one.hashValue == other.hashValue)
    }

    @Test func `iteration gives key and value in order`() {
        let object: JSONObject = ["z": 1, "a": 2]
        var seen: [String] = []

        for (key, value) in object { seen.append("\(key)=\(value)") }

        #expect(seen == ["z=1", "a=2"])
    }
}
