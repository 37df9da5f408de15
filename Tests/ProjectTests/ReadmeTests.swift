// ReadmeTests.swift — the README's example is a program of the package, and runs.

import Foundation
import TestSupport
import Testing

@Suite struct `the README` {
    @Test func `its example is the program that is built`() throws {
        let readme = try Project.text("README.md")
        let program = try Project.text("Tests/ReadmeExample/Example.swift")

        let start = try #require(readme.range(of: "```swift\n"))
        let end = try #require(readme.range(of: "\n```", range: start.upperBound..<readme.endIndex))

        #expect(readme[start.upperBound..<end.lowerBound] + "\n" == program)
    }

    @Test func `its other examples are built as well`() throws {
        func lines(_ text: some StringProtocol) -> [String] {
            text.split(separator: "\n").map { line in
                let code = line.firstRange(of: "  //").map { line[..<$0.lowerBound] } ?? line
                return code.trimmingCharacters(in: .whitespaces)
            }.filter { !$0.isEmpty }
        }
        let built = try [
            "ReadmeExample/Excerpts.swift", "TidemarkTests/Articles/ReadmeExampleTests.swift",
        ].map { lines(try Project.text("Tests/\($0)")) }
        let blocks = try Project.text("README.md").components(separatedBy: "```swift\n")
            .dropFirst(2).compactMap { $0.components(separatedBy: "\n```").first }.map(lines)

        #expect(blocks.count == 3)
        for block in blocks {
            let isBuilt = built.contains { $0.firstRange(of: block) != nil }
            #expect(isBuilt, "\(block.first ?? "")")
        }
    }

    @Test(.enabled(if: Tools.folder != nil, "TIDEMARK_BIN names no folder of built programs"))
    func `its example runs in an empty folder, and its store verifies`() throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "tidemark-readme-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }

        let example = try Tools.run("readme-example", [], in: folder)
        #expect(example.code == 0, "\(example.complaints)")
        #expect(example.text.hasPrefix("Buy green tea "))

        let verify = try Tools.run("tidemark", ["verify", "todo.store"], in: folder)
        #expect(verify.code == 0)
        #expect(verify.text.hasPrefix("fine: "))

        let query = ["--where", "done!=true", "--order", "title", "--limit", "20", "--explain"]
        let plan = try Tools.run("tidemark", ["list", "todo.store", "tasks"] + query, in: folder)
        #expect(plan.text.hasPrefix("index [title] of tasks;"), "its query uses its index")
    }
}

/// The programs of the package, as they were built.
private enum Tools {
    static let folder = ProcessInfo.processInfo.environment["TIDEMARK_BIN"]

    static func run(_ name: String, _ arguments: [String], in folder: URL) throws -> Command {
        try Command.run(
            try #require(Self.folder) + "/\(name)", arguments,
            in: folder.path(percentEncoded: false))
    }
}
