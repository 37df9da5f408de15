// BisectFinding.swift — the output of `tidemark bisect` for the event that it found.

import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkReplay

/// The event at which the answer changes, its causes, and its changes.
struct BisectFinding {
    private let turn: Bisect.Turn
    private let key: EntityKey?
    private let causes: [CauseStep]
    private let changes: ViewsDifference
    private static let changesShown = 12

    init(_ turn: Bisect.Turn, _ bisect: Bisect) throws {
        self.turn = turn
        key = try bisect.event(at: turn.position)?.key
        causes = try CauseChain.of(turn.position) { try bisect.event(at: $0) }
        changes = try bisect.changes(after: turn.before, to: turn.position)
    }

    func lines(_ question: String, store: String) -> [String] {
        var lines = ["\(turn.position) makes it \(turn.becomes): \(question)"]
        func add(_ label: String, _ texts: [String]) {
            for (index, text) in texts.enumerated() {
                lines.append("  " + (index == 0 ? label : "").padded(to: 10) + text)
            }
        }
        let (first, last) = (turn.commit.lowerBound, turn.commit.upperBound)
        add("commit", [first == last ? "\(first)" : "\(first) to \(last)"])
        add("before", ["it is \(!turn.becomes) up to \(turn.before)"])
        add("event", causes.first.map { [$0.description] } ?? [])
        add("came from", causes.dropFirst().map(\.description))
        let changed = changes.lines()
        let more = changed.count - Self.changesShown
        add(
            "changes",
            changed.prefix(Self.changesShown).map { EventText.printable($0) }
                + (more > 0 ? ["and \(more) more lines"] : []))
        let store = store.shellQuoted
        var commands = ["tidemark show \(store) \(turn.position)"]
        if let key { commands.append("tidemark why \(store) \("\(key)".shellQuoted)") }
        add("look at", commands)
        return lines
    }

    func json(_ question: String) throws -> [UInt8] {
        func number(_ position: Position) -> JSONValue {
            .number(JSONNumber(position.rawValue))
        }
        let object: JSONObject = [
            "position": number(turn.position),
            "becomes": .bool(turn.becomes),
            "question": .string(question),
            "before": number(turn.before),
            "commit": .array([number(turn.commit.lowerBound), number(turn.commit.upperBound)]),
            "skipped": .array(turn.skipped.map(number)),
            "causes": .array(
                causes.map {
                    .object(["position": number($0.position), "text": .string($0.text)])
                }),
            "changes": .array(try changes.json().map { try JSONValue(parsing: $0) }),
        ]
        return JSONValue.object(object).encoded()
    }
}
