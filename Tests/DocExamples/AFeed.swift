// AFeed.swift — the code of the article of that name.

import Tidemark
import TidemarkSync

enum AFeed {
    static func model() -> CollectionModel {
        let articles = CollectionModel(
            "articles",
            feed: .init(
                order: "releaseDate", change: "updatedAt", block: 50, ageMax: .months(12),
                reconcileEvery: .days(7)))
        return articles
    }

    static func fetch(_ engine: SyncEngine, _ id: String) async throws -> SyncOutcome {
        let outcome = try await engine.sync(
            .remoteChange, scope: .fetch([EntityKey("articles", id)]))
        return outcome
    }
}
