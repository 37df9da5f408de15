// ModelCache.swift — the registered model, taken from its JSON once and not with every commit.

import TidemarkEvents
import TidemarkStore

/// Remembers what the last registration's bytes mean.
package final class ModelCache: Sendable {
    private let known = Lock<(payload: [UInt8], model: SyncModel)?>(nil)

    package init() {}

    /// The model of a registration; one without collections where it can't be understood.
    func model(_ fact: StoreFactRow) -> SyncModel {
        known.withLock { known in
            if let known, known.payload == fact.payload { return known.model }
            let parsed = try? ModelRegistration(parsing: fact.payload, isLogged: true)
            let model = parsed?.model ?? SyncModel(name: "", collections: [])
            known = (fact.payload, model)
            return model
        }
    }
}
