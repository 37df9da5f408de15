// FilesAndFolders.swift — the code of the article of that name.

import Tidemark

enum FilesAndFolders {
    static func model() -> CollectionModel {
        let files = CollectionModel(
            "files", references: [Reference("parent", to: "files")],
            tree: .init(parent: "parent", name: "name", kind: "kind"))
        return files
    }

    static func copy(_ tx: WriteContext) throws {
        try tx.request(
            "copy", making: EntityKey("files", tx.makeID()),
            Array(#"{"kind": "file", "name": "Beach.jpg", "parent": "D"}"#.utf8),
            parameters: ["of": "ABC"])
    }

    static func update(_ key: EntityKey) {}
    static func remove(_ key: EntityKey) {}

    static func enumerate(_ folder: EntityKey, _ replica: Replica) throws {
        var anchor = try replica.read { $0.position }
        let changes = try replica.changes(since: anchor, in: .folder(folder))
        for key in changes.appeared + changes.changed { update(key) }
        for key in changes.disappeared { remove(key) }
        anchor = changes.position
    }
}
