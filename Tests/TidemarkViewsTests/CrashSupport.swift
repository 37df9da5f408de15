// CrashSupport.swift — children that are killed, or that damage may kill.

import Foundation
import TestSupport
import Testing

/// The program of Tests/CrashChild, built beside the tests.
enum CrashChild {
    static let path = ProcessInfo.processInfo.environment["TIDEMARK_BIN"].map {
        "\($0)/crash-child"
    }
    static let isThere = path.map { FileManager.default.isExecutableFile(atPath: $0) } ?? false
    static let missing: Comment = "TIDEMARK_BIN names no folder with crash-child; use Tools/test"

    /// Runs it to its end.
    static func run(_ words: Any...) throws -> Command {
        try Command.run(
            try #require(path), words.map { "\($0)" },
            environment: ["SWIFT_BACKTRACE": "enable=no"])
    }
}

extension Command {
    var lines: [Substring] { text.split(separator: "\n") }
}
