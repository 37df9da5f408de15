// ChaosTally.swift — how often what was to happen did happen, counted from the logs.

import TidemarkEvents
import TidemarkInspect
import TidemarkViews

@testable import SyncSupport

/// Counts of everything that a run is to have met.
struct ChaosTally: Sendable {
    /// Writes whose precondition no longer held.
    var conflicts = 0
    /// Deletions that came with a list.
    var tombstones = 0
    /// Mutations that the server already had, or that went on top of another's newer version.
    var merges = 0
    /// Reads of what had been sent and never answered.
    var readBacks = 0
    /// Answers 503, whether the server had done its work or not.
    var turnedAway = 0
    /// Writes that were answered 403.
    var forbidden = 0
    /// Requests without a whole answer.
    var unanswered = 0
    /// Writes that took effect after they had been given up, and their mutations settled otherwise:
    /// of a creation no precondition prevents it, once the record is gone again.
    var late = 0
    var events = 0
    var outcomes: [String: Int] = [:]
    var winners: [String: Int] = [:]
    /// The last request about no entity by itself.
    private var listing: Position?

    mutating func note(_ event: Event, at position: Position) {
        events += 1
        switch event.kind {
        case .requestSent where event.key == nil: listing = position
        case .requestAnswered:
            let answer = RequestAnswered(stored: event.payload)
            if answer.status == 412 { conflicts += 1 }
            if answer.status == 503 { turnedAway += 1 }
            if event.cause != nil { readBacks += 1 }
            if answer.status == 403, event.cause == nil, event.key != nil { forbidden += 1 }
        case .requestFailed: unanswered += 1
        case .serverDeleted where event.call != nil && event.call == listing: tombstones += 1
        default: break
        }
    }

    mutating func note(_ outcome: MutationOutcome) {
        outcomes[outcome.rawValue, default: 0] += 1
        if outcome == .merged { merges += 1 }
    }

    /// Counts who won, and what was pending while the server said something newer of it.
    mutating func noteRows(_ journal: Journal) throws {
        try journal.read { views in
            try views.forEachDecision { _, decision in
                winners[decision.result, default: 0] += 1
                return true
            }
        }
        merges += try reapplied(journal)
    }

    /// Mutations that stayed pending when another's version came, and were accepted on top of it.
    private func reapplied(_ journal: Journal) throws -> Int {
        var rivals: [EntityKey: [Position]] = [:]
        var filter = EventFilter()
        filter.kinds = [.serverUpserted]
        _ = try journal.dump(filter) { position, event in
            guard event.mutation == nil, let key = event.key else { return }
            rivals[key, default: []].append(position)
        }
        return try journal.read { views in
            var count = 0
            try views.forEachMutation { position, row in
                guard row.outcome == .accepted, let proof = row.proof else { return true }
                let isBetween = rivals[row.key]?.contains { position < $0 && $0 < proof } ?? false
                if isBetween { count += 1 }
                return true
            }
            return count
        }
    }

    static func + (left: ChaosTally, right: ChaosTally) -> ChaosTally {
        var sum = left
        sum.conflicts += right.conflicts
        sum.tombstones += right.tombstones
        sum.merges += right.merges
        sum.readBacks += right.readBacks
        sum.turnedAway += right.turnedAway
        sum.forbidden += right.forbidden
        sum.unanswered += right.unanswered
        sum.late += right.late
        sum.events += right.events
        sum.outcomes.merge(right.outcomes, uniquingKeysWith: +)
        sum.winners.merge(right.winners, uniquingKeysWith: +)
        return sum
    }
}

extension ChaosTally: CustomStringConvertible {
    var description: String {
        """
          412 \(conflicts), tombstones pulled \(tombstones), merges \(merges), \
        read-backs \(readBacks), 503 \(turnedAway), 403 \(forbidden), unanswered \(unanswered), \
        arrived too late \(late)
          outcomes: \(Self.list(outcomes)); conflicts won by: \(Self.list(winners)); \
        events \(events)
        """
    }

    static func list(_ counts: [String: Int]) -> String {
        counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }
}
