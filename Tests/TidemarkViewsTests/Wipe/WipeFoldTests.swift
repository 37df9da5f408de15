// WipeFoldTests.swift — what is left of collections that the app drops, and what the server says of
// them when it was asked before.

import Testing
import TidemarkEvents
import TidemarkRules
import TidemarkViews

@testable import ViewsSupport

extension Event {
    fileprivate static let people = Event.model([
        CollectionModel("units"), CollectionModel("people"), CollectionModel("visits"),
    ])

    fileprivate static func model(
        _ collections: [CollectionModel], _ pools: [SyncModel.Pool] = []
    ) -> Event {
        let model = SyncModel(name: "m", collections: collections, pools: pools)
        return .registered(model, at: Timestamp(rawValue: 0))
    }

    fileprivate static func page(
        _ collection: CollectionName, page: Int, asOf: UInt64
    ) -> Event {
        let list = #"{"page":\#(page),"asOf":\#(asOf),"next":"n"}"#
        let json = #"{"scope":"","ids":["1"],"at":["="],"list":\#(list)}"#
        return Event(
            .pullPage, recordedAt: Timestamp(rawValue: 1), collection: collection,
            json: Array(json.utf8))
    }

    fileprivate static func completed(
        _ collection: CollectionName, asOf: UInt64, _ cursor: String = "c",
        _ json: String = #"{"scope":"","complete":true,"full":true}"#
    ) -> Event {
        Event(
            .pullCompleted, recordedAt: Timestamp(rawValue: 1), collection: collection,
            asOf: Position(asOf), revision: Revision(cursor), json: Array(json.utf8))
    }
}

@Suite struct `collections that are wiped` {
    private let memory = MemoryFold()
    private let place = PullTarget("people")

    private func entity(_ key: String) throws -> EntityRow? {
        try memory.entity(try #require(EntityKey(key)))
    }

    /// Whether only what stays of everything is there: the model, what was wiped, from where on it
    /// is told what changed, and what became of mutations.
    private func isBare() -> Bool {
        memory.rows.keys.allSatisfy { key in
            key == .store("model") || key == .wipes || key.bytes.starts(with: Ledger.settled)
                || key.view == .decisions || key.view == .bindings
                || key.bytes.starts(with: Ledger.placesSince)
        }
    }

    @Test func `are empty, and what was pending on them was given up`() throws {
        try memory.apply([
            .people,
            .about(.serverUpserted, "units/1", "{}", asOf: 1),
            .about(.serverUpserted, "people/1", #"{"name":"a"}"#, asOf: 1),
            .about(.localUpdated, "people/1", #"{"set":{"name":"b"}}"#),
            .about(.localCreated, "visits/1", "{}"),
            .about(.localUpdated, "units/1", #"{"set":{"name":"u"}}"#),
        ])
        try memory.apply([.wiped(keeping: ["units"])])

        #expect(try entity("people/1") == nil && entity("visits/1") == nil)
        #expect(try entity("units/1")?.status == .updated)
        for number in [4, 5] as [UInt64] {
            let mutation = try #require(try memory.mutation(number))
            #expect(mutation.outcome == .discarded && mutation.proof == Position(7))
        }
        #expect(try memory.mutation(6)?.outcome == nil)

        try memory.apply([.wiped()])
        #expect(try entity("units/1") == nil)
        #expect(isBare(), "\(memory.rows.keys)")
    }

    @Test func `leave no mark, no issue, no attempt, no ticket and no value behind`() throws {
        let pool = PoolKey("numbers", ["A"])
        var added = ReservedAdded(pool, pattern: nil)
        (added.values, added.until) = (["1", "2"], [nil, nil])
        try memory.apply([
            .model([CollectionModel("people")], [.init("numbers")]),
            .page("people", page: 1, asOf: 1),
            .completed("people", asOf: 1),
            .page("people", page: 1, asOf: 3),
            .about(.serverUpserted, "people/1", #"{"a":1}"#, asOf: 1),
            .about(.localUpdated, "people/1", #"{"set":{"a":2}}"#),
            .about(.requestSent, "people/1", #"{"method":"PUT"}"#, mutation: 6),
            .about(.pushDeferred, "people/1", #"{"ticket":"j"}"#, call: 7),
            .about(.localCreated, "people/2", "{}"),
            .about(.requestSent, "people/2", #"{"method":"PUT"}"#, mutation: 9),
            .about(
                .pushAccepted, "people/2", #"{"issues":[{"message":"odd","severity":"warning"}]}"#,
                mutation: 9, call: 10),
            Event(
                .serverUnreadable, recordedAt: Timestamp(rawValue: 1), collection: "people",
                json: Array(#"{"name":"9","sha256":"00","problem":"no"}"#.utf8)),
            Event(.reservedAdded, recordedAt: Timestamp(rawValue: 1), json: added.encoded),
            Event(
                .reservedTaken, recordedAt: Timestamp(rawValue: 1),
                json: ReservedTaken("1", of: pool).encoded),
        ])
        #expect(try memory.fold.tickets().count == 1)
        #expect(try memory.fold.watermark(place) != nil && memory.fold.listing(place) != nil)
        #expect(try memory.fold.issues().map(\.kind) == [.warned, .unreadable])

        try memory.apply([.wiped()])
        #expect(try memory.fold.tickets().isEmpty && memory.fold.issues().isEmpty)
        #expect(try memory.fold.watermark(place) == nil && memory.fold.listing(place) == nil)
        #expect(try memory.fold.countValues(of: pool, at: Timestamp(rawValue: 1)) == 0)
        let rest = memory.rows.keys.filter { $0.view == .pools }
        // What was handed out is known for ever.
        #expect(rest == [.reservedValue(pool, "1")])
        #expect(try !memory.fold.isNew("1", of: pool) && memory.fold.isNew("2", of: pool))
    }

    @Test func `hear nothing more of what was asked or sent before`() throws {
        try memory.apply([
            .people,
            .about(.localCreated, "people/1", #"{"a":1}"#),
            .about(.requestSent, "people/1", #"{"method":"PUT"}"#, mutation: 2),
            .about(.localCreated, "people/2", #"{"a":1}"#),
            .about(.requestSent, "people/2", #"{"method":"PUT"}"#, mutation: 4),
            .wiped(keeping: ["units"]),
        ])
        let before = memory.rows
        try memory.apply([
            .about(.requestAnswered, "people/1", #"{"status":201}"#, call: 3),
            .about(
                .pushAccepted, "people/1",
                #"{"serverID":"17","issues":[{"message":"odd","severity":"warning"}]}"#,
                mutation: 2, call: 3, revision: "1"),
            .about(
                .serverUpserted, "people/1", #"{"a":1}"#, mutation: 2, call: 3, asOf: 3,
                revision: "1"),
            .about(
                .pushRejected, "people/2", #"{"status":400,"message":"no"}"#, mutation: 4, call: 5),
            .about(
                .requestFailed, "people/2",
                #"{"error":"timeout","mayHaveArrived":true,"concerns":"entity"}"#, call: 5),
            .about(.serverUpserted, "people/3", "{}", asOf: 5),
            .about(.serverDeleted, "people/3", asOf: 5),
            Event(
                .pushDeferred, recordedAt: Timestamp(rawValue: 1), collection: "people",
                call: Position(5), json: Array(#"{"ticket":"j","writes":2}"#.utf8)),
            .page("people", page: 2, asOf: 5),
            .completed("people", asOf: 5),
        ])
        #expect(memory.rows.filter { $0.key.view != .schedule } == before)

        // What is asked after it counts, and so does what another collection says.
        try memory.apply([
            .about(.serverUpserted, "units/1", "{}", asOf: 5),
            .about(.serverUpserted, "people/17", #"{"a":1}"#, asOf: 6),
            .completed("people", asOf: 16), .completed("units", asOf: 2),
        ])
        #expect(try entity("people/17")?.status == .synced && entity("units/1") != nil)
        #expect(try memory.fold.watermark(place) != nil)
        #expect(try memory.fold.watermark(PullTarget("units")) != nil)
    }

    @Test func `are wiped by the last event that does not keep them`() throws {
        try memory.apply([.people, .wiped(), .wiped(keeping: ["people", "people"])])

        // Before the first wipe, between both, and after the second.
        for asOf in [1, 2, 3] as [UInt64] {
            try memory.apply([
                .about(.serverUpserted, "people/\(asOf)", "{}", asOf: asOf),
                .about(.serverUpserted, "units/\(asOf)", "{}", asOf: asOf),
            ])
        }
        let there = try ["people/1", "people/2", "people/3", "units/1", "units/2", "units/3"]
            .filter { try entity($0) != nil }
        #expect(there == ["people/2", "people/3", "units/3"])
    }

    @Test func `stay where the event does not say what does`() throws {
        try memory.apply([.people, .about(.serverUpserted, "people/1", "{}", asOf: 1)])
        for text in ["{}", #"{"keeps":"people"}"#, "[]", #"{"keeps":[1]}"#] {
            try memory.apply([
                Event(.localWiped, recordedAt: Timestamp(rawValue: 1), json: Array(text.utf8))
            ])
        }

        #expect(try entity("people/1") != nil && memory.rows[.wipes] == nil)
    }

    @Test func `show what they hid, and keep the ids that their entities went by`() throws {
        var units = CollectionModel("units")
        var people = CollectionModel("people", ids: .serverNumber)
        units.access.hidesAbsent = true
        people.access.owner = "unit"
        people.references = [Reference("unit", to: "units")]
        try memory.apply([
            .model([units, people]),
            .about(.serverUpserted, "units/1", "{}", asOf: 1),
            .about(.localCreated, "people/a", #"{"unit":"1"}"#),
            .about(.requestSent, "people/a", #"{"method":"POST"}"#, mutation: 3),
            .about(.pushAccepted, "people/a", #"{"serverID":"17"}"#, mutation: 3, call: 4),
            .completed(
                "units", asOf: 5, "c",
                #"{"scope":"","complete":true,"full":true,"hidden":["1"]}"#),
        ])
        #expect(try entity("people/a")?.isHidden == true)
        try memory.apply([.wiped(keeping: ["people"])])
        #expect(try entity("people/a")?.isHidden == false && memory.fold.hidesAny() == false)

        try memory.apply([.wiped(), .about(.serverUpserted, "people/17", "{}", asOf: 8)])
        #expect(try entity("people/a")?.status == .synced && entity("people/17") == nil)
    }

    @Test func `show what they hid of what hides by its own list, too`() throws {
        var units = CollectionModel("units")
        var people = CollectionModel("people")
        units.access.hidesAbsent = true
        people.access.hidesAbsent = true
        people.access.owner = "unit"
        people.references = [Reference("unit", to: "units")]
        func hides(_ id: String) -> String {
            #"{"scope":"","complete":true,"full":true,"hidden":["\#(id)"]}"#
        }
        try memory.apply([
            .model([units, people]),
            .about(.serverUpserted, "units/1", "{}", asOf: 1),
            .about(.serverUpserted, "units/2", "{}", asOf: 1),
            .about(.serverUpserted, "people/1", #"{"unit":"1"}"#, asOf: 1),
            .about(.serverUpserted, "people/2", #"{"unit":"2"}"#, asOf: 1),
            .completed("people", asOf: 5, "c", hides("2")),
            .completed("units", asOf: 6, "c", hides("1")),
        ])
        #expect(try entity("people/1")?.isHidden == true && entity("people/2")?.isHidden == true)

        try memory.apply([.wiped(keeping: ["people"])])
        #expect(try entity("people/1")?.isHidden == false)
        // Its own list left it out.
        #expect(try entity("people/2")?.isHidden == true && memory.fold.hidesAny())

        try memory.apply([.about(.serverUpserted, "people/2", #"{"unit":"2"}"#, asOf: 8)])
        #expect(try entity("people/2")?.isHidden == false && !memory.fold.hidesAny())
    }

    @Test func `count no more in what stays`() throws {
        var visits = CollectionModel("visits")
        visits.references = [Reference("person", to: "people", rollUp: .always)]
        try memory.apply([
            .model([CollectionModel("people"), visits]),
            .about(.serverUpserted, "people/1", "{}", asOf: 1),
            .about(.localCreated, "visits/1", #"{"person":"1"}"#),
            .about(.localCreated, "visits/2", #"{"person":"1"}"#),
        ])
        let person = EntityKey("people", "1")
        #expect(try memory.fold.rolledUpStatus(of: person) == .updated)
        try memory.apply([.wiped(keeping: ["people"])])

        #expect(try memory.fold.rolledUpStatus(of: person) == .synced)
        #expect(memory.rows.keys.allSatisfy { $0.view != .rollUps })
    }

    @Test func `are wanted no more in a tree by paths, which gets other ids, and else still are`()
        throws
    {
        func tree(_ name: String, isByPath: Bool) -> CollectionModel {
            var tree = CollectionModel(
                CollectionName(name), references: [Reference("parent", to: CollectionName(name))],
                tree: .init(parent: "parent", name: "name", kind: "kind", isByPath: isByPath))
            tree.contents = [ContentRule("content")]
            return tree
        }
        func wants(_ key: String, _ scope: AssetWanted.Scope) -> Event {
            .about(
                .assetWanted, key,
                String(
                    decoding: AssetWanted("", by: "user", scope: scope, isWanted: true).encoded,
                    as: UTF8.self))
        }
        try memory.apply([.model([tree("files", isByPath: true), tree("notes", isByPath: false)])])
        for name in ["files", "notes"] {
            try memory.apply([
                .about(.serverUpserted, "\(name)/P", #"{"name":"P","kind":"folder"}"#, asOf: 1),
                .about(
                    .serverUpserted, "\(name)/a",
                    #"{"parent":"P","name":"a","kind":"file","content":"/a"}"#, asOf: 1),
                .about(
                    .serverUpserted, "\(name)/b",
                    #"{"name":"b","kind":"file","content":"/b"}"#, asOf: 1),
                wants("\(name)/P", .tree), wants("\(name)/b", .entity),
            ])
        }
        func entitiesOfContents() -> [EntityKey] {
            memory.rows.keys.compactMap(\.entityOfContents).sorted()
        }
        #expect(try memory.fold.contents(of: EntityKey("files", "a")).wants("content"))

        try memory.apply([.wiped(keeping: ["notes"])])
        #expect(entitiesOfContents().allSatisfy { $0.collection == "notes" })
        #expect(entitiesOfContents().count == 4, "P in two rows, a and b in one each")

        // By the ids of the server the same entities come back.
        try memory.apply([.wiped()])
        #expect(entitiesOfContents().map(\.description) == ["notes/P", "notes/P", "notes/b"])
    }

    @Test func `may be many`() throws {
        let count = 3_000
        try memory.apply(
            [.people]
                + (0..<count).map { .about(.localCreated, "people/\($0)", #"{"n":1}"#) })
        try memory.apply([.wiped()])

        #expect(isBare())
        #expect(memory.rows.keys.count { $0.bytes.starts(with: Ledger.settled) } == count)
    }
}
