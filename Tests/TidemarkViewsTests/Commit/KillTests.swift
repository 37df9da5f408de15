// KillTests.swift — a process killed with signal 9 at any moment while it appends or folds the log
// again: what it acknowledged is there byte for byte, and no view is ever served half.

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
struct `a process that is killed at any moment` {
    private static let seed: UInt64 = 0x5EED_0E00

    @Test(arguments: 0..<10 as Range<UInt64>)
    func `while it appends loses nothing that it acknowledged`(_ part: UInt64) throws {
        var random = SplitMix64(seed: Self.seed + part)
        let store = try ScratchStore()
        try store.journal.close()
        var (acknowledged, atLeast) = (0, 0)
        var checked: UInt64 = 0
        for round in 0..<20 {
            // Now and then before the store is open, else after some batches, and a while longer.
            let wanted = random.once(in: 6) ? nil : random.below(7)
            let delay = wanted == nil ? -random.below(40_000) - 1 : random.below(4000)
            let child = try CrashChild.run(
                "append", store.path, random.below(1 << 30), 1 + random.below(3), wanted ?? 0, delay
            )
            let place: Comment =
                "seed \(Self.seed + part), round \(round): \(child.text.suffix(99))"
            try #require(child.signal == 9, place)

            try store.reopen(isClosed: true)
            let batches = child.acknowledged
            #expect(batches.count >= wanted ?? 0, place)
            acknowledged += batches.count
            atLeast += wanted ?? 0
            checked = try store.expectNumbered(batches, after: checked, place)
            if round % 5 == 4 {
                #expect(try store.journal.verify(round == 19 ? .deep : .full).findings == [], place)
            }
            try store.journal.close()
        }
        try store.reopen(isClosed: true)
        // What they had to write follows from the seed: no clock says how far they come.
        #expect(acknowledged >= atLeast && atLeast > 20)
    }

    @Test(arguments: 0..<10 as Range<UInt64>)
    func `while it seals loses nothing that it acknowledged`(_ part: UInt64) throws {
        var random = SplitMix64(seed: Self.seed + 200 + part)
        let store = try ScratchStore()
        try store.journal.close()
        var (checked, sealed): (UInt64, Position) = (0, .start)
        for round in 0..<20 {
            // Steps are batches and sealings in turn: some die in the middle of either.
            let delay = random.once(in: 6) ? -random.below(40_000) - 1 : random.below(1500)
            let child = try CrashChild.run(
                "seal", store.path, random.below(1 << 30), 1 + random.below(15), delay)
            let place: Comment =
                "seed \(Self.seed + 200 + part), round \(round): \(child.text.suffix(99))"
            try #require(child.signal == 9, place)

            try store.reopen(isClosed: true)
            checked = try store.expectNumbered(child.acknowledged, after: checked, place)
            let log = store.journal.log
            let last = try store.journal.environment.read { try log.sealed.last($0) }
            #expect(last >= sealed, place)
            sealed = last
            if round % 5 == 4 {
                let findings = try store.journal.verify(round == 19 ? .deep : .full).findings
                #expect(findings == [], "\(findings) \(place)")
            }
            try store.journal.close()
        }
        try store.reopen(isClosed: true)
        #expect(sealed.rawValue > checked / 2 && checked > 20)
    }

    @Test(arguments: 0..<10 as Range<UInt64>)
    func `while it folds the log again leaves the old rows or the new ones`(
        _ part: UInt64
    ) throws {
        var random = SplitMix64(seed: Self.seed + 100 + part)
        let store = try ScratchStore()
        var maker = LogMaker(seed: Self.seed + part, isHostile: false)
        try maker.write(about: 200, to: store.journal)
        let new = try store.rows()
        let events = Int(try store.journal.read { $0.last }.rawValue)
        var (killed, halfway) = (0, 0)
        for round in 0..<20 {
            let place: Comment = "seed \(Self.seed + 100 + part), round \(round)"
            let old = try store.makeRowsOfOtherRules()
            try store.journal.close()
            // Every other one dies between two steps, the others at any moment.
            let isBetween = round % 2 == 0
            let eventsPerStep = random.pick(isBetween ? [1, 3, 10, 40] : [0, 1, 3, 10, 40])
            let steps = eventsPerStep == 0 ? 1 : (events + eventsPerStep - 1) / eventsPerStep
            let done = isBetween ? 1 + random.below(steps - 1) : random.below(steps)
            var delay = isBetween ? 0 : random.below(eventsPerStep == 0 ? 25_000 : 3000)
            if !isBetween, random.once(in: 4) { delay = -random.below(40_000) - 1 }
            let child = try CrashChild.run("rebuild", store.path, eventsPerStep, done, delay)
            if child.signal == 9 { killed += 1 }
            #expect(child.signal == 9 || !isBetween, place)
            try #require(child.signal == 9 || child.code == 0, "\(child.text) \(place)")

            try store.reopen(readOnly: true)
            let served = try store.rows()
            #expect(served == old || served == new, place)
            if served == old, child.signal == 9 {
                let half = try store.rows(store.generation.other)
                if !half.isEmpty, half != old, half != new { halfway += 1 }
            }
            try store.reopen()
            #expect(try store.rows() == new, place)
            if round % 5 == 4 {
                #expect(try store.journal.verify(.deep).findings == [], place)
            }
        }
        #expect(killed >= 10, "the children were killed too late")
        #expect(halfway >= 5, "no child was killed halfway")
    }
}

extension Command {
    /// What an appending child said it had written; the last line may have been cut.
    var acknowledged: [NumberedBatch] {
        text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().compactMap {
            let numbers = $0.split(separator: " ").compactMap { UInt64($0) }
            return numbers.count == 2 ? NumberedBatch(first: numbers[0], count: numbers[1]) : nil
        }
    }
}

extension ScratchStore {
    /// Checks every event after a position: dense, each batch whole, each byte as it was written.
    ///
    /// - Returns: the last position.
    func expectNumbered(
        _ acknowledged: [NumberedBatch], after start: UInt64, _ place: Comment
    ) throws -> UInt64 {
        var batches: Set<NumberedBatch> = []
        var next = start + 1
        let damaged = try journal.dump(.after(start)) { position, event in
            try #require(position.rawValue == next, place)
            if event.kind == .logTruncated {
                next += 1
                return
            }
            let payload = try JSONDocument(parsing: event.payload)
            let batch = NumberedBatch(
                first: UInt64(try #require(payload.value("first")?.int64Value)),
                count: UInt64(try #require(payload.value("count")?.int64Value)))
            try #require(batch.positions.contains(next), place)
            try #require(event.payload == batch.payload(next), place)
            batches.insert(batch)
            next += 1
        }
        #expect(damaged == [], place)
        for batch in batches {
            #expect(batch.first > start && batch.first + batch.count <= next, "\(batch) \(place)")
        }
        #expect(batches.isSuperset(of: acknowledged), place)
        return next - 1
    }

    /// Makes the live rows what other rules would have made, so that opening folds the log again.
    ///
    /// - Returns: those rows.
    fileprivate func makeRowsOfOtherRules() throws -> [Row] {
        try damage(.entity(EntityKey("tasks", "of other rules")), [1])
        var state = ViewTables.State()
        state.generation = try generation
        state.fingerprints = [9, 9, 9, 9]
        let other = state
        try journal.environment.write { transaction in
            try journal.views.setState(other, transaction)
        }
        return try rows()
    }
}

extension EventFilter {
    fileprivate static func after(_ position: UInt64) -> EventFilter {
        var filter = EventFilter()
        filter.from = Position(position + 1)
        return filter
    }
}
