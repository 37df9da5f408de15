// ScenarioResult.swift — the result of running a scenario, reported in 80 columns.

/// The result of running a scenario.
public struct ScenarioResult: Sendable, CustomStringConvertible {
    public let id: String
    public let title: String
    /// The mismatches with the expectations; none when it passed.
    public let mismatches: [ScenarioMismatch]

    init(_ scenario: Scenario, _ mismatches: [ScenarioMismatch]) {
        id = scenario.id
        title = scenario.title
        self.mismatches = mismatches
    }

    /// Whether everything was as expected.
    public var isPassed: Bool { mismatches.isEmpty }

    /// A headline, and for each mismatch its path, with the expected and the actual value side by
    /// side; no line is longer than 80 columns.
    public var lines: [String] {
        let line = "\(isPassed ? "passed" : "FAILED")  \(id)  \(title)"
        let isLong = line.count > ScenarioMismatch.columns
        return [isLong ? line.prefix(ScenarioMismatch.columns - 1) + "…" : line]
            + mismatches.flatMap(\.lines)
    }

    public var description: String { lines.joined(separator: "\n") }
}

/// A mismatch with an expectation.
public struct ScenarioMismatch: Sendable, Hashable {
    /// The path of the expectation, as in `expect.rows.tasks/t1.status`.
    public let path: String
    /// The expected value.
    public let expected: String
    /// The actual value.
    public let actual: String

    init(_ path: String, _ expected: String, _ actual: String) {
        self.path = path
        (self.expected, self.actual) = (Self.shown(expected), Self.shown(actual))
    }

    /// A value, without most of what is very long.
    private static func shown(_ value: String) -> String {
        value.utf8.count > valueMax
            ? "\(value.prefix(valueMax / 10))… (\(value.count) characters)" : value
    }

    /// How many bytes of a value are shown.
    private static let valueMax = 10_000

    static let columns = 80
    private static let indent = "    "
    private static let divider = " | "
    /// The width of the expected value; the actual one has the rest.
    private static let half = 36

    /// The path, then both values side by side.
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

    /// A text broken into lines of at most that many columns.
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
