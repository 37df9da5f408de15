// RivalDecision.swift — of entities that may not hold a state together: which one goes on, and when
// the others stop.
//
// The largest time of change wins. A tie goes to the later start and then to the greater id, so
// that the result is the same in whatever order they came; or, where the model asks for it, to the
// one that was here first. A loser stops at the earliest later start of any, or now.

package import TidemarkEvents

/// An entity that holds the state.
package struct RivalRunner: Sendable, Hashable {
    package var id: String
    package var start: Timestamp
    /// When it was changed last.
    package var at: Timestamp
    /// The event that changed it last.
    package var position: Position

    package init(id: String, start: Timestamp, at: Timestamp, position: Position) {
        self.id = id
        self.start = start
        self.at = at
        self.position = position
    }
}

/// When any entity started, whether it still holds the state or not.
package struct RivalStart: Sendable, Hashable {
    package var key: EntityKey
    package var start: Timestamp
    /// When it was changed last.
    package var at: Timestamp

    package init(_ key: EntityKey, start: Timestamp, at: Timestamp) {
        self.key = key
        self.start = start
        self.at = at
    }
}

/// When a loser stops, and why then.
package struct RivalStop: Sendable, Hashable {
    package enum Kind: UInt64, Sendable {
        /// Another one started then.
        case nextStart = 1
        /// None started later.
        case now = 2
        /// It was overtaken by a start made here.
        case startedHere = 3
    }

    package var kind: Kind
    package var time: Timestamp

    package init(_ kind: Kind, at time: Timestamp) {
        self.kind = kind
        self.time = time
    }

    /// The JSON text of the value that ends a state; never one of before its start.
    ///
    /// - Parameters:
    ///   - start: when the state began.
    ///   - dates: how times are written in the collection.
    package func value(
        _ end: RivalRule.End, since start: Timestamp, dates: DateFormat
    ) -> [UInt8] {
        switch end {
        case .secondsSinceStart: Array(String(microseconds(since: start) / 1_000_000).utf8)
        case .millisecondsSinceStart: Array(String(microseconds(since: start) / 1000).utf8)
        case .stopTime: dates.encoded(max(time, start))
        }
    }

    /// What does not fit is held at the end of the range.
    private func microseconds(since start: Timestamp) -> Int64 {
        let (length, isTooLong) = time.rawValue.subtractingReportingOverflow(start.rawValue)
        if isTooLong { return time < start ? 0 : .max }
        return max(0, length)
    }
}

/// The decision between rivals.
package enum RivalDecision {
    package static let version: UInt64 = 1

    /// The one that goes on; nil of none.
    package static func winner(
        _ runners: [RivalRunner], ties: RivalRule.Ties
    ) -> RivalRunner? {
        runners.dropFirst().reduce(runners.first) { best, runner in
            best.map { outranks(runner, $0, ties: ties) ? runner : $0 }
        }
    }

    /// Whether one goes on rather than another one.
    package static func outranks(
        _ one: RivalRunner, _ other: RivalRunner, ties: RivalRule.Ties
    ) -> Bool {
        if one.at != other.at { return one.at > other.at }
        if ties == .arrival, one.position != other.position {
            return one.position < other.position
        }
        if one.start != other.start { return one.start > other.start }
        return IDOrder.precedes(other.id, one.id)
    }

    /// When a loser stops that was not overtaken by a start made here.
    ///
    /// - Parameters:
    ///   - starts: those of all entities, the winner included.
    ///   - now: the time to stop at where none of them is later.
    package static func stop(
        _ loser: RivalRunner, starts: some Sequence<RivalStart>, rule: RivalRule.Stop,
        now: Timestamp
    ) -> RivalStop {
        let next = next(after: loser, starts: starts, rule: rule)
        return next.map { RivalStop(.nextStart, at: $0.start) } ?? RivalStop(.now, at: now)
    }

    /// The start at which a loser stops, of several at that time the first by its key; nil where
    /// none of them is later, or it stops now.
    package static func next(
        after loser: RivalRunner, starts: some Sequence<RivalStart>, rule: RivalRule.Stop
    ) -> RivalStart? {
        guard rule != .now else { return nil }
        return starts.filter { other in
            other.start > loser.start && (rule == .nextStart || other.at >= loser.at)
        }.min { ($0.start, $0.key) < ($1.start, $1.key) }
    }
}
