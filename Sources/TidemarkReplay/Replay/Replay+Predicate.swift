// Replay+Predicate.swift — whether something is true of a recorded log in the end.

import TidemarkCapsule
import TidemarkViews

extension Replay {
    /// Folds the log by the code of today, and tells whether something is true of the views then.
    ///
    /// For bugs that the log shows by itself, so that a test fails until they are mended:
    ///
    /// ```swift
    /// let replay = Replay(.fixture("min.capsule"))
    /// let isRefused = try replay.holds("tasks/x is error")
    /// ```
    ///
    /// - Parameter predicate: as `tidemark bisect --predicate` takes it: `tasks/1 exists`,
    ///   `tasks/1.done == true`, `tasks/1 is error`, `count(tasks) > 3`, `pending > 0`,
    ///   `outcome(@12) == superseded`; joined with `and`, `or`, `not`.
    /// - Throws: `ReplayMistake` for a predicate that can't be understood, or where there is no
    ///   such file or event; what can't be read throws, too.
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
