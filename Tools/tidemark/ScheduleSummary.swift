// ScheduleSummary.swift — the part of `tidemark status` about when the next sync runs may begin.

import TidemarkEvents
import TidemarkInspect
import TidemarkRules

/// What keeps sync runs from beginning, and for how long.
struct ScheduleSummary {
    private var gates: [(name: SyncGate.Name, gate: SyncGate, left: Int64)] = []
    private let now: Moment
    private let hold: SyncGates.Hold?

    init(_ all: SyncGates, at now: Moment) {
        self.now = now
        hold = all.hold(.timer, at: now)
        for name in SyncGate.Name.allCases {
            guard let gate = all[name] else { continue }
            let left = gate.left(at: now)
            if left > 0 || name == .frozen { gates.append((name, gate, left)) }
        }
    }

    /// When automatic runs continue.
    var automatic: String {
        switch hold {
        case nil: "at once"
        case .frozen: "when the user asks, or gives other credentials"
        case .wait(let left, _): "in \(left.inWholeSeconds) s"
        }
    }

    /// Empty where nothing delays a run.
    var lines: [String] {
        guard hold != nil || !gates.isEmpty else { return [] }
        return ["next run  " + automatic]
            + gates.map {
                $0.name.rawValue.padded(to: 9) + " " + sentence($0.name, $0.gate, $0.left)
            }
    }

    var json: [JSONValue] {
        gates.map { name, gate, left in
            var object: JSONObject = ["name": .string(name.rawValue)]
            object["position"] = .number(JSONNumber(gate.position.rawValue))
            object["reason"] = gate.reason.isEmpty ? nil : .string(gate.reason)
            object["failures"] = gate.failures > 0 ? .number(JSONNumber(gate.failures)) : nil
            object["secondsLeft"] =
                name == .frozen ? nil : .number(JSONNumber(Int(left.inWholeSeconds)))
            return .object(object)
        }
    }

    private func sentence(_ name: SyncGate.Name, _ gate: SyncGate, _ left: Int64) -> String {
        let until = "until \(now.now.adding(seconds: left.inWholeSeconds).toTheSecond)"
        return switch name {
        case .server: "the server asked for a pause \(until) (\(gate.position))"
        case .backoff:
            "\(gate.failures) failed in a row (\(gate.reason)), \(until) (\(gate.position))"
        case .busy: "the server is busy \(until) (\(gate.position))"
        case .frozen: "the server said \(gate.reason) (\(gate.position))"
        }
    }
}
