// HistoryLines.swift — an entity's history and the authors of its fields, as lines for people and
// objects for programs.

package import TidemarkEvents

extension EntityHistory.Entry {
    /// The entry for people: what happened, then a line for each field that changed.
    ///
    /// - Parameter columns: the width that values are cut to; nil leaves them whole.
    package func lines(columns: Int?) -> [String] {
        var line = "\(position)".padded(to: 6) + " \(EventLine.time(recordedAt))  \(words)"
        if let sync { line += "  (run \(sync))" }
        var lines = [line]
        let width = min(changes.map(\.field.count).max() ?? 0, 20)
        let most = columns.map { max(($0 - width - 14) / 2, 12) }
        for change in changes {
            lines.append(
                "         \(change.field.padded(to: width))  \(change.words(cutTo: most))")
        }
        for decision in decisions { lines.append("         by \(decision)") }
        for outcome in outcomes {
            let rule = outcome.rule.isEmpty ? "" : " (\(outcome.rule))"
            lines.append("         \(outcome.mutation)\(rule) \(outcome.outcome.rawValue)")
        }
        return lines
    }

    /// The entry for programs.
    package func json(_ key: EntityKey) -> [UInt8] {
        var object: JSONObject = [
            "collection": .string(key.collection.rawValue), "id": .string(key.id),
            "position": .number(JSONNumber(position.rawValue)),
            "recordedAt": .number(JSONNumber(recordedAt.rawValue)),
            "kind": .string(kind.description), "words": .string(words),
        ]
        object["sync"] = sync.map { .number(JSONNumber($0.rawValue)) }
        if !changes.isEmpty {
            object["changes"] = .array(
                changes.map { change in
                    var member: JSONObject = ["field": .string(change.field)]
                    member["old"] = change.old
                    member["new"] = change.new
                    return .object(member)
                })
        }
        if !decisions.isEmpty { object["decisions"] = .array(decisions.map(JSONValue.string)) }
        if !outcomes.isEmpty {
            object["outcomes"] = .array(
                outcomes.map { outcome in
                    var member: JSONObject = [
                        "mutation": .number(JSONNumber(outcome.mutation.rawValue)),
                        "outcome": .string(outcome.outcome.rawValue),
                    ]
                    if !outcome.rule.isEmpty { member["rule"] = .string(outcome.rule) }
                    return .object(member)
                })
        }
        return JSONValue.object(object).encoded(sortedKeys: true)
    }
}

extension FieldChange {
    /// `"Tea" → "Green tea"`, or only the new value where there was none before.
    fileprivate func words(cutTo columns: Int?) -> String {
        let value = ValueWords.text(new, cutTo: columns)
        guard let old else { return value }
        return ValueWords.text(old, cutTo: columns) + " → " + value
    }
}

extension FieldBlame {
    /// The author in a word, or the rule with its version.
    package var by: String { rule.isEmpty ? author.rawValue : rule }

    /// The blame for people.
    ///
    /// - Parameters:
    ///   - width: the width of the longest field name.
    ///   - columns: the width to cut values to; nil for no limit.
    package func line(width: Int, columns: Int?) -> String {
        var line = "\(position)".padded(to: 6) + " " + by.padded(to: 12)
        line += " " + (recordedAt.map { EventLine.time($0) } ?? "").padded(to: 19)
        line += " " + (sync.map { "run \($0)" } ?? "").padded(to: 8)
        line += " " + field.padded(to: width) + " " + ValueWords.text(value, cutTo: columns)
        if !inputs.isEmpty {
            line += "  from " + inputs.map { "\($0)" }.joined(separator: ", ")
        }
        return line
    }

    /// The author of the one field that was asked for, for people.
    package var sentences: [String] {
        let time = recordedAt.map { "  " + EventLine.time($0) } ?? ""
        let run = sync.map { ", run \($0)" } ?? ""
        var sentences = [
            "  \(field) is \(ValueWords.text(value, cutTo: nil))",
            "  set by \(by): \(position)\(time)\(run)",
        ]
        if author != .before {
            sentences.append("  before it was \(ValueWords.text(before, cutTo: nil))")
        }
        return sentences
    }

    /// The blame for programs.
    package func json(_ key: EntityKey) -> [UInt8] {
        var object: JSONObject = [
            "collection": .string(key.collection.rawValue), "id": .string(key.id),
            "field": .string(field), "author": .string(author.rawValue),
            "position": .number(JSONNumber(position.rawValue)),
        ]
        object["value"] = value
        object["before"] = before
        object["recordedAt"] = recordedAt.map { .number(JSONNumber($0.rawValue)) }
        object["sync"] = sync.map { .number(JSONNumber($0.rawValue)) }
        if !rule.isEmpty {
            object["rule"] = .string(rule)
            object["inputs"] = .array(inputs.map { .number(JSONNumber($0.rawValue)) })
        }
        return JSONValue.object(object).encoded(sortedKeys: true)
    }
}
