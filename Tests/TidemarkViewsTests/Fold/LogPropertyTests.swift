// LogPropertyTests.swift — what holds for every log, on seeded random ones.

import TestSupport
import Testing
import TidemarkEvents
import TidemarkViews

@testable import ViewsSupport

@Suite struct `every log` {
    /// Eight times twenty logs of each sort.
    static let seeds = (0..<8).map { 0x5EED_0400 + UInt64($0) << 16 }
    private let logsPerSeed: UInt64 = 20

    private func size(_ random: inout SplitMix64) -> Int {
        random.once(in: 5) ? 60 + random.below(141) : 5 + random.below(70)
    }

    @Test(.enabled(if: TestRun.isWhole), arguments: seeds)
    func `of edits and sync runs is folded alike live and anew, and loses no mutation`(
        _ seed: UInt64
    ) throws {
        for seed in seed..<seed + logsPerSeed {
            let store = try ScratchStore()
            var maker = LogMaker(seed: seed, isHostile: false)
            try maker.write(about: size(&maker.random), to: store.journal)

            let checks = LogChecks(store: store, place: "seed \(seed)")
            try checks.all()
            try checks.nothingIsStuck()
        }
    }

    @Test(.enabled(if: TestRun.isWhole), arguments: seeds)
    func `of whatever events is folded alike live and anew, and loses no mutation`(
        _ seed: UInt64
    ) throws {
        for seed in seed..<seed + logsPerSeed {
            let store = try ScratchStore()
            var maker = LogMaker(seed: seed, isHostile: true)
            try maker.write(about: size(&maker.random), to: store.journal)

            try LogChecks(store: store, place: "seed \(seed), hostile").all()
        }
    }

    @Test func `the seeds reach every outcome, and every status`() throws {
        var outcomes: Set<MutationOutcome> = []
        var statuses: Set<EntityStatus> = []
        for seed in 0x5EED_0401..<0x5EED_0441 as Range<UInt64> {
            let store = try ScratchStore()
            var maker = LogMaker(seed: seed, isHostile: false)
            try maker.write(about: 80, to: store.journal)
            try store.journal.read { views in
                try views.forEachMutation { _, mutation in
                    if let outcome = mutation.outcome { outcomes.insert(outcome) }
                    return true
                }
                try views.forEachEntity { _, row in
                    statuses.insert(row.status)
                    return true
                }
            }
        }
        #expect(outcomes == Set(MutationOutcome.allCases))
        #expect(statuses == Set(EntityStatus.allCases))
    }
}
