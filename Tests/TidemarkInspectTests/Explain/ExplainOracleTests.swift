// ExplainOracleTests.swift — histories and blames of everything that days of Toggl by chance bring
// about, against rows that were folded event by event.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport
@testable import ViewsSupport

/// `TIDEMARK_EXPLAIN_SEEDS=100-400` runs those seeds instead of the few of every day.
@Suite(.serialized) struct `histories of whatever happens` {
    private static let seeds = TestSeeds.named("TIDEMARK_EXPLAIN_SEEDS", else: 1...5)

    @Test(.enabled(if: TestRun.isWhole), arguments: seeds)
    func `name each event that changed a row, and who set each field`(_ seed: UInt64) async throws {
        let world = try TogglWorld(seed: 7000 + seed)
        try await world.run(steps: 60)

        var (whole, part) = (0, 0)
        for device in world.devices {
            let oracle = try RowOracle(device.replica.journal)
            try device.replica.journal.withTimelines { views, timeline in
                for key in oracle.changes.keys.sorted() {
                    let found = try timeline(key)
                    if found.isWhole { whole += 1 } else { part += 1 }
                    let comment: Comment = "seed \(seed), \(device.name) \(key)"
                    try check(found, oracle, views, comment)
                }
            }
        }
        #expect(part > whole, "\(part) in part, \(whole) whole")
    }

    private func check(
        _ found: EntityTimeline, _ oracle: RowOracle, _ views: ViewReader, _ comment: Comment
    ) throws {
        let key = try #require(found.keys.first)
        for name in found.keys {
            var steps = found.steps.filter { $0.key == name && $0.before != $0.after }[...]
            for change in oracle.changes[name] ?? [] {
                guard let step = steps.first, step.position == change.position else {
                    // What became a part of another one is told there.
                    #expect(name != key && change.row.isEmpty, comment)
                    continue
                }
                steps.removeFirst()
                if found.isWhole {
                    #expect(step.after == change.row, comment)
                } else {
                    #expect(step.after.undated == change.row.undated, comment)
                }
            }
            #expect(steps.isEmpty, comment)
        }

        let history = try #require(try EntityHistory(found, views))
        try views.forEachMutation { position, mutation in
            guard mutation.key == key, let outcome = mutation.outcome, outcome != .rejected else {
                return true
            }
            let entry = history.entries.first { $0.position == mutation.proof }
            let isTold = entry?.outcomes.contains {
                $0.mutation == position && $0.outcome == outcome && $0.rule == mutation.rule
            }
            // Of two that were found to be one, the other's may have ended before.
            #expect(
                isTold == true || oracle.changes.keys.filter(found.keys.contains).count > 1,
                "\(comment) \(position) \(outcome)")
            return true
        }

        guard oracle.changes.keys.filter(found.keys.contains).count == 1 else { return }
        let authors = oracle.authors(key, try views.model()[key.collection])
        let blames = try found.blame(views)
        #expect(
            Dictionary(uniqueKeysWithValues: blames.map { ($0.field, $0.position) }) == authors,
            comment)
        for blame in blames {
            let path = FieldPath(name: blame.field)
            #expect(try found.blame(of: path, views) == [blame], comment)
            #expect(blame.author != .other, "\(comment) \(blame)")
        }
    }
}

extension EntityRow {
    /// The row without the times of its edits: no earlier one is given out than to the last edit,
    /// whichever entity that was of, and a timeline looks at one entity.
    fileprivate var undated: EntityRow {
        var row = self
        for index in row.pending.indices { row.pending[index].editedAt = nil }
        return row
    }
}
