// ObserveWakeTests.swift — whom a commit wakes, and whom it leaves alone.

import Testing
import Tidemark
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite struct `a commit wakes` {
    private let home = Errand.where(\.list == "home")

    @Test func `who observes an entity that it changed, and nobody else`() throws {
        try withReplica { replica in
            try replica.put(Errand("a"), Errand("b"))
            let (a, b) = (Wakes(replica, "a"), Wakes(replica, "b"))
            let later = Wakes(replica, "later")
            try replica.put(Errand("a", "tea"))
            try replica.put("lists/a", "{}")
            try replica.put(Errand("later"))

            #expect(a.taken() == 1)
            #expect(b.taken() == 0)
            #expect(later.taken() == 1)
        }
    }

    @Test func `who observes a query that an entity came into, left or changed in`() throws {
        try withReplica { replica in
            try replica.put(Errand("a", list: "home"), Errand("b", list: "work"))
            let byValue = try Wakes(replica, home)
            let byRange = try Wakes(replica, Errand.where(\.title > "m"))
            let all = try Wakes(replica, Errand.all)
            func taken() -> [Int] { [byValue, byRange, all].map { $0.taken() } }

            try replica.put(Errand("b", "changed", list: "work"))
            #expect(taken() == [0, 0, 1])
            try replica.put(Errand("b", "tea", list: "home"))
            #expect(taken() == [1, 1, 1], "came in")
            try replica.put(Errand("b", "zoo", list: "home"))
            #expect(taken() == [1, 1, 1], "changed in it")
            try replica.put(Errand("b", "art", list: "work"))
            #expect(taken() == [1, 1, 1], "left")
            try replica.put("lists/l", "{}")
            #expect(taken() == [0, 0, 0])
            try replica.write { tx in _ = try tx.delete(EntityKey("tasks", "a")) }
            #expect(taken() == [1, 0, 1], "was deleted")
        }
    }

    @Test func `with what only the server acknowledged those who observe how rows stand`() throws {
        try withReplica { replica in
            try replica.put("tasks/a", #"{"id":"a","title":"","list":"home"}"#)
            let plain = [try Wakes(replica, home), Wakes(replica, "a")]
            let rows = [
                try Wakes(replica, home, includesStatus: true),
                Wakes(replica, "a", includesStatus: true),
            ]
            try replica.serverSays("a", #"{"id":"a","title":"","list":"home"}"#)

            #expect(plain.map { $0.taken() } == [0, 0])
            #expect(rows.map { $0.taken() } == [1, 1])
        }
    }

    @Test func `nobody when nothing of it was stored`() throws {
        struct Thrown: Error {}
        try withReplica { replica in
            let all = try Wakes(replica, Errand.all)
            #expect(throws: Thrown.self) {
                try replica.write { tx in
                    try tx.create(Errand("a"))
                    throw Thrown()
                }
            }
            #expect(all.taken() == 0)
        }
    }

    @Test func `once who observes a collection of which it changed very much`() throws {
        try withReplica { replica in
            let (all, one) = (try Wakes(replica, Errand.all), Wakes(replica, "t1"))
            let lists = Wakes(replica, Interest(EntityKey("lists", "l")))
            try replica.write { tx in for number in 1...400 { try tx.create(Errand("t\(number)")) }
            }

            #expect(all.taken() == 1)
            #expect(one.taken() == 1)
            #expect(lists.taken() == 0)
        }
    }

    @Test func `who observes by another replica of the same store`() throws {
        try withReplica { replica in
            let other = try Replica.open(existing: replica.directory)
            defer { try? other.close() }
            let wakes = [try Wakes(other, home), Wakes(other, "a")]
            try replica.put(Errand("a", list: "home"))

            #expect(wakes.map { $0.taken() } == [1, 1])
        }
    }

    @Test func `who observes any read once, whatever it says, and whoever made it`() throws {
        try withReplica { replica in
            let other = try Replica.open(existing: replica.directory)
            defer { try? other.close() }
            let wakes = Wakes(replica, Interest.everyCommit)
            try replica.put(Errand("a"), Errand("b"))
            #expect(wakes.taken() == 1)
            try other.put("lists/l", "{}")
            #expect(wakes.taken() == 1)
            try replica.write { tx in for number in 1...400 { try tx.create(Errand("t\(number)")) }
            }
            #expect(wakes.taken() == 1)
            try replica.write { _ in }
            #expect(wakes.taken() == 0, "nothing was logged")
        }
    }

    @Test func `who observes a read that was of its collection, and nobody else`() throws {
        try withReplica { replica in
            try replica.put("lists/l", "{}")
            try replica.put(Errand("a", list: "l"))
            let tasks = [
                try Wakes(replica) { try $0.all(Errand.self) },
                try Wakes(replica) { try $0.count(Errand.where(\.title > "m")) },
                try Wakes(replica) { try $0.counts(Errand.all, by: \.list) },
                try Wakes(replica) { try $0.first(Errand.all.order(by: \.title)) },
                try Wakes(replica) { try $0.get(Errand.self, "none") },
                try Wakes(replica) { try $0.row(Errand.self, "a") },
                try Wakes(replica) { try $0.cursor(at: Tidemark.ID<Errand>("a")) != nil },
                try Wakes(replica) { try $0.status(of: EntityKey("tasks", "a")) },
            ]
            let joined = try Wakes(replica) { store in
                try store.all(Errand.all).map { errand in
                    try store.document(EntityKey("lists", errand.list ?? ""))
                }
            }
            let lists = try Wakes(replica) { store in
                try store.forEachDocument(in: "lists") { _, _, _ in true }
            }
            func taken() -> [Int] { [joined.taken(), lists.taken()] }

            try replica.put("lists/m", #"{"title":"x"}"#)
            #expect(taken() == [1, 1])
            #expect(tasks.map { $0.taken() } == Array(repeating: 0, count: tasks.count))
            try replica.put(Errand("a", "tea", list: "l"))
            #expect(taken() == [1, 0])
            #expect(tasks.map { $0.taken() } == Array(repeating: 1, count: tasks.count))
            try replica.write { tx in for number in 1...400 { try tx.create(Errand("t\(number)")) }
            }
            #expect(taken() == [1, 0])
            #expect(tasks.map { $0.taken() } == Array(repeating: 1, count: tasks.count))
        }
    }

    @Test func `who observes a read with what only the server acknowledged of that`() throws {
        try withReplica { replica in
            try replica.put("tasks/a", #"{"id":"a","title":"","list":"l"}"#)
            let tasks = try Wakes(replica) { try $0.rows(Errand.all) }
            let lists = try Wakes(replica) { try $0.status(of: EntityKey("lists", "l")) }
            try replica.serverSays("a", #"{"id":"a","title":"","list":"l"}"#)
            #expect([tasks, lists].map { $0.taken() } == [1, 0])
        }
    }

    @Test func `who observes a read of anything else, whatever it changed`() throws {
        try withReplica { replica in
            let wakes = [
                try Wakes(replica) { try ($0.count(Errand.all), $0.position) },
                try Wakes(replica) { try $0.issues() },
                try Wakes(replica) { try $0.outbox() },
                try Wakes(replica) { try $0.outboxCount() },
                try Wakes(replica) { try $0.files(of: EntityKey("tasks", "a")) },
                try Wakes(replica) { try $0.explain(Errand.all).description },
                try Wakes(replica) { try $0.forEachDocument { _, _, _ in true } },
                try Wakes(replica) { _ in 1 },
            ]
            try replica.put("lists/l", "{}")
            #expect(wakes.map { $0.taken() } == Array(repeating: 1, count: wakes.count))
        }
    }

    @Test func `everybody when the model was registered anew`() throws {
        try withReplica { replica in
            let wakes = [
                try Wakes(replica, home), Wakes(replica, "a"),
                try Wakes(replica) { try $0.all(Errand.self) },
            ]
            var model = SyncWorld.usualModel
            model.collections[0].pageSize = 7
            try Replica.open(at: replica.directory, model: model).close()

            #expect(wakes.map { $0.taken() } == [1, 1, 1])
        }
    }

    @Test func `nobody who has gone`() throws {
        try withReplica { replica in
            let both = Interest(allIn: ["lists", "tasks"])
            var wakes: [Wakes] = [
                Wakes(replica, "a"), Wakes(replica, Interest.everyCommit), Wakes(replica, both),
            ]
            #expect(replica.journal.shared.feed.watchCount == 3)
            wakes = []
            #expect(wakes.isEmpty && replica.journal.shared.feed.watchCount == 0)
        }
    }
}
