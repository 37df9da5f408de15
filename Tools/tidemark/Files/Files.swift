// Files.swift — `tidemark files`: a tree by its paths, as in a shell.

import ArgumentParser

struct Files: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Lists and changes a tree of files and folders by its paths.",
        discussion: """
            For collections with a `tree` in the model. All of it works offline: what is
            changed is sent with the next sync, in the order in which it was changed.
            Names are joined by /; a / in front is the root.
            """,
        subcommands: [
            FilesList.self, FilesMakeFolder.self, FilesMove.self, FilesCopy.self,
            FilesRemove.self, FilesImport.self, FilesExport.self, FilesWant.self,
            FilesDrop.self, FilesChanges.self,
        ])
}
