// PastViews.swift — the views as they were at a position: folded, from the nearest snapshot on,
// into a store of their own. Nothing in the live store changes.

package import TidemarkEvents
import TidemarkLog
package import TidemarkStore

/// The views as they were after an event, for reading only.
///
/// They go forward, never back. A log with holes is folded over them.
package final class PastViews {
    /// The last event that they know of.
    package private(set) var position: Position

    private let journal: Journal
    private let scratch: Environment
    private let views: ViewTables
    private let models = ModelCache()
    private let generation = Generation.a
    private var hasBindings: Bool

    /// The views at a position.
    ///
    /// - Parameter directory: a new one to make them in, which the caller removes.
    /// - Throws: ``LogError`` where the log can't be read.
    package init(
        of journal: Journal, at position: Position, in directory: String,
        progress: (RebuildProgress) throws -> Void = { _ in }
    ) throws {
        self.journal = journal
        scratch = try ViewTables.makeScratch(in: directory)
        views = ViewTables(scratch)
        self.position = .start
        hasBindings = false
        do {
            try begin(position)
            try advance(to: position, progress: progress)
        } catch {
            try? scratch.close()
            throw error
        }
    }

    package func close() throws { try scratch.close() }

    /// Takes the rows of the nearest snapshot that is whole; of none where the log has everything
    /// from its first event.
    private func begin(_ position: Position) throws {
        let (journal, views, generation) = (journal, views, generation)
        try journal.environment.read { transaction in
            let taken = try journal.withNearestSnapshot(to: position, transaction) { manifest in
                try scratch.write { target in
                    try views.write(generation, target) { write in
                        try journal.snapshots.forEachRow(of: manifest, transaction) {
                            try write($0, $1)
                        }
                    }
                }
                return manifest.position
            }
            guard let taken else { return }
            self.position = taken
            hasBindings = true
        }
    }

    /// Folds the events up to a position, that one included.
    package func advance(
        to target: Position, progress: (RebuildProgress) throws -> Void = { _ in }
    ) throws {
        while position < target {
            let before = position
            let (done, bindings) = try journal.environment.read { transaction in
                try scratch.write { scratch in
                    try self.fold(after: before, to: target, transaction, scratch)
                }
            }
            position = done
            hasBindings = bindings
            try progress(RebuildProgress(done: min(done, target), last: target))
        }
    }

    private func fold(
        after before: Position, to target: Position,
        _ transaction: borrowing some TableReading & ~Copyable,
        _ scratch: borrowing WriteTransaction
    ) throws -> (done: Position, hasBindings: Bool) {
        try views.withFold(models, hasBindings: hasBindings, generation, scratch) { fold in
            // Where the log ends, or has a hole, there is nothing up to the target.
            var done = target
            try journal.log.checkHeld(after: before, transaction)
            try journal.log.forEach(from: before.next, transaction) { position, event in
                guard position <= target else { return false }
                try fold.apply(event, at: position)
                guard fold.heldBytes < Journal.bytesPerStep else {
                    done = position
                    return false
                }
                return position < target
            }
            let hasBindings = fold.hasBindings
            try views.write(generation, scratch) { write in try fold.forEachChange(write) }
            return (done, hasBindings)
        }
    }

    /// Reads the views as they were, and the events up to then.
    ///
    /// `reader` must not be kept.
    package func read<R>(_ body: (ViewReader) throws -> R) throws -> R {
        var state = ViewTables.State()
        state.generation = generation
        let position = position
        return try journal.environment.read { transaction in
            try scratch.read { target in
                try ViewReader.with(
                    views, state, models, last: position, nil, target,
                    event: {
                        $0 <= position ? try journal.log.event(at: $0, transaction) : nil
                    }, beginning: { try journal.log.beginning(transaction) }, body)
            }
        }
    }

    /// Walks over all rows of a tree in the order of their keys; `body` says whether to go on.
    package func walk(
        _ tree: Tree, _ body: (_ key: [UInt8], _ value: [UInt8]) throws -> Bool
    ) throws {
        try scratch.read { target in try views.scan(tree, generation, target, body) }
    }
}

extension Journal {
    /// Has the nearest snapshot read that is whole and made by today's rules; where one is damaged,
    /// one further back.
    ///
    /// - Parameters:
    ///   - known: what is known already; an earlier snapshot is of no use.
    ///   - body: reads it, and keeps nothing when that fails.
    /// - Returns: nil where there is none, and the log has everything from its first event.
    /// - Throws: ``LogError``: `missingEvent` where there is none, and the log begins later;
    ///   `dropped` where its events up to there were.
    package func withNearestSnapshot<R>(
        to position: Position, after known: Position = .start,
        _ transaction: borrowing some TableReading & ~Copyable,
        _ body: (SnapshotManifest) throws -> R
    ) throws -> R? {
        var manifests: [SnapshotManifest] = []
        var damage: StoreError?
        do { manifests = try snapshots.manifests(transaction).filter(\.isCurrent) } catch let error
            as StoreError where error.code == .damaged
        {
            // Without them it takes longer.
            damage = error
        }
        for manifest in manifests where known < manifest.position && manifest.position <= position {
            do { return try body(manifest) } catch let error as LogError
                where error.code == .corruptSnapshot
            {
                continue
            } catch let error as StoreError where error.code == .damaged {
                continue
            }
        }
        if let base = try snapshots.base(transaction) {
            guard base.position <= position else {
                throw LogError(
                    .dropped, at: position,
                    "\(position) was dropped: the log begins at \(base.position.next), on the "
                        + "views at \(base.position)")
            }
            return known < base.position ? try body(base) : nil
        }
        // A part of a log stands on the views before it.
        guard known == .start, let begun = try log.firstPosition(transaction), begun > Position(1)
        else { return nil }
        if let damage { throw damage }
        guard let first = manifests.last else { return nil }
        throw LogError(
            .missingEvent, at: position,
            "the log begins at \(begun), on the views at \(first.position): what was before is "
                + "not in it")
    }

    /// Reads the views as they were after an event, and the events up to then; at the last one,
    /// the views that there are.
    ///
    /// `reader` must not be kept.
    ///
    /// - Parameter directory: makes a new one to fold in, when there is something to fold; the
    ///   caller removes it.
    package func read<R>(
        asOf position: Position, in directory: () throws -> String,
        progress: (RebuildProgress) throws -> Void = { _ in }, _ body: (ViewReader) throws -> R
    ) throws -> R {
        let live: R? = try environment.read { transaction in
            guard try log.lastPosition(transaction) == position,
                try views.state(transaction)?.isCurrent ?? true
            else { return nil }
            return try read(body)
        }
        if let live { return live }
        let past = try PastViews(of: self, at: position, in: try directory(), progress: progress)
        defer { try? past.close() }
        return try past.read(body)
    }

    /// The last event that was recorded at a time or before it; nil when there is none.
    ///
    /// Where the device's clock was set back, later events may tell an earlier time: the last one
    /// that does counts. Reads backwards from the end.
    ///
    /// - Parameter age: the time that an event counts for.
    package func position(
        asOf time: Timestamp,
        by age: (Event, Position) -> Timestamp = { event, _ in event.recordedAt }
    ) throws -> Position? {
        try environment.read { transaction in
            var found: Position?
            try log.forEachFrame(reversed: true, transaction) { position, frame in
                let read = readable(at: position) {
                    try Event(header: try frame.get().header, payload: [])
                }
                guard let event = read else { return true }
                if age(event, position) <= time { found = position }
                return found == nil
            }
            return found
        }
    }
}
