// FilesModel.swift — the model of files and folders that a server knows by their paths.

import Tidemark

extension SyncModel {
    /// Files with contents, on a server that tells ids of its own.
    static func files(
        _ content: CollectionModel.ContentRule, _ settings: SyncSettings = SyncSettings()
    ) -> SyncModel {
        var files = CollectionModel(
            "files", references: [Reference("parent", to: "files")],
            tree: .init(
                parent: "parent", name: "name", kind: "kind", isByPath: true, serverID: "fileId",
                content: "content"))
        files.contents = [content]
        return SyncModel(name: "files", collections: [files], settings: settings)
    }
}
