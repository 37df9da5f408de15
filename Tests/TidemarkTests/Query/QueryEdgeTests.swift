// QueryEdgeTests.swift — queries at the edges: of counts, of values, and of what a commit sees.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

private typealias Chore = QueryChore
private typealias ID = Tidemark.ID

private let indexSets: [[IndexModel]] = [[], [["title"], ["points"], [.date("due")]]]

private struct Day: RawRepresentable, Codable, Hashable, Comparable, QueryValue {
    let rawValue: String

    static func < (left: Day, right: Day) -> Bool { left.rawValue < right.rawValue }
}

private struct Bill: Entity {
    static let collection: CollectionName = "bills"
    static let fields: FieldNames<Bill> = [\.due: "due"]
    let id: Tidemark.ID<Bill>
    var due: Day?
}

@Suite struct `a query at its edges` {
    @Test func `compares a type of the app as the text that it is in documents`() throws {
        let model = SyncModel(
            name: "bills", collections: [CollectionModel("bills", indexes: [["due"]])])
        let replica = try Replica.temporary(model: model)
        defer { try? replica.deleteTemporary() }
        try replica.write { tx in
            try tx.create(Bill(id: "a", due: Day(rawValue: "2026-05-01")))
            try tx.create(Bill(id: "b", due: Day(rawValue: "2026-04-30")))
            try tx.create(Bill(id: "c", due: nil))
        }

        let early = Bill.where(\.due < Day(rawValue: "2026-05-01"))
        #expect(try replica.read { try $0.all(early).map(\.id.rawValue) } == ["b"])
        let document = try replica.read { try $0.document(EntityKey("bills", "a")) } ?? []
        #expect(String(decoding: document, as: UTF8.self).contains(#""due":"2026-05-01""#))
    }

    private func chore(_ id: String, _ points: Int?, _ title: String = "") -> Chore {
        var chore = Chore(id)
        (chore.points, chore.title) = (points, title)
        return chore
    }

    @Test(arguments: indexSets)
    func `takes any limit and any offset`(indexes: [IndexModel]) throws {
        let chores = (0..<150).map { chore(String(format: "%03d", $0), 1000 - $0) }
        let replica = try QueryStore.make(indexes, chores)
        defer { try? replica.deleteTemporary() }

        for base in [Chore.all, Chore.where(\.points > 0), Chore.where(\.title == "")] {
            for query in [base, base.order(by: \.points), base.order(by: \.title, .descending)] {
                let all = try replica.ids(query)
                #expect(all.count == 150)
                let windows = [
                    (Int.max, 0), (Int.max, 1), (.max - 1, 2), (1, .max), (0, 0), (0, .max),
                    (.max, .max), (3, 149), (3, 150), (150, 0), (64, 3), (.max / 2, 1),
                ]
                for (limit, offset) in windows {
                    let window = query.limit(limit).offset(offset)
                    let expected = Array(all.dropFirst(offset).prefix(limit))
                    #expect(try replica.ids(window) == expected, "\(limit) from \(offset)")
                    #expect(try replica.count(window) == expected.count, "\(limit) from \(offset)")
                    let inWrite = try replica.write { tx in
                        (try tx.all(window).map(\.id.rawValue), try tx.count(window))
                    }
                    #expect(inWrite.0 == expected)
                    #expect(inWrite.1 == expected.count)
                }
            }
        }
    }

    @Test func `compares money as it is coded`() throws {
        struct Sale: Entity {
            static let collection: CollectionName = "chores"
            static let fields: FieldNames<Sale> = [\.price: "price"]
            let id: Tidemark.ID<Sale>
            var price: Decimal?
        }
        let replica = try QueryStore.make([["price"]])
        defer { try? replica.deleteTemporary() }
        try replica.write { tx in
            try tx.create(Sale(id: ID("dear"), price: Decimal(string: "1200.50")))
            try tx.create(Sale(id: ID("cheap"), price: Decimal(string: "0.1")))
            try tx.create(Sale(id: ID("free"), price: nil))
        }

        try replica.read { store throws in
            func found(_ query: EntityQuery<Sale>) throws -> [String] {
                try store.all(query).map(\.id.rawValue)
            }
            #expect(try found(Sale.where(\.price > Decimal(0))) == ["cheap", "dear"])
            #expect(try found(Sale.where(\.price == Decimal(string: "0.10"))) == ["cheap"])
            let dearest = Sale.all.order(by: \.price, .descending)
            #expect(try found(dearest) == ["dear", "cheap", "free"])
            #expect(try found(Sale.where(\.price == Decimal.nan)) == ["free"])
        }
    }

    @Test(arguments: indexSets)
    func `says the same in a commit as after it, in any order`(indexes: [IndexModel]) throws {
        let replica = try QueryStore.make(
            indexes, ["a", "b", "c", "d", "e"].map { chore($0, $0 < "c" ? 1 : nil, "t") })
        defer { try? replica.deleteTemporary() }
        let some = EntityCondition<Chore>.in(\.id, ["d", "a", "e", "x"].map { ID($0) })
        let never = EntityCondition<Chore>.in(\.points, [Int?]())
        for condition in [some, some && \.points == nil, !some, never, \.id == ID("b")] {
            let query = Chore.where(condition)
            let queries = [
                query, query.order(by: \.id, .descending), query.order(by: \.points),
                query.order(by: \.points, .descending), query.order(by: \.title, .descending),
                query.order(by: \.points).order(by: \.id, .descending),
            ]
            for query in queries.flatMap({ [$0, $0.limit(1), $0.limit(2).offset(1)] }) {
                let inWrite = try replica.write { try $0.all(query).map(\.id.rawValue) }
                let plan = try replica.explained(query)
                #expect(try replica.ids(query) == inWrite, "\(plan)")
            }
        }
        let down = Chore.where(some).order(by: \.id, .descending)
        #expect(try replica.write { try $0.all(down).map(\.id.rawValue) } == ["e", "d", "a"])
    }

    @Test(arguments: indexSets)
    func `finds texts of any kind, and ids of any length`(indexes: [IndexModel]) throws {
        let long = String(repeating: "long ", count: 2000)
        let titles = [
            "", "\u{0}", "\u{0}\u{0}", "a\u{0}b", "a", "a\u{FF}", "👩‍👩‍👧", "e\u{301}", "\u{E9}",
            long, long + "a", long + "\u{0}", "\u{10FFFF}", "\"\\/", "null",
        ]
        let ids = titles.indices.map { "\($0)" + String(repeating: "ö", count: $0 % 2 * 199) }
        let replica = try QueryStore.make(indexes, zip(ids, titles).map { chore($0, 1, $1) })
        defer { try? replica.deleteTemporary() }

        for (id, title) in zip(ids, titles) {
            #expect(try replica.ids(Chore.where(\.title == title)) == [id])
            #expect(try replica.ids(Chore.where(\.id == ID(id))) == [id])
            let least = Chore.where(\.title >= title).order(by: \.title)
            #expect(try replica.first(least)?.title.utf8.elementsEqual(title.utf8) == true)
            let most = Chore.where(\.title <= title).order(by: \.title, .descending)
            #expect(try replica.first(most)?.title.utf8.elementsEqual(title.utf8) == true)
            let after = try replica.count(Chore.where(\.title > title))
            let before = try replica.count(Chore.where(\.title < title))
            #expect(after + before == titles.count - 1)
        }
        let ordered = try replica.read { try $0.all(Chore.all.order(by: \.title)).map(\.title) }
        let expected = titles.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        #expect(ordered.elementsEqual(expected) { $0.utf8.elementsEqual($1.utf8) })
        // An index holds only the beginning of long ones.
        let alike = [long, long + "\u{0}", long + "a"]
        let among = Chore.where(.in(\.title, alike)).order(by: \.title)
        #expect(try replica.read { try $0.all(among).map(\.title) } == alike)
        #expect(try replica.read { try $0.all(among.limit(2)).map(\.title) } == Array(alike[..<2]))
        #expect(try replica.count(among) == 3)
        #expect(try replica.count(Chore.where(\.title == "a").limit(9)) == 1)
        #expect(try replica.count(Chore.where(.hasPrefix(\.title, "a\u{0}"))) == 1)
        #expect(try replica.count(Chore.where(.hasPrefix(\.title, long))) == 3)
        #expect(try replica.count(Chore.where(.hasPrefix(\.title, ""))) == titles.count)
    }

    @Test(arguments: indexSets)
    func `compares moments and not how they are written`(indexes: [IndexModel]) throws {
        let replica = try QueryStore.make(indexes)
        defer { try? replica.deleteTemporary() }
        let times = [
            "2026-01-01T00:00:00Z", "2026-01-01T01:00:00+01:00", "2025-12-31T23:30:00-00:30",
            "2026-01-01T00:00:00.000000Z", "2026-01-01t00:00:00z",
        ]
        try replica.write { tx in
            for (number, time) in times.enumerated() {
                let json = #"{"title":"","done":false,"twin":"","due":"\#(time)"}"#
                try tx.create(EntityKey("chores", "\(number)"), Array(json.utf8))
            }
        }
        let moment = date(1_767_225_600)
        #expect(try replica.found(Chore.where(\.due == moment)) == "0 1 2 3 4")
        #expect(try replica.found(Chore.where(\.due < moment)) == "")
        #expect(try replica.count(Chore.where(.in(\.due, date(0)...moment))) == 5)
        #expect(try replica.count(Chore.where(.in(\.due, date(0)..<moment))) == 0)
        #expect(try replica.count(Chore.where(\.due < Date.distantFuture)) == 5)
        #expect(try replica.count(Chore.where(\.due > Date.distantPast)) == 5)
        #expect(try replica.count(Chore.where(\.due < date(.infinity))) == 5)
        #expect(try replica.count(Chore.where(\.due == date(.nan))) == 0)
        #expect(try replica.count(Chore.where(\.due < date(.nan))) == 0)
    }
}

@Suite struct `an id that a server gave` {
    private let room = EntityKey("rooms", "r")

    /// Makes the room, and has the server take it under an id of its own.
    private func withRoom(_ body: (Replica, _ bind: () throws -> Position) throws -> Void) throws {
        var newChore = Chore("n")
        newChore.room = ID("r")
        let replica = try QueryStore.make([], [newChore])
        defer { try? replica.deleteTemporary() }
        try replica.write { tx in try tx.create(QueryRoom(id: ID("r"), title: "Room")) }
        let created = try replica.read { $0.position }
        try body(replica) { try accept(replica, room, created) }
    }

    /// Has the server take what was created under the id `7`.
    private func accept(
        _ replica: Replica, _ key: EntityKey, _ created: Position
    ) throws -> Position {
        try replica.journal.write(at: Timestamp(rawValue: 1)) { draft in
            let call = try draft.append(
                Event(.requestSent, recordedAt: draft.now, key: key, mutation: created))
            return try draft.append(
                Event(
                    .pushAccepted, recordedAt: draft.now, key: key, mutation: created, call: call,
                    json: Array(#"{"serverID":"7"}"#.utf8)))
        }
    }

    private func say(
        _ replica: Replica, _ key: EntityKey, _ json: String, asOf: Position? = nil
    ) throws {
        try replica.journal.write(at: Timestamp(rawValue: 2)) { draft in
            _ = try draft.append(
                Event(
                    .serverUpserted, recordedAt: draft.now, key: key, asOf: asOf,
                    json: Array(json.utf8)))
        }
    }

    @Test func `finds in a commit what it finds outside of it`() throws {
        try withRoom { replica, bind in
            _ = try bind()
            let json = #"{"title":"","done":false,"twin":"","room":7}"#
            try say(replica, EntityKey("chores", "m"), json)
            let query = Chore.where(\.room == ID("r"))
            #expect(try replica.found(query) == "m n")
            #expect(try replica.write { try $0.all(query).map(\.id.rawValue) } == ["m", "n"])
        }
    }

    @Test func `is in an order where the key is, and a cursor from before it stays`() throws {
        try withRoom { replica, bind in
            for (id, room) in [("k", #""s""#), ("l", #""a""#), ("m", "7")] {
                let json = #"{"title":"","done":false,"twin":"","room":\#(room)}"#
                try say(replica, EntityKey("chores", id), json)
            }
            let byRoom = Chore.all.order(by: \.room)
            #expect(try replica.found(byRoom) == "m l n k")
            let place = try #require(try replica.read { try $0.cursor(at: ID<Chore>("l")) })
            #expect(try replica.found(byRoom.after(place).limit(9)) == "n k")

            _ = try bind()
            let cases = [
                (byRoom, "l m n k"), (byRoom.limit(2), "l m"), (byRoom.after(place), "m n k"),
                (byRoom.after(place).limit(1), "m"), (byRoom.before(place), ""),
                (Chore.all.order(by: \.room, .descending).after(place).limit(9), ""),
                (Chore.all.order(by: \.room, .descending).before(place), "k n m"),
            ]
            for (query, expected) in cases {
                #expect(try replica.found(query) == expected)
                let inWrite = try replica.write { try $0.all(query).map(\.id.rawValue) }
                #expect(inWrite.joined(separator: " ") == expected)
            }
        }
    }

    @Test(arguments: [[], [["room", "points"]]] as [[IndexModel]])
    func `is in an order once, as a text and as a number`(indexes: [IndexModel]) throws {
        var model = QueryStore.model(indexes)
        model.collections[0].ids = .serverNumber
        try withReplica(model) { replica throws in
            for (id, room) in [("a", "17"), ("c", "20"), ("d", "null"), ("e", "9")] {
                let json = #"{"title":"","done":false,"twin":"","room":\#(room)}"#
                try say(replica, EntityKey("chores", id), json)
            }
            var own = Chore("b")
            own.room = ID("17")
            try replica.write { tx in try tx.create(own) }

            let byRoom = Chore.all.order(by: \.room)
            #expect(try replica.found(byRoom) == "d e a b c")
            #expect(try replica.found(byRoom.limit(4)) == "d e a b")
            #expect(try replica.explained(byRoom.limit(4)) == "scan of chores; sorted by room")
            let place = try #require(try replica.read { try $0.cursor(at: ID<Chore>("b")) })
            #expect(try replica.found(byRoom.after(place).limit(2)) == "c")
            #expect(try replica.found(byRoom.before(place).limit(2)) == "e a")
            let untitled = Chore.where(\.room == ID("17")).where(\.title == "")
            #expect(try replica.count(untitled) == 2)
            #expect(try replica.count(untitled.order(by: \.room).after(place)) == 0)
            #expect(try replica.count(untitled.order(by: \.room).before(place)) == 1)
        }
    }

    @Test func `changes no order by references to another collection`() throws {
        var (chore, other) = (Chore("a"), Chore("b"))
        chore.room = ID("9")
        other.room = ID("10")
        let replica = try QueryStore.make([], [other])
        defer { try? replica.deleteTemporary() }
        try replica.write { tx in try tx.create(chore) }
        let created = try replica.read { $0.position }
        let byRoom = Chore.all.order(by: \.room).limit(9)
        let plan = try replica.explained(byRoom)
        #expect(plan == "index [room] of chores; order by the index")
        #expect(try replica.found(byRoom) == "b a")

        _ = try accept(replica, EntityKey("chores", "a"), created)
        #expect(try replica.ids(Chore.where(\.id == ID("7"))) == ["a"])
        #expect(try replica.explained(byRoom) == plan)
        #expect(try replica.found(byRoom) == "b a")
        #expect(try replica.write { try $0.all(byRoom).map(\.id.rawValue) } == ["b", "a"])
    }

    @Test func `is said of a row, also when it is a number`() throws {
        try withRoom { replica, bind in
            let accepted = try bind()
            func serverID() throws -> String? {
                try replica.read { try $0.row(QueryRoom.self, ID("r"))?.serverID }
            }
            #expect(try serverID() == "7")
            try say(
                replica, EntityKey("rooms", "7"), #"{"id":7,"title":"Room"}"#, asOf: accepted)
            #expect(try serverID() == "7")
            #expect(try replica.read { try $0.get(ID<QueryRoom>("r"))?.title } == "Room")
        }
    }

    @Test
    func `wakes those who observed by the other one, and whom it concerns ever after`() async throws
    {
        var chore = Chore("n")
        chore.room = ID("r")
        let replica = try QueryStore.make([], [chore])
        defer { try? replica.deleteTemporary() }
        try await replica.write { tx in try tx.create(QueryRoom(id: ID("r"), title: "Room")) }
        let created = try replica.read { $0.position }
        var chores = replica.observe(Chore.where(\.room == ID("r"))).makeAsyncIterator()
        var room = replica.observe(QueryRoom.self, ID("7")).makeAsyncIterator()
        #expect(try await chores.next()?.map(\.id.rawValue) == ["n"])
        #expect(try await room.next() == .some(nil))

        _ = try accept(replica, self.room, created)
        #expect(try await room.next()??.title == "Room")
        let json = #"{"title":"","done":false,"twin":"","room":7}"#
        try say(replica, EntityKey("chores", "m"), json)
        #expect(try await chores.next()?.map(\.id.rawValue) == ["m", "n"])
        try say(
            replica, EntityKey("chores", "m"), #"{"title":"x","done":false,"twin":"","room":7}"#)
        #expect(try await chores.next()?.map(\.title) == ["x", ""])
        try await replica.write { tx in
            try tx.update(QueryRoom.self, ID("r")) { $0.title = "Hall" }
        }
        #expect(try await room.next()??.title == "Hall")
    }

    @Test func `moves what somebody observes behind a cursor from before it`() async throws {
        var chore = Chore("n")
        chore.room = ID("r")
        let replica = try QueryStore.make([], [chore])
        defer { try? replica.deleteTemporary() }
        try await replica.write { tx in try tx.create(QueryRoom(id: ID("r"), title: "Room")) }
        let created = try replica.read { $0.position }
        for (id, room) in [("k", #""s""#), ("l", #""a""#), ("m", "7")] {
            let json = #"{"title":"","done":false,"twin":"","room":\#(room)}"#
            try say(replica, EntityKey("chores", id), json)
        }
        let place = try #require(try replica.read { try $0.cursor(at: ID<Chore>("l")) })
        let page = Chore.all.order(by: \.room).after(place).limit(9)
        var chores = replica.observe(page).makeAsyncIterator()
        #expect(try await chores.next()?.map(\.id.rawValue) == ["n", "k"])

        _ = try accept(replica, self.room, created)
        #expect(try await chores.next()?.map(\.id.rawValue) == ["m", "n", "k"])
        try say(
            replica, EntityKey("chores", "m"), #"{"title":"x","done":false,"twin":"","room":7}"#)
        #expect(try await chores.next()?.map(\.title) == ["x", "", ""])
    }

    @Test func `is told of to who observed by it, also where all else is the same`() async throws {
        let replica = try QueryStore.make()
        defer { try? replica.deleteTemporary() }
        let key = self.room
        let json = #"{"title":"Room"}"#
        _ = try await replica.write { tx in try tx.create(key, Array(json.utf8)) }
        let created = try replica.read { $0.position }
        try say(replica, EntityKey("rooms", "7"), json)
        var room = replica.observe(QueryRoom.self, ID("7")).makeAsyncIterator()
        #expect(try await room.next()??.id.rawValue == "7")

        _ = try accept(replica, key, created)
        #expect(try await room.next()??.id.rawValue == "r")
    }

    @Test func `finds every date by the value that it was saved with`() throws {
        var random = SplitMix64(seed: 5)
        var chores: [QueryChore] = []
        for number in 0..<1000 {
            var chore = QueryChore("c\(number)")
            let fraction = Double(random.next() >> 11) / Double(1 << 53)
            chore.due = Date(timeIntervalSinceReferenceDate: 817_000_000 + fraction * 10_000)
            chores.append(chore)
        }
        let replica = try QueryStore.make([[.date("due")]], chores)
        defer { try? replica.deleteTemporary() }
        for chore in chores {
            let query = Chore.where(\.due == chore.due)
            #expect(try replica.ids(query).contains(chore.id.rawValue))
        }
    }
}
