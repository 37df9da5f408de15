// DocumentQuery+Matches.swift — whether a document meets a query, and its sort key; pure.

import TidemarkEvents
package import TidemarkRules
import TidemarkStore
import TidemarkViews

extension DocumentQuery {
    /// Whether an entity meets all conditions; limit and offset are not considered.
    ///
    /// - Parameters:
    ///   - document: an object, as today's model reads it.
    ///   - tree: what counts in the entity, itself included; of no matter where the query does not
    ///     ask for it.
    package func matches(
        _ document: [UInt8], id: String, tree: RollUpClasses = []
    ) -> Bool {
        if conditions.isEmpty { return true }
        var values = FieldValues(self, document, id: id, tree)
        return values.satisfy(conditions)
    }

    /// The sort key of an entity, without its id: the entity with the lesser bytes comes first.
    package func sortKey(_ document: [UInt8], id: String) -> [UInt8] {
        if order.isEmpty { return [] }
        var values = FieldValues(self, document, id: id, [])
        var key: [UInt8] = []
        // The bytes of descending fields are inverted: no value's bytes are a prefix of another's.
        for item in order {
            let bytes = values[.field(item.field)]
            if item.isDescending { key += bytes.map { ~$0 } } else { key += bytes }
        }
        return key
    }
}

/// The fields of one document in comparable form; each is read only once.
private struct FieldValues {
    private let query: DocumentQuery
    private let id: String
    private let tree: RollUpClasses
    /// The bytes of the members, in the order of the query's fields.
    private let members: [ArraySlice<UInt8>?]
    private var known: [(field: DocumentField, bytes: [UInt8])] = []

    init(_ query: DocumentQuery, _ document: [UInt8], id: String, _ tree: RollUpClasses) {
        self.query = query
        self.id = id
        self.tree = tree
        members = query.reader.values(of: document[...])
    }

    mutating func satisfy(_ conditions: [DocumentCondition]) -> Bool {
        for condition in conditions where !satisfies(condition) { return false }
        return true
    }

    private mutating func satisfies(_ condition: DocumentCondition) -> Bool {
        switch condition {
        case .isIn(let field, let values, _):
            let bytes = self[field]
            let place = values.partitioningIndex { !ByteOrder.precedes($0, bytes) }
            return place < values.count && ByteOrder.areEqual(values[place], bytes)
        case .range(let field, let range, _): return range.contains(self[field])
        case .treeHas(let one?, _): return tree.contains(RollUpClasses(one))
        case .treeHas(nil, _): return tree.isEmpty
        case .and(let conditions): return satisfy(conditions)
        case .or(let conditions):
            for condition in conditions where satisfies(condition) { return true }
            return false
        case .not(let condition, _): return !satisfies(condition)
        }
    }

    subscript(field: DocumentField) -> [UInt8] {
        mutating get {
            if let known = known.first(where: { $0.field == field }) { return known.bytes }
            var bytes: [UInt8] = []
            let dates = query.collection.dates
            switch field {
            case .id: OrderKey.append(.string(id), kind: .value, dates: dates, to: &bytes)
            case .field(let inner):
                let name = Array(inner.name.utf8)
                let raw = query.members.firstIndex(of: name).flatMap { members[$0] }
                OrderKey.append(raw, kind: inner.kind, dates: dates, to: &bytes)
            }
            known.append((field, bytes))
            return bytes
        }
    }
}

extension Array {
    /// The first index from which on a condition is true, in an array where it is false before.
    fileprivate func partitioningIndex(_ isTrue: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isTrue(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
