// ShrinkKillTests.swift — a process killed with signal 9 at any moment while it puts a smaller file
// in the place of a store's: one of the two is there, with everything that was acknowledged.

import Foundation
import Synchronization
import TestSupport
import Testing
import TidemarkEvents
import TidemarkInspect
import TidemarkLog
import TidemarkStore
import TidemarkViews

@testable import ViewsSupport

@Suite(.serialized, .enabled(if: CrashChild.isThere, CrashChild.missing))
struct `a process that is killed while it makes the file smaller` {
    private static let seed: UInt64 = 0x5EED_5A11
    private static let rounds = TestRun.isWhole ? 8 : 3

    @Test(arguments: 0..<10 as Range<UInt64>)
    func `loses nothing`(_ part: UInt64) throws {
        var random = SplitMix64(seed: Self.seed + part)
        let store = try ScratchStore()
        try store.journal.close()
        let fold = MemoryFold()
        var checked: UInt64 = 0
        for round in 0..<Self.rounds {
            let child = try CrashChild.run(
                "shrink", store.path, random.below(1 << 30), random.below(4),
                1 + random.below(1000))
            let place: Comment =
                "seed \(Self.seed + part), round \(round): \(child.text.suffix(99))"
            try #require(child.signal == 9, place)

            try store.reopen(isClosed: true)
            let files = try FileManager.default.contentsOfDirectory(atPath: store.path)
            #expect(Set(files) == ["data.mdb", "lock.mdb", "identity.json"], place)
            checked = try store.expectNumbered(child.acknowledged, after: checked, place)
            try store.journal.environment.read { transaction in
                try store.journal.log.forEach(from: fold.last.next, transaction) { _, event in
                    try fold.apply([event])
                    return true
                }
            }
            let rows = try store.rows()
            #expect(Dictionary(uniqueKeysWithValues: rows.map { ($0.key, $0.value) }) == fold.rows)
            let findings = try store.journal.verify(.full).findings
            #expect(findings == [], "\(findings) \(place)")
            try store.journal.close()
        }
        try store.reopen(isClosed: true)
    }

    @Test func `is no matter to who reads beside it`() throws {
        let store = try ScratchStore()
        try store.journal.close()
        let path = store.path
        let isEnd = Mutex(false)
        let seen = Mutex<(reads: Int, replaced: Int, problems: [String])>((0, 0, []))
        DispatchQueue.concurrentPerform(iterations: 2) { part in
            guard part == 1 else {
                let child = try? CrashChild.run("shrink", path, 7, TestRun.isWhole ? 40 : 10, 0)
                if child?.signal != 9 || child?.text.contains("smaller") != true {
                    seen.withLock { $0.problems.append("\(child?.complaints ?? "")") }
                }
                return isEnd.withLock { $0 = true }
            }
            while !isEnd.withLock(\.self) {
                do {
                    let found = try Self.read(path)
                    seen.withLock { seen in
                        seen.reads += found.reads
                        seen.replaced += found.isReplaced ? 1 : 0
                    }
                } catch { seen.withLock { $0.problems.append("\(error)") } }
            }
        }
        let result = seen.withLock(\.self)
        #expect(result.problems == [])
        #expect(result.reads > 20 && result.replaced > 2, "\(result)")
        try store.reopen(isClosed: true)
        #expect(try store.journal.verify(.full).findings == [])
    }

    /// Opens a store and reads its log again and again, until its file is another one, or often.
    private static func read(_ path: String) throws -> (reads: Int, isReplaced: Bool) {
        let journal = try Journal.open(at: path, readOnly: true)
        defer { try? journal.close() }
        for read in 0..<200 {
            do {
                try journal.environment.read { transaction in
                    let found = try journal.log.verify(findingsMax: 1, transaction)
                    if let finding = found.findings.first { throw finding }
                }
            } catch let error as StoreError where error.code == .lost { return (read, true) }
        }
        return (200, false)
    }
}
