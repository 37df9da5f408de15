// SinceDecision.swift — from when on changes are listed, where a list goes by a date.

package import TidemarkEvents

/// From when on changes are listed; see ``CollectionModel/SinceRule``.
package enum SinceDecision {
    /// How long the date of an earlier list stands before it is logged again, in seconds.
    ///
    /// It would move with each list; a run without news is to stay one small event.
    package static let checkedAgeMax: Int64 = 86_400

    /// How far a last change may lie ahead of the server's time, in seconds: that is known to the
    /// second, and a little late.
    private static let slack: Int64 = 60

    /// The date to list from; nil for everything.
    ///
    /// A date of exactly the limit is too old. Where the server's time is not known, everything is
    /// listed: the device's clock may be wrong, and a date that is too late would hide changes.
    ///
    /// - Parameters:
    ///   - since: the last change of the lists so far.
    ///   - checkedAt: the server's time when a list was asked for.
    ///   - now: the server's time.
    package static func date(
        _ rule: SinceRule, since: Timestamp?, checkedAt: Timestamp?, now: Timestamp?
    ) -> Timestamp? {
        guard let now else { return nil }
        let limit = now.subtracting(rule.ageMax)
        // One entity that claims to be of the future would hide what changes until then.
        let latest = now.adding(seconds: slack)
        if let since, since > limit, since <= latest { return since }
        guard rule.serverDate, let checkedAt, checkedAt > limit else { return nil }
        return checkedAt
    }

    /// The last change of the lists so far, after another one.
    ///
    /// - Parameters:
    ///   - before: what it was.
    ///   - latest: the last change that the list named, deletions among them; nil for none.
    ///   - isWhole: whether everything was listed.
    package static func next(
        _ before: Timestamp?, latest: Timestamp?, isWhole: Bool
    ) -> Timestamp? {
        guard let latest else { return before }
        guard let before, !isWhole else { return latest }
        return max(before, latest)
    }

    /// Whether the end of a list is worth an event.
    package static func isNews(
        since: Timestamp?, checkedAt: Timestamp?, latest: Timestamp?, asked: Timestamp?
    ) -> Bool {
        if let latest, since.map({ $0 < latest }) ?? true { return true }
        guard let asked else { return false }
        return checkedAt.map { $0.adding(seconds: checkedAgeMax) <= asked } ?? true
    }
}

extension PullWindow {
    /// The span around a moment.
    package func span(around now: Timestamp) -> (from: Timestamp, to: Timestamp) {
        (now.subtracting(back), now.adding(ahead))
    }
}
