// Replay+Predicate.swift — whether a condition holds at the end of a recorded log.

import TidemarkCapsule
import TidemarkViews

extension Replay {
    /// Folds the log by the code of today, and tests a condition on the views.
    ///
    /// For bugs that the log itself shows, so that a test fails until they are fixed:
    ///
    /// ```swift
    /// let replay = Replay(.fixture("min.capsule"))
    /// let isRefused = try replay.holds("tasks/x is error")
    /// ```
    ///
    /// - Parameter predicate: as `tidemark bisect --predicate` takes it: `tasks/1 exists`,
    ///   `tasks/1.done == true`, `tasks/1 is error`, `count(tasks) > 3`, `pending > 0`,
    ///   `outcome(@12) == superseded`; joined with `and`, `or`, `not`.
    /// - Throws: `ReplayMistake` for a predicate that can't be parsed, or where there is no such
    ///   file or event; `TidemarkError` where it can't be read.
    public func holds(_ predicate: String) throws -> Bool {
        let wanted: StatePredicate
        do { wanted = try StatePredicate(predicate) } catch {
            throw ReplayMistake("\"\(predicate)\", \(error)")
        }
        let fold = try FoldReplay(
            source.capsule(), through: through, inject: inject, compares: false
        ).fold
        return try fold.read { try wanted.holds(in: $0) }
    }
}
