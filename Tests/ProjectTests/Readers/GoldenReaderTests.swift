// GoldenReaderTests.swift — the independent reader on the golden stores.

import Foundation
import TestSupport
import Testing

/// What is in Tests/Fixtures/v1.
private enum Fixtures {
    static let folder = Project.root.appending(path: "Tests/Fixtures/v1")
    static let hasPython =
        (try? Command.run(Outside.python, ["-c", "import lmdb, zstandard"]))?.code == 0

    static func path(_ name: String) -> String { folder.appending(path: name).path }
}

@Suite(.enabled(if: Fixtures.hasPython, "TIDEMARK_PYTHON has no lmdb and zstandard"))
struct `the independent reader on golden stores` {
    private struct Finding: Decodable {
        var open: String?
        var verify: [String]
    }

    private func readLog(_ name: String) throws -> Command {
        try Command.run(
            Outside.python, [Project.root.path + "/Tools/read_log.py", Fixtures.path(name)],
            environment: ["PYTHONDONTWRITEBYTECODE": "1"])
    }

    @Test(arguments: ["empty", "small", "whole"])
    func `prints what was printed`(_ name: String) throws {
        let read = try readLog(name)

        #expect(read.code == 0, "\(read.complaints)")
        #expect(read.complaints.isEmpty)
        #expect(
            read.output
                == (try Data(contentsOf: URL(filePath: Fixtures.path(name + "/dump.jsonl")))))
    }

    @Test func `finds the same damage`() throws {
        let manifest = try JSONDecoder().decode(
            [String: Finding].self,
            from: Data(contentsOf: URL(filePath: Fixtures.path("manifest.json"))))

        #expect(manifest.count >= 16)
        for (name, finding) in manifest.sorted(by: { $0.key < $1.key }) {
            let read = try readLog(name)

            #expect(read.code == (finding.open == nil ? 1 : 2), "\(name): \(read.complaints)")
            let places = finding.verify.map { $0.prefix { $0 != ":" } + ":" }
            let isNamed = places.contains { read.complaints.hasPrefix($0) }
            #expect(isNamed || places.isEmpty, "\(name): \(read.complaints)")
        }
    }
}
