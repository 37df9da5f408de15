// ResumeRule.swift — whether an app that comes back from the background has to sync everything.

/// Whether an app that comes back from the background has to sync everything.
package enum ResumeRule {
    /// From how long in the background on.
    package static let awayMin: Int64 = 300_000_000

    /// Whether a whole run is due.
    ///
    /// - Parameters:
    ///   - left: when the app went to the background.
    ///   - madePlaceholders: whether entities were made up meanwhile, because something refers to
    ///     them.
    ///   - now: the moment of its return; a clock that was set back meanwhile says nothing of how
    ///     long it was away, so that it counts as long.
    package static func isDue(left: Moment, madePlaceholders: Bool, now: Moment) -> Bool {
        guard !madePlaceholders, let away = now.microseconds(since: left) else { return true }
        return away >= awayMin
    }
}
