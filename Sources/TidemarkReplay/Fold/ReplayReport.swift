// ReplayReport.swift — what a replay did, compared, and could not compare.

public import TidemarkEvents

/// The result of a replay.
public struct ReplayReport: Sendable, Hashable {
    /// How it was replayed.
    @nonexhaustive public enum Mode: String, Sendable, CaseIterable {
        /// The recorded events are folded again by today's rules.
        case fold
        /// The recorded inputs drive today's engine.
        case redecide
    }

    /// A view whose rows were made by other rules, so that they can't be compared.
    public struct SkippedView: Sendable, Hashable, CustomStringConvertible {
        /// The view's name.
        public var view: String
        /// The version of the rules that made it; nil where it is unknown.
        public var recorded: Int?
        /// The version of today's rules.
        public var current: Int

        /// Both versions, in a sentence.
        public var description: String {
            let made = recorded.map { "version \($0)" } ?? "rules that are not known"
            return "view \(view) was made by \(made), today's is version \(current): not compared"
        }
    }

    /// How it was replayed.
    public var mode: Mode
    /// The first and the last event that were replayed; nil where there was none.
    public var range: ClosedRange<Position>?
    /// How many events were replayed.
    public var events = 0
    /// How many commits were replayed.
    public var commits = 0
    /// How many digests of views were compared with the recorded ones.
    public var digests = 0
    /// How many commits have no recorded digests to be compared with.
    public var undigested = 0
    /// How many sync runs the engine decided again.
    public var runs = 0
    /// How many recorded answers the engine was given.
    public var answers = 0
    /// How many events of the engine were compared with recorded ones.
    public var acts = 0
    /// The views that could not be compared.
    public var skipped: [SkippedView] = []
    /// Further remarks.
    public var notes: [String] = []
    /// Why none of its sync runs was decided again, where that was asked for; nil where one was, or
    /// where no run had any news.
    public var undecided: String?
    /// The first difference; nil where there is none.
    public var divergence: Divergence?

    /// An empty report.
    package init(_ mode: Mode) { self.mode = mode }

    /// Whether nothing differs.
    public var isSame: Bool { divergence == nil }
}

extension ReplayReport: CustomStringConvertible {
    /// A line with what was replayed and compared, a line for each thing that was not compared, and
    /// the divergence.
    public var description: String {
        ([headline] + remarks + (divergence.map { [$0.description] } ?? []))
            .joined(separator: "\n")
    }

    /// What was replayed, and whether the result is the same.
    package var headline: String {
        let place = range.map { " \($0.lowerBound) to \($0.upperBound)" } ?? ""
        let outcome = divergence.map { "differs at \($0.position)" } ?? "the same"
        let events = Self.count(events, "event")
        switch mode {
        case .fold:
            let commits = Self.count(commits, "commit")
            let digests = Self.count(digests, "digest")
            return "folded \(events) in \(commits)\(place): \(outcome) (\(digests) compared)"
        case .redecide:
            let runs = Self.count(runs, "sync run")
            let acts = "\(Self.count(acts, "act")), \(Self.count(answers, "answer"))"
            return "decided \(runs) in \(events)\(place): \(outcome) (\(acts))"
        }
    }

    private static func count(_ count: Int, _ noun: String) -> String {
        count == 1 ? "1 \(noun)" : "\(count) \(noun)s"
    }

    /// What was not compared, and further remarks.
    package var remarks: [String] {
        var lines = skipped.map(\.description)
        if undigested > 0 {
            let commits = Self.count(undigested, "commit")
            lines.append("\(commits) without recorded digests: not compared")
        }
        return lines + notes
    }

    /// As one JSON object.
    package var json: JSONValue {
        func list(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }
        func number(_ number: Int) -> JSONValue { .number(JSONNumber(number)) }
        var object: JSONObject = [
            "mode": .string(mode.rawValue), "same": .bool(isSame), "events": number(events),
            "commits": number(commits), "digests": number(digests), "runs": number(runs),
            "acts": number(acts), "answers": number(answers),
            "remarks": list(remarks),
        ]
        if let range {
            object["first"] = .number(JSONNumber(Int64(clamping: range.lowerBound.rawValue)))
            object["last"] = .number(JSONNumber(Int64(clamping: range.upperBound.rawValue)))
        }
        if let divergence { object["divergence"] = divergence.json }
        return .object(object)
    }
}

extension Divergence {
    /// As one JSON object.
    package var json: JSONValue {
        func number(_ position: Position) -> JSONValue {
            .number(JSONNumber(Int64(clamping: position.rawValue)))
        }
        var object: JSONObject = ["kind": .string(kind.rawValue), "position": number(position)]
        if let recorded { object["recorded"] = .string(recorded) }
        if let replayed { object["replayed"] = .string(replayed) }
        if let field { object["field"] = .string(field) }
        if let entity { object["entity"] = .string("\(entity)") }
        object["causes"] = .array(
            causes.map { ["position": number($0.position), "text": .string($0.text)] })
        return .object(object)
    }
}
