// QueryFacts.swift — the values and ranges that a query's conditions demand of single fields.

import TidemarkEvents
import TidemarkViews

/// The values and ranges that fields must have; conditions on several fields are not included.
struct QueryFacts {
    /// The values that a field can have, ascending.
    private(set) var values: [DocumentField: [[UInt8]]] = [:]
    /// The fields whose values are all one: the ids of an entity, however they are written.
    private(set) var oneValued: Set<DocumentField> = []
    /// The range that a field's value must lie in.
    private(set) var ranges: [DocumentField: KeyRange] = [:]
    /// The fields in the order in which the conditions name them.
    private(set) var fields: [DocumentField] = []
    /// Whether no document can meet the conditions.
    private(set) var isNever = false
    private var sources: [(field: DocumentField, isRange: Bool, condition: DocumentCondition)] = []

    init(_ conditions: [DocumentCondition]) {
        for condition in conditions {
            switch condition {
            case .isIn(let field, let all, let isOneValue, _):
                let known = values[field]
                values[field] = known.map { known in all.filter(known.contains) } ?? all
                if values[field]?.isEmpty == true { isNever = true }
                if isOneValue { oneValued.insert(field) }
                note(field, false, condition)
            case .range(let field, let range, _):
                let both = ranges[field]?.intersection(range) ?? range
                ranges[field] = both
                if both.isEmpty { isNever = true }
                note(field, true, condition)
            case .hasText, .contains, .treeHas, .and, .or, .not: break
            }
        }
    }

    private mutating func note(
        _ field: DocumentField, _ isRange: Bool, _ condition: DocumentCondition
    ) {
        sources.append((field, isRange, condition))
        if !fields.contains(field) { fields.append(field) }
    }

    /// The conditions that are met by all documents with these values and ranges of these fields.
    func used(by fields: [DocumentField]) -> Set<DocumentCondition> {
        Set(
            sources.filter { source in
                fields.contains(source.field) && (values[source.field] == nil || !source.isRange)
            }.map(\.condition))
    }
}
