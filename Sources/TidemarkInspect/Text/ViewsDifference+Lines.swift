// ViewsDifference+Lines.swift — differences of views, as lines for people and as JSON.

import TidemarkEvents
import TidemarkViews

extension ViewsDifference {
    /// Lines for people: `+` is only after, `-` only before, `~` differs.
    ///
    /// - Parameter all: also lists rows whose difference is not visible.
    package func lines(all: Bool = false) -> [String] {
        entities.flatMap(\.lines) + mutations.map(\.line) + (all ? rows.map(\.line) : [])
    }

    /// One JSON object for each entity and mutation, and with `all` for each row.
    package func json(all: Bool = false) -> [[UInt8]] {
        entities.map(\.json) + mutations.map(\.json) + (all ? rows.map(\.json) : [])
    }
}

extension ViewsDifference.Change {
    fileprivate var sign: String {
        switch self {
        case .added: "+"
        case .removed: "-"
        case .changed: "~"
        }
    }
}

extension ViewsDifference.Entity {
    fileprivate var lines: [String] {
        var line = "\(change.sign) " + "\(key)".padded(to: 24) + " "
        guard change == .changed else {
            let state = before ?? after
            line += (state?.status.rawValue ?? "").padded(to: 9) + " "
            return [line + (state?.document).shown]
        }
        let words = [before, after].compactMap { $0?.status.rawValue }
        line += words.first == words.last ? words[0] : words.joined(separator: " → ")
        let width = fields.map(\.name.count).max() ?? 0
        return [line]
            + fields.map { field in
                "    " + field.name.padded(to: width) + "  " + field.before.shown + " → "
                    + field.after.shown
            }
    }

    fileprivate var json: [UInt8] {
        var object: JSONObject = [
            "view": .string("entities"), "change": .string(change.rawValue),
            "collection": .string(key.collection.rawValue), "id": .string(key.id),
        ]
        object["status"] = .pair(
            (before?.status.rawValue).json, (after?.status.rawValue).json)
        if change == .changed {
            object["fields"] = .array(
                fields.map { field in
                    .object([
                        "name": .string(field.name), "before": field.before.json,
                        "after": field.after.json,
                    ])
                })
        } else {
            object["data"] = (before ?? after)?.document.json ?? .null
        }
        return JSONValue.object(object).encoded()
    }
}

extension ViewsDifference.Mutation {
    fileprivate var line: String {
        guard let entry = after ?? before else { return "" }
        var line =
            "\(change.sign) " + "\(entry.position)".padded(to: 6) + " "
            + "\(entry.mutation.kind)".padded(to: 14) + " " + "\(entry.mutation.key)".padded(to: 22)
        var words = [before, after].compactMap { $0?.standing }
        if words.first == words.last, let before, let after {
            words = [before, after].map { "\($0.standing), sent \($0.mutation.attempts) times" }
        }
        line += " " + words.joined(separator: " → ")
        if !entry.mutation.fields.isEmpty {
            line += "  (" + entry.mutation.fields.joined(separator: ", ") + ")"
        }
        return entry.mutation.isDerived ? line + " \(entry.mutation.rule)" : line
    }

    fileprivate var json: [UInt8] {
        guard let entry = after ?? before else { return [] }
        var object: JSONObject = [
            "view": .string("outbox"), "change": .string(change.rawValue),
            "collection": .string(entry.mutation.key.collection.rawValue),
            "id": .string(entry.mutation.key.id),
            "position": .number(JSONNumber(entry.position.rawValue)),
            "kind": .string(entry.mutation.kind.description),
            "outcome": .pair((before?.word).json, (after?.word).json),
            "proof": .pair(before.proof, after.proof),
            "attempts": .pair(before.attempts, after.attempts),
        ]
        if entry.mutation.isDerived { object["rule"] = .string(entry.mutation.rule) }
        return JSONValue.object(object).encoded()
    }
}

extension ViewsDifference.Row {
    fileprivate var line: String { "\(change.sign) the row \(key) of view \(key.view)" }

    fileprivate var json: [UInt8] {
        JSONValue.object([
            "view": .string("\(key.view)"), "change": .string(change.rawValue),
            "row": .string("\(key)"),
        ]).encoded()
    }
}

extension OutboxEntry {
    fileprivate var standing: String {
        var words = word
        if let proof = mutation.proof { words += " by \(proof)" }
        if !blockers.isEmpty {
            words += " by " + blockers.map(\.description).joined(separator: ", ")
        }
        if mutation.outcome == nil, mutation.attempts > 0 {
            words += ", sent \(mutation.attempts == 1 ? "once" : "\(mutation.attempts) times")"
        }
        return words
    }
}

extension OutboxEntry? {
    fileprivate var proof: JSONValue {
        self?.mutation.proof.map { .number(JSONNumber($0.rawValue)) } ?? .null
    }
    fileprivate var attempts: JSONValue {
        map { .number(JSONNumber($0.mutation.attempts)) } ?? .null
    }
}

extension [UInt8]? {
    /// On one line; `-` where there is nothing.
    fileprivate var shown: String { map { EventLine.onOneLine($0) } ?? "-" }

    /// The parsed JSON; other bytes as a string.
    fileprivate var json: JSONValue {
        guard let bytes = self else { return .null }
        return (try? JSONValue(parsing: bytes)) ?? .string(String(decoding: bytes, as: UTF8.self))
    }
}

extension String? {
    fileprivate var json: JSONValue { map { .string($0) } ?? .null }
}

extension JSONValue {
    fileprivate static func pair(_ before: JSONValue, _ after: JSONValue) -> JSONValue {
        .object(["before": before, "after": after])
    }
}
