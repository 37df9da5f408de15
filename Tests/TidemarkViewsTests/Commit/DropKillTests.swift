// DropKillTests.swift — a process killed with signal 9 at any moment while it drops old events: the
// others are there byte for byte, and the rows are those of all that ever was.

import Foundation
import TestSupport
import Testing
import TidemarkEvents
import TidemarkInspect
import TidemarkLog
import TidemarkStore
import TidemarkViews

@testable import ViewsSupport

@Suite(.serialized, .enabled(if: CrashChild.isThere, CrashChild.missing))
struct `a process that is killed while it drops events` {
    private static let seed: UInt64 = 0x5EED_0D00
    private static let rounds = TestRun.isWhole ? 20 : 8

    @Test(arguments: 0..<10 as Range<UInt64>)
    func `loses nothing else`(_ part: UInt64) throws {
        var random = SplitMix64(seed: Self.seed + part)
        let store = try ScratchStore()
        try store.journal.close()
        defer { try? FileManager.default.removeItem(atPath: store.path + ".scratch") }
        let fold = MemoryFold()
        var (checked, base, drops): (UInt64, Position, Int) = (0, .start, 0)
        for round in 0..<Self.rounds {
            // Steps are batches, sealings and droppings in turn: some die in the middle of each.
            let delay = random.once(in: 6) ? -random.below(60_000) - 1 : random.below(1500)
            let child = try CrashChild.run(
                "drop", store.path, random.below(1 << 30), 1 + random.below(40), delay)
            let place: Comment =
                "seed \(Self.seed + part), round \(round): \(child.text.suffix(99))"
            try #require(child.signal == 9, place)

            try store.reopen(isClosed: true)
            checked = try store.expectNumbered(child.acknowledged, after: checked, place)
            try store.journal.environment.read { transaction in
                let log = store.journal.log
                let now = try log.base(transaction)?.position ?? .start
                #expect(now >= base && now <= fold.last, place)
                if now > base { drops += 1 }
                base = now
                try log.forEach(from: fold.last.next, transaction) { _, event in
                    try fold.apply([event])
                    return true
                }
            }
            let rows = try store.rows()
            #expect(Dictionary(uniqueKeysWithValues: rows.map { ($0.key, $0.value) }) == fold.rows)
            let level: VerifyLevel = round % 5 == 4 ? .deep : .full
            let findings = try store.journal.verify(level).findings
            #expect(findings == [], "\(findings) \(place)")
            try store.journal.close()
        }
        try store.reopen(isClosed: true)
        #expect(drops > Self.rounds / 4 && base > .start)
    }
}
