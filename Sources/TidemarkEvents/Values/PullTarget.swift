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
        let all = ListParameters(scope: scope)
        // Logs of before name the values of a parameter in any order.
        self.scope = all?.scope ?? scope
        parameters = all?.setting(Self.basis, nil) ?? [:]
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

    /// The member of a scope that says what its list depends on beside the parameters.
    private static let basis = "~"

    /// The same list, on another basis: a part with a watermark of its own.
    ///
    /// - Parameter basis: what it depends on beside its parameters; nil for nothing.
    package func on(_ basis: String?) -> PullTarget {
        guard let basis, !parameters.isEmpty else { return self }
        return PullTarget(self, scope: parameters.setting(Self.basis, basis).scope)
    }

    private init(_ target: PullTarget, scope: String) {
        collection = target.collection
        self.scope = scope
        parameters = target.parameters
        limit = target.limit
        isShared = target.isShared
    }

    /// The lists of a collection whose parameters are still to be read from documents.
    package static func open(_ collection: CollectionName) -> PullTarget {
        PullTarget(collection, scope: openScope)
    }

    /// The scope of ``open(_:)``, which no list has.
    private static let openScope = "?"

    /// A folder of a tree by paths, of which a watermark tells the version at which it was listed
    /// with all that lies below; without an id the root.
    package static func folder(_ id: String?, of collection: CollectionName) -> PullTarget {
        PullTarget(collection, scope: folderScope + (id ?? ""))
    }

    /// What begins the scope of a folder.
    package static let folderScope = "folder:"

    /// The folder's id, empty for the root; nil where it is no folder.
    package var folder: String? {
        scope.hasPrefix(Self.folderScope) ? String(scope.dropFirst(Self.folderScope.count)) : nil
    }

    /// Whether it stands for lists whose parameters are still to be read from documents.
    package var isOpen: Bool { scope == Self.openScope }

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
    ///
    /// Parts whose parameters come from documents are not among them.
    package var listTargets: [PullTarget] {
        if hasListSources { return listTargets { $0.from.isEmpty ? [$0.parameters] : [] } }
        let shared = limitOfShares
        return (lists ?? [ListRule([:])]).map { rule in
            let isShared = shared != nil && rule.limit == nil
            return PullTarget(
                name, rule.parameters, limit: rule.limit ?? shared, isShared: isShared)
        }
    }

    /// What its lists are of, each part once.
    ///
    /// - Parameter parts: the parameters of each list that a rule leads to.
    package func listTargets(
        _ parts: (ListRule) throws -> [ListParameters]
    ) rethrows -> [PullTarget] {
        var found: [(parameters: ListParameters, limit: Int?)] = []
        for rule in lists ?? [ListRule([:])] {
            found += try parts(rule).map { ($0, rule.limit) }
        }
        let shared = listLimit.map { all in max(0, found.reduce(all) { $0 - ($1.limit ?? 0) }) }
        var seen: Set<PullTarget> = []
        return found.compactMap { part in
            let isShared = shared != nil && part.limit == nil
            let target = PullTarget(
                name, part.parameters, limit: part.limit ?? shared, isShared: isShared)
            return seen.insert(target).inserted ? target : nil
        }
    }

    /// Whether parameters of its lists come from documents.
    package var hasListSources: Bool { lists?.contains { !$0.from.isEmpty } ?? false }

    /// How many entities the lists without a limit of their own ask for together; nil for all, and
    /// where the limits of the others leave none.
    var limitOfShares: Int? {
        guard let listLimit else { return nil }
        let left = (lists ?? []).reduce(listLimit) { $0 - ($1.limit ?? 0) }
        return left > 0 ? left : nil
    }

    /// Whether it is not listed as a whole.
    package var isListedInParts: Bool { lists.map { $0 != [ListRule([:])] } ?? false }
}
