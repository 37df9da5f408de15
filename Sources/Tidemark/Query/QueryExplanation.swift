// QueryExplanation.swift — describes a query plan in words.

package import TidemarkEvents

/// How a query is carried out: the index used, the conditions checked on documents, and the
/// sorting.
public struct QueryExplanation: Sendable, Hashable, CustomStringConvertible {
    /// The kind of access.
    @nonexhaustive public enum Access: Sendable, Hashable {
        /// None: no entity can meet the conditions.
        case nothing
        /// Entities by their ids.
        case ids
        /// The entities in whose trees something is not synced.
        case trees
        /// An index of these fields.
        case index([IndexField])
        /// The whole collection is read.
        case scan
    }

    /// The kind of access.
    public let access: Access
    /// Whether the result has to be sorted; then all of it is read, whatever the limit.
    public let isSorted: Bool
    /// An index that would keep the query from reading the whole collection; nil when the query
    /// does not read it, and when no index would help.
    public let missingIndex: IndexModel?
    /// The plan in one line, for people: `index [list, due] of tasks: list = "home"; order by the
    /// index`.
    public let description: String

    package init(_ query: DocumentQuery, _ plan: QueryPlan) {
        isSorted = !plan.isInOrder
        var missing: IndexModel?
        let name = query.collection.name
        var parts: [String] = []
        switch plan.access {
        case .nothing:
            access = .nothing
            parts.append("nothing of \(name): no entity can meet the conditions")
        case .ids:
            access = .ids
            parts.append("ids of \(name)")
        case .trees:
            access = .trees
            parts.append("trees of \(name)")
        case .index(let index, _):
            access = .index(index.fields)
            parts.append("index \(index.written) of \(name)")
        case .scan:
            access = .scan
            parts.append("scan of \(name)")
            missing = Self.missingIndex(query)
        }
        var used = query.conditions.filter(plan.used.contains).map(\.text)
        var checked = query.conditions.filter { !plan.used.contains($0) }.map(\.text)
        if query.start != nil {
            let bound = query.isTurned ? "before a cursor" : "after a cursor"
            if plan.skipsToStart { used.append(bound) } else { checked.append(bound) }
        }
        if !used.isEmpty { parts[0] += ": " + used.joined(separator: ", ") }
        if !checked.isEmpty, plan.access != .nothing {
            parts.append("checked: " + checked.joined(separator: ", "))
        }
        if plan.access != .nothing {
            parts += Self.order(query, plan)
            if query.isDecodable { parts.append("left out: what can't be decoded") }
        }
        if let missing { parts.append("an index \(missing.written) would be looked up") }
        missingIndex = missing
        description = parts.joined(separator: "; ")
    }

    private static func order(_ query: DocumentQuery, _ plan: QueryPlan) -> [String] {
        func text(_ name: String, _ isDescending: Bool) -> String {
            name + (isDescending != query.isTurned ? " descending" : "")
        }
        let order =
            query.order.map {
                text(($0.isFolded ? "the text of " : "") + $0.field.name, $0.isDescending)
                    + nulls($0)
            }
            + (query.order.isEmpty ? [text("id", query.isDescendingByID)] : [])
        func nulls(_ order: DocumentQuery.Order) -> String {
            guard order.isNullGreatest else { return "" }
            return order.isDescending == query.isTurned ? " with nulls last" : " with nulls first"
        }
        if !plan.isInOrder { return ["sorted by " + order.joined(separator: ", ")] }
        guard case .index = plan.access, !query.order.isEmpty else { return [] }
        return ["order by the index" + (plan.isReversed ? ", from its end" : "")]
    }

    /// The fields with fixed values first, then one with a range, or those of the order where an
    /// index can have it.
    private static func missingIndex(_ query: DocumentQuery) -> IndexModel? {
        let facts = QueryFacts(query.conditions)
        var fields: [IndexField] = []
        for case .field(let field) in facts.fields where facts.values[.field(field)] != nil {
            fields.append(field)
        }
        let ranged = facts.fields.compactMap { field -> IndexField? in
            guard case .field(let inner) = field, facts.values[field] == nil else { return nil }
            return inner
        }
        if let range = ranged.first {
            fields.append(range)
        } else if query.isPart || !fields.isEmpty {
            let ordered = fields + query.order.map(\.field).filter { !fields.contains($0) }
            // An order comes from an index as a whole, or not at all.
            let fit = IndexFit(IndexModel(ordered), query, facts)
            if ordered.count <= IndexModel.fieldsMax, fit.score.isInOrder { fields = ordered }
        }
        return fields.isEmpty ? nil : IndexModel(Array(fields.prefix(IndexModel.fieldsMax)))
    }
}

extension IndexModel {
    /// The index as people write it: `[list, date due]`.
    var written: String {
        "["
            + fields.map { $0.kind == .date ? "date \($0.name)" : $0.name }.joined(separator: ", ")
            + "]"
    }
}
