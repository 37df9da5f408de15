// QueryTerm.swift — a query as written in code, with coding keys and values, before a model gives
// them their meaning in documents.

package import TidemarkEvents

/// The subject of a part of a query.
package struct QueryField: Sendable, Hashable {
    package enum Place: Sendable, Hashable {
        /// The id that the entity keeps forever.
        case id
        /// A coding key of the app's type.
        case codingKey(String)
        /// A field by the server's name.
        case field(String)
        /// A key path without a name, with the error message for it.
        case unlisted(String)
    }

    package var place: Place
    /// How the values are ordered.
    package var kind: IndexField.Kind

    package init(_ place: Place, _ kind: IndexField.Kind = .value) {
        self.place = place
        self.kind = kind
    }
}

package enum QueryComparison: String, Sendable, Hashable, CaseIterable {
    case equal = "="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
}

/// A condition as written in code.
package indirect enum QueryTerm: Sendable, Hashable {
    case compare(QueryField, QueryComparison, QueryLiteral)
    case isIn(QueryField, [QueryLiteral])
    case hasPrefix(QueryField, ExactString)
    /// The text has this one in it, whatever the case, accents and width of both.
    case hasText(QueryField, ExactString)
    /// The list has this value as an element.
    case contains(QueryField, QueryLiteral)
    /// The entity or what counts in it has that status.
    case treeHas(EntityStatus)
    case and(QueryTerm, QueryTerm)
    case or(QueryTerm, QueryTerm)
    case not(QueryTerm)
}

/// A query as written in code.
package struct QueryTerms: Sendable, Hashable {
    package struct Order: Sendable, Hashable {
        package var field: QueryField
        package var isDescending: Bool
        /// Whether texts stand without case, accents and width.
        package var isFolded: Bool
        /// Whether null and missing values count as greatest, and not as least.
        package var isNullGreatest: Bool

        package init(
            _ field: QueryField, isDescending: Bool = false, isFolded: Bool = false,
            isNullGreatest: Bool = false
        ) {
            self.field = field
            self.isDescending = isDescending
            self.isFolded = isFolded
            self.isNullGreatest = isNullGreatest
        }
    }

    /// The place of an entity in any order, as it was when it was asked for.
    package struct Place: Sendable, Hashable {
        package let key: EntityKey
        /// The document, as the model read it.
        package let document: [UInt8]

        package init(_ key: EntityKey, _ document: [UInt8]) {
            self.key = key
            self.document = document
        }
    }

    /// Where the result begins or ends.
    package enum Bound: Sendable, Hashable {
        case after(Place)
        case before(Place)
    }

    /// Nil for all entities.
    package var condition: QueryTerm?
    package var order: [Order] = []
    package var limit: Int?
    package var offset = 0
    package var bound: Bound?
    /// Whether entities are left out that can't be read as the app's type.
    package var isDecodable = false

    package init(condition: QueryTerm? = nil) { self.condition = condition }
}
