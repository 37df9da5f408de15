// Trees.swift — the code of the article of that name.

import Tidemark

enum Trees {
    struct Patient: Entity {
        static let collection: CollectionName = "patients"
        static let fields: FieldNames<Patient> = [\.name: "name"]
        let id: ID<Patient>
        var name: String
    }

    static func model() -> CollectionModel {
        let visits = CollectionModel(
            "visits",
            references: [Reference("stay", to: "stays", rollUp: .always, onDelete: .cascade)])
        return visits
    }

    static func mark(_ replica: Replica) async throws {
        for try await rows in replica.observe(rows: Patient.all) {
            for row in rows where row.rolledUpStatus == .error { print(row.name) }
        }
    }

    static func wrong(_ replica: Replica) throws -> [Patient] {
        let wrong = Patient.where(.tree(has: .error)).order(by: \.name)
        return try replica.read { try $0.all(wrong) }
    }

    static func links() -> CollectionModel {
        var links = CollectionModel("links")
        links.references = [
            Reference("/to/person/id", to: "people", placeholder: .always, missing: .hides)
        ]
        return links
    }
}
