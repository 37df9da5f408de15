// ScenarioWords.swift — the words that a scenario may expect, or expect to be absent: the absence
// of a misspelt word would go unnoticed.

import Tidemark
import TidemarkEvents
import TidemarkViews

/// The words that can occur in a scenario.
struct ScenarioWords: Sendable {
    let collections: [String]
    let statuses = EntityStatus.allCases.map(\.rawValue)
    let endings = ["synced", "incomplete"] + FailureKind.allCases.map(\.rawValue)
    /// The states of mutations.
    private let states =
        ["pending", "unknown", "blocked"] + MutationOutcome.allCases.map(\.rawValue)
    private let kinds = ["create", "update", "delete", "action"]
    private let derivations = [RivalRule.name, ChoiceRule.name]
    /// The rules that decide.
    let rules: [String]
    /// What may begin a run.
    private let triggers: [String]
    /// The results of decisions.
    let results = [
        "serverWins", "localWins", "merged", "superseded", "stopped", "kept", "chosen", "created",
        "pruned", "hidden", "shown", "gained", "voided", "requested", "asked", "removed",
    ]

    init(_ model: SyncModel) {
        collections = model.collections.map(\.name.rawValue)
        triggers = SyncTrigger.allCases.map(\.rawValue) + model.settings.gates.map(\.name)
        rules =
            model.collections.map(\.conflict.name)
            + [ConflictPolicy.overwriteAlways.name, RivalRule.name, ChoiceRule.name]
            + [
                "placeholder", "removedField", "retention", "unreferenced", "access", "serverTime",
                "match", "missing", "writing", PushRelayed.ruleName, "remedy",
                CollectionModel.RemovalRule.ruleName,
            ]
    }

    /// The phases of runs, and the endings of runs.
    var progress: [String] {
        ["readingBack", "pulling", "pushing", "reserving", "cleaning"] + endings
    }

    /// The members of a list's items that hold one of a set of words.
    func members(of list: ScenarioExpectation.List) -> [(name: String, words: [String])] {
        switch list {
        case .outbox, .mutations:
            [("state", states), ("kind", kinds), ("rule", derivations)]
        case .decisions: [("rule", rules), ("result", results)]
        case .issues:
            [("kind", IssueKind.allCases.map(\.rawValue)), ("collection", collections)]
        case .requests, .log, .waits, .progress, .activity, .contents: []
        }
    }

    /// Checks that the model has a collection.
    func check(_ collection: CollectionName, at path: String) throws(ScenarioError) {
        try check(.string(collection.rawValue), collections, at: path)
    }

    /// Checks that a value matches at least one of some words.
    ///
    /// - Parameter value: nil for a missing member.
    func check(
        _ value: JSONValue?, _ words: [String], at path: String
    ) throws(ScenarioError) {
        guard let value, value != .null,
            !words.contains(where: { ScenarioMatch.matches(value, .string($0)) })
        else { return }
        throw ScenarioError(
            path,
            "\(value["$like"] ?? value) is never said; what is said is "
                + words.joined(separator: ", "))
    }

    /// Checks that a request can match the pattern.
    func checkRequest(_ pattern: String, at path: String) throws(ScenarioError) {
        let parts = pattern.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        if parts[0].contains("*") { return }
        let isSent = [
            "GET", "HEAD", "PUT", "POST", "PATCH", "DELETE", "PROPFIND", "MKCOL", "MOVE",
            "COPY", "PROPPATCH",
        ].contains(parts[0])
        guard isSent, parts.count == 2, ["/", "*"].contains(parts[1].first) else {
            throw ScenarioError(path, "a request is needed, as in \"GET /v1/*\"")
        }
    }

    /// Checks that an activity can match the pattern.
    func checkActivity(_ pattern: String, at path: String) throws(ScenarioError) {
        let name = pattern.prefix { $0 != "(" && $0 != "*" }
        let rest = pattern.dropFirst(name.count)
        let known = ["started", "requestBegan", "requestEnded", "pageApplied", "finished"]
        let isCut = rest.first == "*"
        try check(["$like": .string(name + (isCut ? "*" : ""))], known, at: path)
        guard !isCut else { return }
        guard rest.first == "(", rest.last == ")" else {
            throw ScenarioError(path, "an activity is needed, as in \"requestBegan(1)\"")
        }
        let inner = String(rest.dropFirst().dropLast())
        let words: [String]? =
            switch name {
            case "started": inner.contains(", ") ? nil : triggers
            case "pageApplied": collections
            case "finished": endings + TidemarkError.Code.allCases.map(\.rawValue)
            default: nil
            }
        if let words { try check(["$like": .string(inner)], words, at: path) }
    }

    /// Checks that a line of the log can match the pattern.
    func checkLog(_ pattern: String, at path: String) throws(ScenarioError) {
        let kind = pattern.prefix { $0 != " " && $0 != "*" }
        let isWhole = pattern.dropFirst(kind.count).first != "*"
        let known = EventKind.all.map(\.description)
        try check(["$like": .string(kind + (isWhole ? "" : "*"))], known, at: path)
        guard let subject = pattern.split(separator: " ", maxSplits: 1).dropFirst().first else {
            return
        }
        let name = String(subject.prefix { $0 != "/" })
        try check(["$like": .string(name)], collections, at: path)
    }
}
