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
    /// Whether the entries without a value have a range of their own behind that of the others.
    private var hasNullsLast = false

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
        score.isInOrder = isInOrder(query) && placeNulls(query)
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

    /// What the order sorts by behind the fields that have a single value.
    private func wanted(_ query: DocumentQuery) -> [DocumentQuery.Order] {
        let pinned = index.fields.prefix(pinnedFields)
        return query.order.filter { !pinned.contains($0.field) }
    }

    /// Whether the index's order, from its first field with several values on, is that of the
    /// query, apart from where nulls stand.
    private func isInOrder(_ query: DocumentQuery) -> Bool {
        let wanted = wanted(query)
        return wanted.map(\.field) == Array(index.fields.dropFirst(pinnedFields))
            && wanted.allSatisfy {
                $0.isDescending == query.isDescendingByID && !$0.isFolded && $0.target == nil
            }
    }

    /// Puts the entries without a value in the field that is sorted by first where the order has
    /// them; false where one walk over the index can't.
    private mutating func placeNulls(_ query: DocumentQuery) -> Bool {
        let wanted = wanted(query)
        guard wanted.contains(where: \.isNullGreatest) else { return true }
        guard !wanted.dropFirst().contains(where: \.isNullGreatest) else { return false }
        let values = ranges.map { $0.lower[OrderKey.end(of: $0.lower, behind: pinnedFields)...] }
        // None is among them.
        if values.allSatisfy({ ($0.first ?? 0) > OrderKey.null[0] }) { return true }
        guard ranges.count == 1, values[0].isEmpty else { return false }
        let (all, others) = (ranges[0], ranges[0].lower + OrderKey.behindNull)
        ranges = [KeyRange(others, all.upper), KeyRange(all.lower, others)]
        hasNullsLast = true
        return true
    }

    /// Leaves out the entries before a place in the query's order, which is that of the index.
    private mutating func skip(
        to start: DocumentQuery.Start, _ query: DocumentQuery, _ facts: QueryFacts
    ) {
        var rest: [UInt8] = []
        for (place, field) in index.fields.enumerated() {
            var own = zip(query.order, start.values).first { $0.0.field == field }?.1
            if own == OrderKey.greatestNull {
                // Where none is among the entries, their order does not tell where it stands.
                guard place < pinnedFields || hasNullsLast else { return }
                own = OrderKey.null
            }
            if place >= pinnedFields {
                guard let own else { return }
                rest += own
            } else if let own, facts.values[.field(field)]?.contains(own) != true {
                // With another value in such a field the place is not among the entries.
                return
            }
        }
        skipsToStart = true
        let isDescending = query.isDescendingByID
        let isNull = rest.starts(with: OrderKey.null)
        ranges = ranges.enumerated().map { number, range in
            // Of what has no value, and is read behind the rest, all is on one side of a place in
            // the rest, and the other way round.
            if hasNullsLast, isNull != (number == 1) {
                return isNull == isDescending ? range : KeyRange([], [])
            }
            let pinned = range.lower[..<OrderKey.end(of: range.lower, behind: pinnedFields)]
            let entry = KeyRange(Array(pinned) + rest, id: start.id)
            return range.intersection(
                isDescending ? KeyRange([], entry.upper) : KeyRange(entry.lower, [.max]))
        }.filter { !$0.isEmpty }
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
