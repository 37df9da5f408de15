// Pools.swift — the code of the article of that name.

import Tidemark
import TidemarkSync

enum Pools {
    static func model() -> SyncModel {
        let people = CollectionModel("people")
        let model = SyncModel(
            name: "clinic", collections: [people],
            pools: [.init("cardNumbers", keys: [["lZGmxYbs97q", "OSL"]], fill: 100)])
        return model
    }

    static func register(_ replica: Replica, _ person: EntityKey) throws {
        try replica.write { tx in
            let number = try tx.take(from: "cardNumbers", key: ["lZGmxYbs97q", "OSL"])
            try tx.create(person, Array(#"{"card": "\#(number)"}"#.utf8))
        }
    }

    static func form(_ replica: Replica, _ engine: SyncEngine) async throws -> String {
        let key = ["lZGmxYbs97q", "OSL"]
        if try replica.valuesLeft(in: "cardNumbers", key: key) < 10 {
            _ = try await engine.sync(
                scope: .reserve([.init("cardNumbers", key, count: 200)]))
        }
        let number = try await replica.take(from: "cardNumbers", key: key)
        return number
    }

    static func tell(_ outcome: SyncOutcome) {
        for refill in outcome.refills {
            if let failure = refill.failure { print("\(refill.pool) \(refill.key): \(failure)") }
        }
    }
}
