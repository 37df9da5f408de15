// BuiltProgram.swift — the programs that are built beside the tests.

import Foundation

/// A program of the package, in the folder that `TIDEMARK_BIN` names.
package struct BuiltProgram: Sendable {
    package static let tidemark = BuiltProgram("tidemark")
    package static let crashChild = BuiltProgram("crash-child")

    /// Where it is; nil when it is not there.
    package let path: String?
    /// What to say of a test that is skipped because it is not there.
    package let missing: String

    package var isThere: Bool { path != nil }

    package init(_ name: String) {
        let path = ProcessInfo.processInfo.environment["TIDEMARK_BIN"].map { "\($0)/\(name)" }
        let isThere = path.map { FileManager.default.isExecutableFile(atPath: $0) } ?? false
        self.path = isThere ? path : nil
        missing = "TIDEMARK_BIN names no folder with \(name); Tools/test does"
    }

    /// Runs it to its end while the calling thread waits.
    package func run(
        _ arguments: [String], environment: [String: String] = [:], in folder: String? = nil
    ) throws -> Command {
        guard let path else { throw Command.Failure(description: missing) }
        return try Command.run(path, arguments, environment: environment, in: folder)
    }
}
