// Dhis2OldImport.swift — the importers of the old API: each object alone, parents first.
//
// An error of an object keeps it out with all that is in it; the others are imported. Deleting what
// is not there succeeds, with a sentence and without a reference. The values of an event are
// replaced; of a tracked entity an attribute that is not given stays, unless it is written alone
// and a program is named that has it.

import TidemarkEvents
import TidemarkSync

extension Dhis2ServerModel {
    /// `POST` to a list: several objects, or one.
    mutating func importOld(
        _ kind: Dhis2Kind, _ call: Dhis2Call
    ) throws(Dhis2Rejection) -> TransportResponse {
        let usual: Dhis2Strategy = kind == .relationships ? .create : .createAndUpdate
        let strategy = try strategy(call.query.text("strategy", "importStrategy"), usual)
        let sent = try body(call.body)
        let objects = sent[kind.oldName]?.array?.compactMap(\.object) ?? [sent]
        var summaries: [Dhis2Summary] = []
        for object in objects {
            let node = node(kind, Dhis2Names.new(object, kind))
            summaries.append(imported(node, strategy, call))
        }
        return Dhis2Reply.message(
            around: Dhis2Summary.json(summaries, options: Dhis2Summary.options(strategy)))
    }

    /// `PUT` to an object.
    mutating func updateOld(
        _ kind: Dhis2Kind, _ id: String, _ call: Dhis2Call
    ) throws(Dhis2Rejection) -> TransportResponse {
        var node = node(kind, Dhis2Names.new(try body(call.body), kind))
        node.id = id
        let program = call.query.text("program")
        return Dhis2Reply.message(around: imported(node, .update, call, program: program).json)
    }

    /// `DELETE` of an object.
    mutating func deleteOld(
        _ kind: Dhis2Kind, _ id: String, _ call: Dhis2Call
    ) throws(Dhis2Rejection) -> TransportResponse {
        if kind == .relationships, live(kind, id) == nil {
            throw Dhis2Rejection(404, "No relationship with id '\(id)' was found.")
        }
        let node = Dhis2Node(kind: kind, id: id, fields: JSONObject(), isDeleted: true)
        return Dhis2Reply.message(around: imported(node, .delete, call).json)
    }

    private mutating func imported(
        _ node: Dhis2Node, _ strategy: Dhis2Strategy, _ call: Dhis2Call, program: String? = nil
    ) -> Dhis2Summary {
        if strategy == .delete || (strategy == .sync && node.isDeleted) {
            return deleted(node, call)
        }
        let node = prepared(node)
        let known = live(node.kind, node.id)
        let isFound = strategy == .sync && node.kind == .relationships && known != nil
        var summary = Dhis2Summary(node.kind, node.id)
        if isFound { return summary }
        let checking = Dhis2Checking(user: call.user, now: call.now, strategy: strategy)
        let problems = problems(node, checking)
        for problem in problems { summary.add(problem) }
        // Whoever may not see an enrollment is not told which one it is.
        if problems.contains(where: { $0.code == "E1102" }) { summary.reference = nil }
        guard problems.allSatisfy(\.isWarning) else { return summary }
        summary.outcome = apply(node, .old, call.user, call.now, program: program)
        if node.kind == .trackedEntities || node.kind == .enrollments {
            var children: [Dhis2Summary] = []
            for child in node.children { children.append(imported(child, strategy, call)) }
            summary.children = children
        }
        for relationship in node.relationships where live(.relationships, relationship.id) == nil {
            _ = imported(relationship, strategy, call)
        }
        return summary
    }

    private mutating func deleted(_ node: Dhis2Node, _ call: Dhis2Call) -> Dhis2Summary {
        guard live(node.kind, node.id) != nil else {
            var summary = Dhis2Summary(node.kind, nil)
            let word =
                node.kind == .trackedEntities ? "Tracked entity instance" : node.kind.word
            summary.description =
                "\(word) \(node.id) cannot be deleted as it is not present in the system"
            return summary
        }
        var summary = Dhis2Summary(node.kind, node.id)
        let checking = Dhis2Checking(user: call.user, now: call.now, strategy: .delete)
        let problems = problems(node, checking)
        for problem in problems { summary.add(problem) }
        guard problems.isEmpty else { return summary }
        remove(node.kind, node.id, now: call.now)
        let word = node.kind == .trackedEntities ? "tracked entity instance" : node.kind.idMember
        summary.description = "Deletion of \(word) \(node.id) was successful"
        summary.outcome = .deleted
        return summary
    }
}
