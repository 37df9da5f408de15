// QueryPlan.swift — how a query is answered: a pure function of the query and the indexes there
// are.
//
// An index is used for its first fields. As many as are equal to something are looked up, each
// value of an `in` by itself; the next one may be a range. Whatever is found is checked again on
// the document, so that a plan can be slow and never wrong.

package import TidemarkEvents

/// Where a query looks, and what is left to do with what it finds.
package struct QueryPlan: Sendable, Hashable {
    package enum Access: Sendable, Hashable {
        /// No entity can be meant.
        case nothing
        /// The entities of those ids, in ascending order.
        case ids([String])
        /// The entries of an index in those ranges, ascending and apart from each other.
        case index(IndexModel, [KeyRange])
        /// The whole collection, by id.
        case scan
    }

    package var access: Access
    /// Whether what is found is in the query's order, or in that turned around.
    package var isInOrder: Bool
    /// Whether it is to be walked from the end.
    package var isReversed: Bool
    /// Whether everything that is found meets the conditions, as far as whole values were compared.
    package var isExact: Bool
    /// How many fields at the front of the index have one value only in all that is found.
    package var pinnedFields = 0
    /// The conditions by which the access is found; the others are checked.
    package var used: Set<DocumentCondition> = []

    /// The most values of an index that are looked up one by one.
    package static let rangesMax = 128

    /// The plan of a query.
    ///
    /// - Parameter indexes: those that can be read; of two that fit as well the first is taken.
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
        self.init(
            .scan, isInOrder: query.order.isEmpty, isReversed: false,
            isExact: query.conditions.isEmpty)
        isInOrder = query.order.isEmpty && !query.isDescendingByID
        var best = IndexFit.Score(equal: 0, hasRange: false, isInOrder: false)
        for index in indexes {
            let fit = IndexFit(index, query, facts)
            // For its order alone, an index is worth it when not all of it is read.
            guard fit.score > best, fit.score.isSelective || query.limit != nil else { continue }
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
        pinnedFields: Int, used: Set<DocumentCondition>
    ) {
        access = .index(index, ranges)
        self.isInOrder = isInOrder
        self.isReversed = isReversed
        self.isExact = isExact
        self.pinnedFields = pinnedFields
        self.used = used
    }

    /// The text of an id's bytes; nil for what is no text.
    private static func id(_ bytes: [UInt8]) -> String? {
        guard bytes.count > 3, bytes.first == textTag else { return nil }
        return String(decoding: bytes.dropFirst().dropLast(2), as: UTF8.self)
    }

    private static let textTag: UInt8 = 6
}
