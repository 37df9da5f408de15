// LiveQueryTests.swift — results for the main thread: there at once, and redrawn when they differ.

import Observation
import Synchronization
import Testing
import Tidemark
import TidemarkStore
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@MainActor @Suite struct `a live query` {
    /// Waits until what `read` touches is changed, `change` having been made.
    private func change<R>(of read: () -> R, _ change: () async throws -> Void) async throws {
        let (changes, sender) = AsyncStream.makeStream(of: Void.self)
        _ = withObservationTracking(read) { sender.yield() }
        try await change()
        // Told of before it is done.
        for await _ in changes { break }
    }

    private func wait(until isSo: () -> Bool) async {
        for _ in 0..<500_000 where !isSo() { await Task.yield() }
        let isSoNow = isSo()
        #expect(isSoNow)
    }

    @Test func `has its result when it is made, and follows it`() async throws {
        try await withObserved { replica in
            try await replica.write { tx in try tx.put(Errand("a", list: "home")) }
            let live = LiveQuery(replica, Errand.where(\.list == "home"))
            #expect(live.entities.map(\.id.rawValue) == ["a"] && live.error == nil)

            try await change(of: { live.entities }) {
                try await replica.write { tx in try tx.put(Errand("b", list: "home")) }
            }
            #expect(live.entities.map(\.id.rawValue) == ["a", "b"])
        }
    }

    @Test func `that is made inside of a read follows what was committed since that began`()
        async throws
    {
        try await withObserved { replica in
            let live = try replica.read { _ in
                try onAnotherThread { try replica.write { tx in try tx.put(Errand("a")) } }
                return LiveQuery(replica, Errand.all)
            }
            for _ in 0..<500_000 where live.entities.isEmpty { await Task.yield() }
            #expect(live.entities.map(\.id.rawValue) == ["a"])
        }
    }

    @Test func `tells nobody of an equal result`() async throws {
        try await withObserved { replica in
            let live = LiveQuery(replica, Errand.all)
            let count = Lock(0)
            let rows = LiveRows(replica, Errand.all)
            try await change(of: { rows.rows }) {
                try await replica.write { tx in try tx.put(Errand("a")) }
            }
            while live.entities.isEmpty { await Task.yield() }
            withObservationTracking {
                _ = live.entities
            } onChange: {
                count.withLock { $0 += 1 }
            }
            // Only the status differs, which the rows tell.
            try await change(of: { rows.rows }) {
                let document = try replica.read { try $0.document(EntityKey("tasks", "a")) }
                try replica.serverSays("a", String(decoding: document ?? [], as: UTF8.self))
            }
            #expect(rows.rows.map(\.status) == [.updated] || rows.rows.map(\.status) == [.synced])
            #expect(count.withLock(\.self) == 0)
        }
    }

    @Test func `shows another query's result as soon as it is set`() async throws {
        try await withObserved { replica in
            try await replica.write { tx in
                try tx.put(Errand("a", list: "home"))
                try tx.put(Errand("b", list: "work"))
            }
            let live = LiveQuery(replica, Errand.where(\.list == "home"))
            live.query = Errand.where(\.list == "work")
            #expect(live.entities.map(\.id.rawValue) == ["b"])

            try await change(of: { live.entities }) {
                try await replica.write { tx in
                    try tx.put(Errand("a2", list: "home"))
                    try tx.put(Errand("b2", list: "work"))
                }
            }
            #expect(live.entities.map(\.id.rawValue) == ["b", "b2"])
        }
    }

    @Test func `tells texts apart that differ in their Unicode form alone`() async throws {
        try await withObserved { replica in
            try await replica.write { tx in try tx.put(Errand("a", list: "e\u{301}")) }
            let live = LiveQuery(replica, Errand.where(\.list == "\u{e9}"))
            #expect(live.entities.isEmpty)
            live.query = Errand.where(\.list == "e\u{301}")
            #expect(live.entities.map(\.id.rawValue) == ["a"])

            live.query = Errand.where(.hasPrefix(\.list, "\u{e9}"))
            #expect(live.entities.isEmpty)
            live.query = Errand.where(.hasPrefix(\.list, "e\u{301}"))
            #expect(live.entities.map(\.id.rawValue) == ["a"])
        }
    }

    @Test func `says what it can't read, and keeps what it could`() async throws {
        try await withObserved { replica in
            try await replica.write { tx in try tx.put(Errand("a")) }
            let live = LiveQuery(replica, Errand.all)
            try await change(of: { live.error == nil }) {
                try await replica.write { tx in
                    _ = try tx.put(EntityKey("tasks", "a"), Array(#"{"id":"a","title":7}"#.utf8))
                }
            }
            #expect((live.error as? TidemarkError)?.code == .undecodable)
            #expect(live.entities.count == 1)
            #expect(LiveQuery(replica, Errand.all).error != nil)
        }
    }

    @Test func `goes on with the next commit after what it can't read`() async throws {
        func task(_ title: String) -> [UInt8] { Array(#"{"id":"a","title":\#(title)}"#.utf8) }
        let key = EntityKey("tasks", "a")
        let (unreadable, readable) = (task("7"), task("\"tea\""))
        try await withObserved { replica in
            try await replica.write { tx in _ = try tx.put(key, readable) }
            let live = LiveQuery(replica, Errand.all)
            let rows = LiveRows(replica, Errand.all)
            let counts = LiveResult(replica, orElse: 0) { try $0.all(Errand.all).count }
            try await replica.write { tx in _ = try tx.put(key, unreadable) }
            await wait { live.error != nil && rows.error != nil && counts.error != nil }
            let late = LiveQuery(replica, Errand.all)
            #expect(late.error != nil && late.entities.isEmpty)
            // As before it, so that nothing but the error differs.
            try await replica.write { tx in _ = try tx.put(key, readable) }
            await wait { live.error == nil && rows.error == nil && counts.error == nil }
            #expect(live.entities.map(\.title) == ["tea"] && counts.value == 1)
            await wait { late.error == nil }
            #expect(late.entities.map(\.title) == ["tea"])
        }
    }

    @Test func `reads again with any commit after an error of the storage`() async throws {
        final class Disk: Sendable { let isBroken = Mutex(true) }
        let disk = Disk()
        try await withObserved { replica in
            let live = LiveResult(replica, orElse: -1) { store in
                let count = try store.count(Errand.all)
                if disk.isBroken.withLock({ $0 }) {
                    throw TidemarkError(.storage, "no reader is free")
                }
                return count
            }
            #expect(live.error != nil)
            disk.isBroken.withLock { $0 = false }
            try await replica.write { tx in _ = try tx.put(EntityKey("lists", "l"), [0x7B, 0x7D]) }
            await wait { live.error == nil }
            #expect(live.value == 0)
        }
    }

    @Test func `goes on without what it can't read where its query leaves it out`() async throws {
        func title(_ json: String) -> [UInt8] { Array(#"{"id":"a","title":\#(json)}"#.utf8) }
        let key = EntityKey("tasks", "a")
        try await withObserved { replica in
            try await replica.write { tx in
                try tx.put(Errand("a"))
                try tx.put(Errand("b"))
            }
            let query = Errand.all.decodable()
            let live = LiveQuery(replica, query)
            let unreadable = title("7")
            try await change(of: { live.entities }) {
                try await replica.write { tx in _ = try tx.put(key, unreadable) }
            }
            #expect(live.entities.map(\.id.rawValue) == ["b"])
            #expect(LiveRows(replica, query).rows.map(\.id.rawValue) == ["b"])

            let readable = title("\"x\"")
            try await change(of: { live.entities }) {
                try await replica.write { tx in _ = try tx.put(key, readable) }
            }
            #expect(live.entities.map(\.title) == ["x", ""] && live.error == nil)
        }
    }

    @Test func `of any read has its result when it is made, and follows it`() async throws {
        struct Unlucky: Error {}
        try await withObserved { replica in
            let live = LiveResult(replica, orElse: -1) { store -> Int in
                let count = try store.outboxCount()
                if count > 1 { throw Unlucky() }
                return count
            }
            #expect(live.value == 0 && live.error == nil)
            try await change(of: { live.value }) {
                try await replica.write { tx in try tx.put(Errand("a")) }
            }
            #expect(live.value == 1)

            try await change(of: { live.error == nil }) {
                try await replica.write { tx in try tx.put(Errand("b")) }
            }
            #expect(live.value == 1 && live.error is Unlucky)
            let failing = LiveResult(replica, orElse: -1) { _ -> Int in throw Unlucky() }
            #expect(failing.value == -1 && failing.error is Unlucky)
        }
    }

    @Test func `stops following when nobody keeps it`() async throws {
        try await withObserved { replica in
            var live: LiveQuery<Errand>? = LiveQuery(replica, Errand.all)
            #expect(live?.entities == [] && replica.journal.shared.feed.watchCount == 1)
            live = nil
            while replica.journal.shared.feed.watchCount > 0 { await Task.yield() }
            #expect(live == nil)
        }
    }
}
