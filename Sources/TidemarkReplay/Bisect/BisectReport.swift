// BisectReport.swift — what is reported of the event at which an answer changes: the event itself,
// and its changes to the views.

import TidemarkCapsule
package import TidemarkEvents
package import TidemarkInspect
import TidemarkLog
import TidemarkStore
import TidemarkViews

extension Bisect {
    /// The changes in the views by the events after one position, up to another one.
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
