// SnapshotTests.swift — snapshots of the views: what they hold, when they are taken, and that
// whatever becomes of them the past stays what it was.

import Foundation
import TestSupport
import Testing
import TidemarkEvents
import TidemarkInspect
import TidemarkLog
import TidemarkRules
import TidemarkStore
import TidemarkViews

@testable import ViewsSupport

@Suite struct `a snapshot of the views` {
    private struct CutShort: Error {}

    @Test(arguments: [(1, false), (2, false), (3, true), (4, true)] as [(UInt64, Bool)])
    func `and the events after it make the rows of a whole fold`(
        _ seed: UInt64, _ isHostile: Bool
    ) throws {
        let place = Comment("seed 0x5EED_5A0\(seed), hostile: \(isHostile)")
        var random = SplitMix64(seed: 0x5EED_5A00 + seed)
        let store = try ScratchStore()
        var maker = LogMaker(seed: 0x5EED_5A00 + seed, isHostile: isHostile)
        for _ in 0..<6 {
            try maker.write(about: 10 + random.below(30), to: store.journal)
            try store.journal.takeSnapshot(chunkBytes: 1 + random.below(4000))
        }
        try maker.write(about: 20, to: store.journal)
        let last = try store.journal.read { $0.last.rawValue }
        let known = try store.snapshots()
        let folded = try store.foldedRows()

        #expect(known.count >= 3 && known.allSatisfy(\.isCurrent), place)
        let some = (0..<6).map { _ in Position(1 + UInt64(random.below(Int(last)))) }
        for position in known.map(\.position) + some + [Position(last)] {
            #expect(try store.pastRows(position) == folded[position], "\(position), \(place)")
        }
        #expect(try store.rows() == folded[Position(last)], place)
        #expect(try store.journal.verify(.deep).findings == [], place)
    }

    @Test func `goes forward to any later position`() throws {
        let store = try ScratchStore()
        try store.make(60, snapshots: 2)
        let folded = try store.foldedRows()
        let last = try store.journal.read { $0.last.rawValue }

        try store.withScratch { scratch in
            let past = try PastViews(of: store.journal, at: Position(1), in: scratch)
            for number in stride(from: 1, through: last, by: 7) {
                try past.advance(to: Position(number))
                #expect(past.position == Position(number))
                #expect(try past.rows() == folded[Position(number)])
            }
            try past.close()
        }
    }

    @Test func `has a row of any length`() throws {
        let store = try ScratchStore()
        try store.make(10, snapshots: 0)
        let large = [UInt8](repeating: 7, count: 65 << 20)

        try store.journal.environment.write { transaction in
            try store.journal.snapshots.write(
                at: Position(5), fingerprints: View.allFingerprints, transaction
            ) { write in try write(.entity(EntityKey("tasks", "large")), large) }
        }

        let manifest = try #require(try store.snapshots().first)
        var lengths: [Int] = []
        try store.journal.environment.read { transaction in
            try store.journal.snapshots.forEachRow(of: manifest, transaction) { _, value in
                lengths.append(value.count)
            }
        }
        #expect(lengths == [large.count])
    }

    @Test func `is none without its manifest, and the next one removes what there is of it`() throws
    {
        let store = try ScratchStore()
        try store.make(80, snapshots: 1)
        let before = try store.snapshots()
        try store.make(40, snapshots: 0)

        #expect(throws: CutShort.self) {
            try store.journal.takeSnapshot(chunkBytes: 100, bytesPerPiece: 1) { chunks in
                if chunks == 5 { throw CutShort() }
            }
        }

        #expect(try store.snapshots() == before)
        #expect(try store.snapshotKeys().count == 2 + 5)
        #expect(try store.pastRowsAreThoseOfAFold())
        #expect(try store.journal.verify(.deep).findings == [])
        try store.reopen()
        try store.make(10, snapshots: 1)
        #expect(try store.snapshotKeys().count == 4)
        #expect(try store.pastRowsAreThoseOfAFold())
    }

    @Test func `is of one moment, while the log goes on`() throws {
        let store = try ScratchStore()
        try store.make(80, snapshots: 0)
        let last = try store.journal.read { $0.last }
        var commits = 0

        let taken = try store.journal.takeSnapshot(chunkBytes: 100, bytesPerPiece: 1) { _ in
            commits += 1
            try store.write(.about(.localCreated, "tasks/new\(commits)", "{}"))
        }

        #expect(commits > 3)
        #expect(taken?.position == last)
        #expect(try store.snapshots().map(\.position) == [last])
        #expect(try store.pastRowsAreThoseOfAFold())
        #expect(try store.journal.verify(.deep).findings == [])
    }

    @Test func `is given up where the tables are made anew meanwhile`() throws {
        let store = try ScratchStore()
        try store.make(80, snapshots: 0)

        let error = #expect(throws: StoreError.self) {
            try store.journal.takeSnapshot(chunkBytes: 100, bytesPerPiece: 1) { chunks in
                if chunks == 3 { try store.journal.rebuild() }
            }
        }

        #expect(error?.code == .busy)
        #expect(try store.snapshots() == [])
        #expect(try store.journal.verify(.deep).findings == [])
    }

    @Test func `that was taken, or begun, while the tables are made anew goes with the old ones`()
        throws
    {
        let store = try ScratchStore()
        try store.make(80, snapshots: 0)
        var taken = 0
        try store.journal.rebuild(eventsPerStep: 10) { done in
            guard done.done < done.last else { return }
            try store.journal.takeSnapshot()
            taken += 1
        }
        #expect(taken > 3)
        #expect(try store.snapshotKeys() == [])

        let (journal, isBegun, isOver) = (store.journal, Lock(false), Lock(false))
        var begun: Background<StoreError.Code?>?
        try store.journal.rebuild(eventsPerStep: 10) { _ in
            guard begun == nil else { return }
            begun = Background {
                do {
                    try journal.takeSnapshot(chunkBytes: 100, bytesPerPiece: 1) { chunks in
                        guard chunks == 3 else { return }
                        isBegun.withLock { $0 = true }
                        _ = Waiting.retry(for: .seconds(60)) {
                            isOver.withLock(\.self) ? true : nil
                        }
                    }
                    return nil
                } catch { return (error as? StoreError)?.code }
            }
            _ = Waiting.retry(for: .seconds(60)) { isBegun.withLock(\.self) ? true : nil }
        }
        isOver.withLock { $0 = true }
        #expect(begun?.value == .busy)
        #expect(try store.snapshots() == [])
        #expect(try store.journal.verify(.deep).findings == [])
    }

    @Test func `that came to nothing is not tried again before as many events came`() throws {
        let store = try ScratchStore()
        try write(10_000, to: store)
        store.journal.keepSnapshots { _ in throw CutShort() }
        #expect(try store.snapshotKeys() == [])

        try write(9_999, to: store)
        var tries = 0
        store.journal.keepSnapshots { _ in tries += 1 }
        #expect(tries == 0)
        #expect(try store.snapshotKeys() == [])

        try write(1, to: store)
        store.journal.keepSnapshots()
        #expect(try store.snapshots().map(\.position) == [Position(20_000)])
    }

    private func write(_ count: Int, to store: ScratchStore) throws {
        try store.journal.write(at: Timestamp(rawValue: 1)) { draft in
            for number in 0..<count {
                try draft.append(.about(.serverUpserted, "tasks/\(number)", #"{"a":1}"#))
            }
        }
    }

    @Test func `by other rules is passed over, and goes with the next one`() throws {
        let store = try ScratchStore()
        try store.make(50, snapshots: 0)
        try store.journal.environment.write { transaction in
            try store.journal.snapshots.write(
                at: Position(20), fingerprints: [9, 9, 9, 9], transaction
            ) { write in try write(.entity(EntityKey("tasks", "ghost")), [1]) }
        }

        #expect(try store.snapshots().map(\.isCurrent) == [false])
        #expect(try store.pastRowsAreThoseOfAFold())
        #expect(try store.journal.verify(.deep).findings == [])
        try store.journal.takeSnapshot()
        #expect(try store.snapshots().map(\.isCurrent) == [true])
    }

    @Test func `is taken when many events came, and not again`() throws {
        let store = try ScratchStore()

        try write(9_999, to: store)
        store.journal.keepSnapshots()
        #expect(try store.snapshots() == [])
        try write(1, to: store)
        store.journal.keepSnapshots()
        #expect(try store.snapshots().map(\.position) == [Position(10_000)])
        try write(9_000, to: store)
        store.journal.keepSnapshots()
        #expect(try store.snapshots().count == 1)

        try store.journal.rebuild()
        #expect(try store.snapshotKeys() == [])
        try store.reopen(readOnly: true)
        store.journal.keepSnapshots()
        #expect(try store.snapshotKeys() == [])
    }
}

@Suite struct `a damaged snapshot` {
    @Test func `never makes a wrong row, and is reported`() throws {
        let store = try ScratchStore()
        try store.make(120, snapshots: 3)
        let last = try store.journal.read { $0.last }
        let rows = try store.rows()
        var random = SplitMix64(seed: 0x5EED_5A10)
        var reported = 0
        for number in 0..<60 {
            let (key, value) = random.pick(try store.snapshotRecords())
            var damaged = value
            switch number % 4 {
            case 0: damaged[random.below(value.count)] ^= UInt8(1 << random.below(8))
            case 1: damaged.removeLast(1 + random.below(value.count - 1))
            case 2: damaged = random.pick(try store.snapshotRecords()).value
            default: damaged += [0]
            }
            guard damaged != value else { continue }
            try store.setSnapshotRecord(key, damaged)

            #expect(try store.pastRows(last) == rows, "case \(number)")
            let findings = try store.journal.verify(.full).findings
            #expect(findings.count == 1, "case \(number): \(findings)")
            #expect(findings.first?.contains("`tidemark rebuild` removes it") == true)
            reported += 1
            try store.setSnapshotRecord(key, value)
        }
        #expect(reported > 50)
        #expect(try store.journal.verify(.deep).findings == [])
    }

    @Test func `on a page that is not whole keeps nothing from being read or made anew`() throws {
        let store = try ScratchStore()
        try store.make(120, snapshots: 2)
        let rows = try store.rows()
        let last = try store.journal.read { $0.last }
        let past = try store.foldedRows()[Position(last.rawValue - 5)]
        try store.exchangeSnapshotKeys()
        #expect(throws: StoreError.self) { try store.snapshots() }

        #expect(try store.pastRows(Position(last.rawValue - 5)) == past)
        try store.damage(.entity(EntityKey("tasks", "none")), [1])
        try store.journal.rebuild()
        #expect(try store.rows() == rows)
        try store.write(.about(.localCreated, "tasks/new", "{}"))
        #expect(try store.snapshots() == [])
        try store.journal.takeSnapshot()
        #expect(try store.snapshots().count == 1)
        #expect(try store.journal.verify(.deep).findings == [])
    }

    @Test func `with other rows under right checksums is found by folding`() throws {
        let store = try ScratchStore()
        try store.make(100, snapshots: 0)
        let position = try store.journal.read { $0.last }
        let rows = try store.rows()
        try store.make(10, snapshots: 0)
        func write(_ rows: [Row], at position: Position) throws {
            try store.journal.environment.write { transaction in
                try store.journal.snapshots.write(
                    at: position, fingerprints: View.allFingerprints, transaction
                ) { write in for row in rows { try write(row.key, row.value) } }
            }
        }
        var changed = rows
        changed[3].value[0] ^= 1
        for (bad, words) in [
            (changed, "the row"), (Array(rows.dropLast()), "rows are made"),
            (rows + [try #require(rows.last)], "the row"), (rows, ""),
        ] {
            try write(bad, at: position)

            let findings = try store.journal.verify(.deep).findings
            #expect(findings.count == (words.isEmpty ? 0 : 1), "\(findings)")
            #expect(findings.allSatisfy { $0.hasPrefix("\(position): corruptSnapshot: ") })
            #expect(findings.allSatisfy { $0.contains(words) }, "\(findings)")
        }
    }
}

@Suite struct `the rule of snapshots` {
    @Test func `wants many events, and a quarter of the rows`() {
        func isDue(_ last: UInt64, _ newest: UInt64?, _ rows: UInt64) -> Bool {
            SnapshotRule.isDue(
                last: Position(last), newest: newest.map { Position($0) }, rows: rows)
        }

        #expect(!isDue(0, nil, 0))
        #expect(!isDue(9_999, nil, 10))
        #expect(isDue(10_000, nil, 10))
        #expect(!isDue(29_999, 20_000, 10))
        #expect(isDue(30_000, 20_000, 40_003))
        #expect(!isDue(34_999, 10_000, 100_000))
        #expect(isDue(35_000, 10_000, 100_000))
        // A log that lost its end is no reason to take one.
        #expect(!isDue(20_000, 50_000, 10))
    }

    @Test func `keeps few, with growing distances, and always the oldest`() {
        var kept: [Position] = []
        for number in 1...400 {
            kept = SnapshotRule.kept(kept + [Position(UInt64(number) * 10_000)])
            let ages = kept.map { UInt64(number) * 10_000 - $0.rawValue }

            #expect(kept == kept.sorted(by: >))
            #expect(kept.last == Position(10_000))
            #expect(kept.count <= 12, "\(number): \(kept)")
            // Nothing that was folded again would be much more than what came since.
            for (younger, older) in zip(ages.dropFirst(), ages.dropFirst(2)) {
                #expect(older <= 3 * younger, "\(number): \(ages)")
            }
        }
        #expect(SnapshotRule.kept([]) == [])
        #expect(SnapshotRule.kept([Position(3), Position(7)]) == [Position(7), Position(3)])
    }
}
