// Rebuild.swift — folding the log again from its first event; where its first events were dropped,
// over the rows of its base.

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
    /// Readers see the old rows until the new ones are complete, unless other rules made them; one
    /// that is cut short leaves the old ones live and is started anew. Snapshots are removed first,
    /// and at the end those that were taken meanwhile, and the old rows.
    ///
    /// A step folds in memory and is written in the order of the keys, in one transaction; other
    /// writes of this process wait for it.
    ///
    /// - Parameters:
    ///   - bytesPerStep: how much memory the rows of a step take at most, roughly.
    ///   - eventsPerStep: how many events a step folds at most.
    ///   - progress: called again and again; what it throws cuts the rebuild short.
    package func rebuild(
        bytesPerStep: Int = Journal.bytesPerStep, eventsPerStep: Int = .max,
        progress: (RebuildProgress) throws -> Void = { _ in }
    ) throws {
        try shared.rebuildTurn.take {
            try rebuild(bytesPerStep, eventsPerStep, insteadOf: nil, progress) { isFreeing, step in
                try environment.write(freeing: isFreeing, step)
            }
        }
    }

    /// The same because of what was found in the tables, which is counted.
    func rebuild(
        insteadOf damage: StoreError, progress: (RebuildProgress) throws -> Void = { _ in }
    ) throws {
        try shared.rebuildTurn.take {
            try rebuild(Self.bytesPerStep, .max, insteadOf: damage, progress) { isFreeing, step in
                try environment.write(freeing: isFreeing, step)
            }
        }
    }

    /// The same on the writer thread, which no other write comes between.
    func rebuild(insteadOf damage: StoreError, _ writer: borrowing Writer) throws {
        func run(_ isFreeing: Bool, _ step: Step) throws -> RebuildStep {
            try writer.transaction(freeing: isFreeing, step)
        }
        try rebuild(Self.bytesPerStep, .max, insteadOf: damage, { _ in }, run)
    }

    private typealias Step = (borrowing WriteTransaction) throws -> RebuildStep

    /// Runs a step in one transaction, and says whether it makes pages free.
    private typealias Run = (_ isFreeing: Bool, Step) throws -> RebuildStep

    /// Another rebuild began meanwhile, into the same tables.
    private struct Overtaken: Error {}

    private func rebuild(
        _ bytesMax: Int, _ eventsMax: Int, insteadOf damage: StoreError?,
        _ progress: (RebuildProgress) throws -> Void, _ run: Run
    ) throws {
        while true {
            do {
                return try rebuildOnce(bytesMax, eventsMax, insteadOf: damage, progress, run)
            } catch is Overtaken {}
        }
    }

    private func rebuildOnce(
        _ bytesMax: Int, _ eventsMax: Int, insteadOf damage: StoreError?,
        _ progress: (RebuildProgress) throws -> Void, _ run: Run
    ) throws {
        var number: UInt64 = 0
        defer { shared.rebuilding.withLock { if $0 == number { $0 = nil } } }
        var step = try run(false) { transaction in
            number = shared.rebuilds.withLock { rebuilds in
                rebuilds += 1
                return rebuilds
            }
            shared.rebuilding.withLock { $0 = number }
            let live = (try self.views.state(transaction) ?? ViewTables.State()).generation
            try self.views.clear(live.other, transaction)
            // Made of rows that are doubted, or of those of other rules.
            guard let base = try self.snapshots.removeAll(transaction) else {
                return RebuildStep(
                    done: .start, last: .start, hasBindings: false, indexed: .noRows,
                    into: live.other)
            }
            try self.views.write(live.other, transaction) { write in
                try self.snapshots.forEachRow(of: base, transaction) { try write($0, $1) }
            }
            return RebuildStep(
                done: base.position, last: base.position, hasBindings: true, indexed: .no,
                into: live.other)
        }
        try withoutActuallyEscaping(progress) { progress in
            repeat {
                let before = step
                step = try run(false) { transaction in
                    guard shared.rebuilds.withLock({ $0 == number }) else { throw Overtaken() }
                    let made = try self.rebuildStep(
                        after: before, bytesMax, eventsMax, insteadOf: damage, transaction,
                        progress)
                    // Those that were taken meanwhile are of the rows in doubt, too.
                    if made.done >= made.last { _ = try self.snapshots.removeAll(transaction) }
                    return made
                }
                try progress(RebuildProgress(done: step.done, last: step.last))
            } while step.done < step.last
        }
        shared.endDoubt()
        shared.rebuilding.withLock { if $0 == number { $0 = nil } }
        // What damage was found in may tell more of it, and stays until the next rebuild.
        if damage == nil { try clearFormer(number, step, run) }
    }

    /// Removes the rows that a rebuild has replaced: their pages are free then for what comes.
    private func clearFormer(
        _ number: UInt64, _ made: RebuildStep, _ run: Run
    ) throws {
        do {
            _ = try run(true) { transaction in
                // One that began since has its own rows there, or has made them live.
                if shared.rebuilds.withLock({ $0 == number }) {
                    try self.views.clear(made.into.other, transaction)
                }
                return made
            }
        } catch let error as StoreError where error.saysNoRoom {
            // They are as complete as before, and the next rebuild removes them.
        }
    }

    package static let bytesPerStep = 80 << 20

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
                let step = RebuildStep(
                    done: position, last: position, hasBindings: true, indexed: .no, into: target)
                _ = try self.rebuildStep(
                    after: step, .max, .max, insteadOf: nil, transaction, { _ in })
            }
        }
    }

    /// How far a rebuild has come, and what the next step need not ask.
    private struct RebuildStep {
        var done: Position
        var last: Position
        var hasBindings: Bool
        var indexed: Indexed
        let into: Generation

        /// Whether indexes know of the rows that were made so far.
        enum Indexed {
            /// There are no rows yet.
            case noRows
            /// Those of these names do, and there are no others.
            case by([[UInt8]])
            /// They are to be made at the end.
            case no
        }
    }

    private static let eventsPerProgress: UInt64 = 50_000

    /// Folds the events after a step over the rows made so far.
    private func rebuildStep(
        after before: RebuildStep, _ bytesMax: Int, _ eventsMax: Int,
        insteadOf damage: StoreError?, _ transaction: borrowing WriteTransaction,
        _ progress: (RebuildProgress) throws -> Void
    ) throws -> RebuildStep {
        var step = before
        let target = step.into
        step.last = try log.lastPosition(transaction)
        try log.checkHeld(after: step.done, transaction)
        try views.withFold(models, hasBindings: before.hasBindings, target, transaction) { fold in
            var left = eventsMax
            let (first, last) = (step.done.next, step.last)
            try log.forEachAhead(from: first, through: last, in: environment) { position, event in
                try fold.apply(event, at: position)
                step.done = position
                left -= 1
                if position.rawValue % Self.eventsPerProgress == 0 {
                    try progress(RebuildProgress(done: position, last: step.last))
                }
                return left > 0 && fold.heldBytes < bytesMax
            }
            step.hasBindings = fold.hasBindings
            step.indexed = try write(fold, before.indexed, target, transaction)
        }
        // Behind the rows that it began with the log may have nothing.
        if step.done >= step.last {
            var state = ViewTables.State()
            state.generation = target
            if let old = try views.state(transaction) {
                if !old.isDamaged {
                    (state.mendings, state.lastFound) = (old.mendings, old.lastFound)
                }
                state.toldSince = old.isCurrent ? old.toldSince : step.last
            }
            if let damage {
                state.mendings += 1
                state.lastFound = damage.detail
            }
            if case .by(let names) = step.indexed { state.indexes = names }
            let plan = try views.indexPlan(models, target, transaction)
            state = try views.settleIndexes(plan, state, transaction)
            state.indexedTo = step.done
            try views.setState(state, transaction)
        }
        return step
    }

    /// Writes the rows of a step, and keeps the indexes where they are those of today's model.
    private func write(
        _ fold: Fold, _ before: RebuildStep.Indexed, _ target: Generation,
        _ transaction: borrowing WriteTransaction
    ) throws -> RebuildStep.Indexed {
        let plan = try fold.indexPlan()
        var isFirst = false
        switch before {
        case .noRows: isFirst = true
        case .by(let names) where names == plan.names: break
        case .by, .no:
            // What there is is of an earlier model.
            if case .by = before { try transaction.clear(views.indexTable(target)) }
            try views.write(target, transaction) { write in try fold.forEachChange(write) }
            return .no
        }
        var indexes = IndexUpdate(plan)
        try views.write(target, transaction) { write in
            try fold.forEachChange { key, row in
                if key.tree == .rows {
                    try views.note(key, row, isFirst: isFirst, in: &indexes, target, transaction)
                }
                try write(key, row)
            }
        }
        try views.writeIndexes(indexes.sorted, target, transaction)
        return .by(plan.names)
    }
}
