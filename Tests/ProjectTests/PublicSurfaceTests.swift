// PublicSurfaceTests.swift — how many names an app gets with `import Tidemark`, and which enums
// grow.

import Foundation
import Testing

@Suite struct `import Tidemark` {
    private typealias Match = (Substring, Substring)

    /// The public types that the facade declares outside of others.
    private func declared() throws -> [String] {
        let kinds = "struct|enum|class|protocol|actor|typealias"
        let pattern = try Regex(
            "^(?:@nonexhaustive )?public (?:final |indirect )?(?:\(kinds)) (\\w+)", as: Match.self
        ).anchorsMatchLineEndings()
        return try Project.swiftFiles().filter { $0.hasPrefix("Sources/Tidemark/") }.flatMap {
            try Project.text($0).matches(of: pattern).map { String($0.output.1) }
        }
    }

    /// The types of other modules that it brings along.
    private func exported() throws -> [String] {
        let exports = try Project.text("Sources/Tidemark/Exports.swift")
        let lines = exports.split(separator: "\n").filter { $0.hasPrefix("@_exported") }
        return lines.compactMap {
            $0.wholeMatch(of: /@_exported public import \w+ \w+\.(\w+)/).map {
                String($0.output.1)
            }
        }
    }

    @Test func `brings what an app writes every day, and no more`() throws {
        let names = try declared() + exported()

        #expect(names.count <= 56, "\(names.count) names: \(names.sorted())")
        let daily = [
            "Replica", "SyncEngine", "CollectionModel", "SyncFailure", "RedactionError",
            "Dependencies",
        ]
        for name in daily { #expect(names.contains(name), "\(name)") }
        for name in ["Event", "Position", "Patch", "ServerAdapter", "JSON", "Transport"] {
            #expect(!names.contains(name), "\(name)")
        }
    }

    @Test func `brings no module as a whole`() throws {
        let exports = try Project.text("Sources/Tidemark/Exports.swift")
        let lines = exports.split(separator: "\n").filter { $0.hasPrefix("@_exported") }

        #expect(try exported().count == lines.count)
    }
}

@Suite struct `the public enums` {
    /// Those complete by nature, and those without cases, which are namespaces.
    private static let exhaustive = [
        "CleanUp", "CommandLineTool", "ConflictSide", "Direction", "JSON", "JSONLimits",
        "JSONValue", "Measuring", "Nulls", "Severity", "UpdateContent",
    ]

    @Test func `take cases in a later version without breaking who switches over them`() throws {
        let declaration = /(?<before>.*)public (?:indirect )?enum (?<name>\w+)/
        var found: [String] = []
        for path in try Project.swiftFiles() where !path.hasPrefix("Tests/") {
            for line in try Project.text(path).split(separator: "\n") {
                guard let match = line.prefixMatch(of: declaration),
                    !match.before.contains("@nonexhaustive")
                else { continue }
                found.append(String(match.name))
            }
        }

        #expect(found.sorted() == Self.exhaustive)
    }
}
