// SyncEngine+Background.swift — an app that goes to the background and comes back.

import TidemarkEvents
import TidemarkRules
import TidemarkSync
import TidemarkViews

extension SyncEngine {
    /// Says that the app goes to the background.
    ///
    /// Runs may still be asked for: a light pull after a push notification, for example.
    public func left() {
        let position = try? replica.journal.read { $0.last }
        away = (replica.dependencies.moment, position ?? .start)
    }

    /// Says that the app is back: asks for a run of everything, where it was away for five minutes,
    /// or where placeholders were made meanwhile, which only such a run replaces.
    ///
    /// Of no effect unless the engine was started, and ``left()`` was called before.
    ///
    /// - Returns: whether a run was asked for.
    @discardableResult
    public func returned() -> Bool {
        guard isStarted, takeReturn() else { return false }
        trigger(.timer)
        return true
    }

    /// Takes note that the app is back, and says whether a run of everything is due.
    package func takeReturn() -> Bool {
        guard let away else { return false }
        self.away = nil
        let madePlaceholders = try? replica.journal.read { views in
            try views.hasPlaceholderDecision(after: away.position)
        }
        return ResumeRule.isDue(
            left: away.moment, madePlaceholders: madePlaceholders ?? true,
            now: replica.dependencies.moment)
    }
}
