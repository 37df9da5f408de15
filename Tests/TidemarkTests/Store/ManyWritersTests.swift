// ManyWritersTests.swift — very many tasks and some threads write at once.

import Foundation
import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite struct `a thousand tasks and eight threads that write at once` {
    private static let tasks = 1000
    private static let writesOfTask = 2
    private static let threads = 8
    private static let writesOfThread = 40

    @Test
    func `all return, each event is there once, and each caller's in its order`() async throws {
        let replica = try Replica.temporary(
            model: SyncWorld.usualModel, dependencies: .seeded(0, clock: ManualClock()))
        let before = try replica.position
        let threads = (0..<Self.threads).map { number in
            BlockingWriter(replica, "thread-\(number)", Self.writesOfThread)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<Self.tasks {
                group.addTask {
                    var last = Position.start
                    for index in 0..<Self.writesOfTask {
                        let position = try await replica.write { tx in
                            try tx.create(
                                EntityKey("tasks", "task-\(task)/\(index)"), [0x7B, 0x7D])
                        }
                        #expect(position > last, "task \(task)")
                        last = position
                    }
                }
            }
            try await group.waitForAll()
        }
        for thread in threads { try thread.wait() }

        var written: [String: [Int]] = [:]
        let damaged = try replica.journal.dump(EventFilter()) { position, event in
            guard position > before, let id = event.entity, let slash = id.lastIndex(of: "/")
            else { return }
            written[String(id[..<slash]), default: []].append(
                try #require(Int(id[id.index(after: slash)...])))
        }
        #expect(damaged == [])
        #expect(written.count == Self.tasks + Self.threads)
        for (caller, order) in written {
            let count = caller.hasPrefix("task") ? Self.writesOfTask : Self.writesOfThread
            #expect(order == Array(0..<count), "\(caller)")
        }
        let commits = Self.tasks * Self.writesOfTask + Self.threads * Self.writesOfThread
        #expect(try replica.position.rawValue == before.rawValue + UInt64(commits))
        #expect(try replica.journal.verify(.deep).findings == [])
        try replica.deleteTemporary()
    }
}

@Suite struct `a blocking write, while another one lasts` {
    @Test func `has its body run on another thread, so that it can't be the main actor's`() throws {
        try withReplica { replica in
            var isElsewhere = false
            for _ in 0..<50 where !isElsewhere {
                let (begun, other) = (DispatchSemaphore(value: 0), DispatchGroup())
                other.enter()
                Thread.detachNewThread {
                    defer { other.leave() }
                    try? replica.write { _ in
                        begun.signal()
                        Thread.sleep(forTimeInterval: 0.02)
                    }
                }
                begun.wait()
                let caller = ObjectIdentifier(Thread.current)
                isElsewhere = try replica.write { _ in ObjectIdentifier(Thread.current) != caller }
                other.wait()
            }
            #expect(isElsewhere)
        }
    }
}

/// A thread that writes and waits for each write.
private final class BlockingWriter: Sendable {
    private let group = DispatchGroup()
    private let failure = SyncBox<any Error>()

    init(_ replica: Replica, _ name: String, _ count: Int) {
        let (group, failure) = (group, failure)
        group.enter()
        Thread.detachNewThread {
            defer { group.leave() }
            do {
                for index in 0..<count {
                    try replica.write { tx in
                        _ = try tx.create(EntityKey("tasks", "\(name)/\(index)"), [0x7B, 0x7D])
                    }
                }
            } catch { failure.value = error }
        }
    }

    func wait() throws {
        group.wait()
        if let error = failure.value { throw error }
    }
}
