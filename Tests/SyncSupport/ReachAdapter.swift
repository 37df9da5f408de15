// ReachAdapter.swift — a server that lists all workspaces each time, and of everything only what is
// in reach.

import HTTPTypes
import Synchronization
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync
import TidemarkTesting

/// Speaks to a Kinto server, and leaves out of its lists what the test has put out of reach.
struct ReachAdapter: ServerAdapter {
    private let kinto = KintoAdapter(origin: SyncWorld.remote.origin, bucket: "b")
    /// The workspaces that are out of reach.
    let lost: SyncBox<Set<String>>
    /// Whether the list of workspaces only names them, so that they are fetched.
    var onlyNames = false

    var traits: ServerTraits { ServerTraits() }

    var words: ServerWords { kinto.words }

    func request(for call: ServerCall) throws(SyncFailure) -> ServerRequest {
        guard onlyNames, case .fetch(let collection, let ids) = call else {
            return try kinto.request(for: call)
        }
        return try kinto.request(for: .read(collection, id: ids.first ?? ""))
    }

    func answer(to call: ServerCall, _ response: HTTPResponse, body: [UInt8]) -> ServerAnswer {
        if onlyNames, case .fetch(let collection, let ids) = call {
            let read = ServerCall.read(collection, id: ids.first ?? "")
            let answer = kinto.answer(to: read, response, body: body)
            guard case .record(let record) = answer else { return answer }
            return .records([record])
        }
        let answer = kinto.answer(to: call, response, body: body)
        guard case .page(var page) = answer else { return answer }
        page.records.removeAll { isLost($0, call.collection) }
        if call.collection?.name == "workspaces" {
            page.cursor = nil
            if onlyNames {
                page.references = page.records.filter { !$0.isDeleted }.map {
                    ServerReference(id: $0.id, revision: $0.revision)
                }
                page.records.removeAll { !$0.isDeleted }
            }
        }
        return .page(page)
    }

    private func isLost(_ record: ServerRecord, _ collection: CollectionModel?) -> Bool {
        guard let lost = lost.value, !lost.isEmpty else { return false }
        if collection?.name == "workspaces" { return lost.contains(record.id) }
        guard let bytes = record.document, let document = try? JSONDocument(parsing: bytes) else {
            return false
        }
        return document.ids(in: "workspace_id").contains { lost.contains($0) }
    }
}

extension SyncWorld {
    /// A world with a user, workspaces, projects and time entries.
    static func reach(_ change: (inout SyncModel) -> Void = { _ in }) -> SyncWorld {
        let belongs = Reference("workspace_id", to: "workspaces")
        var workspaces = CollectionModel("workspaces", lastChangeField: "last_modified")
        workspaces.access.hidesAbsent = true
        workspaces.access.relistsOnGain = true
        workspaces.access.missing = "noWorkspace"
        var user = CollectionModel(
            "user", lastChangeField: "last_modified",
            references: [Reference("default_workspace_id", to: "workspaces")])
        user.absence = .keeps
        var projects = CollectionModel(
            "projects", lastChangeField: "last_modified", references: [belongs])
        projects.access.owner = "workspace_id"
        projects.absence = .keeps
        var entries = CollectionModel(
            "entries", lastChangeField: "last_modified",
            references: [belongs, Reference("project_id", to: "projects")])
        entries.access.owner = "workspace_id"
        entries.absence = .keeps
        entries.rivals = RivalRule(whileNull: "duration", start: "start")
        entries.retention = RetentionRule(field: "start", ageMax: .days(56))
        var model = SyncModel(
            name: "reach", collections: [workspaces, projects, user, entries],
            settings: SyncSettings(batchSize: 1))
        change(&model)
        return SyncWorld(model: model)
    }

    /// What another client does: makes a time entry that began so many days ago.
    func entry(_ id: String, in workspace: String, daysAgo: Int = 1, duration: String = "60") {
        let start = clock.now.adding(seconds: -Int64(daysAgo) * 86_400)
        rivalPuts(
            "entries/\(id)",
            #"{"workspace_id":"\#(workspace)","start":"\#(start)","duration":\#(duration)}"#)
    }
}
