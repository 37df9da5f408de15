// Rebuild.swift — folding the log again from its first event.

package import TidemarkEvents
import TidemarkLog
import TidemarkStore

/// How far a rebuild has come.
package struct RebuildProgress: Sendable, Hashable {
    package var done: Position
    package var last: Position
}

extension Journal {
    /// Folds the whole log into the generation that is not live, then makes that one live.
    ///
    /// Readers see the old rows until the new ones are complete; one that is cut short leaves the
    /// old ones live and is started anew. Snapshots are removed first.
    ///
    /// A step folds in memory and is written in the order of the keys, in one transaction; other
    /// writes of this process wait for it.
    ///
    /// - Parameters:
    ///   - rowsPerStep: how many rows a step makes at most; each takes some 700 bytes of memory.
    ///   - eventsPerStep: how many events a step folds at most.
    ///   - progress: called again and again; what it throws cuts the rebuild short.
    package func rebuild(
        rowsPerStep: Int = 150_000, eventsPerStep: Int = .max,
        progress: (RebuildProgress) throws -> Void = { _ in }
    ) throws {
        let target = try environment.write { transaction in
            let live = (try self.views.state(transaction) ?? ViewTables.State()).generation
            for tree in Tree.allCases {
                try transaction.clear(self.views.table(tree, live.other))
            }
            try transaction.clear(self.views.indexTable(live.other))
            // Made of rows that are doubted, or of those of other rules.
            try transaction.clear(self.snapshots.table)
            return live.other
        }
        var step = RebuildStep(done: .start, last: .start, hasBindings: false)
        repeat {
            let before = step
            step = try environment.write { transaction in
                try self.rebuildStep(
                    after: before, rowsPerStep, eventsPerStep, into: target, transaction, progress)
            }
            try progress(RebuildProgress(done: step.done, last: step.last))
        } while step.done < step.last
    }

    /// Folds the whole log over rows that were there before its first event.
    ///
    /// - Parameters:
    ///   - position: the last event that those rows know of.
    ///   - rows: hands them over in the order of their keys.
    package func rebuild(
        after position: Position, over rows: ((RowKey, [UInt8]?) throws -> Void) throws -> Void
    ) throws {
        try withoutActuallyEscaping(rows) { rows in
            try environment.write { transaction in
                let target = Generation.a
                for tree in Tree.allCases { try transaction.clear(self.views.table(tree, target)) }
                try self.views.write(target, transaction, rows)
                let step = RebuildStep(done: position, last: position, hasBindings: true)
                _ = try self.rebuildStep(
                    after: step, .max, .max, into: target, transaction, { _ in })
            }
        }
    }

    /// How far a rebuild has come, and what the next step need not ask.
    private struct RebuildStep {
        var done: Position
        var last: Position
        var hasBindings: Bool
    }

    private static let eventsPerProgress: UInt64 = 50_000

    /// Folds the events after a step over the rows made so far.
    private func rebuildStep(
        after before: RebuildStep, _ rowsMax: Int, _ eventsMax: Int, into target: Generation,
        _ transaction: borrowing WriteTransaction, _ progress: (RebuildProgress) throws -> Void
    ) throws -> RebuildStep {
        var step = before
        step.last = try log.lastPosition(transaction)
        try views.withFold(models, hasBindings: before.hasBindings, target, transaction) { fold in
            var left = eventsMax
            try log.forEach(from: step.done.next, transaction) { position, event in
                try fold.apply(event, at: position)
                step.done = position
                left -= 1
                if position.rawValue % Self.eventsPerProgress == 0 {
                    try progress(RebuildProgress(done: position, last: step.last))
                }
                return left > 0 && fold.rowCount < rowsMax
            }
            step.hasBindings = fold.hasBindings
            try views.write(target, transaction) { write in try fold.forEachChange(write) }
        }
        if step.done == step.last {
            var state = ViewTables.State()
            state.generation = target
            let plan = try views.indexPlan(models, target, transaction)
            state = try views.settleIndexes(plan, state, transaction)
            state.indexedTo = step.done
            try views.setState(state, transaction)
        }
        return step
    }
}
