// EncodingTests.swift — what values are written as, and how fields are named.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkTesting

@testable import SyncSupport

private struct Names: Codable, Sendable, Equatable {
    var startedAt: Int
    var userID: Int
    var myURLPath: [String: Int]
    var plain: Int?
}

private enum Shape: Codable, Sendable, Equatable {
    case smallCircle(radiusInMeters: Double)
}

private enum Target: Codable, Sendable, Equatable {
    case userID(String)
    case myURLPath, plain, line2Text
    case withHTMLAndJSONOfID(part: Int)

    enum CodingKeys: String, CodingKey {
        case userID, myURLPath, line2Text, withHTMLAndJSONOfID
        case plain = "Plain"
    }
}

/// Opens a container for each of its values.
private struct Flat: Codable, Sendable, Equatable {
    var street: String
    var town: String
    var lines: [Int]

    enum CodingKeys: String, CodingKey { case address, lines }
    enum AddressKeys: String, CodingKey { case street, town }

    init(_ street: String, _ town: String, _ lines: [Int]) {
        (self.street, self.town, self.lines) = (street, town, lines)
    }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        let address = try fields.nestedContainer(keyedBy: AddressKeys.self, forKey: .address)
        street = try address.decode(String.self, forKey: .street)
        town = try address.decode(String.self, forKey: .town)
        lines = try fields.decode([Int].self, forKey: .lines)
    }

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        for (key, text) in [(AddressKeys.street, street), (.town, town)] {
            var address = fields.nestedContainer(keyedBy: AddressKeys.self, forKey: .address)
            try address.encode(text, forKey: key)
        }
        for line in lines {
            var again = encoder.container(keyedBy: CodingKeys.self)
            var list = again.nestedUnkeyedContainer(forKey: .lines)
            try list.encode(line)
        }
    }
}

/// Writes what can be written of it.
private struct Lenient: Codable, Sendable {
    private struct Broken: Encodable {
        func encode(to encoder: any Encoder) throws {
            var fields = encoder.container(keyedBy: AnyCodingKey.self)
            try fields.encode(1, forKey: AnyCodingKey("x"))
            try fields.encode(Double.infinity, forKey: AnyCodingKey("y"))
        }
    }

    private struct Mended: Encodable {
        func encode(to encoder: any Encoder) throws {
            var single = encoder.singleValueContainer()
            do { try single.encode(Broken()) } catch { try single.encode(["y": 2]) }
        }
    }

    init() {}

    init(from decoder: any Decoder) throws {}

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: AnyCodingKey.self)
        try fields.encode(1, forKey: AnyCodingKey("a"))
        try? fields.encode(Double.infinity, forKey: AnyCodingKey("a"))
        try? fields.encode(Broken(), forKey: AnyCodingKey("b"))
        try fields.encode(Mended(), forKey: AnyCodingKey("c"))
        var list = fields.nestedUnkeyedContainer(forKey: AnyCodingKey("d"))
        for number in [1, Double.nan, 2] { try? list.encode(number) }
        try? list.encode(Broken())
    }
}

/// A field of its own, and all that is beside it as it is.
private struct Whole: Codable, Sendable {
    var title: String
    var all: JSONValue

    enum CodingKeys: String, CodingKey { case title }

    init(from decoder: any Decoder) throws {
        title = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .title)
        all = try JSONValue(from: decoder)
    }

    func encode(to encoder: any Encoder) throws {
        try all.encode(to: encoder)
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(title, forKey: .title)
    }
}

/// A number in a type of its own.
private struct Amount: Codable, Sendable {
    var number: JSONNumber

    init(from decoder: any Decoder) throws { number = try JSONNumber(from: decoder) }

    func encode(to encoder: any Encoder) throws { try number.encode(to: encoder) }
}

@Suite struct `writing values` {
    @Test func `is compact, with members by name and nothing escaped that need not be`() throws {
        #expect(try encodeValue("a/é\u{1}\"") == #""a/é\u0001\"""#)
        #expect(try encodeValue(["b": 1, "a": 2, "é": 3]) == #"{"a":2,"b":1,"é":3}"#)
        #expect(try encodeValue(URL(string: "https://a.b/c?d")) == #""https://a.b/c?d""#)
        #expect(try encodeValue(Data([0, 1, 2, 255])) == #""AAEC/w==""#)
        #expect(try encodeValue([1.0, 0.1, 1e300, -0.0]) == "[1,0.1,1e+300,-0]")
        #expect(try encodeValue(Float(0.1)) == "0.1")
        #expect(try encodeValue(UInt64.max) == "18446744073709551615")
        #expect(try encodeValue(Int128.min) == "-170141183460469231731687303715884105728")
        #expect(try encodeValue([Int?.none, 1]) == "[null,1]")
        #expect(try encodeValue([String]()) == "[]")
        #expect(try encodeValue([Tidemark.ID<Holder<Int>>("x"): 1]) == #"{"x":1}"#)
        #expect(try encodeValue(["z": ["k": JSONValue.number(JSONNumber(1))]]) == #"{"z":{"k":1}}"#)
    }

    @Test func `leaves out what has no value, unless the type itself writes null`() throws {
        struct Two: Codable, Sendable {
            var a: Int?
            var b: Int?
        }
        #expect(try encodeValue(Two(b: 1)) == #"{"b":1}"#)
        #expect(try encodeValue(Int?.none) == "null")
    }

    @Test func `goes on in a container that is opened again for the same key`() throws {
        let flat = Flat("Elm St", "Ulm", [1, 2])
        #expect(
            try encodeValue(flat) == #"{"address":{"street":"Elm St","town":"Ulm"},"lines":[1,2]}"#)
        try withReplica(holders()) { replica in
            try replica.write { tx in try tx.create(Holder(value: flat)) }
            let before = try replica.position
            try replica.write { tx in
                try tx.update(Holder<Flat>.self, "h") { $0.value.street = "Oak St" }
            }
            #expect(try replica.position == before.next)
            let changed = try replica.read { try $0.get(Holder<Flat>.self, "h")?.value }
            #expect(changed == Flat("Oak St", "Ulm", [1, 2]))
        }
    }

    @Test func `leaves nothing of a value that throws, where the type goes on without it`() throws {
        #expect(try encodeValue(Lenient()) == #"{"a":1,"c":{"y":2},"d":[1,2]}"#)
    }

    @Test func `puts times into the collection's format`() throws {
        let date = Date(timeIntervalSince1970: 1_795_000_000.25)
        #expect(try encodeValue(date) == #""2026-11-18T11:06:40.250Z""#)
        #expect(try encodeValue(date, in: holders(.seconds)) == "1795000000.25")
        #expect(try encodeValue([date], in: holders(.milliseconds)) == "[1795000000250]")
    }

    @Test func `gives times of our centuries back to the microsecond`() throws {
        let seed: UInt64 = 7
        var random = SplitMix64(seed: seed)
        let from1906: Int64 = -2_000_000_000_000_000, span = 6_000_000_000_000_000
        for format in [DateFormat.iso8601, .seconds] {
            let times = (0..<500).map { _ in
                let time = Timestamp(rawValue: from1906 + Int64(random.below(span)))
                return String(decoding: format.encoded(time), as: UTF8.self)
            }
            let json = "[\(times.joined(separator: ","))]"
            let dates = try decodeValue([Date].self, json, in: holders(format))
            #expect(try encodeValue(dates, in: holders(format)) == json, "seed \(seed)")
        }
    }

    @Test func `refuses numbers and times that can't be written`() throws {
        func message<Value: Codable & Sendable>(_ value: Value) -> String {
            do { return try encodeValue(value) ?? "" } catch { return "\(error)" }
        }
        #expect(
            message([0, Double.infinity])
                == "holders/h can't be written: \"value[1]\" is inf, and JSON has no such number")
        #expect(message(Float.nan).hasSuffix("is nan, and JSON has no such number"))
        #expect(message(Decimal.nan).hasSuffix("is NaN, and JSON has no such number"))
        #expect(message(Date.distantFuture) == #""4001-01-01T00:00:00Z""#)
        #expect(
            message(Date(timeIntervalSince1970: 1e13)).hasSuffix(
                "is a time too far away to be written"))
        let year10000 = Date(timeIntervalSince1970: 253_402_300_800)
        #expect(message([year10000]).hasSuffix("\"value[0]\" is a time too far away to be written"))
        #expect(try encodeValue(year10000, in: holders(.seconds)) == "253402300800")
    }

    @Test func `names fields in the collection's style, and leaves keys of dictionaries alone`()
        throws
    {
        let model = holders(.iso8601, .snakeCase)
        let names = Names(startedAt: 1, userID: 2, myURLPath: ["aB": 3], plain: 4)
        let json = #"{"my_url_path":{"aB":3},"plain":4,"started_at":1,"user_id":2}"#

        #expect(try encodeValue(names, in: model) == json)
        #expect(try decodeValue(Names.self, json, in: model) == names)
        #expect(try encodeValue(["kV": names], in: model) == #"{"kV":\#(json)}"#)
        #expect(
            try decodeValue([String: Names]?.self, #"{"kV":\#(json)}"#, in: model) == ["kV": names])
        let circle = Shape.smallCircle(radiusInMeters: 1)
        let shape = #"{"small_circle":{"radius_in_meters":1}}"#
        #expect(try encodeValue(circle, in: model) == shape)
        #expect(try decodeValue(Shape.self, shape, in: model) == circle)
    }

    @Test func `of an enum is read back, with any words of a case in capitals`() throws {
        let model = holders(.iso8601, .snakeCase)
        let written: [(Target, String)] = [
            (.userID("7"), #"{"user_id":{"_0":"7"}}"#),
            (.myURLPath, #"{"my_url_path":{}}"#),
            (.plain, #"{"plain":{}}"#),
            (.line2Text, #"{"line2_text":{}}"#),
            (.withHTMLAndJSONOfID(part: 1), #"{"with_html_and_json_of_id":{"part":1}}"#),
        ]
        for (target, json) in written {
            #expect(try encodeValue(target, in: model) == json)
            #expect(try decodeValue(Target.self, json, in: model) == target)
        }
    }

    @Test(arguments: [
        ("startedAt", "started_at"), ("userID", "user_id"), ("myURLPath", "my_url_path"),
        ("URL", "url"), ("URLPath", "url_path"), ("a", "a"), ("", ""), ("line2Text", "line2_text"),
        ("already_snake", "already_snake"), ("_private", "_private"), ("aBC", "a_bc"),
    ])
    func `turns camel case into snake case as Foundation does`(_ key: String, _ field: String)
        throws
    {
        #expect(KeyStyle.snakeCase.fieldName(key) == field)
        #expect(KeyStyle.verbatim.fieldName(key) == key)
        // Foundation takes a first word in capitals apart: u_rl.
        guard !key.hasPrefix("URL") else { return }
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        struct Key: Encodable {
            var name: String
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: AnyCodingKey.self)
                try container.encode(1, forKey: AnyCodingKey(stringValue: name))
            }
        }
        #expect(
            String(decoding: try encoder.encode(Key(name: key)), as: UTF8.self)
                == #"{"\#(field)":1}"#)
    }

    @Test func `keeps JSON values as they are, also where a type hands on its coder`() throws {
        let model = holders(.iso8601, .snakeCase)
        let json = #"{"isoCode":1.10,"title":"x","user_id":[{"aB":2}]}"#
        var kept = try decodeValue(Whole.self, json, in: model)
        kept.title = "y"
        #expect(
            try encodeValue(kept, in: model)
                == #"{"isoCode":1.10,"title":"y","user_id":[{"aB":2}]}"#)
        let digits = "1234567890123456789.012345678901234567"
        #expect(try encodeValue(decodeValue(Amount.self, digits)) == digits)
    }

    @Test func `lets JSON values pass through Foundation's coders`() throws {
        let json = #"{"a":[1,2.5,null,true,"x"],"b":{},"c":18446744073709551615}"#
        let value = try JSONDecoder().decode(JSONValue.self, from: Data(json.utf8))
        #expect(value == (try JSONValue(parsing: Array(json.utf8))))
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(String(decoding: try encoder.encode(value), as: UTF8.self) == json)
    }
}
