// DocumentQuery.swift — a query in terms of the documents of one collection: the server's field
// names, and values as sortable bytes (OrderKey.swift).
//
// Every comparison is a range of bytes, and an index stores the same bytes. So a document meets a
// query or not, whichever way it was found.

package import TidemarkEvents
package import TidemarkRules
package import TidemarkViews

/// A query of one collection, ready to be applied to documents; a pure value.
package struct DocumentQuery: Sendable {
    package struct Order: Sendable, Hashable {
        package var field: IndexField
        package var isDescending: Bool
        /// Whether texts stand without case, accents and width; no index has such an order.
        package var isFolded = false
        /// What the field refers to, where one entity may be written in several ways: each stands
        /// as the key that the entity keeps, and no index has such an order.
        package var target: CollectionName?
        /// Whether null and missing values count as greatest, and not as least.
        package var isNullGreatest = false
    }

    /// A place in the order.
    struct Start: Sendable {
        /// The values that the order's fields have there.
        let values: [[UInt8]]
        let id: String
        let sortKey: [UInt8]
    }

    package let collection: CollectionModel
    /// The conditions, all of which must be true.
    package let conditions: [DocumentCondition]
    /// Only fields: ids are unique, so an order by id ends the order.
    package private(set) var order: [Order]
    /// Whether entities that are equal in the whole order are sorted by descending ids.
    package private(set) var isDescendingByID: Bool
    /// The place behind which the result begins; nil for all of it.
    private(set) var start: Start?
    /// Whether the order is the reverse of the one that was asked for, and so the result is found
    /// from its end: the one that ends at a place.
    let isTurned: Bool
    package let limit: Int?
    package let offset: Int
    /// Whether entities are left out that can't be read as the app's type; limit and offset don't
    /// count them.
    package let isDecodable: Bool
    /// The names of all fields that the query reads, in UTF-8, without duplicates.
    let members: [[UInt8]]
    /// Reads them.
    let reader: FieldReader
    /// Whether it asks for what counts in entities.
    let asksForTrees: Bool
    /// Whether anything may count in its entities.
    let hasRollUps: Bool

    /// Whether not all that meets the conditions is asked for.
    var isPart: Bool { limit != nil || start != nil }

    /// Whether all that meets the conditions is asked for, so that no order matters.
    var isWhole: Bool { !isPart && offset == 0 }

    /// How many entities are needed from the beginning, including skipped ones; nil for all, and
    /// where it is not known how many are left out.
    package var needed: Int? {
        guard !isDecodable,
            let (count, isTooMany) = limit?.addingReportingOverflow(offset)
        else { return nil }
        return isTooMany ? nil : count
    }

    /// - Throws: ``TidemarkError``: `noModel` when the model has no such collection, and what
    ///   ``init(_:in:hasRollUps:isAmbiguous:ids:)`` throws.
    ///
    /// - Parameters:
    ///   - hasAliases: whether any id in a collection is another one's alias; asked only where it
    ///     matters.
    ///   - ids: returns all ids of an entity, that of its key first.
    package init(
        _ terms: QueryTerms, of name: CollectionName, in model: SyncModel,
        hasAliases: (CollectionName) throws -> Bool,
        ids: (EntityKey) throws -> [String]
    ) throws {
        guard let collection = model[name] else {
            throw TidemarkError.noCollection(name, in: model)
        }
        try self.init(
            terms, in: collection, hasRollUps: model.hasRollUps(of: name),
            isAmbiguous: { try model[$0]?.ids != .client || hasAliases($0) }, ids: ids)
    }

    /// - Throws: ``TidemarkError`` `unknownField` when the query has a key path without a name.
    ///
    /// - Parameters:
    ///   - hasRollUps: whether anything may count in the collection's entities.
    ///   - isAmbiguous: whether a reference to an entity of a collection may be written in several
    ///     ways.
    ///   - ids: returns all ids of an entity, that of its key first.
    package init(
        _ terms: QueryTerms, in collection: CollectionModel, hasRollUps: Bool = false,
        isAmbiguous: (CollectionName) throws -> Bool = { _ in false },
        ids: (EntityKey) throws -> [String] = { [$0.id] }
    ) throws {
        self.collection = collection
        self.hasRollUps = hasRollUps
        conditions = try withoutActuallyEscaping(ids) { ids in
            let reader = TermReader(collection: collection, ids: ids)
            return try terms.condition.map { try reader.condition($0).flattened } ?? []
        }
        asksForTrees = conditions.contains(where: \.asksForTrees)
        let reader = TermReader(collection: collection, ids: { [$0.id] })
        isTurned = if case .before? = terms.bound { true } else { false }
        var order: [Order] = []
        var isDescending = isTurned
        for item in terms.order {
            let field = try reader.field(item.field)
            // A repeated field is equal already at its second occurrence; a text that was folded
            // before may differ.
            let isKnown = order.contains {
                .field($0.field) == field && (item.isFolded || !$0.isFolded)
            }
            if isKnown { continue }
            isDescending = item.isDescending != isTurned
            guard case .field(let field) = field else { break }
            var target = item.isFolded ? nil : collection.target(of: field)
            if let named = target, try !isAmbiguous(named) { target = nil }
            order.append(
                Order(
                    field: field, isDescending: isDescending, isFolded: item.isFolded,
                    target: target, isNullGreatest: item.isNullGreatest))
        }
        isDescendingByID = isDescending
        self.order = order
        limit = terms.limit
        offset = terms.offset
        isDecodable = terms.isDecodable
        var members: [[UInt8]] = []
        var names: [String] = []
        for name in conditions.flatMap(\.fieldNames) + order.map(\.field.name) {
            let bytes = Array(name.utf8)
            guard !members.contains(bytes) else { continue }
            members.append(bytes)
            names.append(name)
        }
        self.members = members
        self.reader = FieldReader(names)
        switch terms.bound {
        case .after(let place)?, .before(let place)?:
            start = try beginning(behind: place) {
                EntityKey($0.collection, try ids($0).first ?? $0.id)
            }
        case nil: break
        }
    }

    /// The same without the order, for a caller that only counts, unless the result begins at a
    /// place in it.
    var unordered: DocumentQuery {
        guard start == nil else { return self }
        var query = self
        (query.order, query.isDescendingByID) = ([], false)
        return query
    }
}

extension RowReading {
    /// A query in terms of the documents of its collection, of which entities are named by any of
    /// their ids, also by one that is gone.
    package func documentQuery(
        _ terms: QueryTerms, of name: CollectionName
    ) throws -> DocumentQuery {
        try DocumentQuery(
            terms, of: name, in: try model(), hasAliases: { try self.hasAliases(in: $0) },
            ids: { try self.keys(of: $0).map(\.id) })
    }
}

extension CollectionModel {
    /// What a field refers to; nil where it is no reference, or read as a time.
    fileprivate func target(of field: IndexField) -> CollectionName? {
        guard field.kind == .value else { return nil }
        let name = ExactString(field.name)
        return references.first { ExactString($0.field) == name }?.collection
    }
}

/// A compared part of a document.
package enum DocumentField: Sendable, Hashable {
    /// The id that the entity keeps forever, whatever the document holds.
    case id
    /// A top-level field.
    case field(IndexField)

    /// The field's name, `id` for the id.
    package var name: String {
        switch self {
        case .id: "id"
        case .field(let field): field.name
        }
    }
}

/// A condition on documents, with its text.
package indirect enum DocumentCondition: Sendable, Hashable {
    /// The value is one of these, which are in ascending order; false if there are none. They may
    /// all be one value: the ids of an entity, each as a text and as a number.
    case isIn(DocumentField, [[UInt8]], isOneValue: Bool = false, text: String)
    /// The value lies in the range.
    case range(DocumentField, KeyRange, text: String)
    /// The value is a text, and without case, accents and width it has these bytes in it.
    case hasText(IndexField, [UInt8], text: String)
    /// The value is a list, and one of its elements is one of these, which are in ascending order.
    case contains(IndexField, [[UInt8]], text: String)
    /// The entity or what counts in it is that; with nil, all of it is as the server has it.
    case treeHas(RollUpClass?, text: String)
    case and([DocumentCondition])
    case or([DocumentCondition])
    case not(DocumentCondition, text: String)

    /// The conditions that this one joins by "and".
    var flattened: [DocumentCondition] {
        if case .and(let conditions) = self { conditions.flatMap(\.flattened) } else { [self] }
    }

    /// The condition as text for people.
    var text: String {
        switch self {
        case .isIn(_, _, _, let text), .range(_, _, let text), .hasText(_, _, let text),
            .contains(_, _, let text), .treeHas(_, let text), .not(_, let text):
            text
        case .and(let conditions): conditions.map(\.text).joined(separator: " and ")
        case .or(let conditions):
            "(" + conditions.map(\.text).joined(separator: " or ") + ")"
        }
    }

    /// Whether what counts in an entity matters.
    fileprivate var asksForTrees: Bool {
        switch self {
        case .isIn, .range, .hasText, .contains: false
        case .treeHas: true
        case .and(let conditions), .or(let conditions): conditions.contains(where: \.asksForTrees)
        case .not(let condition, _): condition.asksForTrees
        }
    }

    /// The names of the compared fields, without the id.
    fileprivate var fieldNames: [String] {
        switch self {
        case .isIn(.field(let field), _, _, _), .range(.field(let field), _, _),
            .hasText(let field, _, _), .contains(let field, _, _):
            [field.name]
        case .isIn(.id, _, _, _), .range(.id, _, _), .treeHas: []
        case .and(let conditions), .or(let conditions): conditions.flatMap(\.fieldNames)
        case .not(let condition, _): condition.fieldNames
        }
    }
}
