// SealingRowsTests.swift — the views over a log of which a part is sealed.

import TestSupport
import Testing
import TidemarkEvents
import TidemarkInspect
import TidemarkLog
import TidemarkStore

@testable import TidemarkViews
@testable import ViewsSupport

@Suite struct `views over sealed events` {
    @Test(arguments: [(1, false), (2, false), (3, true), (4, true)] as [(UInt64, Bool)])
    func `are those that they were, also made again and in the past`(
        _ seed: UInt64, _ isHostile: Bool
    ) throws {
        let place = Comment("seed 0x5EA1_0B0\(seed), hostile: \(isHostile)")
        var random = SplitMix64(seed: 0x5EA1_0B00 + seed)
        let store = try ScratchStore()
        var maker = LogMaker(seed: 0x5EA1_0B00 + seed, isHostile: isHostile)
        for _ in 0..<4 {
            try maker.write(about: 60 + random.below(200), to: store.journal)
            let (rows, commits) = (try store.rows(), try store.commits())
            let folded = try store.foldedRows()
            let last = try store.journal.read { $0.last }

            let kept = UInt64(1 + random.below(40))
            let sealing = try #require(try store.journal.seal(keeping: kept), place)

            #expect(sealing.last.rawValue == last.rawValue - kept, place)
            #expect(try store.journal.seal(keeping: kept) == nil, place)
            #expect(try store.rows() == rows && store.commits() == commits, place)
            #expect(try store.differences() == [], place)
            for _ in 0..<3 {
                let position = Position(1 + UInt64(random.below(Int(last.rawValue))))
                #expect(try store.pastRows(position) == folded[position], "\(position) \(place)")
            }
            let findings = try store.journal.verify(.deep).findings
            #expect(findings == [], "\(findings) \(place)")
            if random.once(in: 2) { try store.reopen() }
        }
    }

    @Test func `have the events that they name at hand, until they name others`() throws {
        let store = try ScratchStore()
        let journal = store.journal
        let keys = (0..<400).map { EntityKey("tasks", "t\($0)") }
        func document(_ key: EntityKey, _ title: String) -> [UInt8] {
            let notes = String(repeating: "n", count: 200)
            return Array(#"{"id":"\#(key.id)","title":"\#(title)","notes":"\#(notes)"}"#.utf8)
        }
        func atHand() throws -> [UInt64] {
            try journal.environment.read { transaction in
                var found: [UInt64] = []
                let sealed = try journal.log.sealed.last(transaction)
                try transaction.scan(journal.log.log, from: nil, prefix: [], reversed: false) {
                    key, _ in
                    guard let position = Position(key), position <= sealed else { return false }
                    found.append(position.rawValue)
                    return true
                }
                #expect(try journal.log.edge(transaction).keptEvents == UInt64(found.count))
                return found
            }
        }
        let now = Timestamp(microseconds: 1)
        for title in ["one", "two"] {
            for key in keys {
                let json = document(key, title)
                try store.write(Event(.serverUpserted, recordedAt: now, key: key, json: json))
            }
        }
        // A mutation that waits names its event, too.
        let patch = Array(#"{"set":{"title":"\#(String(repeating: "a", count: 90))"}}"#.utf8)
        for key in keys[..<50] {
            try store.write(Event(.localUpdated, recordedAt: now, key: key, json: patch))
        }
        let rows = try store.rows()

        let sealing = try #require(try journal.seal(keeping: 20))

        #expect(try store.rows() == rows)
        // Of the first documents none is named any more.
        #expect(try atHand() == Array(401...830) && sealing.kept == 430)
        #expect(try journal.verify(.deep).findings == [])

        for key in keys[100..<110] {
            let json = document(key, "three")
            try store.write(Event(.serverUpserted, recordedAt: now, key: key, json: json))
        }
        try store.write(Event(.localDiscarded, recordedAt: now, key: keys[0]))
        let left = Array(401...500) + Array(511...800) + Array(802...830)
        #expect(try atHand() == left.map { UInt64($0) })
        #expect(try journal.verify(.deep).findings == [])
        #expect(try store.differences() == [])
    }

    @Test func `read what is sealed where what they name is not at hand, or damaged`() throws {
        let store = try ScratchStore()
        let journal = store.journal
        let now = Timestamp(microseconds: 1)
        let json = Array(#"{"notes":"\#(String(repeating: "n", count: 200))"}"#.utf8)
        for number in 0..<10 {
            let key = EntityKey("tasks", "t\(number)")
            try store.write(Event(.serverUpserted, recordedAt: now, key: key, json: json))
        }
        try journal.seal(keeping: 1)
        let rows = try store.rows()
        try journal.environment.write { transaction in
            let log = journal.log.log
            _ = try transaction.delete(log, Position(3).bigEndianBytes)
            var frame = try transaction.get(log, Position(4).bigEndianBytes) ?? []
            frame[40] ^= 1
            try transaction.put(log, Position(4).bigEndianBytes, frame)
        }

        #expect(try store.rows() == rows)
        let findings = try journal.verify().findings
        #expect(findings.first?.hasPrefix("@4: corruptEvent: ") == true)
    }

    @Test func `are not touched where only a part of a log is there`() throws {
        let store = try ScratchStore()
        let now = Timestamp(microseconds: 1)
        let event = Event(.localDeleted, recordedAt: now, key: EntityKey("tasks", "t1"))
        for _ in 0..<9 { try store.write(event) }
        try store.journal.environment.write { transaction in
            try store.journal.log.skip(to: Position(20), transaction)
        }

        #expect(try store.journal.seal(keeping: 1) == nil)
    }

    @Test func `are sealed of themselves once there are enough`() throws {
        let store = try ScratchStore()
        let now = Timestamp(microseconds: 1)
        try write(8_191, to: store)
        store.journal.keepTidy(at: now)
        #expect(try sealed(store) == .start)

        try write(1, to: store)
        store.journal.keepTidy(at: now)
        #expect(try sealed(store) == Position(4_096))

        store.journal.keepTidy(at: now)
        #expect(try sealed(store) == Position(4_096))
    }

    @Test func `are sealed by one thread, however often it is asked meanwhile`() throws {
        let store = try ScratchStore()
        let journal = store.journal
        try write(8_192, to: store)
        let step = Monitor(0)
        let writing = Background<Void> {
            _ = try? journal.environment.perform { _ in
                step.withLock { $0 = 1 }
                step.wakeAll()
                step.waitUntil { $0 == 2 ? () : nil }
            }
        }
        step.waitUntil { $0 == 1 ? () : nil }

        journal.keepTidyLater(at: Timestamp(microseconds: 1))
        let work = journal.tidying.withLock(\.self)
        journal.keepTidyLater(at: Timestamp(microseconds: 1))
        let later = journal.tidying.withLock(\.self)

        #expect(work?.isDone == false)
        #expect(later === work)
        step.withLock { $0 = 2 }
        step.wakeAll()
        writing.value
        journal.waitUntilTidy()
        #expect(try sealed(store) == Position(4_096))
    }

    private func write(_ count: Int, to store: ScratchStore) throws {
        let now = Timestamp(microseconds: 1)
        try store.journal.write(at: now) { draft in
            for number in 0..<count {
                try draft.append(
                    Event(
                        .serverUpserted, recordedAt: now,
                        key: EntityKey("tasks", "t\(number)"), json: Array("{}".utf8)))
            }
        }
    }

    private func sealed(_ store: ScratchStore) throws -> Position {
        try store.journal.environment.read { try store.journal.log.sealed.last($0) }
    }
}
