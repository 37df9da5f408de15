// ExplanationLines.swift — the explanation of an entity, as lines for people and objects for
// programs.

import TidemarkEvents
import TidemarkLog
import TidemarkViews

extension EntityExplanation {
    /// The explanation for people, in lines.
    package var lines: [String] { lines(columns: nil) }

    /// The same for a terminal.
    ///
    /// - Parameter columns: the width that lines with an event's whole payload are cut to; nil for
    ///   no limit.
    package func lines(columns: Int?) -> [String] {
        var lines = [head]
        if ids.count > 1 {
            lines.append("  on the server it is \(ids.dropFirst().joined(separator: ", "))")
        }
        if let base, row.baseState != .absent {
            lines.append("  \(baseWords): \(base.position)" + base.circumstances)
        }
        lines += reasons.map { "  " + $0 }
        lines += taken.map { "  " + $0.words }
        for item in pending where isTold(item) { lines.append("  " + item.words) }
        for hold in holds { lines.append("  waits: " + hold.words) }
        if decisions.isEmpty {
            let name = field.map { "\($0.description) of it" } ?? "it"
            let since = dropped.map { " since \($0.next)" } ?? ""
            lines.append("  no rule has decided anything about \(name)" + since)
        }
        for decision in decisions { lines += decision.lines(columns: columns) }
        return lines
    }

    private func isTold(_ item: Pending) -> Bool {
        field.map { $0.isIn(item.mutation?.fields ?? []) } ?? true
    }

    private var head: String {
        if row.isHidden { return "\(key): out of reach" }
        if row.isOrphan, row.content != nil { return "\(key): not seen" }
        if row.document == nil, row.pending.isEmpty {
            if row.attempt != nil { return "\(key): given up" }
            return row.prunedDigest.isEmpty ? "\(key): deleted" : "\(key): pruned"
        }
        return "\(key): \(row.status.rawValue)"
    }

    private var baseWords: String {
        if row.isPlaceholder {
            return row.isPartial
                ? "the server's word, a part of it, because something refers to it"
                : "made up, because something refers to it"
        }
        if row.isLocalOnly { return "kept on this device alone" }
        if row.baseState == .deleted { return absence ?? "deleted on the server" }
        return row.isAssumed ? "the server took what was sent" : "the server's word"
    }

    /// Why the entity is visible or not, apart from what is pending.
    package var reasons: [String] {
        var reasons: [String] = []
        func last(_ results: [String]) -> Decision? {
            decisions.last { !$0.isAboutOther && results.contains($0.row.result) }
        }
        if row.isHidden {
            if let hiddenOwner {
                reasons.append("belongs to \(hiddenOwner), which is out of reach")
            } else if let decision = last(["hidden"]), decision.row.rule == "access" {
                reasons.append("not in a list of everything: \(decision.position)")
            }
        }
        if row.isOrphan, row.content != nil {
            let name = deletedAbove.map { "\($0.key)" } ?? "what is not there"
            let by = deletedAbove?.position.map { ", deleted by \($0)" } ?? ""
            reasons.append("lies in \(name)\(by)")
        }
        if row.baseState == .absent, !row.prunedDigest.isEmpty, let decision = last(["pruned"]) {
            reasons.append("pruned by \(decision.row.rule): \(decision.position)")
        }
        if let lostOwner {
            reasons.append("belonged to \(lostOwner.key), out of reach since \(lostOwner.since)")
        }
        for position in unnamedAt {
            reasons.append(
                "a list of everything did not name it; it waits for an answer to the issue "
                    + "\(position)")
        }
        if let withheldAt {
            reasons.append(
                "what the server said of it at \(withheldAt) was left out, as something in its "
                    + "tree waited; it is read once nothing does")
        }
        if let triedAt = row.triedAt {
            reasons.append("the server was asked for it in vain, \(EventLine.time(triedAt))")
        }
        if let relay, let words = relay.event?.words {
            reasons.append("\(EventText.printable(words)) (\(relay.position))")
        }
        // Refusals are listed with the pending mutations.
        for issue in issues where issue.kind != .rejected {
            let id = issue.index == 0 ? "\(issue.position)" : "\(issue.position).\(issue.index)"
            reasons.append("an open issue, \(id): \(EventText.printable(issue.message))")
        }
        return reasons
    }

    /// The explanation for programs: an object with the entity's state, then one for each decision.
    package var json: [[UInt8]] {
        var object: JSONObject = [
            "collection": .string(key.collection.rawValue), "id": .string(key.id),
            "ids": .array(ids.map(JSONValue.string)), "status": .string(row.status.rawValue),
            "seen": .bool(row.document != nil),
            "pending": .array(pending.map { .number(JSONNumber($0.item.position.rawValue)) }),
            "reasons": .array(reasons.map(JSONValue.string)),
            "waits": .array(holds.map(\.json)),
        ]
        if !taken.isEmpty { object["taken"] = .array(taken.map(\.json)) }
        object["base"] = base.map { .number(JSONNumber($0.position.rawValue)) }
        object["field"] = field.map { .string($0.description) }
        return [JSONValue.object(object).encoded(sortedKeys: true)] + decisions.map(\.json)
    }
}

extension EntityExplanation.Input {
    /// When the event was appended, and in which sync run.
    fileprivate var circumstances: String {
        guard let event else { return absence }
        let run = event.sync.map { ", run \($0)" } ?? ""
        let origin = event.isTakenOver ? ", taken over from the app's own database" : run
        return "  \(event.kind)  \(EventLine.time(event.recordedAt))" + origin
    }

    /// Why there is no event; empty where that is not known.
    private var absence: String { beginning.map { "  " + $0.absence } ?? "" }

    /// The event's payload, on one line.
    fileprivate var line: String {
        guard let event else { return "\(position)\(absence)" }
        let name = event.key.map { " \($0)" } ?? ""
        return "\(position) \(event.kind)\(name)  " + EventLine.onOneLine(event.payload)
    }
}

extension EntityExplanation.Pending {
    fileprivate var words: String {
        let verb =
            switch item.kind {
            case .create: "created"
            case .update: "edited"
            case .delete: "deleted"
            case .carried: "sent with a later one"
            case .action: "asked for"
            }
        let rule = item.isDerived ? " by \(item.rule)" : ""
        let fields = mutation?.fields ?? []
        let names = fields.isEmpty ? "" : " (" + fields.joined(separator: ", ") + ")"
        let time = mutation.map { "  " + EventLine.time($0.recordedAt) } ?? ""
        return "pending: \(item.position) \(verb)\(rule)\(names)\(time)"
    }
}

extension EntityExplanation.Decision {
    /// The result of the decision, then its inputs, then its losses.
    fileprivate func lines(columns: Int?) -> [String] {
        let isList = row.key.id.isEmpty
        let other = isList ? "(list of \(row.key.collection)) " : isAboutOther ? "\(row.key) " : ""
        var lines = ["\(position) \(other)\(row.words)"]
        if let base = row.base, !row.inputs.contains(base) { lines.append("  before  \(base)") }
        for input in inputs {
            let line = "  from    \(input.line)"
            lines.append(columns.map { EventText.cut(line, to: $0) } ?? line)
        }
        for change in given {
            lines.append("  gave    \(change.field) \(ValueWords.text(change.new, cutTo: nil))")
        }
        if let withdrawnAt { lines.append("  taken back at \(withdrawnAt)") }
        for loss in losses {
            let value = loss.field.map { "\($0) \(ValueWords.text(loss.value, cutTo: nil))" }
            let what = "\(value ?? "all") of \(loss.position)"
            lines.append(keptIn.map { "  kept    \(what) in \($0)" } ?? "  gave up \(what)")
        }
        return lines
    }

    var json: [UInt8] {
        func positions(_ list: [Position]) -> JSONValue {
            .array(list.map { .number(JSONNumber($0.rawValue)) })
        }
        var object: JSONObject = [
            "collection": .string(row.key.collection.rawValue), "id": .string(row.key.id),
            "position": .number(JSONNumber(position.rawValue)), "rule": .string(row.rule),
            "version": .number(JSONNumber(row.ruleVersion)), "result": .string(row.result),
            "fields": .array(row.fields.map(JSONValue.string)), "inputs": positions(row.inputs),
        ]
        if !row.superseded.isEmpty {
            object["givenUp"] = .array(row.superseded.map(JSONValue.string))
        }
        if !row.kept.isEmpty { object["kept"] = .array(row.kept.map(JSONValue.string)) }
        if !losses.isEmpty { object["losses"] = .array(losses.map(\.json)) }
        if !given.isEmpty {
            var values = JSONObject()
            for change in given { values[change.field] = change.new }
            object["gave"] = .object(values)
        }
        object["withdrawnAt"] = withdrawnAt.map { .number(JSONNumber($0.rawValue)) }
        object["keptIn"] = keptIn.map { .string("\($0)") }
        if isAboutOther { object["aboutOther"] = .bool(true) }
        if let base = row.base { object["base"] = .number(JSONNumber(base.rawValue)) }
        return JSONValue.object(object).encoded(sortedKeys: true)
    }
}

extension EntityExplanation.Loss {
    fileprivate var json: JSONValue {
        var object: JSONObject = ["position": .number(JSONNumber(position.rawValue))]
        object["field"] = field.map(JSONValue.string)
        object["value"] = value
        return .object(object)
    }
}

/// Values as one line of text.
enum ValueWords {
    /// A value as JSON, with characters escaped that a terminal would obey.
    ///
    /// - Parameter columns: the width to cut it to; nil for no limit.
    static func text(_ value: JSONValue?, cutTo columns: Int?) -> String {
        guard let value else { return "nothing" }
        let text = EventLine.onOneLine(value.encoded())
        return columns.map { EventText.cut(text, to: $0) } ?? text
    }
}
