// SyncEngine+Background.swift — an app that moves to the background and returns.

import TidemarkEvents
import TidemarkRules
import TidemarkSync
import TidemarkViews

extension SyncEngine {
    /// Tells the engine that the app moves to the background.
    ///
    /// Runs may still be requested, for example a light pull after a push notification. Called
    /// again before ``appDidReturn()``, it changes nothing.
    public func appDidLeave() {
        guard away == nil else { return }
        let position = try? replica.journal.read { $0.last }
        away = (replica.dependencies.moment, position ?? .start)
    }

    /// Tells the engine that the app has returned.
    ///
    /// It requests a run of scope `all` if the app was away for five minutes, or if placeholders
    /// were created in between, which only such a run replaces. It requests nothing unless the
    /// engine was started, and ``appDidLeave()`` was called before.
    ///
    /// - Returns: whether a run was requested.
    @discardableResult
    public func appDidReturn() -> Bool {
        guard takeReturn(), isStarted else { return false }
        trigger(.timer)
        return true
    }

    /// Notes that the app has returned; returns whether a run of scope `all` is due.
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
