// Report.swift — numbers as a table for people and as JSON for programs.

import Foundation

/// How long something took, in seconds, by the monotonic clock.
func seconds<R>(_ body: () throws -> R) rethrows -> (Double, R) {
    let clock = ContinuousClock()
    let began = clock.now
    let result = try body()
    return ((clock.now - began).seconds, result)
}

/// The same of what is awaited.
func seconds<R>(_ body: () async throws -> R) async rethrows -> (Double, R) {
    let clock = ContinuousClock()
    let began = clock.now
    let result = try await body()
    return ((clock.now - began).seconds, result)
}

extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}

/// The median of several runs.
func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    return sorted.isEmpty ? .nan : sorted[sorted.count / 2]
}

/// One line of the table.
struct Line: Codable {
    var id: String
    var what: String
    var tidemark: String
    var peer: String
    var ratio: String
    /// How far the rounds of Tidemark lie around their median, at most; empty for one round.
    var spread: String
    var must: String
    var isMet: Bool?
}

/// All lines of a run.
struct Report {
    private(set) var lines: [Line] = []

    mutating func add(
        _ id: String, _ what: String, _ tidemark: String, _ peer: String, _ ratio: String,
        rounds: [Double] = [], must: String, isMet: Bool? = nil
    ) {
        let line = Line(
            id: id, what: what, tidemark: tidemark, peer: peer, ratio: ratio,
            spread: Self.spread(rounds), must: must, isMet: isMet)
        lines.append(line)
        print(Self.row(line))
        fflush(nil)
    }

    static let header = """
        | id | what | Tidemark | peer | ratio | spread | must | |
        |---|---|---|---|---|---|---|---|
        """

    /// `±8 %`: half of the way from the first quarter of the rounds to the last, of the median.
    private static func spread(_ rounds: [Double]) -> String {
        let sorted = rounds.sorted()
        guard sorted.count > 2, median(sorted) > 0 else { return "" }
        let edge = sorted.count < 8 ? 0 : sorted.count / 4
        let half = (sorted[sorted.count - 1 - edge] - sorted[edge]) / 2
        return "±\(Int((100 * half / median(sorted)).rounded())) %"
    }

    static func row(_ line: Line) -> String {
        let mark = line.isMet.map { $0 ? "met" : "missed" } ?? ""
        return "| \(line.id) | \(line.what) | \(line.tidemark) | \(line.peer) | \(line.ratio) "
            + "| \(line.spread) | \(line.must) | \(mark) |"
    }

    func writeJSON(_ path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(lines).write(to: URL(fileURLWithPath: path))
    }
}

extension Double {
    /// `1,234 k/s`.
    var rate: String {
        self >= 10_000 ? "\(Int((self / 1000).rounded())) k/s" : "\(Int(rounded()))/s"
    }
    var times: String { String(format: "%.2f ×", self) }
    var micros: String { "\(Int((self * 1e6).rounded())) µs" }
    var millis: String { String(format: "%.1f ms", self * 1e3) }
}
