// ScheduleSummary.swift — the part of `tidemark status` about when the next sync runs may begin.

import TidemarkEvents
import TidemarkInspect
import TidemarkRules
import TidemarkViews

/// What keeps sync runs from beginning, and for how long.
struct ScheduleSummary {
    /// Until when each gate of the model holds the trigger of its name.
    private var held: [(gate: TriggerGate, left: Int64)] = []
    private var gates: [(name: SyncGate.Name, gate: SyncGate, left: Int64)] = []
    private let now: Moment
    private let hold: SyncGates.Hold?

    init(_ views: ViewReader, at now: Moment) throws {
        let all = try views.gates()
        self.now = now
        held = try (views.registration()?.model.settings.gates ?? []).map { gate in
            (gate, try views.wait(for: gate, at: now))
        }
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
        let attempts = held.filter { $0.left > 0 }.map { gate, left in
            "held      \(gate.name) \(until(left)), \(gate.count) in \(gate.window) are allowed"
        }
        guard hold != nil || !gates.isEmpty else { return attempts }
        return ["next run  " + automatic]
            + gates.map {
                $0.name.rawValue.padded(to: 9) + " " + sentence($0.name, $0.gate, $0.left)
            } + attempts
    }

    /// How long each gate of the model still holds its trigger, by name.
    var triggers: JSONObject {
        held.reduce(into: JSONObject()) { object, held in
            object[held.gate.name] = [
                "secondsLeft": .number(JSONNumber(Int(held.left.inWholeSeconds)))
            ]
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

    private func until(_ left: Int64) -> String {
        "until \(now.now.adding(seconds: left.inWholeSeconds).toTheSecond)"
    }

    private func sentence(_ name: SyncGate.Name, _ gate: SyncGate, _ left: Int64) -> String {
        let until = until(left)
        return switch name {
        case .server: "the server asked for a pause \(until) (\(gate.position))"
        case .backoff:
            "\(gate.failures) failed in a row (\(gate.reason)), \(until) (\(gate.position))"
        case .busy: "the server is busy \(until) (\(gate.position))"
        case .frozen: "the server said \(gate.reason) (\(gate.position))"
        }
    }
}
