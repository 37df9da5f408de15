// SnapshotRule.swift — when the views are worth a snapshot, and which older ones stay.
//
// A snapshot costs reading and compressing every row; it spares folding the events before it. So
// one is due when as many events came as some rows cost: with a quarter of the rows, an event
// pays for at most four of them, little beside its own commit. What is folded to get to any
// position is at most the distance to the snapshot before it: near the end of the log that is
// short, and it grows with the distance from the end, so that few snapshots serve a long log.

package import TidemarkEvents

/// Decides about snapshots of the views.
package enum SnapshotRule {
    /// The fewest events that a snapshot is taken after: fewer are folded in a moment.
    package static let eventsMin: UInt64 = 10_000

    /// Whether a snapshot is due.
    ///
    /// - Parameters:
    ///   - last: the last event.
    ///   - newest: the position of the newest snapshot by today's rules.
    ///   - rows: how many rows one would hold.
    package static func isDue(last: Position, newest: Position?, rows: UInt64) -> Bool {
        let known = (newest ?? .start).rawValue
        guard last.rawValue >= known else { return false }
        return last.rawValue - known >= max(eventsMin, rows / 4)
    }

    /// Which of the snapshots by today's rules stay, the newest first.
    ///
    /// The two newest do. Before them, of those that are at most three times as far from the
    /// newest as the last one kept, only the farthest; and always the oldest.
    package static func kept(_ positions: [Position]) -> [Position] {
        let sorted = positions.sorted(by: >)
        guard let newest = sorted.first else { return [] }
        func age(_ position: Position) -> UInt64 { newest.rawValue - position.rawValue }
        var kept: [Position] = []
        for (index, position) in sorted.enumerated() {
            let next = index + 1 < sorted.count ? sorted[index + 1] : nil
            let isSpared = next.map { age($0) <= 3 * age(kept.last ?? newest) } ?? false
            if !isSpared || index < 2 { kept.append(position) }
        }
        return kept
    }
}
