// PublicSurfaceTests.swift — how many names an app gets with `import Tidemark`, which enums grow,
// and what blocks where it may not.

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

@Suite struct `a public function that blocks, beside its async form` {
    private struct Function {
        var name: String
        /// Equal for both forms.
        var place: [String]
        var isAsync: Bool
        var isRefused: Bool
    }

    /// The public functions of a file.
    private func functions(in text: String) -> [Function] {
        let tokens = swiftTokens(text).map(\.text)
        var (type, depth, start) = ("", 0, 0)
        var found: [Function] = []
        for (index, token) in tokens.enumerated() {
            if token == "{" || token == "}" {
                depth += token == "{" ? 1 : -1
                start = index
            } else if depth == 0, ["extension", "class", "struct", "enum"].contains(token) {
                type = tokens[index + 1]
            } else if token == "func", tokens[start..<index].contains("public") {
                let (labels, isAsync) = signature(tokens[index...])
                found.append(
                    Function(
                        name: tokens[index + 1], place: [type, tokens[index + 1]] + labels,
                        isAsync: isAsync, isRefused: tokens[start..<index].contains("noasync")))
            }
        }
        return found
    }

    /// The labels of a function's parameters, and whether it is async.
    private func signature(_ tokens: ArraySlice<String>) -> (labels: [String], isAsync: Bool) {
        var (labels, depth, isNext) = ([String](), 0, false)
        for (index, token) in zip(tokens.indices, tokens) {
            if isNext, token != ")" { labels.append(token) }
            isNext = false
            switch token {
            case "(", "[", "{":
                depth += 1
                isNext = depth == 1
            case ")", "]", "}":
                depth -= 1
                guard depth == 0 else { continue }
                return (labels, tokens[index...].prefix { $0 != "{" }.contains("async"))
            case ",": isNext = depth == 1
            default: break
            }
        }
        return (labels, false)
    }

    @Test func `is refused in async code where it may take long`() throws {
        let all = try Project.swiftFiles().filter { $0.hasPrefix("Sources/Tidemark/") }.flatMap {
            functions(in: try Project.text($0))
        }
        let suspending = Set(all.filter(\.isAsync).map(\.place))
        let blocking = all.filter { !$0.isAsync && suspending.contains($0.place) }
        let refused = Set(blocking.filter(\.isRefused).map(\.name))
        let allowed = Set(blocking.filter { !$0.isRefused }.map(\.name))

        #expect(
            refused == [
                "adopt", "answer", "capsule", "copy", "dropFiles", "importFile", "shrink",
                "useFiles", "writeCapsule",
            ])
        // Short, as a rule, or what the top level of a script begins with, where neither form could
        // be called then.
        #expect(allowed == ["close", "open", "take", "takeOver", "wipe", "write"])
    }
}
