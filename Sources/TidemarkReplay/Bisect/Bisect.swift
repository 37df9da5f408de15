// Bisect.swift — finds the event at which the answer to a question changes: by binary search over
// the commits, then over the events of one commit.

import TidemarkCapsule
package import TidemarkEvents
import TidemarkLog
import TidemarkStore
package import TidemarkViews

/// A binary search for the position at which an answer changes.
///
/// Like `git bisect`, it finds one such position; an answer that changes several times has others,
/// too.
package struct Bisect: Sendable {
    /// The answer at a position.
    package enum Answer: Sendable, Hashable {
        case no, yes
        /// The question can't be answered at this position.
        case skipped
    }

    /// The place where the answer changes.
    package struct Turn: Sendable, Hashable {
        /// The first event with the other answer.
        package var position: Position
        /// The first and the last event of its commit.
        package var commit: ClosedRange<Position>
        /// The last position that still has the first answer.
        package var before: Position
        /// The answer from that event on.
        package var becomes: Bool
        /// How many positions were tested.
        package var asked: Int
        /// Positions in between that could not be tested; any of them may be the turn.
        package var skipped: [Position]
    }

    /// The result of the search.
    package enum Outcome: Sendable, Hashable {
        case turn(Turn)
        /// The answer is the same at both ends.
        case same(Bool, from: Position, to: Position)
        /// The question can't be answered at this end of the range.
        case unknown(Position)
    }

    /// The first and the last event of each commit, in order.
    private let commits: [ClosedRange<Position>]
    let journal: Journal
    /// The position with the first answer; the search begins after it.
    package let from: Position
    /// The last position that is tested.
    package let to: Position

    /// A search in a log.
    ///
    /// - Parameters:
    ///   - from: the position with the first answer; nil for the one before the first event.
    ///   - to: the position with the other answer; nil for the last event.
    /// - Throws: ``LogError`` where the log can't be read.
    package init(of journal: Journal, from: Position? = nil, to: Position? = nil) throws {
        var commits: [ClosedRange<Position>] = []
        var start = from ?? .start
        try journal.environment.read { transaction in
            let first = try journal.log.firstPosition(transaction) ?? Position(1)
            start = from ?? Position(first.rawValue - 1)
            guard try start < journal.log.lastPosition(transaction) else { return }
            try journal.log.forEachCommit(from: start.next, transaction) { record in
                if let to, record.first > to { return false }
                commits.append(max(record.first, start.next)...min(record.last, to ?? record.last))
                return true
            }
        }
        self.journal = journal
        self.commits = commits
        self.from = start
        self.to = commits.last?.upperBound ?? start
    }

    /// How many commits are searched.
    package var count: Int { commits.count }

    /// Searches for the turn.
    ///
    /// - Parameters:
    ///   - ask: the answer at a position.
    ///   - progress: called before each question with the commits that are left.
    package func run(
        progress: (_ left: Int) throws -> Void = { _ in },
        _ ask: (Position) throws -> Answer
    ) throws -> Outcome {
        var asked = 0
        func answer(_ position: Position, left: Int) throws -> Answer {
            try progress(left)
            asked += 1
            return try ask(position)
        }
        let last = try answer(to, left: commits.count)
        guard last != .skipped else { return .unknown(to) }
        let first = try answer(from, left: commits.count)
        guard first != .skipped else { return .unknown(from) }
        guard first != last else { return .same(first == .yes, from: from, to: to) }

        // Commits up to `low` have the first answer, commits from `high` on the other one.
        var (low, high) = (-1, commits.count - 1)
        var skipped: Set<Int> = []
        while let middle = Self.middle(low, high, skipped) {
            switch try answer(commits[middle].upperBound, left: high - low) {
            case .skipped: skipped.insert(middle)
            case first: low = middle
            default: high = middle
            }
        }
        var turn = Turn(
            position: commits[high].upperBound, commit: commits[high],
            before: low < 0 ? from : commits[low].upperBound, becomes: last == .yes, asked: asked,
            skipped: skipped.filter { low < $0 && $0 < high }.sorted().map {
                commits[$0].upperBound
            })
        guard turn.skipped.isEmpty else { return .turn(turn) }
        let positions = try positions(in: commits[high])
        (low, high) = (-1, positions.count - 1)
        skipped = []
        while let middle = Self.middle(low, high, skipped) {
            switch try answer(positions[middle], left: 1) {
            case .skipped: skipped.insert(middle)
            case first: low = middle
            default: high = middle
            }
        }
        turn.position = positions[high]
        if low >= 0 { turn.before = positions[low] }
        turn.skipped = skipped.filter { low < $0 && $0 < high }.sorted().map { positions[$0] }
        turn.asked = asked
        return .turn(turn)
    }

    /// The commit nearest to the middle that is not skipped; nil where there is none.
    private static func middle(_ low: Int, _ high: Int, _ skipped: Set<Int>) -> Int? {
        let middle = (low + high) / 2
        for distance in 0..<max(high - low, 1) {
            for candidate in [middle - distance, middle + distance]
            where low < candidate && candidate < high && !skipped.contains(candidate) {
                return candidate
            }
        }
        return nil
    }

    private func positions(in commit: ClosedRange<Position>) throws -> [Position] {
        var positions: [Position] = []
        try journal.environment.read { transaction in
            try journal.log.forEachFrame(from: commit.lowerBound, transaction) { position, _ in
                guard position <= commit.upperBound else { return false }
                positions.append(position)
                return true
            }
        }
        return positions
    }
}

extension Bisect {
    /// Searches for the position at which a predicate changes, starting from the nearest snapshots.
    ///
    /// Each event is folded once or twice, in memory.
    package func run(
        _ predicate: StatePredicate, progress: (_ left: Int) throws -> Void = { _ in }
    ) throws -> Outcome {
        var folds = HistoryFolds(journal)
        return try run(progress: progress) { position in
            let fold = try folds.fold(at: position)
            return try fold.read { try predicate.holds(in: $0) } ? .yes : .no
        }
    }
}

/// Folds a log in memory up to one position after another, each time from the nearest known fold.
struct HistoryFolds {
    private static let eventsPerStep: UInt64 = 10_000
    /// How many folds are remembered on a long way to a position, at equal distances, because the
    /// next positions lie before it.
    private static let stops: UInt64 = 4
    private static let knownMax = 6

    private let journal: Journal
    private var known: [CapsuleFold] = []

    init(_ journal: Journal) { self.journal = journal }

    /// The views after a position's event.
    mutating func fold(at position: Position) throws -> CapsuleFold {
        var fold = try begin(position)
        var place = fold.position
        let way = position.rawValue - place.rawValue
        // Remembering a fold costs a copy of its rows.
        let stops = way > Self.eventsPerStep ? Self.stops : 1
        for stop in 1...stops where way > 0 {
            let next = Position(position.rawValue - way + way * stop / stops)
            try extend(&fold, from: place, to: next)
            place = next
            known.append(fold)
        }
        while known.count > Self.knownMax {
            func distance(_ fold: CapsuleFold) -> UInt64 {
                max(position, fold.position).rawValue - min(fold.position, position).rawValue
            }
            let farthest = known.indices.max { distance(known[$0]) < distance(known[$1]) }
            known.remove(at: farthest ?? 0)
        }
        return fold
    }

    private func extend(
        _ fold: inout CapsuleFold, from start: Position, to end: Position
    ) throws {
        var place = start
        while place < end {
            let last = min(end, Position(place.rawValue + Self.eventsPerStep))
            var entries: [Capsule.Entry] = []
            try journal.environment.read { transaction in
                try journal.log.forEach(from: place.next, transaction) { position, event in
                    guard position <= last else { return false }
                    entries.append(Capsule.Entry(position: position, event: event))
                    return position < last
                }
            }
            if !entries.isEmpty { try fold.fold(entries) }
            place = last
        }
    }

    private func begin(_ position: Position) throws -> CapsuleFold {
        let journal = journal
        let nearest =
            known.filter { $0.position <= position }.max { $0.position < $1.position }
            ?? CapsuleFold()
        let base = try journal.environment.read { transaction in
            try journal.withNearestSnapshot(
                to: position, after: nearest.position, transaction
            ) { manifest in
                var base = Capsule.Base(position: manifest.position)
                try journal.snapshots.forEachRow(of: manifest, transaction) {
                    base.rows.append(SnapshotRow(key: $0, value: $1))
                }
                return base
            }
        }
        return base.map { CapsuleFold($0) } ?? nearest
    }
}
