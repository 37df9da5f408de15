// CapsuleFold.swift — today's fold of a capsule's commits, in memory.

package import TidemarkEvents
import TidemarkLog
package import TidemarkViews

/// Views in memory, into which commits are folded one after another.
package struct CapsuleFold: Sendable {
    package private(set) var rows = MemoryRows()
    /// The last event that was folded.
    package private(set) var position: Position
    private let models = ModelCache()

    package init(_ base: Capsule.Base = Capsule.Base()) {
        position = base.position
        rows.write(base.rows.map { ($0.key, $0.value) })
    }

    /// Folds the events of one commit.
    ///
    /// - Parameter apply: folds one event; by default as it is.
    /// - Returns: the rows that it changes, sorted by key.
    @discardableResult
    package mutating func fold(
        _ entries: [Capsule.Entry],
        apply: (Fold, Event, Position) throws -> Void = { try $0.apply($1, at: $2) }
    ) throws -> RowChanges {
        let changes = try rows.withFold(models) { fold in
            for entry in entries { try apply(fold, entry.event, entry.position) }
            return fold.sortedChanges
        }
        rows.write(changes)
        position = entries.last?.position ?? position
        return changes
    }

    /// Reads the views in their current state.
    ///
    /// - Parameter event: returns the event at a position.
    package func read<R>(
        event: @escaping (Position) throws -> Event? = { _ in nil },
        _ body: (ViewReader) throws -> R
    ) rethrows -> R {
        try rows.read(models, last: position, event: event, body)
    }
}

extension Capsule {
    /// The capsule with the digests of today's fold, or of another one.
    ///
    /// - Parameter apply: folds one event; by default as it is.
    package func refolded(
        apply: (Fold, Event, Position) throws -> Void = { try $0.apply($1, at: $2) }
    ) throws -> Capsule {
        var capsule = self
        var fold = CapsuleFold(base)
        for index in commits.indices {
            let changes = try fold.fold(commits[index].entries, apply: apply)
            capsule.commits[index].views = ViewDigest.of(changes)
        }
        return capsule
    }
}
