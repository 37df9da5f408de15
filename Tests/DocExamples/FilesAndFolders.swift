// FilesAndFolders.swift — the code of the article of that name.

import Tidemark

enum FilesAndFolders {
    static func model() -> CollectionModel {
        let files = CollectionModel(
            "files", references: [Reference("parent", to: "files")],
            tree: .init(parent: "parent", name: "name", kind: "kind"))
        return files
    }
}
