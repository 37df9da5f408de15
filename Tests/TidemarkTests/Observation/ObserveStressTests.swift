// ObserveStressTests.swift — many write, many observe; in the end all have seen the same.

import TestSupport
import Testing
import Tidemark
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite struct `eight who write and fifty who observe` {
    @Test(.enabled(if: TestRun.isWhole), arguments: [1, 2, 3] as [UInt64])
    func `end with each one's last result being what the query says`(seed: UInt64) async throws {
        try await withObserved { replica in
            let other = try await Replica.open(existing: replica.directory)
            try await withThrowingTaskGroup(of: Void.self) { group in
                let watching = (0..<50).map { number in
                    let query = Self.query(number)
                    let reader = number.isMultiple(of: 2) ? replica : other
                    return (query, reader, Task { try await Self.follow(reader, query) })
                }
                for writer in 0..<8 {
                    group.addTask {
                        var random = SplitMix64(seed: seed &* 100 &+ UInt64(writer))
                        for _ in 0..<60 {
                            try await Self.write(
                                writer.isMultiple(of: 2) ? replica : other, &random)
                        }
                    }
                }
                try await group.waitForAll()
                // Seen by all, so that each has read what was there before it.
                try await replica.write { tx in
                    for list in 0..<6 { try tx.create(Errand("end\(list)", list: "\(list)")) }
                }
                for (query, reader, task) in watching {
                    let last = try await task.value
                    let expected = try reader.read { try $0.all(query) }
                    #expect(last == expected, "seed \(seed)")
                }
            }
            #expect(replica.journal.shared.feed.watchCount == 0)
            try await other.close()
        }
    }

    @Test(.enabled(if: TestRun.isWhole)) func `leave nothing behind when a thousand come and go`()
        async throws
    {
        try await withObserved { replica in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<4 {
                    group.addTask {
                        var random = SplitMix64(seed: UInt64(writer))
                        for _ in 0..<50 { try await Self.write(replica, &random) }
                    }
                }
                for number in 0..<1000 {
                    group.addTask {
                        let task = Task {
                            var count = 0
                            for try await _ in replica.observe(Self.query(number)) { count += 1 }
                            return count
                        }
                        for _ in 0..<(number % 50) { await Task.yield() }
                        if number.isMultiple(of: 3) {
                            _ = await MainActor.run {
                                LiveQuery(replica, Self.query(number)).entities
                            }
                        }
                        task.cancel()
                        _ = try await task.value
                    }
                }
                try await group.waitForAll()
            }
            while replica.journal.shared.feed.watchCount > 0 { await Task.yield() }
        }
    }

    private static func query(_ number: Int) -> EntityQuery<Errand> {
        let list = "\(number % 6)"
        return switch number % 3 {
        case 0: Errand.where(\.list == list)
        case 1: Errand.where(\.list == list && \.title >= "")
        default: Errand.where(\.list >= list).order(by: \.title)
        }
    }

    /// The result that has everything's end.
    private static func follow(
        _ replica: Replica, _ query: EntityQuery<Errand>
    ) async throws -> [Errand] {
        let isEnd = { (todo: Errand) in todo.id.rawValue.hasPrefix("end") }
        for try await todos in replica.observe(query) where todos.contains(where: isEnd) {
            return todos
        }
        return []
    }

    private static func write(_ replica: Replica, _ random: inout SplitMix64) async throws {
        let (id, title) = (Int.random(in: 0..<30, using: &random), random.next() % 5)
        let (list, isDeleted) = (random.next() % 6, random.next() % 8 == 0)
        try await replica.write { tx in
            let key = EntityKey("tasks", "t\(id)")
            if isDeleted {
                if try tx.document(key) != nil { try tx.delete(key) }
            } else {
                try tx.put(Errand("t\(id)", "\(title)", list: "\(list)"))
            }
        }
    }
}
