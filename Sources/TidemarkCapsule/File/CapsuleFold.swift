// CapsuleFold.swift — today's fold of a capsule's commits, in memory.

package import TidemarkEvents
import TidemarkLog
package import TidemarkViews

/// Views in memory that commits are folded into, one after another.
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
    /// - Parameter apply: how an event is folded: as it is, unless said otherwise.
    /// - Returns: the rows that it changes, in the order of their keys.
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

    /// Reads the views as they are by now.
    ///
    /// - Parameter event: the events that there are.
    package func read<R>(
        event: @escaping (Position) throws -> Event? = { _ in nil },
        _ body: (ViewReader) throws -> R
    ) rethrows -> R {
        try rows.read(models, last: position, event: event, body)
    }
}

extension Capsule {
    /// Its commits with the digests that today's fold gives them, or another way to fold.
    ///
    /// - Parameter apply: how an event is folded: as it is, unless said otherwise.
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
