// ArchitectureTests.swift — Sources/ARCHITECTURE.md names what there is.

import Foundation
import Testing

@Suite struct `the page on the architecture` {
    /// What stands in backquotes and looks like a file or a folder.
    private func paths() throws -> [String] {
        try Project.text("Sources/ARCHITECTURE.md").matches(of: /`([\w+.\/]+)`/)
            .map { String($0.output.1) }
            .filter { $0.contains("/") || $0.hasSuffix(".swift") }
    }

    @Test func `names only files and folders that there are`() throws {
        let paths = try paths()

        #expect(paths.count > 40)
        let inModules = [
            "Fold/Rules", "Fold/Walks", "Payloads/Assets", "Payloads/Members", "Payloads/Pools",
            "Model/Pools", "Model/Lists", "Model/Trees", "Payloads/Push", "Server/Toggl",
            "Server/Dhis2", "Server/Dhis2/Imports", "Server/WebDAV",
        ]
        for path in paths where !inModules.contains(path) {
            let isThere = ["Sources/", ""].contains { folder in
                FileManager.default.fileExists(
                    atPath: Project.root.appending(path: folder + path).path)
            }
            #expect(isThere, "\(path)")
        }
    }

    @Test func `names every module with all of its folders`() throws {
        let page = try Project.text("Sources/ARCHITECTURE.md")
        let folders = Set(
            try Project.swiftFiles().filter { $0.hasPrefix("Sources/") }.map {
                $0.split(separator: "/").dropFirst().dropLast().joined(separator: "/")
            })

        for folder in folders {
            let parts = folder.split(separator: "/", maxSplits: 1)
            let row = page.split(separator: "\n").first { $0.hasPrefix("| `\(parts[0])` |") }

            #expect(row != nil, "\(parts[0])")
            if parts.count > 1 { #expect(row?.contains("`\(parts[1])`") == true, "\(folder)") }
        }
    }

    @Test func `shows folders of 25 files at most`() throws {
        let sources = try Project.swiftFiles().filter { $0.hasPrefix("Sources/") }
        let counts = Dictionary(grouping: sources) { path in
            path.split(separator: "/").dropLast().joined(separator: "/")
        }

        for (folder, files) in counts { #expect(files.count <= 25, "\(folder)") }
    }
}
