// Contents.swift — what the article of that name shows; it is built here.

package import Tidemark

package enum Contents {
    package static func collection() -> CollectionModel {
        var tasks = CollectionModel("tasks")
        tasks.contents = [
            .init("photo", when: .all),
            .init("/attachments/*/url", unwanted: .days(7), quotaBytes: 500_000_000),
        ]
        return tasks
    }

    struct Chore: Entity {
        static let collection: CollectionName = "tasks"

        let id: ID<Chore>
        var photo: ContentName?

        init(_ id: ID<Chore>, photo: ContentName?) {
            self.id = id
            self.photo = photo
        }
    }

    static func attach(_ path: String, _ replica: Replica) async throws {
        let photo = try await replica.importFile(at: path)
        try await replica.write { tx in try tx.save(Chore("1", photo: photo)) }
    }

    static func show(_ path: String) {}

    static func showAll(of key: EntityKey, _ replica: Replica) async throws {
        for file in try await replica.useFiles(of: key) {
            if let path = file.stored?.path { show(path) }
        }
    }

    static func want(_ key: EntityKey, _ replica: Replica) throws {
        try replica.write { tx in
            try tx.wantFiles(of: key, "photo", by: "gallery")
        }
    }

    static func wantAll(_ folder: EntityKey, _ replica: Replica) throws {
        try replica.write { tx in
            try tx.wantFiles(of: folder, by: "offline", below: true)
        }
    }

    static func fetch(_ engine: SyncEngine) async throws -> Int {
        let outcome = try await engine.transfer()
        return outcome.stored
    }
}
