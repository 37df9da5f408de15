// Dhis2TrackerImport.swift — the importer of the new API: flat or nested payloads, one report.
//
// The whole payload is imported into a copy of the model, a parent before its children. With
// `atomicMode=ALL`, the usual one, a single error drops the copy; with `OBJECT` what is fine stays.

import TidemarkEvents
import TidemarkSync

/// How the new API imports.
struct Dhis2TrackerOptions: Sendable {
    var user: Dhis2User
    var strategy: Dhis2Strategy
    var isAtomic: Bool
    var isDryRun: Bool
}

extension Dhis2ServerModel {
    /// `POST tracker`: a job unless `async=false`, which answers with the report itself.
    mutating func importTracker(_ call: Dhis2Call) throws(Dhis2Rejection) -> TransportResponse {
        let query = call.query
        let strategy = try strategy(query.text("importStrategy"), .createAndUpdate)
        guard strategy != .sync else {
            throw Dhis2Rejection(400, "Value 'SYNC' is not valid for parameter importStrategy.")
        }
        let mode = query.text("atomicMode") ?? "ALL"
        guard ["ALL", "OBJECT"].contains(mode) else {
            throw Dhis2Rejection(400, "Value '\(mode)' is not valid for parameter atomicMode.")
        }
        let options = Dhis2TrackerOptions(
            user: call.user, strategy: strategy, isAtomic: mode == "ALL",
            isDryRun: query.text("importMode") == "VALIDATE")
        let payload = try body(call.body)
        guard query.flag("async") == false else {
            return start(Dhis2Job(id: newID(), payload: payload, options: options, at: call.now))
        }
        let report = imported(payload, options, call.now)
        let answer = report.json(try Self.reportMode(query))
        return Dhis2Reply.json(report.status == "ERROR" ? 409 : 200, .object(answer))
    }

    static func reportMode(_ query: Dhis2Query) throws(Dhis2Rejection) -> Dhis2ReportMode {
        let text = query.text("reportMode") ?? Dhis2ReportMode.errors.rawValue
        guard let mode = Dhis2ReportMode(rawValue: text) else {
            throw Dhis2Rejection(400, "Value '\(text)' is not valid for parameter reportMode.")
        }
        return mode
    }

    /// Imports a payload and says what became of it.
    mutating func imported(
        _ payload: JSONObject, _ options: Dhis2TrackerOptions, _ now: Timestamp
    ) -> Dhis2Report {
        var nodes: [Dhis2Node] = []
        for kind in Dhis2Kind.allCases {
            nodes += self.nodes(kind, payload[kind.rawValue]).flatMap(\.flat)
        }
        var draft = self
        var report = Dhis2Report()
        var checking = Dhis2Checking(
            user: options.user, now: now, strategy: options.strategy)
        let kinds =
            options.strategy == .delete ? Dhis2Kind.allCases.reversed() : Dhis2Kind.allCases
        for kind in kinds {
            for (index, node) in nodes.filter({ $0.kind == kind }).enumerated() {
                let node = draft.prepared(node)
                let problems = draft.problems(node, checking)
                report.add(problems, about: node)
                guard problems.allSatisfy(\.isWarning) else {
                    checking.failed[kind, default: []].insert(node.id)
                    report.count(.ignored, node, index)
                    continue
                }
                var outcome = Dhis2Outcome.deleted
                if options.strategy == .delete {
                    draft.remove(kind, node.id, now: now)
                } else {
                    outcome = draft.apply(node, .new, options.user, now)
                }
                report.count(outcome, node, index)
            }
        }
        if options.isAtomic, report.hasErrors {
            report.dropAll()
            sequence = draft.sequence
        } else if !options.isDryRun {
            self = draft
        }
        return report
    }
}
