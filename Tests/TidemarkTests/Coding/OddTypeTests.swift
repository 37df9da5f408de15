// OddTypeTests.swift — entities of types that nobody expects: classes, types that keep their
// decoder, documents that nest very deep.

import Foundation
import Synchronization
import Testing
import Tidemark
import TidemarkEvents
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

private let model = SyncModel(name: "odd", collections: [CollectionModel("odd")])
private let key = EntityKey("odd", "o")

/// An entity that is an object: a copy of it is the same one.
private final class Counter: Entity {
    static let collection: CollectionName = "odd"
    let id: Tidemark.ID<Counter>
    let count: Mutex<Int>

    enum CodingKeys: String, CodingKey { case id, count }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        id = try fields.decode(Tidemark.ID<Counter>.self, forKey: .id)
        count = Mutex(try fields.decode(Int.self, forKey: .count))
    }

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(id, forKey: .id)
        try fields.encode(count.withLock(\.self), forKey: .count)
    }
}

private final class Kept: @unchecked Sendable {
    // @unchecked because: it is used by one test at a time.
    let decoder: any Decoder
    init(_ decoder: any Decoder) { self.decoder = decoder }
}

/// A value that reads itself when it is asked, not when it is made.
private struct Late: Entity {
    static let collection: CollectionName = "odd"
    let id: Tidemark.ID<Late>
    private let kept: Kept

    enum CodingKeys: String, CodingKey { case id, first, second, third }

    init(from decoder: any Decoder) throws {
        kept = Kept(decoder)
        id = try decoder.container(keyedBy: CodingKeys.self).decode(ID.self, forKey: .id)
    }

    func encode(to encoder: any Encoder) throws {}

    func value(_ key: CodingKeys) throws -> String {
        try kept.decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: key)
    }
}

/// Lists in lists, as deep as there are any.
private indirect enum Nest: Codable, Sendable {
    case leaf
    case nest(Nest)

    init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        self = list.isAtEnd ? .leaf : .nest(try list.decode(Nest.self))
    }

    func encode(to encoder: any Encoder) throws {
        var list = encoder.unkeyedContainer()
        if case .nest(let inner) = self { try list.encode(inner) }
    }
}

@Suite struct `an entity of an odd type` {
    @Test func `that is an object is changed by an update`() throws {
        try withReplica(model) { replica in
            try replica.write { tx in _ = try tx.put(key, Array(#"{"count":1,"x":2}"#.utf8)) }
            try replica.write { tx in
                try tx.update(Counter.self, ID("o")) { $0.count.withLock { $0 += 1 } }
            }
            #expect(try replica.text(key) == #"{"count":2,"x":2}"#)
            let before = try replica.position
            try replica.write { tx in try tx.update(Counter.self, ID("o")) { _ in } }
            #expect(try replica.position == before)
        }
    }

    @Test func `that keeps its decoder reads on from it, in any order and after others`() throws {
        try withReplica(model) { replica in
            for id in ["o", "p"] {
                let json = #"{"first":"\#(id)1","second":"\#(id)2","third":"\#(id)3"}"#
                try replica.write { tx in
                    _ = try tx.put(EntityKey("odd", id), Array(json.utf8))
                }
            }
            let all = try replica.read { try $0.all(Late.self) }
            for late in all + all.reversed() {
                let values = try [late.value(.third), late.value(.first), late.value(.second)]
                #expect(values == ["3", "1", "2"].map { late.id.rawValue + $0 })
                #expect(throws: DecodingError.self) { try late.value(.id) }
            }
        }
    }

    @Test func `that nests as deep as a document may is read and written`() throws {
        func document(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        // A document has 124 levels at most, the object itself among them.
        let nest = try decodeValue(Nest.self, document(123))
        #expect(try encodeValue(nest) == document(123))
        let error = #expect(throws: TidemarkError.self) { try encodeValue(Nest.nest(nest)) }
        #expect(error?.code == .invalidDocument)
        #expect(refusal(Nest.self, document(100_000)).contains("nested too deep"))
    }

    @Test(arguments: [
        "1e400", "-1e400", "1e99999999999999999999", "1e-99999999999999999999",
        "0e99999999999999999999", "-0", "-0.0", "1E+2", "9223372036854775808",
        "18446744073709551616", "-9223372036854775809", "1e9223372036854775807",
        "0.1e-9223372036854775808", String(repeating: "9", count: 5000),
        "0." + String(repeating: "0", count: 5000) + "1",
    ])
    func `with any number is read or refused, found, and ordered`(_ number: String) throws {
        for dates in DateFormat.allCases {
            let model = holders(dates)
            func attempt<Value: Codable & Sendable>(_ type: Value.Type) {
                let said = refusal(type, number, in: model)
                #expect(said.hasPrefix("read as") || said.contains("value"), "\(said)")
            }
            attempt(Int.self)
            attempt(UInt64.self)
            attempt(Int8.self)
            attempt(Double.self)
            attempt(Float.self)
            attempt(Decimal.self)
            attempt(Date.self)
            attempt(Tidemark.ID<Counter>.self)
            #expect(try decodeValue(JSONNumber.self, number, in: model).text == number)
            for kind in [IndexField.Kind.value, .date] {
                var key: [UInt8] = []
                OrderKey.append(Array(number.utf8)[...], kind: kind, dates: dates, to: &key)
                #expect(OrderKey.end(of: key[...], from: 0) == key.count)
            }
        }
        try withReplica(holders()) { replica in
            let key = EntityKey("holders", "h")
            try replica.write { tx in
                _ = try tx.put(key, Array(#"{"value":\#(number),"x":\#(number)}"#.utf8))
            }
            let before = try replica.position
            try replica.write { tx in
                try tx.update(Holder<JSONNumber>.self, ID("h")) { _ in }
            }
            #expect(try replica.position == before)
        }
    }

    @Test func `is made again by a save when the server deleted it meanwhile`() throws {
        struct Plain: Entity {
            static let collection: CollectionName = "odd"
            var id = Tidemark.ID<Plain>("o")
            var count: Int
        }
        func say(_ replica: Replica, _ kind: EventKind, _ json: String) throws {
            try replica.journal.write(at: Timestamp(rawValue: 1)) { draft in
                _ = try draft.append(
                    Event(kind, recordedAt: draft.now, key: key, json: Array(json.utf8)))
            }
        }
        try withReplica(model) { replica in
            try say(replica, .serverUpserted, #"{"id":"o","count":1}"#)
            var plain = try #require(try replica.read { try $0.get(Plain.self, ID("o")) })
            try say(replica, .serverDeleted, "{}")
            plain.count = 2
            try replica.write { tx in
                #expect(throws: TidemarkError.self) {
                    try tx.update(Plain.self, plain.id) { $0.count = 3 }
                }
                try tx.save(plain)
                try tx.save(plain)
            }
            #expect(try replica.read { try $0.get(Plain.self, ID("o"))?.count } == 2)
            try replica.write { tx in
                try tx.delete(Plain.self, plain.id)
                try tx.save(plain)
            }
            #expect(try replica.read { try $0.get(Plain.self, ID("o"))?.count } == 2)
        }
    }
}
