// UpdateTests.swift — changing an entity changes what differs and nothing else.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

private struct Place: Codable, Sendable, Equatable {
    var street: String?
    var size: Double?
}

private struct Thing: Entity, Equatable {
    static let collection: CollectionName = "things"
    var id: Tidemark.ID<Thing>
    var title: String
    var itemCount: Int?
    var weight: Double?
    var dueAt: Date?
    var tags: [String]?
    var place: Place?
    var stock: [String: Int]?
    var lines: [Line]?
}

private struct Line: Codable, Equatable {
    var qty: Int
}

/// Members of any name.
private struct Codes: Codable, Sendable {
    var values: [String: Int]

    init(from decoder: any Decoder) throws { values = try [String: Int](from: decoder) }

    func encode(to encoder: any Encoder) throws { try values.encode(to: encoder) }
}

private struct Coded: Entity {
    static let collection: CollectionName = "things"
    let id: Tidemark.ID<Coded>
    var codes: Codes
    var list: [Codes]?
}

private let model = SyncModel(
    name: "things",
    collections: [
        CollectionModel("things", keys: .snakeCase, nullable: ["due_at", "item_count"])
    ])
private let key = EntityKey("things", "t")
private let id = Tidemark.ID<Thing>("t")

/// A replica whose one thing has a document as the server wrote it.
private func withThing<R>(_ json: String, _ body: (Replica) throws -> R) throws -> R {
    try withReplica(model) { replica in
        try replica.write { tx in _ = try tx.put(key, Array(json.utf8)) }
        return try body(replica)
    }
}

/// What the last event says.
private func lastPayload(_ replica: Replica) throws -> String {
    let last = try replica.position
    let event = try #require(try replica.journal.read { try $0.event(at: last) })
    return String(decoding: event.payload, as: UTF8.self)
}

/// What is said when a change gives an entity another id.
private func messageOfOtherID(_ replica: Replica) -> String {
    do {
        try replica.write { tx in try tx.update(Thing.self, id) { $0.id = Tidemark.ID("u") } }
        return ""
    } catch { return "\(error)" }
}

@Suite struct `changing an entity` {
    @Test func `makes null of a field that the model calls nullable, and removes others`() throws {
        let json = #"{"title":"x","item_count":1,"weight":2,"due_at":"2026-11-18T11:06:40Z","n":0}"#
        try withThing(json) { replica in
            try replica.write { tx in
                try tx.update(Thing.self, id) {
                    $0.itemCount = nil
                    $0.weight = nil
                    $0.dueAt = nil
                }
            }
            #expect(
                try lastPayload(replica)
                    == #"{"set":{"due_at":null,"item_count":null},"unset":["weight"]}"#)
            #expect(
                try replica.text(key) == #"{"title":"x","item_count":null,"due_at":null,"n":0}"#)
        }
    }

    @Test func `takes another way of writing the same for no difference`() throws {
        let json =
            #"{"title":"\u0061","item_count":1.0,"weight":10e-1,"#
            + #""due_at":"2026-11-18T12:06:40+01:00","tags":null,"place":{"size":2.50}}"#
        try withThing(json) { replica in
            let position = try replica.position
            try replica.write { tx in
                try tx.update(Thing.self, id) { thing in
                    thing.title = "a"
                    thing.itemCount = 1
                    thing.dueAt = Date(timeIntervalSince1970: 1_795_000_000)
                    thing.place = Place(size: 2.5)
                }
            }
            #expect(try replica.position == position)
            try replica.write { tx in try tx.update(Thing.self, id) { $0.title = "b" } }
            #expect(try lastPayload(replica) == #"{"set":{"title":"b"},"unset":[]}"#)
        }
    }

    @Test func `keeps the names of members whose keys are of any text`() throws {
        let json =
            #"{"codes":{"isoCode":1,"iso_code":2,"user_id":3,"URL":9},"#
            + #""list":[{"aB":1},{"aB":2}]}"#
        try withThing(json) { replica in
            try replica.write { tx in
                try tx.update(Coded.self, "t") { coded in
                    coded.codes.values["isoCode"] = 4
                    coded.codes.values["newOne"] = 6
                    coded.codes.values["URL"] = nil
                    coded.list?[1].values["aB"] = 5
                }
            }
            #expect(
                try replica.text(key)
                    == #"{"codes":{"isoCode":4,"iso_code":2,"user_id":3,"new_one":6},"#
                    + #""list":[{"aB":1},{"aB":5}]}"#)
        }
    }

    @Test func `keeps what the type does not know, also inside of a field`() throws {
        let json =
            #"{"x":[1.0],"title":"a","place":{"geo":{"lat":1.50},"street":"s","size":1},"#
            + #""stock":{"a":1,"b":2}}"#
        try withThing(json) { replica in
            try replica.write { tx in
                try tx.update(Thing.self, id) { thing in
                    thing.place?.street = "t"
                    thing.place?.size = nil
                    thing.stock = ["b": 3, "c": 4]
                }
            }
            #expect(
                try replica.text(key)
                    == #"{"x":[1.0],"title":"a","place":{"geo":{"lat":1.50},"street":"t"},"#
                    + #""stock":{"b":3,"c":4}}"#
            )
        }
    }

    @Test(arguments: [
        ([5, 2, 3], #"{"qty":5,"sku":"A"},{"qty":2.0,"sku":"B"},{"sku":"C","qty":3}"#),
        ([3, 1, 2], #"{"sku":"C","qty":3},{"qty":1,"sku":"A"},{"qty":2.0,"sku":"B"}"#),
        ([2, 3], #"{"qty":2.0,"sku":"B"},{"sku":"C","qty":3}"#),
        (
            [1, 9, 2, 3],
            #"{"qty":1,"sku":"A"},{"qty":9},{"qty":2.0,"sku":"B"},{"sku":"C","qty":3}"#
        ),
        ([7, 3], #"{"qty":7},{"sku":"C","qty":3}"#),
    ])
    func `keeps what the type does not know of the elements of a list`(
        _ quantities: [Int], _ expected: String
    ) throws {
        let lines = #"{"qty":1,"sku":"A"},{"qty":2.0,"sku":"B"},{"sku":"C","qty":3}"#
        try withThing(#"{"title":"a","lines":[\#(lines)]}"#) { replica in
            try replica.write { tx in
                try tx.update(Thing.self, id) { $0.lines = quantities.map { Line(qty: $0) } }
            }
            #expect(try replica.text(key) == #"{"title":"a","lines":[\#(expected)]}"#)
        }
    }

    @Test func `saves: creates what is not there, and changes what is`() throws {
        try withReplica(model) { replica in
            try replica.write { tx in try tx.save(Thing(id: id, title: "a")) }
            #expect(try replica.text(key) == #"{"id":"t","title":"a"}"#)
            try replica.write { tx in
                _ = try tx.put(key, Array(#"{"id":"t","title":"a","n":0}"#.utf8))
            }
            try replica.write { tx in try tx.save(Thing(id: id, title: "b", tags: ["x"])) }
            #expect(
                try replica.text(key) == #"{"id":"t","title":"b","n":0,"tags":["x"]}"#)
            let position = try replica.position
            try replica.write { tx in try tx.save(Thing(id: id, title: "b", tags: ["x"])) }
            #expect(try replica.position == position)
        }
    }

    @Test func `saves what an edit of a copy changed, and keeps what came meanwhile`() throws {
        func json(_ count: Int, _ size: Int) -> String {
            #"{"title":"a","item_count":\#(count),"weight":2,"#
                + #""place":{"street":"s","size":\#(size)},"n":0}"#
        }
        try withThing(json(1, 1)) { replica in
            let before = try #require(try replica.read { try $0.get(Thing.self, id) })
            var edited = before
            edited.title = "b"
            edited.weight = nil
            edited.place?.street = "t"
            try replica.write { tx in _ = try tx.put(key, Array(json(9, 7).utf8)) }

            try replica.write { tx in try tx.save(edited, editedFrom: before) }

            #expect(
                try replica.text(key)
                    == #"{"title":"b","item_count":9,"place":{"street":"t","size":7},"n":0}"#)
            expect(.invalidKey) {
                let other = Thing(id: Tidemark.ID("u"), title: "b")
                try replica.write { tx in try tx.save(other, editedFrom: before) }
            }
            try replica.write { tx in try tx.delete(Thing.self, id) }
            expect(.notFound) {
                try replica.write { tx in try tx.save(edited, editedFrom: before) }
            }
            try replica.write { tx in try tx.save(edited, editedFrom: nil) }
            #expect(try replica.read { try $0.get(Thing.self, id) } == edited)
        }
    }

    @Test(arguments: [
        // In its place lies another one.
        (#"{"tags":["a","x"],"lines":[]}"#, #"["a","b","c"]"#, #"[{"qty":3},{"qty":2}]"#),
        (
            #"{"tags":["x","a"],"lines":[{"qty":5,"sku":"C"},{"qty":2,"sku":"B"}]}"#,
            #"["a","b","c"]"#, #"[{"qty":3},{"qty":2}]"#
        ),
        // All are still there.
        (
            #"{"tags":["b","a"],"lines":[{"qty":2,"sku":"B"},{"qty":1,"sku":"C"}]}"#,
            #"["a","b","c"]"#, #"[{"qty":3,"sku":"C"},{"qty":2,"sku":"B"}]"#
        ),
        (
            #"{"n":1,"tags":["a","b"],"lines":[{"qty":1,"sku":"A"},{"qty":2,"sku":"C"}]}"#,
            #"["a","b","c"]"#, #"[{"qty":3,"sku":"A"},{"qty":2,"sku":"C"}]"#
        ),
    ])
    func `saves a list of a copy as the copy has it where an element of it went meanwhile`(
        _ meanwhile: String, _ tags: String, _ lines: String
    ) throws {
        let title = #"{"title":"a","#
        let json = title + #""tags":["a","b"],"lines":[{"qty":1,"sku":"A"},{"qty":2,"sku":"B"}]}"#
        try withThing(json) { replica in
            let before = try #require(try replica.read { try $0.get(Thing.self, id) })
            var edited = before
            edited.tags = ["a", "b", "c"]
            edited.lines?[0].qty = 3
            try replica.write { tx in
                _ = try tx.put(key, Array("\(title)\(meanwhile.dropFirst())".utf8))
            }

            try replica.write { tx in try tx.save(edited, editedFrom: before) }

            let text = try #require(try replica.text(key))
            let document = try JSONDocument(parsing: Array(text.utf8))
            #expect(document.rawValue("tags").map { String(decoding: $0, as: UTF8.self) } == tags)
            #expect(document.rawValue("lines").map { String(decoding: $0, as: UTF8.self) } == lines)
        }
    }

    @Test func `that was deleted, and not yet on the server, brings back what the type lacks`()
        throws
    {
        try withReplica(model) { replica in
            try replica.journal.write(at: Timestamp(rawValue: 1)) { draft in
                let json = #"{"title":"a","n":[1.0],"place":{"geo":1,"street":"s"}}"#
                _ = try draft.append(
                    Event(
                        .serverUpserted, recordedAt: draft.now, key: key, revision: Revision("1"),
                        json: Array(json.utf8)))
            }
            for (isSaved, title) in [(true, "b"), (false, "c")] {
                var thing = try #require(try replica.read { try $0.get(Thing.self, id) })
                try replica.write { tx in try tx.delete(Thing.self, id) }
                thing.title = title
                try replica.write { tx in
                    if isSaved { try tx.save(thing) } else { try tx.create(thing) }
                }

                #expect(
                    try replica.text(key)
                        == #"{"title":"\#(title)","n":[1.0],"place":{"geo":1,"street":"s"}}"#)
            }
        }
    }

    @Test(
        arguments: [
            (.iso8601, #""9999-12-31T23:59:59-05:00""#),
            (.iso8601, #""0001-01-01T00:00:00+05:00""#),
            (.milliseconds, "8640000000000000"), (.seconds, "999999999999"),
        ] as [(DateFormat, String)])
    func `leaves a time alone that is too far away to be written`(
        _ dates: DateFormat, _ time: String
    ) throws {
        var other = model
        other.collections[0].dates = dates
        try withReplica(other) { replica in
            let json = #"{"title":"a","due_at":\#(time),"place":{"street":"s"}}"#
            try replica.write { tx in _ = try tx.put(key, Array(json.utf8)) }

            try replica.write { tx in try tx.update(Thing.self, id) { $0.title = "b" } }
            #expect(try lastPayload(replica) == #"{"set":{"title":"b"},"unset":[]}"#)
            try replica.write { tx in
                var thing = try #require(try tx.get(Thing.self, id))
                thing.title = "c"
                try tx.save(thing)
            }
            #expect(try replica.text(key) == json.replacingOccurrences(of: #""a""#, with: #""c""#))
        }
    }

    @Test func `refuses a time that is too far away where it is a change`() throws {
        let far = Date(timeIntervalSince1970: 253_402_300_800)
        try withThing(#"{"title":"a","due_at":"9999-12-31T23:59:59-05:00"}"#) { replica in
            let position = try replica.position
            expect(.invalidDocument) {
                try replica.write { tx in try tx.update(Thing.self, id) { $0.dueAt = far } }
            }
            #expect(try replica.position == position)
        }
    }

    @Test func `refuses another id, a second creation, and an edit of nothing`() throws {
        try withThing(#"{"title":"a"}"#) { replica in
            #expect(
                messageOfOtherID(replica) == "things/t was given the id \"u\"; an id is for life: "
                    + "create another entity and delete this one")
            expect(.alreadyExists) {
                try replica.write { tx in try tx.create(Thing(id: id, title: "b")) }
            }
            expect(.notFound) {
                try replica.write { tx in try tx.update(Thing.self, Tidemark.ID("u")) { _ in } }
            }
        }
    }

    @Test func `finds an entity by the id that the server gave it, under the id it has for life`()
        throws
    {
        try withReplica(model) { replica in
            try replica.write { tx in try tx.create(Thing(id: id, title: "a")) }
            let created = try replica.position
            try replica.journal.write(at: Timestamp(rawValue: 1)) { draft in
                let call = try draft.append(
                    Event(.requestSent, recordedAt: draft.now, key: key, mutation: created))
                let accepted = try draft.append(
                    Event(
                        .pushAccepted, recordedAt: draft.now, key: key, mutation: created,
                        call: call, json: Array(#"{"serverID":"900"}"#.utf8)))
                try draft.append(
                    Event(
                        .serverUpserted, recordedAt: draft.now, key: EntityKey("things", "900"),
                        asOf: accepted, revision: Revision("1"),
                        json: Array(#"{"id":900,"title":"b"}"#.utf8)))
            }

            let alias = Tidemark.ID<Thing>("900")
            let expected = Thing(id: id, title: "b")
            #expect(try replica.read { try $0.get(Thing.self, alias) } == expected)
            #expect(try replica.read { try $0.all(Thing.self) } == [expected])
            try replica.write { tx in
                #expect(try tx.get(Thing.self, alias) == expected)
                try tx.update(Thing.self, alias) { $0.title = "c" }
                try tx.save(Thing(id: alias, title: "d"))
            }
            #expect(try replica.text(key) == #"{"id":900,"title":"d"}"#)
        }
    }

    @Test func `sees an entity of an older model as today's model reads it`() throws {
        try withThing(#"{"name":"a","n":0}"#) { replica in
            var newer = model
            newer.collections[0].migrations = [.rename("name", to: "title")]
            try replica.register(ModelRegistration(model: newer))

            #expect(try replica.read { try $0.get(Thing.self, id)?.title } == "a")
            let position = try replica.position
            try replica.write { tx in try tx.update(Thing.self, id) { $0.title = "a" } }
            #expect(try replica.position == position)
            try replica.write { tx in try tx.update(Thing.self, id) { $0.title = "b" } }
            #expect(try replica.read { try $0.get(Thing.self, id)?.title } == "b")
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `gives back what the change made, whatever the server wrote`(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        try withReplica(model) { replica in
            for round in 0..<120 {
                let label: Comment = "seed \(seed), round \(round)"
                let key = EntityKey("things", "t\(round)")
                let id = Tidemark.ID<Thing>("t\(round)")
                let document = Array(random.document(id.rawValue).utf8)
                try replica.write { tx in _ = try tx.put(key, document) }
                var expected: Thing?
                try replica.write { tx in
                    try tx.update(Thing.self, id) { thing in
                        random.change(&thing)
                        expected = thing
                    }
                }

                let after = try #require(try replica.read { try $0.document(key) })
                #expect(try replica.read { try $0.get(Thing.self, id) } == expected, label)
                let (old, new) = (
                    try JSONDocument(parsing: document), try JSONDocument(parsing: after)
                )
                for name in ["id", "u1", "u2"] {
                    #expect(old.rawValue(name) == new.rawValue(name), label)
                }
                if let place = try old.rawValue("place").map({ try JSONValue(parsing: $0) }),
                    place.object != nil, expected?.place != nil
                {
                    #expect(
                        place["geo"]?.encoded() == new.value("place")?["geo"]?.encoded(), label)
                }
            }
        }
    }
}

extension SplitMix64 {
    /// A thing as a server might write it: any field missing, null, or in another form.
    fileprivate mutating func document(_ id: String) -> String {
        var members = [#""id":"\#(id)""#, #""title":\#(pick([#""a""#, #""\u00e9\/""#]))"#]
        func add(_ name: String, _ values: [String]) {
            if !once(in: 4) { members.append(#""\#(name)":\#(pick(values))"#) }
        }
        add("item_count", ["1", "2.0", "null", "30e-1"])
        add("weight", ["1", "0.10", "null", "-1e3"])
        add("due_at", [#""2026-11-18T11:06:40Z""#, #""2026-11-18T11:06:40.5+02:00""#, "null"])
        add("tags", ["[]", #"["a", "b"]"#, "null"])
        add(
            "place",
            ["{}", #"{"geo":[1.0,{}],"street":null}"#, #"{"size":1.0,"geo": 1e1}"#, "null"])
        add("stock", ["{}", #"{"a":1,"b":2.0}"#, "null"])
        add("u1", ["1.0", #"{"a": [ ]}"#, "null"])
        add("u2", [#""\u0061""#, "1e400"])
        members.shuffle(using: &self)
        return "{" + members.joined(separator: pick([",", ", "])) + "}"
    }

    fileprivate mutating func change(_ thing: inout Thing) {
        if once(in: 2) { thing.title = pick(["a", "é/", "c"]) }
        if once(in: 2) { thing.itemCount = pick([nil, 1, 2]) }
        if once(in: 2) { thing.weight = pick([nil, 1, 0.1]) }
        if once(in: 2) {
            thing.dueAt = pick([nil, Date(timeIntervalSince1970: 1_795_000_000), thing.dueAt])
        }
        if once(in: 2) { thing.tags = pick([nil, [], ["a", "b"], ["b"]]) }
        if once(in: 2) {
            thing.place = pick([nil, Place(), Place(street: "s"), Place(size: 1), thing.place])
        }
        if once(in: 2) { thing.place?.street = pick([nil, "x"]) }
        if once(in: 2) { thing.stock = pick([nil, [:], ["a": 1], ["b": 2, "c": 3]]) }
        if once(in: 2) { thing.stock?["a"] = pick([nil, 1, 5]) }
    }
}
