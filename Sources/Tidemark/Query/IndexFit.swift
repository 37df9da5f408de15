// IndexFit.swift — how well an index fits a query.

import TidemarkEvents
import TidemarkStore
import TidemarkViews

/// The parts of a query that an index can answer.
struct IndexFit {
    /// How well it fits: compared member by member, more is better.
    struct Score: Comparable {
        var equal: Int
        var hasRange: Bool
        var isInOrder: Bool

        /// Whether less than the whole collection is read.
        var isSelective: Bool { equal > 0 || hasRange }

        static func < (left: Score, right: Score) -> Bool {
            (left.equal, left.hasRange ? 1 : 0, left.isInOrder ? 1 : 0)
                < (right.equal, right.hasRange ? 1 : 0, right.isInOrder ? 1 : 0)
        }
    }

    private(set) var score = Score(equal: 0, hasRange: false, isInOrder: false)
    private let index: IndexModel
    private var ranges = [KeyRange([], [.max])]
    private var isExact = true
    private var skipsToStart = false
    private var pinnedFields = 0

    init(_ index: IndexModel, _ query: DocumentQuery, _ facts: QueryFacts) {
        self.index = index
        var prefixes: [[UInt8]] = [[]]
        for field in index.fields {
            if let values = facts.values[.field(field)] {
                if prefixes.count * values.count <= QueryPlan.rangesMax {
                    prefixes = prefixes.flatMap { prefix in values.map { prefix + $0 } }
                    score.equal += 1
                    if pinnedFields == score.equal - 1, isPinned(field, values, query, facts) {
                        pinnedFields += 1
                    }
                    continue
                }
                // Too many values: the range from the least to the greatest is read, and each entry
                // checked.
                if let first = values.first, let last = values.last {
                    narrow(prefixes, KeyRange(first, KeyRange(beginning: last).upper))
                    isExact = false
                }
            } else if let range = facts.ranges[.field(field)] {
                narrow(prefixes, range)
            }
            break
        }
        if !score.hasRange, score.equal > 0 { ranges = prefixes.map { KeyRange(beginning: $0) } }
        score.isInOrder = isInOrder(query)
        if score.isInOrder, let start = query.start { skip(to: start, query, facts) }
    }

    private mutating func narrow(_ prefixes: [[UInt8]], _ range: KeyRange) {
        ranges = prefixes.map { KeyRange($0 + range.lower, $0 + range.upper) }
        score.hasRange = true
    }

    /// Whether all entries with these values of a field are at one place in the query's order.
    private func isPinned(
        _ field: IndexField, _ values: [[UInt8]], _ query: DocumentQuery, _ facts: QueryFacts
    ) -> Bool {
        if values.count == 1 { return true }
        // What follows on a value that is cut is not in the key: nothing can be merged by it.
        return facts.oneValued.contains(.field(field))
            && values.allSatisfy { $0.count <= index.valueBytesMax }
            && query.order.allSatisfy { $0.field != field || $0.target != nil }
    }

    /// Whether the index's order, from its first field with several values on, is that of the
    /// query.
    private func isInOrder(_ query: DocumentQuery) -> Bool {
        let pinned = index.fields.prefix(pinnedFields)
        let wanted = query.order.filter { !pinned.contains($0.field) }
        return wanted.map(\.field) == Array(index.fields.dropFirst(pinnedFields))
            && wanted.allSatisfy {
                $0.isDescending == query.isDescendingByID && !$0.isFolded && $0.target == nil
            }
    }

    /// Leaves out the entries before a place in the query's order, which is that of the index.
    private mutating func skip(
        to start: DocumentQuery.Start, _ query: DocumentQuery, _ facts: QueryFacts
    ) {
        var rest: [UInt8] = []
        for (place, field) in index.fields.enumerated() {
            let own = zip(query.order, start.values).first { $0.0.field == field }?.1
            if place >= pinnedFields {
                guard let own else { return }
                rest += own
            } else if let own, facts.values[.field(field)]?.contains(own) != true {
                // With another value in such a field the place is not among the entries.
                return
            }
        }
        ranges = ranges.map { range in
            let pinned = range.lower[..<OrderKey.end(of: range.lower, behind: pinnedFields)]
            let entry = KeyRange(Array(pinned) + rest, id: start.id)
            return range.intersection(
                query.isDescendingByID
                    ? KeyRange([], entry.upper) : KeyRange(entry.lower, [.max]))
        }.filter { !$0.isEmpty }
        skipsToStart = true
    }

    func plan(_ query: DocumentQuery, _ facts: QueryFacts) -> QueryPlan {
        let fields = index.fields.prefix(score.equal + (score.hasRange ? 1 : 0))
        let used = facts.used(by: fields.map { .field($0) })
        return QueryPlan(
            index, ranges, isInOrder: score.isInOrder,
            isReversed: score.isInOrder && query.isDescendingByID,
            isExact: isExact && query.start == nil && query.conditions.allSatisfy(used.contains),
            skipsToStart: skipsToStart, pinnedFields: pinnedFields, used: used)
    }
}
