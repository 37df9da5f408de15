// BuiltTool.swift — the tool as it was built beside the tests.

import Foundation
import TestSupport
import Testing

/// The tool that was built beside the tests.
enum BuiltTool {
    static let path = ProcessInfo.processInfo.environment["TIDEMARK_BIN"].map { "\($0)/tidemark" }
    static let isThere = path.map { FileManager.default.isExecutableFile(atPath: $0) } ?? false
    static let missing: Comment = "TIDEMARK_BIN names no folder with the built tool; use Tools/test"

    static func run(_ arguments: String..., in folder: String) throws -> Command {
        try Command.run(try #require(path), arguments, in: folder)
    }
}
