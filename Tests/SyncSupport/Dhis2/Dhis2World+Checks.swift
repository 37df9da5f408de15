// Dhis2World+Checks.swift — what must hold of reserved values and of mutations.

import Tidemark
import TidemarkEvents
import TidemarkTesting
import TidemarkViews

extension Dhis2World {
    /// No value was handed out twice, on whichever tablet, and none is on the server twice.
    func checkValues() throws {
        var handed: Set<String> = []
        for device in devices {
            for (position, event) in try device.events() where event.kind == .reservedTaken {
                let value = try JSONValue(parsing: event.payload)["value"]?.stringValue ?? ""
                guard handed.insert(value).inserted else {
                    throw Dhis2Failure(
                        description: "seed \(seed), \(device.name): \(value) is handed out twice, "
                            + "at last by \(position)")
                }
            }
        }
        var used: Set<String> = []
        for (id, text) in server.records(in: "trackedEntities").sorted(by: { $0.key < $1.key }) {
            for item in try JSONValue(parsing: Array(text.utf8))["attributes"]?.array ?? [] {
                guard let value = item["value"]?.stringValue else { continue }
                guard handed.contains(value), used.insert(value).inserted else {
                    throw Dhis2Failure(
                        description: "seed \(seed): \(id) has the number \(value), which is "
                            + (used.contains(value) ? "another's, too" : "nobody's"))
                }
            }
        }
    }

    /// Each mutation in the log has one outcome.
    func checkMutations(_ device: Dhis2Device) throws {
        let problem: String? = try device.replica.journal.read { views in
            var outcomes: [Position: String] = [:]
            try views.forEachMutation { position, row in
                outcomes[position] = row.outcome?.rawValue ?? ""
                return true
            }
            for (position, event) in try device.events() {
                guard [.localCreated, .localUpdated, .localDeleted].contains(event.kind) else {
                    continue
                }
                guard let outcome = outcomes[position], !outcome.isEmpty else {
                    return "\(position) \(event.kind) has no outcome"
                }
            }
            return nil
        }
        if let problem {
            throw Dhis2Failure(description: "seed \(seed), \(device.name): \(problem)")
        }
    }
}
