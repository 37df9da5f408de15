// ObserveReadTests.swift — the result of any read as a sequence, also of what is no entity.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite struct `who observes any read` {
    private struct Unlucky: Error {}

    @Test func `gets its result at once, then each that differs`() async throws {
        try await withObserved { replica in
            try replica.put(Errand("a", "tea", list: "home"), Errand("b", list: "work"))
            var lengths = replica.observe { store -> [String: Int] in
                var lengths: [String: Int] = [:]
                for errand in try store.all(Errand.all) {
                    lengths[errand.list ?? "", default: 0] += errand.title.count
                }
                return lengths
            }.makeAsyncIterator()
            #expect(try await lengths.next() == ["home": 3, "work": 0])

            try replica.put("lists/home", "{}")
            try replica.put(Errand("b", done: true))
            try replica.put(Errand("b", list: "work", done: true))
            try replica.put(Errand("c", "bread", list: "home"))
            #expect(try await lengths.next() == ["home": 8, "work": 0])
            #expect(replica.journal.shared.feed.watchCount == 1)
        }
    }

    @Test func `of several collections gets what changes in each, also in one that it comes to`()
        async throws
    {
        try await withObserved { replica in
            try replica.put("lists/l", #"{"title":"home"}"#)
            let reads = SyncCounter()
            var titles = replica.observe { store -> [String] in
                _ = reads.count()
                return try store.all(Errand.all).map { errand -> String in
                    guard let list = errand.list else { return errand.title }
                    let document = try store.document(EntityKey("lists", list)) ?? []
                    return try JSONDocument(parsing: document).value("title")?.stringValue ?? ""
                }
            }.makeAsyncIterator()
            #expect(try await titles.next() == [])
            #expect(reads.value == 1)

            try replica.put(Errand("a", "tea"))
            #expect(try await titles.next() == ["tea"])
            try replica.put(Errand("a", list: "l"))
            #expect(try await titles.next() == ["home"])
            try replica.put("lists/l", #"{"title":"work"}"#)
            #expect(try await titles.next() == ["work"])
            try replica.put(Errand("a", "milk"))
            #expect(try await titles.next() == ["milk"])
            #expect(replica.journal.shared.feed.watchCount == 1)
        }
    }

    @Test func `beside its context is told of that, too`() async throws {
        try await withObserved { replica in
            var counts = replica.observe { store -> [Int] in
                [try store.count(Errand.all), try replica.read { try $0.outboxCount() }]
            }.makeAsyncIterator()
            #expect(try await counts.next() == [0, 0])
            try replica.put("lists/l", "{}")
            #expect(try await counts.next() == [0, 1])
        }
    }

    @Test func `is told of an issue that opens, and of its end`() async throws {
        let world = SyncWorld.notes(.serverWins)
        world.rivalPuts("notes/a", #"{"title":"old"}"#)
        try await SyncDevice.with(world) { device in
            try await device.sync()
            let replica = device.replica
            var kinds = replica.observe { try $0.issues().map(\.kind) }.makeAsyncIterator()
            #expect(try await kinds.next() == [])

            try device.patch("notes/a", #"{"title":"mine"}"#)
            world.rivalPuts("notes/a", #"{"title":"theirs"}"#)
            try await device.sync()
            #expect(try await kinds.next() == [.conflict])

            let issue = try #require(try replica.issues().first)
            try await replica.answer(issue.id, .keepTheirs)
            #expect(try await kinds.next() == [])
        }
    }

    @Test func `is told of files that go and come, by which no entity changes`() async throws {
        var pictures = CollectionModel("pictures")
        pictures.contents = [ContentRule("photo")]
        let model = SyncModel(name: "m", collections: [pictures])
        let clock = ManualClock()
        try await Replica.withTemporary(
            model: model, dependencies: .seeded(0, clock: clock)
        ) { replica in
            let key = EntityKey("pictures", "1")
            let tea = try replica.importText("tea")
            let document = JSONValue.object(["photo": tea]).encoded()
            try await replica.write { tx in _ = try tx.put(key, document) }
            var digests = replica.observe { store in
                try store.files(of: key).compactMap(\.stored?.sha256)
            }.makeAsyncIterator()
            let digest = try #require(try await digests.next()?.first)

            try replica.journal.removeContent(digest, .missing, at: clock.now)
            #expect(try await digests.next() == [])
            _ = try replica.importText("tea")
            #expect(try await digests.next() == [digest])
        }
    }

    @Test func `is told of what waits`() async throws {
        try await SyncDevice.with(SyncWorld()) { device in
            let replica = device.replica
            var waiting = replica.observe { store in
                try store.outbox().map { "\($0.key) \($0.kind)" }
            }.makeAsyncIterator()
            #expect(try await waiting.next() == [])
            try device.put("tasks/a", "{}")
            #expect(try await waiting.next() == ["tasks/a created"])
            try await device.sync()
            #expect(try await waiting.next() == [])
            try device.delete("tasks/a")
            #expect(try await waiting.next() == ["tasks/a deleted"])
        }
    }

    @Test func `gets the error that it throws, and then no more`() async throws {
        try await withObserved { replica in
            var results = replica.observe { store -> Int in
                let count = try store.count(Errand.all)
                if count > 1 { throw Unlucky() }
                return count
            }.makeAsyncIterator()
            #expect(try await results.next() == 0)
            try replica.put(Errand("a"), Errand("b"))
            await #expect(throws: Unlucky.self) { try await results.next() }
            try replica.delete("a")
            #expect(try await results.next() == nil)
            #expect(replica.journal.shared.feed.watchCount == 0)
        }
    }

    @Test func `gets no more once the task is cancelled`() async throws {
        try await withObserved { replica in
            let (seen, sender) = AsyncStream.makeStream(of: Void.self)
            let task = Task {
                let counts = replica.observe { try $0.outboxCount() }
                for try await _ in counts { sender.yield() }
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
