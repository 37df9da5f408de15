// ModelCache.swift — the registered model, taken from its JSON once and not with every commit.

import TidemarkEvents
import TidemarkStore

/// A registered model, and what follows from it alone.
final class RegisteredModel: Sendable {
    let model: SyncModel
    /// The indexes that it asks for.
    let plan: IndexPlan
    /// The rules that it has.
    let rules: ModelRules

    /// What holds before any model is registered.
    static let none = RegisteredModel(SyncModel(name: "", collections: []))

    init(_ model: SyncModel) {
        self.model = model
        plan = IndexPlan(model)
        rules = ModelRules(model)
    }
}

/// Remembers what the last registration's bytes mean.
package final class ModelCache: Sendable {
    private let known = Lock<(payload: [UInt8], model: RegisteredModel)?>(nil)

    package init() {}

    /// What a registration means; a model without collections where it can't be understood.
    func registered(_ fact: StoreFactRow) -> RegisteredModel {
        known.withLock { known in
            if let known, known.payload == fact.payload { return known.model }
            let parsed = try? ModelRegistration(parsing: fact.payload, isLogged: true)
            let made = parsed.map { RegisteredModel($0.model) } ?? .none
            known = (fact.payload, made)
            return made
        }
    }

    /// The model of a registration.
    func model(_ fact: StoreFactRow) -> SyncModel { registered(fact).model }

    /// The indexes that the model of a registration asks for.
    func plan(_ fact: StoreFactRow) -> IndexPlan { registered(fact).plan }
}
