// DecodingTests.swift — what each type is read from.

import Foundation
import Testing
import Tidemark
import TidemarkEvents

@testable import SyncSupport

private enum Shade: String, Codable, Sendable { case light, dark }

private enum Shape: Codable, Sendable, Equatable {
    case circle(radius: Double)
    case point
}

private struct Address: Codable, Sendable, Equatable {
    var street: String
    var postCode: Int?
}

private class Animal: Codable {
    var name = ""
}

private struct Pet: Codable, Sendable, Equatable {
    var name: String
    var age: Int

    enum CodingKeys: String, CodingKey { case name, more }
    enum MoreKeys: String, CodingKey { case age }

    init(name: String, age: Int) { (self.name, self.age) = (name, age) }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        age = try container.nestedContainer(keyedBy: MoreKeys.self, forKey: .more)
            .decode(Int.self, forKey: .age)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        var more = container.nestedContainer(keyedBy: MoreKeys.self, forKey: .more)
        try container.encode(name, forKey: .name)
        try more.encode(age, forKey: .age)
    }
}

/// The members of an object, by keys of any text.
private struct Members: Codable, Sendable, Equatable {
    var values: [String: Int] = [:]

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: AnyCodingKey.self)
        for key in fields.allKeys {
            values[key.stringValue] = try fields.decode(Int.self, forKey: key)
        }
    }

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: AnyCodingKey.self)
        for (name, value) in values { try fields.encode(value, forKey: AnyCodingKey(name)) }
    }
}

/// The members of an object that it has keys for.
private struct Known: Codable, Sendable {
    var values: [Int]

    enum Keys: String, CodingKey { case isoCode, userID }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Keys.self)
        values = try fields.allKeys.map { try fields.decode(Int.self, forKey: $0) }
    }

    func encode(to encoder: any Encoder) throws {}
}

/// Numbers in a list, read by how many there are.
private struct Counted: Codable, Sendable, Equatable {
    var values: [Int] = []

    init(_ values: [Int]) { self.values = values }

    init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        for _ in 0..<(list.count ?? 0) { values.append(try list.decode(Int.self)) }
    }

    func encode(to encoder: any Encoder) throws {
        var single = encoder.singleValueContainer()
        try single.encode(values)
    }
}

/// Lists in a list, which is asked before each of them how many there are.
private struct CountedLists: Codable, Sendable, Equatable {
    var lists: [Counted] = []

    init(_ lists: [Counted]) { self.lists = lists }

    init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        while lists.count < (list.count ?? 0) { lists.append(try list.decode(Counted.self)) }
    }

    func encode(to encoder: any Encoder) throws {
        var single = encoder.singleValueContainer()
        try single.encode(lists)
    }
}

/// Reads the same with Foundation and compares.
private func same<Value: Codable & Sendable & Equatable>(
    _ json: String, _ value: Value, sourceLocation: SourceLocation = #_sourceLocation
) throws {
    #expect(try decodeValue(Value.self, json) == value, sourceLocation: sourceLocation)
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    #expect(
        try decoder.decode([Value].self, from: Data("[\(json)]".utf8)) == [value],
        sourceLocation: sourceLocation)
}

@Suite struct `reading values` {
    @Test func `agrees with Foundation on the plain types`() throws {
        try same("true", true)
        try same(#""a\u00e9\n\"\ud83d\ude00/""#, "aé\n\"😀/")
        try same("\"\"", "")
        try same("-128", Int8.min)
        try same("65535", UInt16.max)
        try same("-9223372036854775808", Int64.min)
        try same("18446744073709551615", UInt64.max)
        try same("1.0", 1)
        try same("10e1", 100)
        try same("-0.1", -0.1)
        try same("1e300", 1e300)
        try same("0.1", Float(0.1))
        try same("[[1,2],[],[3]]", [[1, 2], [], [3]])
        try same(#"{"b c":1,"":2}"#, ["b c": 1, "": 2])
        try same("null", Int?.none)
        try same("[1,null]", [1, nil])
        try same(#"{"a":null}"#, ["a": Int?.none])
        try same(#""dark""#, Shade.dark)
        try same(#"{"circle":{"radius":2}}"#, Shape.circle(radius: 2))
        try same(#"{"point":{}}"#, Shape.point)
        try same(#"{"street":"x","extra":[{}]}"#, Address(street: "x"))
        try same(#"{"more":{"age":3},"name":"Rex"}"#, Pet(name: "Rex", age: 3))
        try same(#""AAEC/w==""#, Data([0, 1, 2, 255]))
        try same(#""https://example.org/a?b=c""#, URL(string: "https://example.org/a?b=c"))
        try same(#""2026-11-18T11:06:40Z""#, Date(timeIntervalSince1970: 1_795_000_000))
        try same(
            #""E621E1F8-C36C-495A-93FC-0C247A3E6E5F""#,
            UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
        try same("[1,2,3]", Set([1, 2, 3]))
        try same("[1.5,2]", CGSizeLike(1.5, 2))
        try same("[[3,4],[],[5]]", [Counted([3, 4]), Counted([]), Counted([5])])
        try same(
            "[[3,4],[],[5]]", CountedLists([Counted([3, 4]), Counted([]), Counted([5])]))
        try same("[1.5,2]", SIMD2<Double>(1.5, 2))
    }

    @Test func `keeps every digit of a Decimal, a JSONNumber and a JSONValue`() throws {
        let digits = "1234567890123456789.012345678901234567"
        #expect(try "\(decodeValue(Decimal.self, digits))" == digits)
        #expect(try decodeValue(JSONNumber.self, "1.0e-400").text == "1.0e-400")
        let json = #"{"b":[1.00,null],"a":"é"}"#
        #expect(try decodeValue(JSONValue.self, json).encoded() == Array(json.utf8))
        #expect(try decodeValue([JSONValue?].self, "[1e1,null]") == [.number(JSONNumber(10)), nil])
        #expect(try encodeValue(decodeValue(JSONNumber.self, "1.0e-400")) == "1.0e-400")
        #expect(try encodeValue(decodeValue(Decimal.self, digits)) == digits)
        #expect(
            refusal(Decimal.self, String(repeating: "7", count: 50)).hasPrefix(
                "\"value\" must be a number that Decimal holds exactly, but is 777"))
    }

    @Test func `takes what is not there for null where the type is optional`() throws {
        #expect(try decodeEntity(Holder<Int?>.self, "{}").value == nil)
        #expect(try decodeEntity(Holder<Int?>.self, #"{"value":null}"#).value == nil)
    }

    @Test(arguments: [
        (DateFormat.iso8601, #""2026-11-18T11:06:40Z""#, 1_795_000_000.0),
        (.iso8601, #""2026-11-18T12:06:40.25+01:00""#, 1_795_000_000.25),
        (.iso8601, #""2026-11-18T11:06:40.123456789Z""#, 1_795_000_000.123456),
        (.seconds, "1795000000", 1_795_000_000.0), (.seconds, "1795000000.5", 1_795_000_000.5),
        (.milliseconds, "1795000000250", 1_795_000_000.25), (.milliseconds, "-1", -0.001),
    ])
    func `reads times in the collection's format`(
        _ format: DateFormat, _ json: String, _ seconds: Double
    ) throws {
        let date = try decodeValue(Date.self, json, in: holders(format))
        #expect(abs(date.timeIntervalSince1970 - seconds) < 1e-6)
        #expect(
            try decodeValue([String: Date].self, #"{"a":\#(json)}"#, in: holders(format)) == [
                "a": date
            ])
    }

    @Test func `reads the id from the entity's key, and others from texts and whole numbers`()
        throws
    {
        struct Task: Entity {
            static let collection: CollectionName = "tasks"
            let id: Tidemark.ID<Task>
            var parent: Tidemark.ID<Task>?
            var list: Tidemark.ID<Holder<Int>>?
            var watchers: [Tidemark.ID<Holder<Int>>]?
        }
        let json = #"{"uuid":17,"id":"other","parent":"p","list":42,"watchers":["a",7]}"#
        let model = SyncModel(
            name: "m", collections: [CollectionModel("tasks", idField: "uuid")])
        let task = try decodeEntity(Task.self, json, id: "local-1", in: model)

        #expect(task.id.rawValue == "local-1")
        #expect(task.parent?.rawValue == "p")
        #expect(task.list?.rawValue == "42")
        #expect(task.watchers?.map(\.rawValue) == ["a", "7"])
        #expect(try decodeEntity(Task.self, "{}", id: "x", in: model).id.rawValue == "x")
        #expect(refusal(Tidemark.ID<Task>.self, "1.5") == "\"value\" must be an id, but is 1.5")
    }

    @Test func `finds members whatever their order, and by keys that are escaped`() throws {
        struct Many: Codable, Sendable, Equatable { var a, b, c, d: Int }
        let many = Many(a: 1, b: 2, c: 3, d: 4)
        for json in [
            #"{"a":1,"b":2,"c":3,"d":4}"#, #"{"d":4,"c":3,"b":2,"a":1}"#,
            #"{"x":"a","y":"b","a":1,"z":["c","d"],"b":2,"c":3,"d":4}"#,
            #"{"x":{"a":9},"c":3,"\u0061":1,"y":[],"d":4,"b":2}"#,
        ] {
            #expect(try decodeValue(Many.self, json) == many)
            #expect(try decodeValue([Many].self, "[\(json),\(json)]") == [many, many])
            #expect(
                try decodeValue([String: Many].self, #"{"p":\#(json),"q":\#(json)}"#) == [
                    "p": many, "q": many,
                ])
        }
    }

    @Test func `finds each member by the key that is given for it`() throws {
        let model = holders(.iso8601, .snakeCase)
        let json = #"{"isoCode":1,"iso_code":2,"user_id":3,"URL":4,"_x":5,"b c":6}"#
        let members = try decodeValue([Members].self, "[\(json),\(json)]", in: model)
        let all = ["isoCode": 1, "iso_code": 2, "user_id": 3, "URL": 4, "_x": 5, "b c": 6]
        #expect(members.map(\.values) == [all, all])
        #expect(try decodeValue(Members.self, #"{"isoCode":1}"#).values == ["isoCode": 1])
        #expect(try decodeValue(Known.self, json, in: model).values == [2, 3])
        #expect(try decodeValue(Known.self, #"{"isoCode":1}"#, in: model).values == [])
    }

    @Test func `lets a class read what its parent class wrote`() throws {
        final class Dog: Animal {
            var isGood = false
            enum CodingKeys: String, CodingKey { case isGood }
            required init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                isGood = try container.decode(Bool.self, forKey: .isGood)
                try super.init(from: container.superDecoder())
            }
        }
        let json = #"{"value":{"isGood":true,"super":{"name":"Rex"}}}"#
        struct Kennel: Entity {
            static let collection: CollectionName = "holders"
            let id: Tidemark.ID<Kennel>
            var name: String
            var isGood: Bool
            enum CodingKeys: String, CodingKey { case id, value }
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                id = try container.decode(Tidemark.ID<Kennel>.self, forKey: .id)
                let dog = try container.decode(Dog.self, forKey: .value)
                (name, isGood) = (dog.name, dog.isGood)
            }
            func encode(to encoder: any Encoder) throws {}
        }
        let kennel = try decodeEntity(Kennel.self, json)
        #expect(kennel.name == "Rex" && kennel.isGood)
    }
}

/// Two numbers in a list, as CGSize is coded.
private struct CGSizeLike: Codable, Sendable, Equatable {
    var width, height: Double

    init(_ width: Double, _ height: Double) { (self.width, self.height) = (width, height) }

    init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        width = try container.decode(Double.self)
        height = try container.decode(Double.self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(width)
        try container.encode(height)
    }
}
