// PullTarget.swift — what one list is of.

/// The subject of one list of a pull: a collection, or a part of it that has a list of its own.
///
/// Watermarks, unfinished lists and restarts are kept by target: by collection and scope.
package struct PullTarget: Sendable {
    package let collection: CollectionName
    /// The part's name; empty for all of the collection.
    package let scope: String
    /// The parameters of requests for that part.
    package let parameters: ListParameters
    /// How many entities a list of everything asks for; nil for all.
    package let limit: Int?
    /// Whether the limit is that of several lists together: ``CollectionModel/listLimit``.
    package let isShared: Bool

    /// A part of that name: of a feed, or one with parameters.
    package init(_ collection: CollectionName, scope: String = "") {
        self.collection = collection
        self.scope = scope
        parameters = ListParameters(scope: scope) ?? [:]
        limit = nil
        isShared = false
    }

    /// The list of what has these parameters.
    package init(
        _ collection: CollectionName, _ parameters: ListParameters, limit: Int? = nil,
        isShared: Bool = false
    ) {
        self.isShared = isShared
        self.collection = collection
        scope = parameters.scope
        self.parameters = parameters
        self.limit = limit
    }

    /// Whether its list may leave out entities that are there: others than its parameters name, or
    /// more than its limit.
    package var isPart: Bool { !parameters.isEmpty || limit != nil }
}

extension PullTarget: Hashable {
    package static func == (left: Self, right: Self) -> Bool {
        left.collection == right.collection && left.scope == right.scope
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(collection)
        hasher.combine(scope)
    }
}

extension PullTarget: ExpressibleByStringLiteral {
    /// All of a collection.
    package init(stringLiteral collection: String) { self.init(CollectionName(collection)) }
}

extension PullTarget: CustomStringConvertible {
    /// `tasks`, or `tasks/scope`.
    package var description: String {
        scope.isEmpty ? collection.rawValue : "\(collection)/\(scope)"
    }
}

extension CollectionModel {
    /// What its lists are of, where it is no feed: all of it, or each part that it is listed in.
    package var listTargets: [PullTarget] {
        let shared = limitOfShares
        return (lists ?? [ListRule([:])]).map { rule in
            let isShared = shared != nil && rule.limit == nil
            return PullTarget(
                name, rule.parameters, limit: rule.limit ?? shared, isShared: isShared)
        }
    }

    /// How many entities the lists without a limit of their own ask for together; nil for all, and
    /// where the limits of the others leave none.
    var limitOfShares: Int? {
        guard let listLimit else { return nil }
        let left = (lists ?? []).reduce(listLimit) { $0 - ($1.limit ?? 0) }
        return left > 0 ? left : nil
    }

    /// Whether it is not listed as a whole.
    var isListedInParts: Bool { lists.map { $0 != [ListRule([:])] } ?? false }
}
