// TimeTravelTests.swift — a replica's past: documents, statuses and queries as they were.

import DocExamples
import Foundation
import Testing
import Tidemark
import TidemarkStore
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite struct `a replica's past` {
    typealias Todo = DocExamples.Todo
    private let clock = ManualClock()

    private func withReplica(_ body: (Replica) throws -> Void) async throws {
        try await Replica.withTemporary(
            model: GettingStarted.model, dependencies: .seeded(1, clock: clock)
        ) { replica in
            for (id, title) in [("t1", "Tea"), ("t2", "Milk")] {
                clock.advance(by: .seconds(10))
                try replica.write { tx in try tx.create(Todo(id: ID(id), title: title)) }
            }
            clock.advance(by: .seconds(10))
            try replica.write { tx in
                try tx.update(Todo.self, "t1") { $0.title = "Green tea" }
                try tx.update(Todo.self, "t2") { $0.done = true }
            }
            clock.advance(by: .seconds(10))
            try replica.write { tx in try tx.delete(Todo.self, "t1") }
            try body(replica)
        }
    }

    private func shown(_ store: ReadContext) throws -> [String] {
        let open = Todo.where(\.done == nil).order(by: \.title)
        let statuses = try ["t1", "t2"].map { id in
            try store.status(of: EntityKey("tasks", id)).map { "\($0)" } ?? "-"
        }
        return try store.all(open).map(\.title) + statuses + ["\(try store.outboxCount())"]
    }

    @Test func `is what was shown then`() async throws {
        try await withReplica { replica in
            let past = try (2...7).map { number in
                try replica.read(asOf: Position(UInt64(number))) { store in
                    #expect(store.position == Position(UInt64(number)))
                    return try shown(store)
                }
            }
            #expect(
                past == [
                    ["-", "-", "0"], ["Tea", "created", "-", "1"],
                    ["Milk", "Tea", "created", "created", "2"],
                    // Within a commit: its first event alone.
                    ["Green tea", "Milk", "created", "created", "3"],
                    ["Green tea", "created", "created", "4"],
                    ["-", "created", "2"],
                ])
            #expect(try replica.read { try shown($0) } == past.last)
        }
    }

    @Test func `is found by the time that events were recorded`() async throws {
        try await withReplica { replica in
            let first = try #require(
                try replica.journal.read { try $0.event(at: Position(3))?.recordedAt })
            func titles(_ seconds: Int64) throws -> [String] {
                try replica.read(asOf: first.adding(seconds: seconds)) { store in
                    try store.all(Todo.self).map(\.title)
                }
            }
            #expect(try titles(0) == ["Tea"])
            #expect(try titles(9) == ["Tea"])
            #expect(try titles(10) == ["Tea", "Milk"])
            #expect(try titles(25) == ["Green tea", "Milk"])
            #expect(try titles(1000) == ["Milk"])
            #expect(try replica.position(asOf: first.adding(seconds: 25)) == Position(6))
            #expect(try replica.position(asOf: first.adding(seconds: -3600)) == nil)
        }
    }

    @Test func `begins with the first event and ends with the last`() async throws {
        try await withReplica { replica in
            for (position, words) in [(0, "before the first"), (8, "the log ends at @7")] {
                let error = #expect(throws: TidemarkError.self) {
                    try replica.read(asOf: Position(UInt64(position))) { _ in }
                }
                #expect(error?.code == .notFound)
                #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
            }
            let error = #expect(throws: TidemarkError.self) {
                try replica.read(asOf: Timestamp(rawValue: 1)) { _ in }
            }
            #expect(error?.code == .notFound)
        }
    }

    @Test func `is kept in a snapshot when a replica with many events is closed`() async throws {
        let replica = try Replica.temporary(model: GettingStarted.model)
        try await replica.write { tx in
            for number in 0..<10_000 {
                try tx.create(EntityKey("tasks", "t\(number)"), Array(#"{"title":"x"}"#.utf8))
            }
        }
        let last = try replica.read { $0.position }
        try await replica.close()
        let again = try await Replica.open(existing: replica.directory)
        defer { try? again.deleteTemporary() }

        let kept = try again.journal.environment.read { try again.journal.snapshots.manifests($0) }
        #expect(kept.map(\.position) == [last])
        try await again.write { tx in
            try tx.create(EntityKey("tasks", "late"), Array(#"{"title":"y"}"#.utf8))
        }
        let then = try again.read(asOf: last) { store in
            (
                try store.document(EntityKey("tasks", "late")),
                try store.count(Todo.where(\.done == nil))
            )
        }
        #expect(then == (nil, 10_000))
    }
}
