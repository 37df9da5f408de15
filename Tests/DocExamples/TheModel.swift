// TheModel.swift — each member of a model in Swift, as the article of that name shows it beside
// its JSON; a test compares them.

package import Tidemark
import TidemarkHTTP

package enum TheModel {
    package static func whole() -> ModelRegistration {
        let model = SyncModel(
            name: "todo",
            collections: [
                CollectionModel("lists"),
                CollectionModel(
                    "tasks", conflict: .localWins, references: [Reference("list", to: "lists")],
                    indexes: [["done", .date("due")]]),
            ])
        let remote = Remote.kinto(origin: "https://kinto.example.org", bucket: "todo")
        return ModelRegistration(model: model, remote: remote)
    }

    static func idField() -> CollectionModel {
        CollectionModel("tasks", idField: "uid")
    }

    static func lastChange() -> CollectionModel {
        CollectionModel("tasks", lastChangeField: "updated_at")
    }

    static func conflict() -> CollectionModel {
        CollectionModel("tasks", conflict: .preferNewer(field: "updated_at", margin: .seconds(5)))
    }

    static func references() -> CollectionModel {
        CollectionModel(
            "tasks",
            references: [Reference("list", to: "lists"), Reference("parent", to: "tasks")])
    }

    static func pageSize() -> CollectionModel {
        CollectionModel("tasks", pageSize: 500)
    }

    static func pagesMax() -> CollectionModel {
        CollectionModel("tasks", pageSize: 500, pagesMax: 200)
    }

    static func indexes() -> CollectionModel {
        CollectionModel("tasks", indexes: [["title"], ["done", .date("due")]])
    }

    static func formats() -> CollectionModel {
        CollectionModel("tasks", dates: .milliseconds, keys: .snakeCase)
    }

    static func nullable() -> CollectionModel {
        CollectionModel("tasks", nullable: ["due"])
    }

    static func migrations() -> CollectionModel {
        CollectionModel(
            "tasks",
            migrations: [
                .rename("text", to: "title"), .remove("colour"), .require("done", default: false),
            ])
    }

    /// In the order of the article.
    package static func collections() -> [CollectionModel] {
        [
            idField(), lastChange(), conflict(), references(), pageSize(), pagesMax(),
            indexes(), formats(), nullable(), migrations(),
        ]
    }

    package static func settings() -> SyncSettings {
        SyncSettings(
            fullPullEvery: .days(1), batchSize: 10,
            backoff: .init(min: .seconds(10), max: .minutes(10)),
            limits: [.init(requests: 30, within: .minutes(1))])
    }

    package static func read(_ bytes: [UInt8]) throws -> ModelRegistration {
        try ModelRegistration(parsing: bytes)
    }
}
