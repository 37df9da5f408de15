// ScenarioResult.swift — what a run of a scenario found, and how it is told in 80 columns.

/// What a run of a scenario found.
public struct ScenarioResult: Sendable, CustomStringConvertible {
    public let id: String
    public let title: String
    /// What is otherwise than expected; nothing when it passed.
    public let mismatches: [ScenarioMismatch]

    init(_ scenario: Scenario, _ mismatches: [ScenarioMismatch]) {
        id = scenario.id
        title = scenario.title
        self.mismatches = mismatches
    }

    /// Whether everything was as expected.
    public var isPassed: Bool { mismatches.isEmpty }

    /// A line, and for each mismatch its path, what was expected and what was found beside it; no
    /// line is longer than 80 columns.
    public var lines: [String] {
        let line = "\(isPassed ? "passed" : "FAILED")  \(id)  \(title)"
        let isLong = line.count > ScenarioMismatch.columns
        return [isLong ? line.prefix(ScenarioMismatch.columns - 1) + "…" : line]
            + mismatches.flatMap(\.lines)
    }

    public var description: String { lines.joined(separator: "\n") }
}

/// One thing that is otherwise than expected.
public struct ScenarioMismatch: Sendable, Hashable {
    /// Where it was expected, as in `expect.rows.tasks/t1.status`.
    public let path: String
    /// What was expected.
    public let expected: String
    /// What was found.
    public let actual: String

    init(_ path: String, _ expected: String, _ actual: String) {
        self.path = path
        self.expected = expected
        self.actual = actual
    }

    static let columns = 80
    private static let indent = "    "
    private static let divider = " | "
    /// How wide what was expected is; what was found has the rest.
    private static let half = 36

    /// The path, then both sides beside each other.
    var lines: [String] {
        let rest = Self.columns - Self.indent.count - Self.half - Self.divider.count
        let left = ["expected"] + Self.pieces(expected, Self.half)
        let right = ["actual"] + Self.pieces(actual, rest)
        let count = max(left.count, right.count)
        return Self.pieces(path, Self.columns - 2).map { "  " + $0 }
            + (0..<count).map { index in
                let mine = index < left.count ? left[index] : ""
                let line =
                    Self.indent + mine + String(repeating: " ", count: Self.half - mine.count)
                    + Self.divider + (index < right.count ? right[index] : "")
                return String(line.reversed().drop { $0 == " " }.reversed())
            }
    }

    /// A text in lines of at most so many columns.
    static func pieces(_ text: String, _ columns: Int) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line in
            var pieces: [String] = []
            var rest = line
            repeat {
                pieces.append(String(rest.prefix(columns)))
                rest = rest.dropFirst(columns)
            } while !rest.isEmpty
            return pieces
        }
    }
}
