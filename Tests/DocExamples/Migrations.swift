// Migrations.swift — the code of the article of that name.

import Tidemark

enum Migrations {
    static func model() -> CollectionModel {
        let tasks = CollectionModel(
            "tasks",
            migrations: [
                .rename("text", to: "title"),
                .require("done", default: false),
                .remove("colour"),
            ])
        return tasks
    }

    struct Person: Entity {
        static let collection: CollectionName = "people"
        let id: ID<Person>
        var name: String
        var given: String?
    }

    static func fill(_ replica: Replica) async throws {
        let people = try replica.read { try $0.all(Person.self) }
        try await replica.write { tx in
            for person in people where person.given == nil {
                try tx.update(Person.self, person.id) { person in
                    person.given = person.name.split(separator: " ").first.map(String.init)
                }
            }
        }
    }
}
