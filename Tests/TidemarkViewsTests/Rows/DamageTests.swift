// DamageTests.swift — bits, sectors and pages of a data file changed by thousands: each is reported
// by a verification, or does no harm to anything that can be read.

import Dispatch
import Synchronization
import TestSupport
import Testing
import TidemarkEvents
import TidemarkViews

@testable import ViewsSupport

@Suite(.serialized, .enabled(if: CrashChild.isThere, CrashChild.missing))
struct `a damaged data file` {
    /// Four in five are single bits, the rest sectors and pages, zeroed or swapped.
    private static let cases = 2500
    private static let seed = 0x5EED_0D00

    @Test func `is reported by verify, or everything in it reads as it did`() throws {
        let store = try ScratchStore()
        var maker = LogMaker(seed: 0x5EED_0D01, isHostile: false)
        try maker.write(about: 110, to: store.journal)
        // A second generation, and stale pages of the first.
        try store.journal.rebuild(eventsPerStep: 50)
        try maker.write(about: 70, to: store.journal)
        for bytes in [1500, 2500, 9000] {
            let text = String(repeating: "x", count: bytes)
            try store.write(
                .about(.serverUpserted, "tasks/large\(bytes)", #"{"text":"\#(text)"}"#))
        }

        var outcomes: [String: Int] = [:]
        for line in try store.outcomesOfDamage(Self.cases, seed: Self.seed) {
            let outcome = line.split(separator: " ")[1]
            outcomes[String(outcome), default: 0] += 1
            #expect(
                outcome != "SILENT" && outcome != "unreadable", "\(line), seed \(Self.seed)")
        }
        let table = outcomes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        print("damage, seed \(Self.seed): " + table.joined(separator: ", "))
        #expect(outcomes.values.reduce(0, +) == Self.cases)
        #expect((outcomes["rows"] ?? 0) > 100, "damage of rows is not looked for")
        #expect(outcomes["died"] == nil, "pages are looked at before LMDB reads them")
    }
}

extension ScratchStore {
    /// A line `NUMBER OUTCOME …` for each case; the outcome is the step of a verification that
    /// reported it, `refused` when it was not opened at all, `died` when it killed the verifier,
    /// `harmless`, `SILENT`, or `unreadable` when it killed the reader after a verification that
    /// found nothing.
    fileprivate func outcomesOfDamage(_ cases: Int, seed: Int) throws -> [String] {
        let parts = 2
        let all = Mutex<[String]>([])
        let path = path
        DispatchQueue.concurrentPerform(iterations: parts) { part in
            let range = cases * part / parts..<cases * (part + 1) / parts
            let lines = Result { try Self.outcomesOfDamage(path, range, seed: seed) }
            do { try all.withLock { try $0 += lines.get() } } catch { Issue.record(error) }
        }
        return all.withLock { $0 }
    }

    private static func outcomesOfDamage(
        _ path: String, _ cases: Range<Int>, seed: Int
    ) throws -> [String] {
        var outcomes: [String] = []
        var next = cases.lowerBound
        while next < cases.upperBound {
            let child = try CrashChild.run("damaged", path, seed, next, cases.upperBound)
            var state = Substring("begun")
            for line in child.lines {
                if line.hasSuffix(" begun") || line == "fine" || line == "reading" {
                    state = line
                } else {
                    outcomes.append(String(line))
                    next += 1
                }
            }
            guard let signal = child.signal else {
                #expect(child.code == 0, "\(child.text.suffix(300)) \(child.complaints)")
                break
            }
            // Whether a fold would have told is seen by the next child, which begins with it.
            if state == "reading" { continue }
            outcomes.append(
                "\(next) \(state == "fine" ? "unreadable" : "died") by signal \(signal)")
            next += 1
        }
        return outcomes
    }
}
