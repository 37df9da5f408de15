// EntityExplanation.swift — why an entity is as it is: which rules decided about it, from which
// events, with which result.

package import TidemarkEvents
package import TidemarkViews

/// What was decided about one entity, and how it stands.
package struct EntityExplanation: Sendable {
    /// One decision about the entity.
    package struct Decision: Sendable {
        /// The event that it was made at.
        package var position: Position
        package var row: DecisionRow
        /// The events that it was made from, in the order in which the rule names them.
        package var inputs: [Input]
    }

    /// An event that a decision was made from.
    package struct Input: Sendable {
        package var position: Position
        /// The event; nil when the log does not have it any more.
        package var event: Event?
    }

    /// The key that the entity has for life, also when it was asked for by another id.
    package var key: EntityKey
    /// The ids that it goes by, that of its key first.
    package var ids: [String]
    package var row: EntityRow
    /// In the order of the log.
    package var decisions: [Decision]

    /// Collects what the log says; nil when it never heard of the entity.
    package init?(_ named: EntityKey, _ views: ViewReader) throws {
        let key = try views.key(named)
        guard let row = try views.entity(key) else { return nil }
        self.key = key
        self.row = row
        ids = try views.ids(of: key)
        decisions = []
        var found: [(Position, DecisionRow)] = []
        try views.forEachDecision { position, decision in
            if decision.key == key { found.append((position, decision)) }
            return true
        }
        for (position, decision) in found {
            let inputs = try decision.inputs.map {
                Input(position: $0, event: try views.event(at: $0))
            }
            decisions.append(Decision(position: position, row: decision, inputs: inputs))
        }
    }
}

extension EntityExplanation {
    /// The explanation for people, a line each.
    package var lines: [String] {
        var lines = [head]
        if ids.count > 1 {
            lines.append("  on the server it is \(ids.dropFirst().joined(separator: ", "))")
        }
        if let position = row.basePosition, row.baseState != .absent {
            lines.append(
                row.isPlaceholder
                    ? "  made up at \(position), because something refers to it"
                    : "  the server's word: \(position)")
        }
        for item in row.pending {
            let rule = item.isDerived ? " by \(item.rule)" : ""
            lines.append("  pending\(rule): \(item.position)")
        }
        if decisions.isEmpty { lines.append("  no rule has decided anything about it") }
        for decision in decisions { lines += decision.lines }
        return lines
    }

    private var head: String {
        if row.isHidden { return "\(key): out of reach" }
        if row.document == nil, row.pending.isEmpty {
            return row.prunedDigest.isEmpty ? "\(key): deleted" : "\(key): pruned"
        }
        return "\(key): \(row.status.rawValue)"
    }

    /// The explanation for programs, an object for each decision.
    package var json: [[UInt8]] { decisions.map { $0.json(key) } }
}

extension EntityExplanation.Decision {
    /// What was decided, then what from.
    var lines: [String] {
        var line = "\(position) \(row.rule)/\(row.ruleVersion): \(row.result)"
        if !row.fields.isEmpty { line += " on " + row.fields.joined(separator: ", ") }
        if !row.superseded.isEmpty, row.superseded != row.fields {
            line += "; given up: " + row.superseded.joined(separator: ", ")
        }
        var lines = [line]
        if let base = row.base, !row.inputs.contains(base) {
            lines.append("  before  \(base)")
        }
        for input in inputs {
            guard let event = input.event else {
                lines.append("  from    \(input.position)")
                continue
            }
            let name = event.key.map { " \($0)" } ?? ""
            lines.append(
                "  from    \(input.position) \(event.kind)\(name)  "
                    + EventLine.onOneLine(event.payload))
        }
        return lines
    }

    func json(_ key: EntityKey) -> [UInt8] {
        func positions(_ list: [Position]) -> JSONValue {
            .array(list.map { .number(JSONNumber($0.rawValue)) })
        }
        var object: JSONObject = [
            "collection": .string(key.collection.rawValue), "id": .string(key.id),
            "position": .number(JSONNumber(position.rawValue)), "rule": .string(row.rule),
            "version": .number(JSONNumber(row.ruleVersion)), "result": .string(row.result),
            "fields": .array(row.fields.map(JSONValue.string)), "inputs": positions(row.inputs),
        ]
        if !row.superseded.isEmpty {
            object["givenUp"] = .array(row.superseded.map(JSONValue.string))
        }
        if let base = row.base { object["base"] = .number(JSONNumber(base.rawValue)) }
        return JSONValue.object(object).encoded()
    }
}
