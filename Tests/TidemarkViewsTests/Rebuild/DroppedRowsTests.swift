// DroppedRowsTests.swift — the rows of what is over, which go with their events.

import Testing
import TidemarkEvents
import TidemarkInspect
import TidemarkLog
import TidemarkViews

@testable import ViewsSupport

@Suite struct `rows of settled changes, decisions and runs` {
    private static let time = Timestamp(rawValue: 1)
    private let store: ScratchStore

    init() throws {
        store = try ScratchStore()
        try store.write(.model(.serverWins))
    }

    private func last() throws -> Position { try store.journal.read { $0.last } }

    private func count(_ prefix: [UInt8]) throws -> Int {
        try store.rows().count { $0.key.tree == .ledger && $0.key.bytes.starts(with: prefix) }
    }

    private func counts() throws -> [Int] {
        try [Ledger.settled, Ledger.decisions, Ledger.syncRuns].map(count)
    }

    /// An edit that loses to the server; returns the word that won.
    private func lose(_ id: String) throws -> Position {
        let key = "tasks/\(id)"
        let before = try last().rawValue
        try store.write(.about(.serverUpserted, key, #"{"a":1}"#, asOf: before, revision: "1"))
        try store.write(.about(.localUpdated, key, #"{"set":{"a":2},"unset":[]}"#))
        try store.write(
            .about(.serverUpserted, key, #"{"a":3}"#, asOf: before + 2, revision: "2"))
        return try last()
    }

    /// An edit that is given up, one that loses and is answered, and a run.
    private func settle(_ number: Int) throws {
        try store.write(.about(.localCreated, "tasks/g\(number)", "{}"))
        try store.write(.about(.localDiscarded, "tasks/g\(number)"))
        let word = try lose("d\(number)")
        try store.write(
            Event(
                .issueAnswered, recordedAt: Self.time, key: EntityKey("tasks", "d\(number)"),
                cause: word, json: IssueAnswered(.conflict, answer: "keepTheirs").encoded))
        let start = try store.journal.write(at: Self.time) { draft in
            try draft.append(Event(.syncStarted, recordedAt: Self.time, json: Array("{}".utf8)))
        }
        try store.write(
            Event(.syncFinished, recordedAt: Self.time, sync: start, json: Self.ended(1)))
    }

    private static func ended(_ requests: Int64) -> [UInt8] {
        var run = SyncFinished()
        (run.outcome, run.requests) = (.synced, requests)
        return run.encoded
    }

    private func expectTheSameAnew() throws {
        let rows = try store.rows()
        #expect(try store.differences() == [])
        #expect(try store.journal.verify(.deep).findings == [])
        try store.journal.rebuild(eventsPerStep: 7)
        #expect(try store.rows() == rows)
    }

    @Test func `go with their events, but for the last runs, and the same anew`() throws {
        for number in 0..<20 { try settle(number) }
        let cut = try last()
        _ = try lose("open")
        try store.write(.about(.localCreated, "tasks/waits", "{}"))
        for number in 20..<24 { try settle(number) }
        try store.journal.seal(keeping: 1)
        let rows = try store.rows()
        #expect(try counts() == [49, 25, 24])

        try store.truncate(through: cut)

        let dropped = try #require(try store.journal.read { try $0.droppedRows() })
        #expect(dropped.last == cut && !dropped.isLeft && dropped.runs.count == 13)
        #expect(try counts() == [9, 5, 4 + 13])
        let left = try store.rows().filter { $0.key != .dropped }
        #expect(left == rows.filter { !dropped.takes($0.key) })
        #expect(try store.journal.read { try $0.issues() }.map(\.entity) == ["open"])
        try expectTheSameAnew()
    }

    @Test func `are no more after more truncations`() throws {
        var seen: [[Int]] = []
        var number = 0
        for _ in 0..<4 {
            for _ in 0..<20 {
                try settle(number)
                number += 1
            }
            let cut = try last()
            try settle(number)
            number += 1
            try store.journal.seal(keeping: 1)
            try store.truncate(through: cut)
            seen.append(try counts())
        }
        #expect(seen == Array(repeating: [2, 1, 1 + 13], count: 4))
        try expectTheSameAnew()
    }

    @Test func `are told by nothing that says what was, and hide no damage`() throws {
        for number in 0..<3 { try settle(number) }
        let cut = try last()
        try store.write(.about(.serverUpserted, "tasks/d1", #"{"a":4}"#, revision: "3"))
        for number in 3..<6 { try settle(number) }
        try store.journal.seal(keeping: 1)
        try store.truncate(through: cut)

        let key = EntityKey("tasks", "d1")
        let found = try store.journal.read { try EntityExplanation(EntityTarget(key), $0) }
        let lines = try #require(found).lines
        #expect(lines.last == "  no rule has decided anything about it since \(cut.next)")
        let outbox = try store.journal.read { try $0.outbox(all: true) }
        #expect(outbox.allSatisfy { $0.position > cut } && outbox.count == 6)
        let settled = try #require(outbox.first).position
        try store.damage(.settled(settled), nil)
        #expect(try !store.journal.verify(.full).findings.isEmpty)
    }

    // MARK: In memory

    private static let many = 10_010

    private static func truncated(_ last: Int) -> Event {
        Event(
            .logTruncated, recordedAt: time,
            json: LogTruncated(last: Position(UInt64(last)), root: [], views: []).encoded)
    }

    /// Rows of more settled changes than go at once, behind as many events.
    private func settledFold() throws -> MemoryFold {
        let fold = MemoryFold()
        let nothing = Event(.pullPage, recordedAt: Self.time, json: Array("{}".utf8))
        try fold.apply(Array(repeating: nothing, count: Self.many))
        var row = MutationRow(
            key: EntityKey("tasks", "1"), kind: .localUpdated, recordedAt: Self.time, fields: [])
        (row.outcome, row.proof) = (.accepted, Position(UInt64(Self.many)))
        for number in 1...Self.many { fold.set(.settled(Position(UInt64(number))), row.encoded) }
        return fold
    }

    private func settled(_ fold: MemoryFold) -> Int {
        fold.rows.keys.count { $0.tree == .ledger && $0.bytes.first == Ledger.settled[0] }
    }

    @Test func `that are too many for one commit go with the ends of later runs, in any commits`()
        throws
    {
        let start = Position(UInt64(Self.many) + 2)
        let nothing = Event(.pullPage, recordedAt: Self.time, json: Array("{}".utf8))
        let idle = Event(.syncFinished, recordedAt: Self.time, json: Self.ended(0))
        let events = [
            Self.truncated(Self.many),
            Event(.syncStarted, recordedAt: Self.time, json: Array("{}".utf8)), nothing,
            Event(.syncFinished, recordedAt: Self.time, sync: start, json: Self.ended(1)),
            idle, idle,
        ]
        let fold = try settledFold()
        var left: [Int] = []
        for event in events {
            try fold.apply([event])
            left.append(settled(fold))
        }
        // The run has two events before its end, and the others have none.
        #expect(left == [10, 10, 10, 4, 2, 0])
        #expect(try fold.fold.droppedRows()?.isLeft == false)

        let one = try settledFold()
        try one.apply(events)
        #expect(one.rows == fold.rows)
    }

    @Test func `go also where they were settled in the same commit`() throws {
        let events: [Event] = [
            .model(.serverWins), .about(.localCreated, "tasks/1", "{}"),
            .about(.localCreated, "tasks/2", "{}"), .about(.localDiscarded, "tasks/1"),
            Self.truncated(4), .about(.localDiscarded, "tasks/2"), Self.truncated(6),
            .about(.localCreated, "tasks/3", "{}"),
        ]
        let fold = MemoryFold()
        for event in events { try fold.apply([event]) }
        #expect(settled(fold) == 0)
        for first in 1...6 {
            let other = MemoryFold()
            try other.apply(Array(events[..<first]))
            let changes = try other.apply(Array(events[first...]))
            #expect(other.rows == fold.rows, "\(first)")
            #expect(zip(changes, changes.dropFirst()).allSatisfy { $0.key < $1.key }, "\(first)")
        }
    }
}
