// ObserveTests.swift — results as sequences: what is there, then each change of it.

import Foundation
import Testing
import Tidemark
import TidemarkEvents
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

/// Counts how often one is decoded.
private struct CountedErrand: Entity {
    static let collection: CollectionName = "tasks"
    static let decoded = SyncCounter()

    let id: Tidemark.ID<CountedErrand>
    let title: String

    enum CodingKeys: String, CodingKey { case id, title }

    init(from decoder: any Decoder) throws {
        _ = Self.decoded.count()
        let values = try decoder.container(keyedBy: CodingKeys.self)
        id = try values.decode(Tidemark.ID<CountedErrand>.self, forKey: .id)
        title = try values.decode(String.self, forKey: .title)
    }
}

@Suite struct `who observes` {
    @Test func `a query gets its result, then each that differs`() async throws {
        try await withObserved { replica in
            try replica.put(Errand("a", list: "home"))
            let query = Errand.where(\.list == "home")
            var results = replica.observe(query).makeAsyncIterator()
            #expect(try await results.next()?.map(\.id.rawValue) == ["a"])

            try replica.put(Errand("x", list: "work"))
            try replica.put(Errand("b", list: "home"))
            #expect(try await results.next()?.map(\.id.rawValue) == ["a", "b"])

            try replica.delete("a")
            #expect(try await results.next()?.map(\.id.rawValue) == ["b"])
        }
    }

    @Test func `slowly gets the newest result only, and none that is equal`() async throws {
        try await withObserved { replica in
            var results = replica.observe(Errand.all).makeAsyncIterator()
            #expect(try await results.next() == [])
            for number in 1...50 { try replica.put(Errand("a", "\(number)")) }
            #expect(try await results.next()?.map(\.title) == ["50"])

            try replica.put(Errand("a", "x"))
            try replica.put(Errand("a", "50"))
            // What the type does not know makes the document differ, and not the entity.
            try replica.put("tasks/a", #"{"id":"a","title":"50","other":1}"#)
            try replica.put(Errand("b", "after"))
            #expect(try await results.next()?.map(\.title) == ["50", "after"])
        }
    }

    @Test func `an entity gets nil while there is none`() async throws {
        try await withObserved { replica in
            var results = replica.observe(Errand.self, ID("a")).makeAsyncIterator()
            #expect(try await results.next() == .some(nil))
            try replica.put(Errand("a", "tea"))
            #expect(try await results.next()??.title == "tea")
            try replica.delete("a")
            #expect(try await results.next() == .some(nil))
        }
    }

    @Test func `is told what another model reads otherwise of the same documents`() async throws {
        func model(_ dates: DateFormat) -> SyncModel {
            var model = QueryStore.model()
            model.collections[1].dates = dates
            return model
        }
        try await Replica.withTemporary(
            model: model(.seconds), dependencies: .seeded(0, clock: ManualClock())
        ) { replica in
            try replica.put("chores/a", #"{"title":"","done":false,"twin":"","due":1000}"#)
            var one = replica.observe(QueryChore.self, ID("a")).makeAsyncIterator()
            var all = replica.observe(QueryChore.all).makeAsyncIterator()
            var rows = replica.observe(rows: QueryChore.all).makeAsyncIterator()
            #expect(try await one.next()??.due == date(1000))
            #expect(try await all.next()?.map(\.due) == [date(1000)])
            #expect(try await rows.next()?.map(\.entity.due) == [date(1000)])

            try await Replica.open(at: replica.directory, model: model(.milliseconds)).close()
            #expect(try await one.next()??.due == date(1))
            #expect(try await all.next()?.map(\.due) == [date(1)])
            #expect(try await rows.next()?.map(\.entity.due) == [date(1)])
        }
    }

    @Test func `a count gets numbers`() async throws {
        try await withObserved { replica in
            var counts = replica.observe(count: Errand.where(\.done == true)).makeAsyncIterator()
            #expect(try await counts.next() == 0)
            try replica.put(Errand("a"))
            try replica.put(Errand("b", done: true))
            #expect(try await counts.next() == 1)
            try replica.put(Errand("b", "renamed", done: true))
            try replica.put(Errand("a", done: true))
            #expect(try await counts.next() == 2)
        }
    }

    @Test func `rows is told how they stand, the position and the error included`() async throws {
        let world = SyncWorld()
        try await SyncDevice.with(world) { device in
            let (replica, query) = (device.replica, Errand.all)
            var rows = replica.observe(rows: query).makeAsyncIterator()
            var row = replica.observe(row: Errand.self, ID("a")).makeAsyncIterator()
            #expect(try await rows.next() == [])
            #expect(try await row.next() == .some(nil))
            try replica.put(Errand("a", "tea"))
            let made = try #require(try await rows.next()?.first)
            #expect(made.status == .created && made.title == "tea" && made.id.rawValue == "a")
            #expect(made.lastEvent == (try replica.position) && made.serverID == nil)
            #expect(try await row.next() == made)

            try await device.sync()
            var last = try #require(try await rows.next()?.first)
            while last.status != .synced { last = try #require(try await rows.next()?.first) }
            #expect(last.lastEvent > made.lastEvent && last.refusal == nil)
            #expect(try replica.read { try $0.row(Errand.self, ID("a")) } == last)
            #expect(try replica.read { try $0.rows(query) } == [last])
        }
    }

    @Test func `what can't be decoded gets the error, and then no more`() async throws {
        try await withObserved { replica in
            try replica.put(Errand("a"))
            var results = replica.observe(Errand.all).makeAsyncIterator()
            #expect(try await results.next()?.count == 1)
            try replica.put("tasks/a", #"{"id":"a","title":7}"#)

            let error = await #expect(throws: TidemarkError.self) { try await results.next() }
            #expect(error?.code == .undecodable)
            try replica.put("tasks/a", #"{"id":"a","title":"mended"}"#)
            #expect(try await results.next() == nil)
            #expect(replica.journal.shared.feed.watchCount == 0)
        }
    }

    @Test func `what can be decoded has each decoded once`() async throws {
        try await withObserved { replica in
            for id in ["a", "b"] { try replica.put(Errand(id)) }
            try replica.put("tasks/c", #"{"id":"c","title":7}"#)
            let query = CountedErrand.all.decodable()

            var results = replica.observe(query).makeAsyncIterator()
            #expect(try await results.next()?.map(\.id.rawValue) == ["a", "b"])
            #expect(CountedErrand.decoded.value == 3)
            var rows = replica.observe(rows: query).makeAsyncIterator()
            #expect(try await rows.next()?.map(\.id.rawValue) == ["a", "b"])
            #expect(CountedErrand.decoded.value == 6)
            #expect(try replica.read { try $0.rows(query) }.count == 2)
            #expect(CountedErrand.decoded.value == 9)
        }
    }

    @Test func `gets no more once the replica is closed`() async throws {
        let replica = try Replica.temporary(model: SyncWorld.usualModel)
        let other = try await Replica.open(existing: replica.directory)
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            let (seen, sender) = AsyncStream.makeStream(of: Void.self)
            group.addTask {
                var count = 0
                for try await _ in other.observe(Errand.all) {
                    count += 1
                    sender.yield()
                }
                return count
            }
            for await _ in seen { break }
            try await other.close()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts == [1])
        try replica.put(Errand("a"))
        try replica.deleteTemporary()
    }

    @Test func `gets no more once the task is cancelled`() async throws {
        try await withObserved { replica in
            let (seen, sender) = AsyncStream.makeStream(of: Void.self)
            let task = Task {
                for try await _ in replica.observe(Errand.all) { sender.yield() }
                return Task.isCancelled
            }
            for await _ in seen { break }
            task.cancel()
            let isCancelled = try await task.value
            #expect(isCancelled)
            #expect(replica.journal.shared.feed.watchCount == 0)
        }
    }
}
