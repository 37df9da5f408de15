// BuiltTool.swift — the tool as it was built beside the tests.

import Foundation
import TestSupport
import Testing

@testable import CapsuleSupport

/// The tool that was built beside the tests.
enum BuiltTool {
    static let path = BuiltProgram.tidemark.path
    static let isThere = BuiltProgram.tidemark.isThere
    static let missing: Comment = "\(BuiltProgram.tidemark.missing)"

    static func run(_ arguments: String..., in folder: String) throws -> Command {
        try Command.run(try #require(path), arguments, in: folder)
    }
}
