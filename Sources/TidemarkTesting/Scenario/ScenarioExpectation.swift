// ScenarioExpectation.swift — the expectations at a point of a scenario; all parts are optional.

import TidemarkEvents

/// The expectations at a point of a scenario.
struct ScenarioExpectation: Sendable {
    /// The lists that can be compared.
    enum List: String, Sendable, CaseIterable {
        /// The requests since `given`, in order.
        case requests
        /// The events logged since `given`: `push.accepted tasks/t1`.
        case log
        /// The mutations that are pending or refused.
        case outbox
        /// All mutations ever made.
        case mutations
        /// The decisions since `given`.
        case decisions
        /// The open issues.
        case issues
        /// How many seconds the engine slept, for each sleep since `given`.
        case waits
        /// The phases of runs since `given`, and how each run ended.
        case progress
        /// The engine's activities since `given`.
        case activity
        /// What the files hold that are in the store, in the order of their texts.
        case contents
    }

    var path: String
    /// The expected state of entities; null for those that must not exist.
    var rows: [(key: EntityKey, row: JSONValue)] = []
    /// All visible entities of a collection.
    var collections: [(name: CollectionName, ids: [String])] = []
    /// The server's expected records; null for those that must not exist.
    var server: [(key: EntityKey, document: JSONValue)] = []
    /// The expected watermarks; null for collections that were never pulled.
    var watermarks: [(target: PullTarget, value: JSONValue)] = []
    /// The entity that an id is bound to; null for none.
    var bindings: [(alias: EntityKey, key: EntityKey?)] = []
    /// Until when gates of the model hold their triggers; null for those that have room.
    var held: [(gate: String, until: JSONValue)] = []
    /// What the files hold that entities name; null for those that are not here.
    var files: [(key: EntityKey, texts: JSONValue)] = []
    /// How many values of pools are left that can be used.
    var pools: [ScenarioPool] = []
    /// The outcome of the last run.
    var outcome: JSONValue?
    var lists: [(list: List, expected: ScenarioSequence)] = []

    private static let rowMembers = [
        "document", "status", "rollUp", "error", "placeholder", "hidden",
    ]
    private static let outcomeMembers = [
        "result", "pending", "refused", "paused", "held", "pulled", "pushed", "conflicts",
        "rejected", "readBack", "requests", "unsettled", "timeInDoubt",
        "ignoresPreconditions", "refills",
    ]

    init(
        _ value: JSONValue, at path: String, _ model: SyncModel, _ kind: ScenarioServerKind
    ) throws(ScenarioError) {
        let words = ScenarioWords(model)
        self.path = path
        let members = try ScenarioMembers(
            value, at: path,
            [
                "rows", "collections", "server", "watermarks", "bindings", "held", "files",
                "pools", "outcome",
            ]
                + List.allCases.map(\.rawValue))
        for (name, path, value) in try members.members("rows") {
            let key = try ScenarioMembers.key(name, at: path)
            try words.check(key.collection, at: path)
            if value != .null {
                _ = try ScenarioMembers(value, at: path, Self.rowMembers)
                try ScenarioMatch.check(value, at: path)
                try words.check(value["status"], words.statuses, at: "\(path).status")
                try words.check(value["rollUp"], words.statuses, at: "\(path).rollUp")
            }
            rows.append((key, value))
        }
        for (name, path, value) in try members.members("collections") {
            var ids: [String] = []
            for (path, item) in try ScenarioMembers.list(value, at: path) {
                guard let id = item.idText else { throw ScenarioError(path, "an id is needed") }
                ids.append(id)
            }
            try words.check(CollectionName(name), at: path)
            collections.append((CollectionName(name), ids))
        }
        for (name, path, value) in try members.members("server") {
            try ScenarioMatch.check(value, at: path)
            let key = try ScenarioMembers.key(name, at: path)
            try words.check(key.collection, at: path)
            if let problem = kind.problem(with: key) { throw ScenarioError(path, problem) }
            server.append((key, value))
        }
        for (name, path, value) in try members.members("watermarks") {
            try ScenarioMatch.check(value, at: path)
            let parts = name.split(separator: "/", maxSplits: 1).map(String.init)
            let target = PullTarget(
                CollectionName(parts.first ?? ""), scope: parts.dropFirst().first ?? "")
            try words.check(target.collection, at: path)
            guard target.scope.isEmpty || target.isFeed || !target.parameters.isEmpty else {
                throw ScenarioError(
                    path,
                    "\"\(target.scope)\" is no part of a collection; a feed has \"back\" and "
                        + "\"forward\", others have parameters, as in tasks/{\"program\":\"P1\"}")
            }
            watermarks.append((target, value))
        }
        for (name, path, value) in try members.members("bindings") {
            let alias = try ScenarioMembers.key(name, at: path)
            try words.check(alias.collection, at: path)
            guard value != .null else {
                bindings.append((alias, nil))
                continue
            }
            let target = try ScenarioMembers.key(value.stringValue ?? "", at: path)
            bindings.append((alias, target))
        }
        for (name, path, value) in try members.members("held") {
            guard model.settings.gates.contains(where: { $0.name == name }) else {
                throw ScenarioError(path, "the model has no such gate")
            }
            guard value == .null || value.time != nil else {
                throw ScenarioError(path, "a time is needed, or null")
            }
            held.append((name, value))
        }
        for (name, path, value) in try members.members("files") {
            let key = try ScenarioMembers.key(name, at: path)
            try words.check(key.collection, at: path)
            for (path, text) in try ScenarioMembers.list(value, at: path)
            where text != .null && text.stringValue == nil {
                throw ScenarioError(path, "what the file holds is needed, or null")
            }
            files.append((key, ScenarioText.shown(value)))
        }
        pools = try Self.pools(members, model)
        if let value = members["outcome"] {
            let path = members.path("outcome")
            let whole = value.stringValue == nil ? value : ["result": value]
            _ = try ScenarioMembers(whole, at: path, Self.outcomeMembers)
            try ScenarioMatch.check(whole, at: path)
            try words.check(whole["result"], words.endings, at: path)
            for name in ["paused", "held"] {
                for (key, _) in whole[name]?.object ?? [:] {
                    let names = key == "$exactly" ? whole[name]?[key]?.object : nil
                    for collection in names.map({ $0.map(\.key) }) ?? [key] {
                        try words.check(CollectionName(collection), at: "\(path).\(name)")
                    }
                }
            }
            outcome = whole
        }
        for list in List.allCases {
            guard let value = members[list.rawValue] else { continue }
            let expected = try ScenarioSequence(
                value, at: members.path(list.rawValue)
            ) { (value, path) throws(ScenarioError) in try list.read(value, at: path, words) }
            lists.append((list, expected))
        }
    }
}

extension ScenarioExpectation.List {
    /// The members of an item that is an object.
    private var members: [String] {
        switch self {
        case .requests: ["request", "body", "status"]
        case .outbox, .mutations: ["entity", "kind", "state", "fields", "rule"]
        case .decisions: ["entity", "rule", "result", "fields"]
        case .issues: ["kind", "entity", "collection", "fields", "message", "details"]
        case .log, .waits, .progress, .activity, .contents: []
        }
    }

    /// Reads the expectation of an item.
    fileprivate func read(
        _ value: JSONValue, at path: String, _ words: ScenarioWords
    ) throws(ScenarioError) -> JSONValue {
        switch self {
        case .waits:
            guard case .number = value else {
                throw ScenarioError(path, "a number of seconds is needed")
            }
            return value
        case .log, .progress, .activity, .contents:
            guard let text = value.stringValue else {
                throw ScenarioError(path, "a text is needed")
            }
            switch self {
            case .log: try words.checkLog(text, at: path)
            case .activity: try words.checkActivity(text, at: path)
            case .contents: return ScenarioText.shown(value)
            default: try words.check(["$like": value], words.progress, at: path)
            }
            return value
        case .requests where value.stringValue != nil:
            try words.checkRequest(value.stringValue ?? "", at: path)
            return ["request": value]
        case .requests, .outbox, .mutations, .decisions, .issues:
            let item = try ScenarioMembers(value, at: path, members)
            if self == .requests {
                try words.checkRequest(try item.neededText("request"), at: item.path("request"))
            }
            if item["entity"] != nil {
                let name = try item.key("entity").collection.rawValue
                try words.check(.string(name), words.collections, at: item.path("entity"))
            }
            try ScenarioMatch.check(value, at: path)
            for (name, known) in words.members(of: self) {
                try words.check(item[name], known, at: item.path(name))
            }
            return value
        }
    }

    /// An item as it is reported.
    func text(_ item: JSONValue) -> String {
        if let text = item.stringValue { return text }
        guard let request = item["request"]?.stringValue else { return item.description }
        let status = item["status"].map { $0 == .null ? " (no answer)" : " \($0)" } ?? ""
        return request + status + (item["body"].map { " \($0)" } ?? "")
    }

    func matches(_ expected: JSONValue, _ actual: JSONValue) -> Bool {
        switch self {
        case .waits: return expected == actual
        case .log, .progress, .activity, .contents:
            guard let pattern = expected.stringValue, let line = actual.stringValue else {
                return false
            }
            return ScenarioPattern.isLike(pattern, line)
        case .requests:
            guard let pattern = expected["request"]?.stringValue,
                let line = actual["request"]?.stringValue
            else { return false }
            var rest = expected.object ?? [:]
            rest["request"] = nil
            return ScenarioPattern(text: pattern).matches(line)
                && ScenarioMatch.matches(.object(rest), actual)
        case .outbox, .mutations, .decisions, .issues:
            return ScenarioMatch.matches(expected, actual)
        }
    }
}
