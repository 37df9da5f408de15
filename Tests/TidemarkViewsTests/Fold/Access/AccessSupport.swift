// AccessSupport.swift — workspaces that come into reach and go out of it, and what belongs to them.

import Testing
import TidemarkEvents
import TidemarkViews

@testable import ViewsSupport

/// A store with workspaces, projects and time entries.
final class ReachStore {
    let store: ScratchStore
    /// What the clock of the server shows.
    static let now = Timestamp(milliseconds: 1_795_000_000_000)

    static let model: SyncModel = {
        var workspaces = CollectionModel("workspaces", lastChangeField: "at")
        workspaces.access.hidesAbsent = true
        workspaces.access.relistsOnGain = true
        workspaces.access.missing = "noWorkspace"
        let belongs = Reference("workspace_id", to: "workspaces")
        var projects = CollectionModel("projects", lastChangeField: "at", references: [belongs])
        projects.access.owner = "workspace_id"
        projects.absence = .keeps
        projects.placeholder = PlaceholderRule(copies: ["workspace_id"])
        var entries = CollectionModel(
            "entries", lastChangeField: "at",
            references: [belongs, Reference("project_id", to: "projects", placeholder: .always)],
            indexes: [["name"]])
        entries.access.owner = "workspace_id"
        entries.absence = .keeps
        entries.nullable = ["duration", "project_id"]
        entries.rivals = RivalRule(whileNull: "duration", start: "start")
        entries.retention = RetentionRule(field: "start", ageMax: .days(56))
        return SyncModel(name: "reach", collections: [workspaces, projects, entries])
    }()

    init(_ model: SyncModel = ReachStore.model) throws {
        store = try ScratchStore()
        try store.write(.registered(model))
    }

    /// The server says something.
    func says(_ key: String, _ text: String?) throws {
        try store.write(
            .about(text == nil ? .serverDeleted : .serverUpserted, key, text, revision: "1"))
    }

    /// A time entry of a workspace that began so many days ago.
    func entry(
        _ id: Int, in workspace: Int, daysAgo: Int = 1, seconds: Int64 = 0,
        duration: String = "60", project: Int? = nil
    ) throws {
        let start = Self.now.adding(seconds: -Int64(daysAgo) * 86_400 - seconds)
        var text = #"{"id":\#(id),"workspace_id":\#(workspace),"start":"\#(start)""#
        text += #","duration":\#(duration)"#
        if let project { text += #","project_id":\#(project)"# }
        try says("entries/\(id)", text + "}")
    }

    func workspace(_ id: Int) throws { try says("workspaces/\(id)", #"{"id":\#(id)}"#) }

    /// An edit made here.
    func edit(_ key: String, _ text: String = #"{"set":{"name":"x"}}"#) throws {
        try store.write(.about(.localUpdated, key, text))
    }

    /// An edit made here that the server refuses.
    func refuse(_ key: String) throws {
        let position = try last
        try edit(key)
        try store.write(.about(.requestSent, key, mutation: position + 1))
        try store.write(
            .about(.requestAnswered, key, #"{"status":400}"#, call: position + 2),
            .about(
                .pushRejected, key, #"{"status":400,"message":"no"}"#, mutation: position + 1,
                call: position + 2))
    }

    var last: UInt64 { get throws { try store.journal.read { $0.last.rawValue } } }

    /// A list of all workspaces did not name some.
    func loses(_ ids: String...) throws {
        let list = JSONValue.array(ids.map(JSONValue.string))
        let payload: JSONObject = ["scope": "", "complete": true, "full": true, "hidden": list]
        try store.write(
            Event(
                .pullCompleted, recordedAt: Timestamp(rawValue: 1), collection: "workspaces",
                json: JSONValue.object(payload).encoded()))
    }

    func completes(_ collection: CollectionName) throws {
        try store.write(
            Event(
                .pullCompleted, recordedAt: Timestamp(rawValue: 1), collection: collection,
                revision: Revision("c"),
                json: Array(#"{"scope":"","complete":true,"full":true}"#.utf8)))
    }

    /// A clean-up, by the time of the server.
    func cleansUp(at now: Timestamp = ReachStore.now) throws {
        try store.write(
            Event(
                .timerFired, recordedAt: Timestamp(rawValue: 1),
                json: TimerFired(.cleanUp, now: now).encoded))
    }

    /// Puts a row for an entity that others refer to and that is not here.
    func standsIn(_ key: String, _ text: String) throws {
        let key = try #require(EntityKey(key))
        var row = EntityRow()
        row.baseState = .live
        row.base = Array(text.utf8)
        row.isPlaceholder = true
        try store.damage(.entity(key), row.encoded)
        try store.damage(.placeholder(key), [0])
    }

    /// What an app sees: the ids of a collection.
    func seen(_ collection: CollectionName) throws -> [String] {
        var ids: [String] = []
        try store.journal.read { views in
            try views.forEachEntity(in: collection) { key, row in
                if row.document != nil { ids.append(key.id) }
                return true
            }
        }
        return ids
    }

    /// What is here, seen or not.
    func kept(_ collection: CollectionName) throws -> [String] {
        var ids: [String] = []
        try store.journal.read { views in
            try views.forEachEntity(in: collection) { key, row in
                if row.content != nil { ids.append(key.id) }
                return true
            }
        }
        return ids
    }

    func row(_ key: String) throws -> EntityRow {
        let key = try #require(EntityKey(key))
        return try #require(try store.entity(key))
    }

    /// The decisions: `workspaces/2 access hidden`.
    func decisions() throws -> [String] {
        var lines: [String] = []
        try store.journal.read { views in
            try views.forEachDecision { _, row in
                lines.append("\(row.key) \(row.rule) \(row.result)")
                return true
            }
        }
        return lines
    }

    /// A rebuilt store has the same rows.
    func check() throws { try LogChecks(store: store, place: "reach").all() }
}
