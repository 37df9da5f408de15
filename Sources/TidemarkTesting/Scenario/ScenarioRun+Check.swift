// ScenarioRun+Check.swift — compares the expectations with store, server and engine.

import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkViews

extension ScenarioRun {
    /// Notes the mismatches with the expectations.
    func check(_ expected: ScenarioExpectation) throws(ScenarioStop) {
        try note {
            try replica.read { store in
                try checkRows(expected, store)
                try checkCollections(expected, store)
                try checkWatermarks(expected, store)
                try checkHeld(expected, store)
                for (key, texts) in expected.files {
                    let actual = try store.fileTexts(of: store.named(key))
                    note(
                        ScenarioMatch.differences(
                            texts, actual, at: "\(expected.path).files.\(key)"))
                }
                for (list, sequence) in expected.lists {
                    let actual = try items(list, store)
                    let differences = sequence.differences(
                        actual, at: "\(expected.path).\(list.rawValue)", text: list.text
                    ) { wanted, item in
                        list.matches(renamed(wanted, store), item)
                    }
                    note(differences)
                }
            }
        }
        for pool in expected.pools {
            try note {
                let left = try replica.valuesLeft(in: pool.key.pool, key: pool.key.texts)
                if left != pool.left { note("\(pool.path).left", "\(pool.left)", "\(left)") }
            }
        }
        for (key, document) in expected.server {
            let path = "\(expected.path).server.\(key)"
            let actual = server.record(key)
            if document == .null {
                if let actual { note(path, "(no such record)", actual.description) }
            } else {
                note(ScenarioMatch.differences(document, actual, at: path))
            }
        }
        if let outcome = expected.outcome {
            let path = "\(expected.path).outcome"
            note(ScenarioMatch.differences(outcome, self.outcome?.json, at: path))
        }
    }

    /// Checks that no word occurred that a scenario can't name.
    func checkWords() throws {
        let words = ScenarioWords(scenario.model)
        func check(_ name: String, _ word: String, _ known: [String]) {
            guard !known.contains(word) else { return }
            note(name, "one of \(known.joined(separator: ", "))", word)
        }
        if let outcome { check("outcome", outcome.word, words.endings) }
        for line in progress { check("progress", line.stringValue ?? "", words.progress) }
        try replica.read { store in
            try store.views.forEachDecision { _, decision in
                check("decisions.rule", decision.rule, words.rules)
                check("decisions.result", decision.result, words.results)
                return true
            }
        }
    }

    private func note(_ path: String, _ expected: String, _ actual: String) {
        mismatches.append(ScenarioMismatch(path, expected, actual))
    }

    private func note(_ differences: [ScenarioDifference]) {
        for difference in differences {
            note(difference.path, difference.expected, difference.actual)
        }
    }

    // MARK: Rows

    private func checkRows(_ expected: ScenarioExpectation, _ store: ReadContext) throws {
        let model = try store.views.model()
        for (key, wanted) in expected.rows {
            let path = "\(expected.path).rows.\(key)"
            let row = try store.views.entity(store.named(key))
            let actual = try row.flatMap { try Self.json($0, key, model, store) }
            if wanted == .null {
                if let actual { note(path, "(no such entity)", actual.description) }
            } else if let actual {
                note(ScenarioMatch.differences(wanted, actual, at: path))
            } else {
                note(path, wanted.description, "(no such entity)")
            }
        }
        for (alias, wanted) in expected.bindings {
            let key = try store.views.resolve(alias)
            let isBound = key != alias
            if wanted.map({ $0 == key && isBound }) ?? !isBound { continue }
            note(
                "\(expected.path).bindings.\(alias)", wanted?.description ?? "(no other entity)",
                isBound ? key.description : "(no other entity)")
        }
    }

    /// An entity in comparable form; nil when it is not visible and nothing is pending.
    private static func json(
        _ row: EntityRow, _ key: EntityKey, _ model: SyncModel, _ store: ReadContext
    ) throws -> JSONValue? {
        let document = try row.document(in: model[key.collection])
        guard document != nil || !row.pending.isEmpty || row.isHidden else { return nil }
        return [
            "document": try document.map { try JSONValue(parsing: $0) } ?? .null,
            "status": .string(row.status.rawValue),
            "rollUp": try store.rolledUpStatus(of: key).map { .string($0.rawValue) } ?? .null,
            "error": row.refusal.map { .string($0.message) } ?? .null,
            "placeholder": .bool(row.isPlaceholder), "hidden": .bool(row.isHidden),
        ]
    }

    private func checkCollections(
        _ expected: ScenarioExpectation, _ store: ReadContext
    ) throws {
        for (name, ids) in expected.collections {
            var actual: [String] = []
            try store.forEachDocument(in: name) { key, _, _ in
                actual.append(try store.name(of: key))
                return true
            }
            let wanted = try ids.map {
                try store.name(of: store.named(store.views.resolve(EntityKey(name, $0))))
            }
            guard wanted.sorted() != actual.sorted() else { continue }
            func text(_ ids: [String]) -> String {
                ids.isEmpty ? "(none)" : ids.sorted().joined(separator: "\n")
            }
            note("\(expected.path).collections.\(name)", text(wanted), text(actual))
        }
    }

    private func checkWatermarks(
        _ expected: ScenarioExpectation, _ store: ReadContext
    ) throws {
        for (target, wanted) in expected.watermarks {
            let path = "\(expected.path).watermarks.\(target)"
            let actual = try store.views.watermark(target).flatMap { row in
                let place = target.isFeed ? row.cursor.flatMap { FeedCursor($0) } : nil
                return place?.description ?? row.since?.description ?? row.cursor?.description
            }
            if wanted == .null {
                if let actual { note(path, "(none)", actual) }
            } else if let time = wanted.time, let actual, JSONValue.string(actual).time == time {
                continue
            } else {
                note(ScenarioMatch.differences(wanted, actual.map { .string($0) }, at: path))
            }
        }
    }

    private func checkHeld(_ expected: ScenarioExpectation, _ store: ReadContext) throws {
        let dependencies = device.dependencies
        for (name, wanted) in expected.held {
            let gates = scenario.model.settings.gates
            guard let gate = gates.first(where: { $0.name == name }) else { continue }
            let left = try store.views.wait(for: gate, at: dependencies.moment)
            let until =
                left > 0 ? Timestamp(rawValue: dependencies.now().rawValue + left) : nil
            guard until != wanted.time else { continue }
            note(
                "\(expected.path).held.\(name)", wanted.description,
                until?.description ?? "null")
        }
    }

    // MARK: Lists

    /// An expected item, with the permanent key of its entity.
    private func renamed(_ item: JSONValue, _ store: ReadContext) -> JSONValue {
        guard var members = item.object, let text = members["entity"]?.stringValue,
            let key = EntityKey(text), let own = try? store.views.resolve(key)
        else { return item }
        members["entity"] = .string(own.description)
        return .object(members)
    }

    private func items(
        _ list: ScenarioExpectation.List, _ store: ReadContext
    ) throws -> [JSONValue] {
        switch list {
        case .requests: return wire.requests
        case .log: return try logged(store)
        case .outbox: return try store.views.outbox(all: false).map { try Self.json($0, store) }
        case .mutations: return try store.views.outbox(all: true).map { try Self.json($0, store) }
        case .decisions:
            var items: [JSONValue] = []
            try store.views.forEachDecision { position, decision in
                guard position > mark else { return true }
                items.append([
                    "entity": .string(decision.key.description), "rule": .string(decision.rule),
                    "result": .string(decision.result), "fields": Self.texts(decision.fields),
                ])
                return true
            }
            return items
        case .issues:
            return try store.issues().map { issue in
                [
                    "kind": .string(issue.kind.rawValue),
                    "collection": .string(issue.collection.rawValue),
                    "entity": issue.key.map { .string($0.description) } ?? .null,
                    "fields": Self.texts(issue.fields), "message": .string(issue.message),
                    "details": .array(issue.details.map(Self.json)),
                ]
            }
        case .waits: return device.waits.map(Self.seconds)
        case .progress: return progress
        case .activity: return activity
        case .contents: return try store.fileTexts()
        }
    }

    private static func json(_ detail: SyncIssue.Detail) -> JSONValue {
        var object: JSONObject = ["severity": detail.isError ? "error" : "warning"]
        for (name, text) in [
            ("code", detail.code), ("path", detail.path), ("value", detail.value),
        ] {
            object[name] = text.map { .string($0) } ?? .null
        }
        object["message"] = .string(detail.message)
        return .object(object)
    }

    /// The events since `given`, one line each.
    private func logged(_ store: ReadContext) throws -> [JSONValue] {
        var lines: [JSONValue] = []
        var position = mark.next
        while let event = try store.views.event(at: position) {
            var line = "\(event.kind)"
            if let key = event.key {
                line += " \(key)"
            } else if let collection = event.collection {
                line += " \(collection)"
            }
            lines.append(.string(line))
            position = position.next
        }
        return lines
    }

    private static func json(_ entry: OutboxEntry, _ store: ReadContext) throws -> JSONValue {
        let rule = entry.mutation.rule
        let words: [EventKind: String] = [
            .localCreated: "create", .localDeleted: "delete", .localRequested: "action",
        ]
        let kind = words[entry.mutation.kind] ?? "update"
        return [
            "entity": .string(entry.mutation.key.description), "kind": .string(kind),
            "state": .string(entry.word), "fields": texts(entry.mutation.fields),
            "rule": rule.isEmpty ? .null : .string(rule),
        ]
    }

    private static func texts(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }

    private static func seconds(_ microseconds: Int64) -> JSONValue {
        let (whole, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        let digits = String(rest.magnitude + 1_000_000).dropFirst()
        return JSONNumber(text: "\(whole).\(digits)").map { .number($0) } ?? .null
    }
}

extension SyncOutcome {
    fileprivate var json: JSONValue {
        func number(_ count: Int) -> JSONValue { .number(JSONNumber(count)) }
        var paused = JSONObject()
        for (name, failure) in failed.sorted(by: { $0.key < $1.key }) {
            paused[name.rawValue] = .string(failure.name)
        }
        var held = JSONObject()
        for (name, count) in self.held.sorted(by: { $0.key < $1.key }) {
            held[name.rawValue] = number(count)
        }
        return [
            "result": .string(word), "pending": number(pending), "refused": number(refused),
            "paused": .object(paused), "held": .object(held),
            "pulled": number(counts.pulled), "pushed": number(counts.pushed),
            "conflicts": number(counts.conflicts), "rejected": number(counts.rejected),
            "readBack": number(counts.readBack), "requests": number(counts.requests),
            "unsettled": number(unsettled), "timeInDoubt": .bool(isTimeInDoubt),
            "ignoresPreconditions": .bool(ignoresPreconditions),
            "refills": .array(
                refills.map { refill in
                    [
                        "pool": .string(refill.pool),
                        "key": .array(refill.key.map { .string($0) }),
                        "added": number(refill.added),
                        "failure": refill.failure.map { .string($0.name) } ?? .null,
                    ]
                }),
        ]
    }
}
