// GroupCommitTests.swift — what waits together is stored together, and each stands or falls alone.

import Foundation
import Testing
import TidemarkEvents
import TidemarkLog
import TidemarkStore

@testable import TidemarkViews
@testable import ViewsSupport

@Suite struct `commits that wait for the writer thread` {
    let store: ScratchStore
    private let key = EntityKey("tasks", "counter")

    init() throws { store = try ScratchStore() }

    private struct Thrown: Error {}

    /// Runs writes from a thread each; none is stored before all of them wait.
    private func together(
        _ count: Int, _ body: @escaping @Sendable (Int, Draft) throws -> Void
    ) throws -> [(any Error)?] {
        let journal = store.journal
        let outcomes = Lock<[Int: (any Error)?]>([:])
        let threads = (0..<count).map { number in
            Thread {
                do {
                    try journal.write(at: Timestamp(rawValue: 2)) { try body(number, $0) }
                    outcomes.withLock { $0[number] = .some(nil) }
                } catch { outcomes.withLock { $0[number] = error } }
            }
        }
        try journal.write(at: Timestamp(rawValue: 1)) { _ in
            for thread in threads { thread.start() }
            while journal.requests.withLock({ $0.count }) < count { sched_yield() }
        }
        while outcomes.withLock({ $0.count }) < count { sched_yield() }
        return (0..<count).map { number in outcomes.withLock { $0[number] ?? nil } }
    }

    /// Adds one to the counter, as an edit of what is there.
    private static func count(_ draft: Draft, _ key: EntityKey) throws {
        let document = try draft.fold.entity(key).document
        let value = try document.map { try JSONDocument(parsing: $0) }?.value("n")?.int64Value
        guard let value else {
            try draft.append(
                Event(
                    .localCreated, recordedAt: draft.now, key: key,
                    json: [
                        UInt8
                    ](#"{"n":1}"#.utf8)))
            return
        }
        let patch = Patch(set: [Patch.Field("n", Array(String(value + 1).utf8))])
        try draft.append(
            Event(.localUpdated, recordedAt: draft.now, key: key, json: patch.encoded))
    }

    private var transactions: UInt64 {
        get throws { try store.journal.environment.info().lastTransaction }
    }

    @Test func `are stored in one transaction, each a commit that sees those before it`() throws {
        let before = try transactions
        let key = key

        let failures = try together(20) { _, draft in try Self.count(draft, key) }

        #expect(failures.allSatisfy { $0 == nil })
        #expect(try transactions == before + 1)
        #expect(try store.commits().map(\.last.rawValue) == Array(1...20))
        #expect(text(try store.entity(key)?.document) == #"{"n":20}"#)
        try LogChecks(store: store, place: "after a group").all()
    }

    @Test func `fail alone when their body throws`() throws {
        let key = key

        let failures = try together(9) { number, draft in
            try Self.count(draft, key)
            if number % 3 == 0 { throw Thrown() }
        }

        #expect(failures.map { $0 is Thrown } == (0..<9).map { $0 % 3 == 0 })
        #expect(text(try store.entity(key)?.document) == #"{"n":6}"#)
        #expect(try store.commits().count == 6)
        try LogChecks(store: store, place: "after throws").all()
    }

    @Test(arguments: 0..<5)
    func `fail alone when what they wrote can't be stored`(_ bad: Int) throws {
        let key = key
        // Longer than any key of the tables: refused by the storage, not by the body.
        let long = EntityKey("tasks", String(repeating: "x", count: 600))

        let failures = try together(5) { number, draft in
            if number == bad {
                try draft.append(
                    Event(.localCreated, recordedAt: draft.now, key: long, json: Array("{}".utf8)))
            } else {
                try Self.count(draft, key)
            }
        }

        #expect(
            failures.map { ($0 as? StoreError)?.code } == (0..<5).map { $0 == bad ? .badKey : nil })
        #expect(text(try store.entity(key)?.document) == #"{"n":4}"#)
        #expect(try store.commits().count == 4)
        try LogChecks(store: store, place: "after a refusal").all()
    }

    @Test func `keep the indexes of a model that several of them change`() throws {
        let events: [Event] = [
            .about(.localUpdated, "tasks/1", #"{"set":{"list":"z"},"unset":[]}"#),
            .about(.localDeleted, "tasks/1"), .tasks([]), .tasks([["title"]]),
            .about(.localCreated, "tasks/2", #"{"title":"b"}"#),
            .about(.localUpdated, "tasks/2", #"{"set":{"title":"a"},"unset":[]}"#),
            .about(.localCreated, "tasks/3", #"{"title":"c"}"#),
            .about(.localUpdated, "tasks/2", #"{"set":{"title":"d"},"unset":[]}"#),
        ]
        try store.write(.tasks([["list"]]), .about(.localCreated, "tasks/1", #"{"list":"e"}"#))
        let turn = Lock(0)

        let failures = try together(events.count + 3) { _, draft in
            let number = turn.withLock { turn in
                defer { turn += 1 }
                return turn
            }
            // Those that throw come between the others.
            if [1, 5, 8].contains(number) {
                try draft.append(.tasks([["list"], ["title"]]))
                throw Thrown()
            }
            let place = number - [1, 5, 8].count { $0 < number }
            try draft.append(events[place])
        }

        #expect(failures.count { $0 != nil } == 3)
        #expect(try store.indexDifferences() == [])
        #expect(try store.ids(["title"]) == ["3", "2"])
    }

    @Test func `are told to who began to watch before they were stored`() throws {
        let (journal, key) = (store.journal, key)
        let turn = Lock(0)
        let told = Lock(0)

        _ = try together(3) { _, draft in
            let number = turn.withLock { turn in
                turn += 1
                return turn
            }
            if number == 1 { try Self.count(draft, key) }
            // Whoever reads now does not see the commit before this one.
            guard number == 2 else { return }
            #expect(try journal.read { try $0.entity(key) } == nil)
            _ = journal.shared.feed.watch(Interest(key), for: journal) {
                told.withLock { $0 += 1 }
            }
        }

        #expect(try store.entity(key) != nil)
        #expect(told.withLock(\.self) == 1)
    }

    @Test func `of more than 256 events take several transactions`() throws {
        let before = try transactions

        let failures = try together(6) { number, draft in
            for index in 0..<100 {
                try draft.append(
                    Event(
                        .localCreated, recordedAt: draft.now,
                        key: EntityKey("tasks", "\(number)-\(index)"), json: Array("{}".utf8)))
            }
        }

        #expect(failures.allSatisfy { $0 == nil })
        #expect(try transactions == before + 2)
        #expect(try store.commits().count == 6)
    }

    @Test func `are stored once each when the map has to grow in the middle`() throws {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-group-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        let environment = try Environment.open(
            at: directory.path,
            Journal.options(mapBytes: 1 << 18))
        let journal = Journal(environment)
        let runs = Lock(0)
        for _ in 0..<3 {
            try journal.write(at: Timestamp(rawValue: 1)) { draft in
                runs.withLock { $0 += 1 }
                for _ in 0..<200 {
                    try draft.append(
                        Event(
                            .localCreated, recordedAt: draft.now,
                            key: EntityKey("tasks", "\(draft.nextPosition)"),
                            json: Array(#"{"text":"\#(String(repeating: "x", count: 900))"}"#.utf8))
                    )
                }
            }
        }

        #expect(runs.withLock { $0 } > 3)
        #expect(try journal.read { $0.last } == Position(600))
        let findings = try environment.read { try journal.log.verify($0).findings }
        #expect(findings == [])
        try journal.close()
    }

    @Test func `from tasks are all acknowledged, in the order of each`() async throws {
        let journal = store.journal
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<32 {
                group.addTask {
                    var last = Position.start
                    for index in 0..<20 {
                        let position = try await journal.write(at: Timestamp(rawValue: 2)) {
                            try $0.append(
                                Event(
                                    .localCreated, recordedAt: $0.now,
                                    key: EntityKey("tasks", "\(writer)-\(index)"),
                                    json: Array("{}".utf8)))
                        }
                        #expect(position > last)
                        last = position
                    }
                }
            }
            try await group.waitForAll()
        }

        #expect(try journal.read { $0.last } == Position(640))
        let transactions = try transactions
        #expect(transactions < 400, "640 commits were stored in \(transactions) transactions")
        try LogChecks(store: store, place: "after 32 tasks").all()
    }
}
