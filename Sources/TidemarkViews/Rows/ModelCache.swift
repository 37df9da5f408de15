// ModelCache.swift — the registered model, taken from its JSON once and not with every commit.

package import TidemarkEvents
import TidemarkStore

/// A collection of a registered model, which is not copied by those who ask a little of it with
/// every event.
package final class KnownCollection: Sendable {
    package let model: CollectionModel
    /// Whether edits carry the time at which they were made.
    package let stampsEdits: Bool
    /// The rule of the app by which its conflicts are decided; nil where none does.
    let conflictRule: String?
    /// Whether an entity that came into reach has lists made again.
    let relistsOnGain: Bool
    /// The rules that look at its entities when an event wrote them.
    let meeting: [any FoldRule]
    /// The references by which its entities count in others that may be placeholders.
    package let parents: [Reference]

    init(_ model: CollectionModel, meeting: [any FoldRule], parents: [Reference]) {
        self.model = model
        self.meeting = meeting
        self.parents = parents
        stampsEdits = model.conflict.comparesTimes || model.rivals != nil
        relistsOnGain = model.access.relistsOnGain
        if case .custom(let rule) = model.conflict {
            conflictRule = rule
        } else {
            conflictRule = nil
        }
    }
}

/// A registered model, and what follows from it alone.
final class RegisteredModel: Sendable {
    let model: SyncModel
    /// The indexes that it asks for.
    let plan: IndexPlan
    /// The rules that it has.
    let rules: ModelRules
    /// Whether there are collections of which all is listed or nothing.
    let hasSets: Bool
    /// Whether there are trees.
    let hasTrees: Bool
    /// Its collections by name; of several with one name the first.
    let collections: [CollectionName: KnownCollection]

    /// What holds before any model is registered.
    static let none = RegisteredModel(SyncModel(name: "", collections: []))

    init(_ model: SyncModel) {
        self.model = model
        plan = IndexPlan(model)
        hasSets = model.collections.contains { $0.allOrNone != nil }
        hasTrees = model.collections.contains { $0.tree != nil }
        let rules = ModelRules(model)
        self.rules = rules
        let known = model.collections.map { collection in
            KnownCollection(
                collection, meeting: rules.meeting.filter { $0.isMet(by: collection, in: model) },
                parents: collection.references.filter {
                    $0.rollUp == .always && model[$0.collection]?.placeholder != nil
                })
        }
        collections = Dictionary(
            known.map { ($0.model.name, $0) }, uniquingKeysWith: { first, _ in first })
    }
}

/// Remembers what the last registration's bytes mean.
package final class ModelCache: Sendable {
    private typealias Entry = (payload: [UInt8], model: RegisteredModel)

    private let known = Lock<Entry?>(nil)
    /// The last registrations of all stores and capsules of this process: they mostly have the same
    /// model, which is parsed once.
    private static let latest = Lock<[Entry]>([])
    private static let latestMax = 4

    package init() {}

    /// What a registration means; a model without collections where it can't be understood.
    func registered(_ fact: StoreFactRow) -> RegisteredModel {
        known.withLock { known in
            if let known, known.payload == fact.payload { return known.model }
            let model = Self.latest.withLock { Self.model(of: fact.payload, &$0) }
            known = (fact.payload, model)
            return model
        }
    }

    private static func model(of payload: [UInt8], _ latest: inout [Entry]) -> RegisteredModel {
        if let entry = latest.first(where: { $0.payload == payload }) { return entry.model }
        let parsed = try? ModelRegistration(parsing: payload, isLogged: true)
        let model = parsed.map { RegisteredModel($0.model) } ?? .none
        latest = latest.suffix(latestMax - 1) + [(payload, model)]
        return model
    }

    /// The model of a registration.
    func model(_ fact: StoreFactRow) -> SyncModel { registered(fact).model }

    /// The indexes that the model of a registration asks for.
    func plan(_ fact: StoreFactRow) -> IndexPlan { registered(fact).plan }
}

extension Fold {
    /// The model in the log; an empty one where there is none.
    package func model() throws -> SyncModel { try registered().model }

    /// Whether there are collections of which all is listed or nothing.
    package func hasSets() throws -> Bool { try registered().hasSets }

    /// The rules that the registered model has.
    func rules() throws -> ModelRules { try registered().rules }

    /// The indexes that the registered model asks for.
    package func indexPlan() throws -> IndexPlan { try registered().plan }

    /// A collection's part of the model, or nil.
    package func knownCollection(_ name: CollectionName) throws -> CollectionModel? {
        try known(name)?.model
    }
}
