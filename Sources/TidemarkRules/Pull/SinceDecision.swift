// SinceDecision.swift — from when on changes are listed, where a list goes by a date.

package import TidemarkEvents

/// From when on changes are listed; see ``CollectionModel/SinceRule``.
package enum SinceDecision {
    /// How long the date of an earlier list stands before it is logged again, in seconds.
    ///
    /// It would move with each list; a run without news is to stay one small event.
    package static let checkedAgeMax: Int64 = 86_400

    /// How far a date may lie ahead of the server's time, in seconds: that is known to the second,
    /// and a little late.
    private static let slack: Int64 = 60

    /// The date to list from; nil for everything.
    ///
    /// A date of exactly the limit is too old, also where it is so by the overlap. Where the
    /// server's time is not known, everything is listed: the device's clock may be wrong, and a
    /// date that is too late would hide changes. So would a last change that is later than the list
    /// that named it, whatever the time is now.
    ///
    /// - Parameters:
    ///   - since: the last change of the lists so far.
    ///   - checkedAt: the server's time when a list was asked for.
    ///   - now: the server's time.
    package static func date(
        _ rule: SinceRule, since: Timestamp?, checkedAt: Timestamp?, now: Timestamp?
    ) -> Timestamp? {
        guard let now, let checkedAt else { return nil }
        let limit = now.subtracting(rule.ageMax)
        let latest = min(checkedAt, now.adding(seconds: slack))
        let dates = [since.flatMap { $0 <= latest ? $0 : nil }, rule.serverDate ? checkedAt : nil]
        return dates.lazy.compactMap { $0?.subtracting(rule.overlap) }.first { $0 > limit }
    }

    /// The last change of the lists so far, after another one.
    ///
    /// It is never later than the server's time when the list was asked for: an entity that claims
    /// to be of the future would hide what changes until then.
    ///
    /// - Parameters:
    ///   - before: what it was.
    ///   - latest: the last change that the list named, deletions among them; nil for none.
    ///   - asked: the server's time when the list was asked for.
    ///   - isWhole: whether everything was listed.
    package static func next(
        _ before: Timestamp?, latest: Timestamp?, asked: Timestamp, isWhole: Bool
    ) -> Timestamp? {
        let known = isWhole ? latest ?? before : [before, latest].compactMap(\.self).max()
        return known.map { min($0, asked) }
    }

    /// Whether the end of a list is worth an event.
    ///
    /// - Parameter latest: the last change that it named and that is not later than its request.
    package static func isNews(
        since: Timestamp?, checkedAt: Timestamp?, latest: Timestamp?, asked: Timestamp?
    ) -> Bool {
        guard let asked else { return false }
        if let latest, since.map({ $0 < latest }) ?? true { return true }
        return checkedAt.map { $0.adding(seconds: checkedAgeMax) <= asked } ?? true
    }
}

extension PullWindow {
    /// The span around a moment.
    package func span(around now: Timestamp) -> (from: Timestamp, to: Timestamp) {
        (now.subtracting(back), now.adding(ahead))
    }
}
