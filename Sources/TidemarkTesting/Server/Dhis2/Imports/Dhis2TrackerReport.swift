// Dhis2TrackerReport.swift — what the new importer says about a payload.

import TidemarkEvents

/// How much of a report is wanted.
enum Dhis2ReportMode: String, Sendable {
    case full = "FULL"
    case warnings = "WARNINGS"
    case errors = "ERRORS"
}

/// How many objects were created, changed, deleted and left out.
struct Dhis2Stats: Sendable, Hashable {
    var created: Int64 = 0
    var updated: Int64 = 0
    var deleted: Int64 = 0
    var ignored: Int64 = 0

    var total: Int64 { created + updated + deleted + ignored }

    mutating func add(_ outcome: Dhis2Outcome) {
        switch outcome {
        case .created: created += 1
        case .updated: updated += 1
        case .deleted: deleted += 1
        case .ignored: ignored += 1
        }
    }

    var json: JSONValue {
        [
            "created": .integer(created), "updated": .integer(updated),
            "deleted": .integer(deleted), "ignored": .integer(ignored), "total": .integer(total),
        ]
    }
}

/// A report: what is wrong with which objects, and which were imported.
struct Dhis2Report: Sendable {
    private struct Entry {
        var node: Dhis2Node
        var problem: Dhis2Problem
    }

    private struct Done {
        var kind: Dhis2Kind
        var id: String
        /// Its place among those of its kind in the payload.
        var index: Int
        var outcome: Dhis2Outcome
    }

    private var entries: [Entry] = []
    private var done: [Done] = []

    init() {}

    mutating func add(_ problems: [Dhis2Problem], about node: Dhis2Node) {
        entries += problems.map { Entry(node: node, problem: $0) }
    }

    mutating func count(_ outcome: Dhis2Outcome, _ node: Dhis2Node, _ index: Int) {
        done.append(Done(kind: node.kind, id: node.id, index: index, outcome: outcome))
    }

    /// Nothing was imported after all.
    mutating func dropAll() {
        for place in done.indices { done[place].outcome = .ignored }
    }

    var hasErrors: Bool { entries.contains { !$0.problem.isWarning } }

    var status: String { hasErrors ? "ERROR" : entries.isEmpty ? "OK" : "WARNING" }

    var stats: Dhis2Stats {
        var stats = Dhis2Stats()
        for item in done { stats.add(item.outcome) }
        return stats
    }

    // MARK: JSON

    /// The report; without a part on objects where none was imported for errors.
    func json(_ mode: Dhis2ReportMode) -> JSONObject {
        var validation: JSONObject = ["errorReports": reports(areWarnings: false)]
        if mode != .errors { validation["warningReports"] = reports(areWarnings: true) }
        var object: JSONObject = [
            "status": .string(status), "validationReport": .object(validation),
            "stats": stats.json,
        ]
        if mode == .full {
            object["timingsStats"] = [
                "timers": [
                    "preheat": "0.000000 sec.", "validation": "0.000000 sec.",
                    "commit": "0.000000 sec.", "totalImport": "0.000000 sec.",
                ]
            ]
        }
        let imported = done.filter { $0.outcome != .ignored }
        guard !hasErrors || !imported.isEmpty else { return object }
        var map = JSONObject()
        var all = Dhis2Stats()
        for kind in Dhis2Kind.allCases {
            let ofKind = done.filter { $0.kind == kind && !isRefused($0) }
            var stats = Dhis2Stats()
            for item in ofKind {
                stats.add(item.outcome)
                all.add(item.outcome)
            }
            map[kind.reportName] = [
                "trackerType": .string(kind.reportName), "stats": stats.json,
                "objectReports": .array(
                    ofKind.filter { $0.outcome != .ignored }.map { item in
                        [
                            "trackerType": .string(kind.reportName), "uid": .string(item.id),
                            "index": .integer(Int64(item.index)), "errorReports": [],
                        ]
                    }),
            ]
        }
        object["bundleReport"] = [
            "status": "OK", "typeReportMap": .object(map), "stats": all.json,
        ]
        return object
    }

    private func isRefused(_ item: Done) -> Bool {
        entries.contains {
            !$0.problem.isWarning && $0.node.kind == item.kind && $0.node.id == item.id
        }
    }

    private func reports(areWarnings: Bool) -> JSONValue {
        let wanted = entries.filter { $0.problem.isWarning == areWarnings }
        return .array(
            wanted.map { entry in
                var report: JSONObject = ["message": .string(entry.problem.message)]
                report[areWarnings ? "warningCode" : "errorCode"] = .string(entry.problem.code)
                report["trackerType"] = .string(entry.node.kind.reportName)
                report["uid"] = .string(entry.node.id)
                return .object(report)
            })
    }
}
