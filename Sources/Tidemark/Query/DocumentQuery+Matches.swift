// DocumentQuery+Matches.swift — whether a document meets a query, and its sort key; pure.

import TidemarkEvents
package import TidemarkRules
import TidemarkStore
import TidemarkViews

extension DocumentQuery {
    /// Whether an entity meets all conditions and comes behind the place where the result begins;
    /// limit and offset are not considered, nor that place where references are in the order: what
    /// they name only a store tells.
    ///
    /// - Parameters:
    ///   - document: an object, as today's model reads it.
    ///   - tree: what counts in the entity, itself included; of no matter where the query does not
    ///     ask for it.
    package func matches(
        _ document: [UInt8], id: String, tree: RollUpClasses = []
    ) -> Bool {
        if conditions.isEmpty, start == nil { return true }
        var values = FieldValues(self, document, id: id, tree)
        guard values.satisfy(conditions) else { return false }
        guard let start, order.allSatisfy({ $0.target == nil }) else { return true }
        return ByteOrder.precedes(start.sortKey, values.sortKey(of: self, { $0 }))
    }

    /// The sort key of an entity that ``matches(_:id:tree:)``; nil for another one.
    ///
    /// No other entity has it: that with the lesser bytes comes first.
    ///
    /// - Parameters:
    ///   - isRanked: whether it is needed; it may be empty else.
    ///   - key: the key that an entity keeps, of any id of it.
    func match(
        _ document: [UInt8], id: String, tree: RollUpClasses, isRanked: Bool,
        key: (EntityKey) throws -> EntityKey
    ) throws -> [UInt8]? {
        if conditions.isEmpty, start == nil, !isRanked { return [] }
        var values = FieldValues(self, document, id: id, tree)
        guard values.satisfy(conditions) else { return nil }
        guard isRanked || start != nil else { return [] }
        let sortKey = try values.sortKey(of: self, key)
        if let start, !ByteOrder.precedes(start.sortKey, sortKey) { return nil }
        return sortKey
    }

    /// - Parameter key: the key that an entity keeps, of any id of it.
    func beginning(
        behind place: QueryTerms.Place, key: (EntityKey) throws -> EntityKey
    ) throws -> Start {
        var values = FieldValues(self, place.document, id: place.key.id, [])
        return Start(
            values: try order.map { try values.comparable(in: $0, key) }, id: place.key.id,
            sortKey: try values.sortKey(of: self, key))
    }
}

/// The fields of one document in comparable form; each is read only once, but folded anew for each
/// condition.
private struct FieldValues {
    /// What is needed of the query: a copy of all of it for each document would take longer than
    /// the comparison.
    private let dates: DateFormat
    private let names: [[UInt8]]
    private let id: String
    private let tree: RollUpClasses
    /// The bytes of the members, in the order of the query's fields.
    private let members: [ArraySlice<UInt8>?]
    private var known: [(field: DocumentField, bytes: [UInt8])] = []

    init(_ query: DocumentQuery, _ document: [UInt8], id: String, _ tree: RollUpClasses) {
        dates = query.collection.dates
        names = query.members
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
        case .isIn(let field, let values, _, _): return values.hasSorted(self[field])
        case .range(let field, let range, _): return range.contains(self[field])
        case .hasText(let field, let part, _):
            return FoldedText.bytes(ofJSON: raw(field)).map { FoldedText.contains($0, part) }
                ?? false
        case .contains(let list, let values, _):
            return elements(of: list).contains { values.hasSorted($0) }
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
            switch field {
            case .id:
                OrderKey.append(.string(id), kind: .value, dates: dates, to: &bytes)
            case .field(let inner): bytes = comparable(raw(inner), inner.kind)
            }
            known.append((field, bytes))
            return bytes
        }
    }

    /// The values of the fields in the order of the query, and the id.
    ///
    /// - Parameter key: the key that an entity keeps, of any id of it.
    mutating func sortKey(
        of query: DocumentQuery, _ key: (EntityKey) throws -> EntityKey
    ) rethrows -> [UInt8] {
        var sortKey: [UInt8] = []
        // What is descending has its bytes inverted: none are a prefix of another's.
        for item in query.order {
            let bytes = try comparable(in: item, key)
            if item.isDescending { sortKey += bytes.map { ~$0 } } else { sortKey += bytes }
        }
        let end = Array(id.utf8) + [0]
        if query.isDescendingByID { sortKey += end.map { ~$0 } } else { sortKey += end }
        return sortKey
    }

    /// The value by which an order sorts.
    mutating func comparable(
        in order: DocumentQuery.Order, _ key: (EntityKey) throws -> EntityKey
    ) rethrows -> [UInt8] {
        let value = try value(in: order, key)
        return order.isNullGreatest && value == OrderKey.null ? OrderKey.greatestNull : value
    }

    private mutating func value(
        in order: DocumentQuery.Order, _ key: (EntityKey) throws -> EntityKey
    ) rethrows -> [UInt8] {
        if let target = order.target, let id = idText(order.field) {
            let lasting = try key(EntityKey(target, id)).id
            return (QueryLiteral.wholeNumber(lasting) ?? .text(lasting))
                .bytes(kind: .value, dates: dates)
        }
        guard order.isFolded, let folded = FoldedText.bytes(ofJSON: raw(order.field)) else {
            return self[.field(order.field)]
        }
        var bytes: [UInt8] = []
        OrderKey.append(
            .string(String(decoding: folded, as: UTF8.self)), kind: .value, dates: dates,
            to: &bytes)
        return bytes
    }

    /// The elements of a list; none of a value that is no list.
    private func elements(of list: IndexField) -> [[UInt8]] {
        let raw = raw(list).map { Array($0) } ?? []
        let places = (try? JSON.arrayElements(of: raw)) ?? []
        return places.map { comparable(raw[$0], list.kind) }
    }

    /// The id that a field names; nil of a value that is none.
    private func idText(_ field: IndexField) -> String? {
        raw(field).flatMap { try? JSONValue(parsing: $0) }?.idText
    }

    private func raw(_ field: IndexField) -> ArraySlice<UInt8>? {
        names.firstIndex(of: Array(field.name.utf8)).flatMap { members[$0] }
    }

    private func comparable(_ raw: ArraySlice<UInt8>?, _ kind: IndexField.Kind) -> [UInt8] {
        var bytes: [UInt8] = []
        OrderKey.append(raw, kind: kind, dates: dates, to: &bytes)
        return bytes
    }
}

extension [[UInt8]] {
    /// Whether this is among them, which are in ascending order.
    fileprivate func hasSorted(_ bytes: [UInt8]) -> Bool {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if ByteOrder.precedes(self[middle], bytes) { low = middle + 1 } else { high = middle }
        }
        return low < count && ByteOrder.areEqual(self[low], bytes)
    }
}
