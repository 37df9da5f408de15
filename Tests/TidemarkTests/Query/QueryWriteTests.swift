// QueryWriteTests.swift — queries inside a commit in the making, and references both ways.

import Foundation
import Testing
import Tidemark
import TidemarkEvents
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

private typealias Chore = QueryChore
private typealias ID = Tidemark.ID

@Suite struct `a query inside a write` {
    private func chore(_ id: String, _ room: String?, _ points: Int) -> Chore {
        var chore = Chore(id)
        (chore.room, chore.points) = (room.map { ID($0) }, points)
        return chore
    }

    @Test func `sees what its commit created, changed and deleted`() throws {
        let replica = try QueryStore.make(
            [["points"]], [chore("b", nil, 2), chore("c", nil, 2), chore("e", nil, 2)])
        defer { try? replica.deleteTemporary() }
        let twos = Chore.where(\.points == 2)

        let seen = try replica.write { tx in
            try tx.create(chore("a", nil, 2))
            try tx.create(chore("d", nil, 2))
            try tx.create(chore("f", nil, 2))
            try tx.delete(Chore.self, ID("c"))
            try tx.update(Chore.self, ID("b")) { $0.points = 1 }
            try tx.create(QueryRoom(id: ID("a"), title: "in another collection"))
            return [
                try tx.all(twos).map(\.id.rawValue).joined(),
                try tx.all(Chore.self).map(\.id.rawValue).joined(),
                try tx.all(twos.order(by: \.id, .descending).limit(2)).map(\.id.rawValue).joined(),
                "\(try tx.count(twos)) \(try tx.count(twos.limit(3)))",
                "\(try tx.count(twos.offset(3)))",
                try tx.first(Chore.all.order(by: \.points))?.id.rawValue ?? "none",
            ]
        }

        #expect(seen == ["adef", "abdef", "fe", "4 3", "1", "b"])
        #expect(try replica.found(twos) == "a d e f")
    }

    @Test func `is carried out as in a read`() throws {
        let replica = try QueryStore.make([["points"]], [chore("b", nil, 2)])
        defer { try? replica.deleteTemporary() }
        let queries = [
            Chore.where(\.points == 2), Chore.where(\.room == ID("hall")),
            Chore.where(\.id == ID("b")), Chore.all.order(by: \.points).limit(1),
            Chore.where(\.title == "x"),
        ]
        let words = try replica.write { tx in
            try tx.create(chore("a", "hall", 2))
            return try queries.map { try tx.explain($0).description }
        }
        let read = try queries.map { try replica.explained($0) }
        #expect(words == read)
        #expect(words[0] == "index [points] of chores: points = 2")
    }

    @Test func `finds or creates by a unique name, also among what it made`() throws {
        let replica = try QueryStore.make([["title"]], [chore("b", nil, 2)])
        defer { try? replica.deleteTemporary() }
        let names = ["dust", "sweep", "dust", "mop", "sweep", "dust"]
        try replica.write { tx in
            for (number, name) in names.enumerated() {
                guard try tx.first(Chore.where(\.title == name)) == nil else { continue }
                var new = chore("n\(number)", nil, 1)
                new.title = name
                try tx.create(new)
            }
        }
        #expect(try replica.found(Chore.all.order(by: \.title)) == "b n0 n3 n1")
    }

    @Test func `leaves nothing behind when its commit is thrown away`() throws {
        struct Stop: Error {}
        let replica = try QueryStore.make([["points"]], [chore("b", nil, 2)])
        defer { try? replica.deleteTemporary() }
        #expect(throws: Stop.self) {
            try replica.write { tx in
                try tx.create(chore("a", nil, 2))
                #expect(try tx.count(Chore.all) == 2)
                throw Stop()
            }
        }
        #expect(try replica.found(Chore.where(\.points == 2)) == "b")
    }

    @Test func `goes along references, both ways`() throws {
        let replica = try QueryStore.make(
            [],
            [
                chore("a", "kitchen", 1), chore("b", nil, 1), chore("c", "kitchen", 1),
                chore("d", "nowhere", 1),
            ])
        defer { try? replica.deleteTemporary() }
        let kitchen = QueryRoom(id: ID("kitchen"), title: "Kitchen")
        try replica.write { tx in
            try tx.create(kitchen)
            let a = try tx.get(ID<Chore>("a"))
            #expect(try tx.get(a?.room) == kitchen)
            #expect(try tx.referrers(of: kitchen.id, \Chore.room).map(\.id.rawValue) == ["a", "c"])
            #expect(try tx.all([kitchen.id, ID("no")]) == [kitchen])
        }

        let (rooms, referrers, batch) = try replica.read { context in
            let rooms = try context.all(Chore.all).map { try context.get($0.room)?.title ?? "-" }
            let referrers = try context.referrers(of: kitchen.id, \Chore.room)
            return (rooms, referrers, try context.all(["c", "x", "a"].map { ID<Chore>($0) }))
        }
        #expect(rooms == ["Kitchen", "-", "Kitchen", "-"])
        #expect(referrers.map(\.id.rawValue) == ["a", "c"])
        #expect(batch.map(\.id.rawValue) == ["c", "a"])
        #expect(
            try replica.explained(Chore.where(\.room == kitchen.id))
                == "index [room] of chores: room = \"kitchen\"")
    }

    @Test func `finds by a reference only as long as it is there`() throws {
        let replica = try QueryStore.make([], [chore("a", "kitchen", 1), chore("b", "hall", 1)])
        defer { try? replica.deleteTemporary() }
        let inKitchen = Chore.where(\.room == ID("kitchen"))
        try replica.write { tx in try tx.update(Chore.self, ID("b")) { $0.room = ID("kitchen") } }
        #expect(try replica.found(inKitchen) == "a b")
        try replica.write { tx in try tx.update(Chore.self, ID("a")) { $0.room = nil } }
        #expect(try replica.found(inKitchen) == "b")
        try replica.write { tx in try tx.delete(Chore.self, ID("b")) }
        #expect(try replica.found(inKitchen) == "")
    }

    @Test func `finds references by whole numbers, and by the id that the server gave`() throws {
        let replica = try QueryStore.make([], [chore("a", "42", 1), chore("b", "r", 1)])
        defer { try? replica.deleteTemporary() }
        try replica.write { tx in
            try tx.create(EntityKey("chores", "c"), Array(#"{"room":42}"#.utf8))
            try tx.create(EntityKey("chores", "d"), Array(#"{"room":"server-7"}"#.utf8))
            try tx.create(QueryRoom(id: ID("r"), title: "Room"))
        }
        let created = try replica.read { $0.position }

        func rooms(_ id: String) throws -> String {
            try replica.read { context in
                let query = try context.documentQuery(Chore.where(\.room == ID(id)))
                var ids: [String] = []
                try context.views.forEachFound(query) { found in
                    ids.append(found.key.id)
                    return true
                }
                return ids.joined(separator: " ")
            }
        }
        #expect(try rooms("42") == "a c")
        #expect(try rooms("r") == "b")

        let key = EntityKey("rooms", "r")
        let accepted = try replica.journal.write(at: Timestamp(rawValue: 1)) { draft in
            let call = try draft.append(
                Event(.requestSent, recordedAt: draft.now, key: key, mutation: created))
            return try draft.append(
                Event(
                    .pushAccepted, recordedAt: draft.now, key: key, mutation: created, call: call,
                    json: Array(#"{"serverID":"server-7"}"#.utf8)))
        }
        #expect(try rooms("r") == "b d")

        try replica.journal.write(at: Timestamp(rawValue: 2)) { draft in
            _ = try draft.append(
                Event(
                    .serverUpserted, recordedAt: draft.now, key: EntityKey("rooms", "server-7"),
                    asOf: accepted, json: Array(#"{"id":"server-7","title":"Room"}"#.utf8)))
        }
        #expect(try rooms("r") == "b d")
        #expect(try rooms("server-7") == "b d")
        #expect(try replica.read { try $0.get(ID<QueryRoom>("server-7"))?.id.rawValue } == "r")
        let inWrite = try replica.write { tx in try tx.count(Chore.where(\.room == ID("r"))) }
        #expect(inWrite == 2)

        // The room is gone until it is listed again; its chores name it all the same.
        try replica.wipe(keeping: ["chores"], discardingPending: true)
        #expect(try replica.read { try $0.get(ID<QueryRoom>("r")) } == nil)
        #expect(try rooms("r") == "b d")
        #expect(try rooms("server-7") == "b d")
        let afterWipe = try replica.write { tx in try tx.count(Chore.where(\.room == ID("r"))) }
        #expect(afterWipe == 2)
    }
}
