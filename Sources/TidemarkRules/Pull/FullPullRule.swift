// FullPullRule.swift — when a collection is listed whole instead of what changed since the cursor.

package import TidemarkEvents

/// When a collection is listed whole.
package enum FullPullRule {
    /// The last time that it was.
    package struct Last: Sendable, Hashable {
        package var epoch: Revision?
        package var at: Timestamp?

        package init(epoch: Revision?, at: Timestamp?) {
            self.epoch = epoch
            self.at = at
        }
    }

    /// Whether a list of changes would not do.
    ///
    /// No list of changes tells that a collection was dropped and made anew, nor what was deleted
    /// once the server has forgotten its tombstones. What is not known counts as changed; only a
    /// server that never tells the time is believed.
    ///
    /// - Parameters:
    ///   - epoch: what the server calls the collection now, where it says so.
    ///   - now: the server's time, where it is known.
    ///   - every: how old the last whole list may be; zero for any age.
    package static func isDue(
        _ last: Last, epoch: Revision?, now: Timestamp?, every: TimeSpan
    ) -> Bool {
        if let epoch, last.epoch != epoch { return true }
        guard every != .zero, let now else { return false }
        guard let at = last.at else { return true }
        return now >= at.adding(every)
    }
}

/// What is concluded from entities that a list of everything did not name.
package enum SweepRule {
    /// Whether the user is asked before they are taken for deleted: more than half.
    ///
    /// - Parameter isReadable: whether a single one may be taken for deleted: it is read back
    ///   first, or the list named others.
    package static func asksFirst(absent: Int, of known: Int, isReadable: Bool) -> Bool {
        absent * 2 > known && (known > 1 || !isReadable)
    }
}
