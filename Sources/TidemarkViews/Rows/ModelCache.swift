// ModelCache.swift — the registered model, taken from its JSON once and not with every commit.

import TidemarkEvents
import TidemarkStore

/// Remembers what the last registration's bytes mean.
package final class ModelCache: Sendable {
    private struct Known {
        let payload: [UInt8]
        let model: SyncModel
        let plan: IndexPlan
        let rules: ModelRules
    }
    private let known = Lock<Known?>(nil)

    package init() {}

    /// The model of a registration; one without collections where it can't be understood.
    func model(_ fact: StoreFactRow) -> SyncModel { known(fact).model }

    /// The indexes that the model of a registration asks for.
    func plan(_ fact: StoreFactRow) -> IndexPlan { known(fact).plan }

    /// The rules that the model of a registration has.
    func rules(_ fact: StoreFactRow) -> ModelRules { known(fact).rules }

    private func known(_ fact: StoreFactRow) -> Known {
        known.withLock { known in
            if let known, known.payload == fact.payload { return known }
            let parsed = try? ModelRegistration(parsing: fact.payload, isLogged: true)
            let model = parsed?.model ?? SyncModel(name: "", collections: [])
            let made = Known(
                payload: fact.payload, model: model, plan: IndexPlan(model),
                rules: ModelRules(model))
            known = made
            return made
        }
    }
}
