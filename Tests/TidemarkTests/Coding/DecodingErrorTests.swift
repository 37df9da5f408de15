// DecodingErrorTests.swift — what is said of documents that are no value of a type.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkTesting

@testable import SyncSupport

private struct Address: Codable, Sendable { var postCode: UInt8 }

private struct Todo: Entity {
    static let collection: CollectionName = "tasks"
    let id: Tidemark.ID<Todo>
    var title: String
}

@Suite struct `documents that can't be read` {
    @Test func `are refused in words that name the server's field`() {
        let snake = holders(.iso8601, .snakeCase)
        #expect(refusal(Int.self, "null") == "\"value\" is null, and must be Int")
        #expect(refusal(Int.self, #""12""#) == "\"value\" must be Int, but is \"12\"")
        #expect(refusal(Int.self, "1.5") == "\"value\" must be Int, but is 1.5")
        #expect(refusal(UInt8.self, "300") == "\"value\" must be UInt8, but is 300")
        #expect(refusal(UInt.self, "-1") == "\"value\" must be UInt, but is -1")
        #expect(refusal(Double.self, "1e999") == "\"value\" must be Double, but is 1e999")
        #expect(refusal(String.self, "{}") == "\"value\" must be a text, but is an object")
        #expect(refusal(Bool.self, "[]") == "\"value\" must be Bool, but is a list")
        #expect(refusal([Int].self, "true") == "\"value\" must be a list, but is true")
        #expect(refusal([Int].self, "[1,null]") == "\"value[1]\" is null, and must be Int")
        #expect(
            refusal([String: [Int]].self, #"{"aB":[0,"x"]}"#, in: snake)
                == "\"value.aB[1]\" must be Int, but is \"x\"")
        #expect(
            refusal(Address.self, #"{"post_code":"x"}"#, in: snake)
                == "\"value.post_code\" must be UInt8, but is \"x\"")
        #expect(refusal(Address.self, "{}", in: snake) == "\"value.post_code\" is missing")
        #expect(
            refusal(Date.self, #""tomorrow""#)
                == "\"value\" must be a time such as \"2026-11-18T11:06:40Z\", but is \"tomorrow\"")
        #expect(
            refusal(Date.self, #""2026-11-18T11:06:40Z""#, in: holders(.seconds))
                == "\"value\" must be a time such as 1795000000, but is \"2026-11-18T11:06:40Z\"")
        #expect(refusal(Data.self, #""?""#) == "\"value\" must be bytes in base64, but is \"?\"")
        #expect(refusal(URL.self, "3") == "\"value\" must be a URL, but is 3")
        let long = String(repeating: "x", count: 90)
        #expect(
            refusal(Int.self, "\"\(long)\"")
                == "\"value\" must be Int, but is \"\(long.prefix(40))…\"")
    }

    @Test func `are refused in the words of the type where it has some`() {
        enum Shade: String, Codable, Sendable { case light }
        struct Even: Codable, Sendable {
            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                guard try container.decode(Int.self) % 2 == 0 else {
                    throw DecodingError.dataCorruptedError(
                        in: container, debugDescription: "an odd number")
                }
            }
        }
        #expect(
            refusal(Shade.self, #""dark""#)
                == "\"value\" can't be read: Cannot initialize Shade from invalid String value dark"
        )
        #expect(refusal([Even].self, "[2,3]") == "\"value[1]\" can't be read: an odd number")
    }

    @Test func `are listed with key, position and what to do, and the others are read`() throws {
        let model = SyncModel(name: "m", collections: [CollectionModel("tasks")])
        let replica = try Replica.temporary(model: model)
        defer { try? replica.deleteTemporary() }
        try replica.write { tx in
            try tx.create(Todo(id: Tidemark.ID("a"), title: "Tea"))
            try tx.put(EntityKey("tasks", "t1"), Array(#"{"id":"t1"}"#.utf8))
            try tx.put(EntityKey("tasks", "t2"), Array(#"{"title":7}"#.utf8))
        }
        try replica.write { tx in
            _ = try tx.put(EntityKey("tasks", "t2"), Array(#"{"title":8}"#.utf8))
        }

        let message =
            #"tasks/t1 can't be read as Todo: "title" is missing (@4); "#
            + "add a migration, or make the property optional"
        try replica.read { context in
            let error = try #require(throws: TidemarkError.self) { try context.all(Todo.self) }
            #expect(error.code == .undecodable)
            #expect(error.message == message)
            #expect(error.key == EntityKey("tasks", "t1"))
            #expect(error.position == Position(rawValue: 4))
            expect(.undecodable) { _ = try context.get(Todo.self, Tidemark.ID("t2")) }
            #expect(try context.decodable(Todo.self).map(\.title) == ["Tea"])
            #expect(
                try context.undecodable(Todo.self).map(\.message) == [
                    message,
                    #"tasks/t2 can't be read as Todo: "title" must be a text, but is 8 (@6); "#
                        + "change the property's type, or write its init(from:)",
                ])
        }
        expect(.undecodable) {
            try replica.write { tx in
                try tx.update(Todo.self, Tidemark.ID("t1")) { $0.title = "x" }
            }
        }
    }

    @Test func `never crash, whatever the bytes`() throws {
        let seed: UInt64 = 0x5EED_C0DE
        var random = SplitMix64(seed: seed)
        let pieces = [
            "{", "}", "[", "]", ",", ":", "\"id\"", "\"value\"", "null", "true", "1", "-1.5e9",
            "\"\\u0061\"", "\"2026-11-18T11:06:40Z\"", "1e400", "\"é\"", " ",
        ]
        var read = 0
        for round in 0..<4000 {
            var json = #"{"value":"#
            for _ in 0..<random.below(9) { json += random.pick(pieces) }
            json += "}"
            var bytes = Array(json.utf8)
            if random.once(in: 4) { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
            func attempt<Value: Codable & Sendable>(_ type: Value.Type) throws {
                let reader = EntityReader(Holder<Value>.self, in: CollectionModel("holders"))
                do {
                    _ = try reader.entity(EntityKey("holders", "h"), bytes)
                    read += 1
                } catch let error as TidemarkError {
                    #expect(error.code == .undecodable, "seed \(seed), round \(round)")
                }
            }
            try attempt(Int?.self)
            try attempt([String: [Double?]].self)
            try attempt([JSONValue].self)
            try attempt(Date.self)
            try attempt([[String: Address]].self)
            try attempt(Decimal.self)
        }
        #expect(read > 100)
    }
}
