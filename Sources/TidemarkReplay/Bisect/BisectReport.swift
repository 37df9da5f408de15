// BisectReport.swift — what is to be told of the event at which an answer turns: itself, and what
// it changed.

import TidemarkCapsule
package import TidemarkEvents
package import TidemarkInspect
import TidemarkLog
import TidemarkStore
import TidemarkViews

extension Bisect {
    /// What the events after one position, up to another one, changed in the views.
    package func changes(
        after before: Position, to position: Position
    ) throws -> ViewsDifference {
        var folds = HistoryFolds(journal)
        let old = try folds.fold(at: before)
        let new = try folds.fold(at: position)
        return try old.read { before in
            try new.read { try ViewsDifference(before: before, after: $0) }
        }
    }

    /// The event at a position.
    package func event(at position: Position) throws -> Event? {
        try journal.environment.read { try journal.log.event(at: position, $0) }
    }
}
