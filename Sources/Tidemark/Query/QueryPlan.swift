// QueryPlan.swift — how a query is carried out: a pure function of the query and the existing
// indexes.
//
// An index is used by its first fields. Fields with fixed values are looked up, each value of an
// `in` separately; the field after them may have a range. Every entity that is found is checked
// again by its document, so a bad plan can be slow but never wrong.

package import TidemarkEvents
package import TidemarkRules
package import TidemarkViews

/// Where a query searches, and what remains to be done with the entities found.
package struct QueryPlan: Sendable, Hashable {
    package enum Access: Sendable, Hashable {
        /// No entity can meet the conditions.
        case nothing
        /// The entities with these ids, in ascending order.
        case ids([String])
        /// The entities in whose trees something counts as that, in the order of ids: rows tell of
        /// them, and there are none of trees in which all is as the server has it.
        case trees(RollUpClass)
        /// The entries of an index in these ranges, which are disjoint, and ascending but where
        /// those without a value are put last.
        case index(IndexModel, [KeyRange])
        /// The whole collection, in the order of ids.
        case scan
    }

    package var access: Access
    /// Whether the entities are found in the query's order, or in its reverse.
    package var isInOrder: Bool
    /// Whether the entries are read from the end.
    package var isReversed: Bool
    /// Whether everything that is found meets the conditions, except where index values were
    /// truncated.
    package var isExact: Bool
    /// Whether what lies before the place where the result begins is not read.
    package var skipsToStart = false
    /// How many leading fields of the index have a single value in all entries read, or one that
    /// is written in several ways.
    package var pinnedFields = 0
    /// The conditions that the access itself fulfils; the others are checked on documents.
    package var used: Set<DocumentCondition> = []

    /// The largest number of index values that are looked up one by one.
    package static let rangesMax = 128

    /// The plan of a query.
    ///
    /// - Parameter indexes: the usable indexes; of two with an equal fit, the first one is used.
    package init(_ query: DocumentQuery, indexes: [IndexModel]) {
        let facts = QueryFacts(query.conditions)
        if facts.isNever {
            self.init(.nothing, isInOrder: true, isReversed: false, isExact: true)
            return
        }
        if let ids = facts.values[.id] {
            self.init(
                .ids(ids.compactMap(Self.id)), isInOrder: query.order.isEmpty,
                isReversed: query.isDescendingByID,
                isExact: query.conditions.allSatisfy { facts.used(by: [.id]).contains($0) })
            used = facts.used(by: [.id])
            return
        }
        for case .treeHas(let wanted?, let text) in query.conditions where query.hasRollUps {
            self.init(
                .trees(wanted), isInOrder: query.order.isEmpty,
                isReversed: query.isDescendingByID, isExact: false)
            used = [.treeHas(wanted, text: text)]
            return
        }
        self.init(
            .scan, isInOrder: query.order.isEmpty,
            isReversed: query.order.isEmpty && query.isDescendingByID,
            isExact: query.conditions.isEmpty)
        skipsToStart = isInOrder && query.start != nil
        var best = IndexFit.Score(equal: 0, hasRange: false, isInOrder: false)
        for index in indexes {
            let fit = IndexFit(index, query, facts)
            // For the order alone, an index only pays off when not all of it is read.
            guard fit.score > best, fit.score.isSelective || query.isPart else { continue }
            best = fit.score
            self = fit.plan(query, facts)
        }
    }

    private init(_ access: Access, isInOrder: Bool, isReversed: Bool, isExact: Bool) {
        self.access = access
        self.isInOrder = isInOrder
        self.isReversed = isReversed
        self.isExact = isExact
    }

    init(
        _ index: IndexModel, _ ranges: [KeyRange], isInOrder: Bool, isReversed: Bool, isExact: Bool,
        skipsToStart: Bool, pinnedFields: Int, used: Set<DocumentCondition>
    ) {
        access = .index(index, ranges)
        self.isInOrder = isInOrder
        self.isReversed = isReversed
        self.isExact = isExact
        self.skipsToStart = skipsToStart
        self.pinnedFields = pinnedFields
        self.used = used
    }

    /// The ranges of the index by the values of the pinned fields, where the entries of these have
    /// to be merged; else all in one.
    var groups: [[KeyRange]] {
        guard case .index(_, let ranges) = access else { return [] }
        guard isInOrder, pinnedFields > 0, ranges.count > 1 else { return [ranges] }
        var groups: [[KeyRange]] = []
        var last: ArraySlice<UInt8>?
        for range in ranges {
            let values = range.lower[..<OrderKey.end(of: range.lower, behind: pinnedFields)]
            if values != last { groups.append([]) }
            groups[groups.count - 1].append(range)
            last = values
        }
        return groups
    }

    /// The text of an id's bytes; nil when they are no text.
    private static func id(_ bytes: [UInt8]) -> String? {
        guard bytes.count > 3, bytes.first == textTag else { return nil }
        return String(decoding: bytes.dropFirst().dropLast(2), as: UTF8.self)
    }

    private static let textTag: UInt8 = 6
}
