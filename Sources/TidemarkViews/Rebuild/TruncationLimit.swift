// TruncationLimit.swift — which events of a log are needed: the first of them may not be dropped,
// nor any behind it.

package import TidemarkEvents
import TidemarkLog
import TidemarkStore

/// The first event of a log that is needed, and what for.
package struct TruncationLimit: Sendable, Hashable {
    /// The first event that has to stay; the one behind the last where none does.
    package private(set) var first: Position
    /// What it is needed for, in words; empty where nothing needs it.
    package private(set) var reason = ""

    /// What was dropped already.
    private let dropped: Position

    init(last: Position, dropped: Position) { (first, self.dropped) = (last.next, dropped) }

    /// Takes in that something needs an event, unless that was dropped before something did.
    mutating func need(_ position: Position?, _ reason: @autoclosure () -> String) {
        guard let position, position > dropped, position < first else { return }
        (first, self.reason) = (position, reason())
    }

    /// The last event that may be dropped.
    package var last: Position { Position(first.rawValue - 1) }
}

extension Journal {
    /// The fewest sync runs whose events a store keeps by itself.
    package static let runsKept = 20

    /// What keeps the events of the log from being dropped.
    ///
    /// - Parameter withRuns: whether also what a capsule of the last runs needs, and the answers
    ///   that are kept of them.
    package func truncationLimit(withRuns: Bool) throws -> TruncationLimit {
        try environment.read { transaction in
            try ViewReader.with(self, transaction) { views in
                let dropped = try log.base(transaction)?.position ?? .start
                var limit = TruncationLimit(last: views.last, dropped: dropped)
                limit.need(
                    shared.knownEvents.withLock { $0.newer },
                    "a newer version wrote it, and this one can't read it")
                try views.addNeeds(to: &limit)
                guard withRuns else { return limit }
                let runs = try max(Self.runsKept, views.model().settings.answers.runs)
                limit.need(
                    try views.start(ofLastRuns: runs), "it belongs to the last \(runs) sync runs")
                limit.need(
                    try log.kept.runs(transaction).first, "answers are kept of the run it began")
                return limit
            }
        }
    }

    /// Looks whether a newer version wrote one of the events up to a position; ``truncationLimit``
    /// knows of it from then on.
    ///
    /// The rows here are made without such an event, so that nothing else says what it says.
    package func noteNewerEvents(through last: Position) throws {
        var known = shared.knownEvents.withLock { $0 }
        let last = min(last, try environment.read { try log.lastPosition($0) })
        while known.newer == nil, known.through < last {
            // No read is held for long: meanwhile no page that was freed could be used.
            try environment.read { transaction in
                let base = try log.base(transaction)?.position ?? .start
                let first = max(base, known.through).next
                let end = min(last.rawValue, first.rawValue + Self.eventsLookedAtOnce)
                try log.forEachFrame(from: first, transaction) { position, frame in
                    guard position.rawValue <= end else { return false }
                    // Whoever drops them tells of one that is damaged.
                    let header = (try? frame.get())?.header
                    let event = header.flatMap { try? Event(header: $0, payload: []) }
                    if event?.isOfNewerVersion == true { known.newer = position }
                    return known.newer == nil
                }
                known.through = Position(end)
            }
        }
        shared.knownEvents.withLock { $0 = known }
    }

    private static let eventsLookedAtOnce: UInt64 = 10_000
}

extension ViewReader {
    /// Adds what rows need of the log: the events that are read by their places.
    ///
    /// What a list is to know that goes on stands in its rows.
    fileprivate func addNeeds(to limit: inout TruncationLimit) throws {
        try forEachMutation(openOnly: true) { position, mutation in
            limit.need(position, "a mutation of \(mutation.key) waits in the outbox")
            limit.need(mutation.call, "\(mutation.key) was sent, and waits in the outbox")
            return true
        }
        try walk(.ledger, Ledger.attempts) { _, value in
            limit.need(
                Position(bigEndianBytes: value), "it is not known what became of the request")
            return true
        }
        for ticket in try tickets() {
            limit.need(ticket.call, "the server promised to answer the request")
        }
        for issue in try issues() {
            let words = "an issue is open: \(issue.message)"
            limit.need(issue.position, words)
            limit.need(issue.mutation, words)
            guard issue.kind == .conflict,
                let decision = try decision(issue.position, issue.index)
            else { continue }
            for position in decision.inputs + [decision.base].compactMap(\.self) {
                limit.need(position, words)
            }
        }
        try walk(.ledger, Ledger.rivals) { _, value in
            let rival = try RivalRow(parsing: value)
            limit.need(rival.loss?.decided, "a rival lost by it, and may go on")
            for position in rival.ignored { limit.need(position, "a rival's edit waits") }
            return true
        }
    }

    /// The first of so many last sync runs; where there are fewer, of all.
    fileprivate func start(ofLastRuns count: Int) throws -> Position? {
        var (start, left): (Position?, Int) = (nil, count)
        try forEachSyncRun { position, _ in
            start = position
            left -= 1
            return left > 0
        }
        return start
    }
}
