// ReadmeTests.swift — the README's example is a program of the package, and runs.

import Foundation
import Testing

@Suite struct `the README` {
    @Test func `its example is the program that is built`() throws {
        let readme = try Project.text("README.md")
        let program = try Project.text("Tests/ReadmeExample/Example.swift")

        let start = try #require(readme.range(of: "```swift\n"))
        let end = try #require(readme.range(of: "\n```", range: start.upperBound..<readme.endIndex))

        #expect(readme[start.upperBound..<end.lowerBound] + "\n" == program)
    }

    @Test(.enabled(if: Tools.folder != nil, "TIDEMARK_BIN names no folder of built programs"))
    func `its example runs in an empty folder, and its store verifies`() throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "tidemark-readme-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }

        let example = try Tools.run("readme-example", [], in: folder)
        #expect(example.status == 0, "\(example.errors)")
        #expect(example.output.hasPrefix("Buy green tea "))

        let verify = try Tools.run("tidemark", ["verify", "todo.store"], in: folder)
        #expect(verify.status == 0)
        #expect(verify.output.hasPrefix("fine: "))
    }
}

/// The programs of the package, as they were built.
private enum Tools {
    static let folder = ProcessInfo.processInfo.environment["TIDEMARK_BIN"]

    static func run(
        _ name: String, _ arguments: [String], in folder: URL
    ) throws -> (status: Int32, output: String, errors: String) {
        let process = Process()
        process.executableURL = URL(filePath: try #require(Self.folder)).appending(path: name)
        process.arguments = arguments
        process.currentDirectoryURL = folder
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let words = output.fileHandleForReading.readDataToEndOfFile()
        let complaints = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (
            process.terminationStatus, String(decoding: words, as: UTF8.self),
            String(decoding: complaints, as: UTF8.self)
        )
    }
}
