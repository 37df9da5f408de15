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
    /// old ones live and is started anew.
    ///
    /// - Parameters:
    ///   - eventsPerStep: how many events are folded in one transaction.
    ///   - progress: called after each step; what it throws cuts the rebuild short.
    package func rebuild(
        eventsPerStep: Int = 20_000, progress: (RebuildProgress) throws -> Void = { _ in }
    ) throws {
        let target = try environment.write { transaction in
            let live = (try self.views.state(transaction) ?? ViewTables.State()).generation
            for tree in Tree.allCases {
                try transaction.clear(self.views.table(tree, live.other))
            }
            return live.other
        }
        var done = Position.start
        while true {
            let from = done
            let (reached, last) = try environment.write { transaction in
                try self.rebuildStep(after: from, eventsPerStep, into: target, transaction)
            }
            done = reached
            try progress(RebuildProgress(done: done, last: last))
            if done == last { return }
        }
    }

    private func rebuildStep(
        after start: Position, _ count: Int, into target: Generation,
        _ transaction: borrowing WriteTransaction
    ) throws -> (Position, Position) {
        let last = try log.lastPosition(transaction)
        let (changes, done) = try refold(
            after: start, count: count, transaction
        ) { key in try transaction.get(self.views.table(key.tree, target), key.bytes) }
        try views.write(changes, target, transaction)
        if done == last {
            var state = ViewTables.State()
            state.generation = target
            try views.setState(state, transaction)
        }
        return (done, last)
    }

    /// Folds the events after a position, at most `count`, over the rows that `load` gives.
    private func refold(
        after start: Position, count: Int,
        _ transaction: borrowing some TableReading & ~Copyable,
        _ load: (RowKey) throws -> [UInt8]?
    ) throws -> (RowChanges, Position) {
        func run(_ load: (RowKey) throws -> [UInt8]?, _ body: (Fold) throws -> Void) throws
            -> RowChanges
        {
            try withoutActuallyEscaping(load) { load in
                let fold = Fold(load: load)
                try body(fold)
                return fold.sortedChanges
            }
        }
        var done = start
        let changes = try run(load) { fold in
            var left = count
            try log.forEach(from: start.next, transaction) { position, event in
                try fold.apply(event, at: position)
                done = position
                left -= 1
                return left > 0
            }
        }
        return (changes, done)
    }
}
