// CrashSupport.swift — children that are killed, or that damage may kill.

import TestSupport
import Testing

/// The program of Tests/CrashChild, built beside the tests.
enum CrashChild {
    static let isThere = BuiltProgram.crashChild.isThere
    static let missing: Comment = "\(BuiltProgram.crashChild.missing)"

    /// Runs it to its end.
    static func run(_ words: Any...) throws -> Command {
        try BuiltProgram.crashChild.run(
            words.map { "\($0)" }, environment: ["SWIFT_BACKTRACE": "enable=no"])
    }
}

extension Command {
    var lines: [Substring] { text.split(separator: "\n") }
}
