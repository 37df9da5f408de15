// TogglServerModel+Route.swift — which method of which address does what.

import HTTPTypes
import TidemarkEvents
import TidemarkSync

extension TogglServerModel {
    mutating func route(_ call: TogglCall) throws(TogglRejection) -> TransportResponse {
        switch (call.path, call.method) {
        case (.gone, _):
            throw TogglRejection(410, body: .plain("This version of the API is gone."))
        case (.unknown, _): throw .noAddress
        case (.me, .get): return me(call)
        case (.me, .put): return try updateUser(call)
        case (.quota, .get): return quotaList(call.now)
        case (.features, .get): return list(.features, call.now) { _ in true }
        case (.preferences(let client), .get):
            try check(client)
            return reply(.preferences, only(.preferences), call.now)
        case (.preferences(let client), .post):
            try check(client)
            return try updatePreferences(call)
        case (.list(.timeEntries), .get): return try entries(call)
        case (.list(let kind), .get): return try list(kind, call)
        case (.current, .get): return current(call.now)
        case (.entry(let id), .get): return try entry(id, call)
        case (.workspace(let id), .get): return try workspace(id, call.now)
        case (.place(let kind, let workspace), .get) where kind != .timeEntries:
            try enter(workspace, call.now)
            return list(kind, call.now) { $0.workspace == workspace && !$0.isDeleted }
        case (.place(let kind, let workspace), .post):
            return try create(kind, in: workspace, call)
        case (.row(let kind, let workspace, let id), .get)
        where kind == .clients || kind == .projects:
            return reply(kind, try find(kind, id, in: workspace, call.now), call.now)
        case (.row(let kind, let workspace, let id), .put):
            return try update(kind, id, in: workspace, call)
        case (.row(let kind, let workspace, let id), .delete):
            return try remove(kind, id, in: workspace, call)
        case (.row(.timeEntries, let workspace, let id), .patch):
            return try patch([id], in: workspace, call)
        case (.entries(let workspace, let ids), .patch):
            return try patch(ids, in: workspace, call)
        case (.stop(let workspace, let id), .patch): return try stop(id, in: workspace, call)
        case (.search(let workspace), .post): return try search(workspace, call)
        case (.me, _), (.quota, _), (.features, _), (.preferences, _), (.list, _), (.current, _),
            (.entry, _), (.workspace, _), (.place, _), (.row, _), (.stop, _), (.entries, _),
            (.search, _):
            throw TogglRejection(405, body: .plain("Method Not Allowed"))
        }
    }

    private mutating func create(
        _ kind: TogglKind, in workspace: Int64, _ call: TogglCall
    ) throws(TogglRejection) -> TransportResponse {
        try enter(workspace, call.now)
        let body = try TogglBody(call.body)
        switch kind {
        case .timeEntries: return try createEntry(in: workspace, body, call.now)
        case .tags: return try createTag(in: workspace, body, call.now)
        case .clients: return try createClient(in: workspace, body, call.now)
        case .projects: return try createProject(in: workspace, body, call.now)
        case .workspaces, .user, .preferences, .tasks, .features: throw .noAddress
        }
    }

    private mutating func update(
        _ kind: TogglKind, _ id: Int64, in workspace: Int64, _ call: TogglCall
    ) throws(TogglRejection) -> TransportResponse {
        let old: TogglItem
        if let moved = try moved(kind, id, to: workspace, call) {
            old = moved
        } else {
            old = try find(kind, id, in: workspace, call.now)
        }
        let body = try TogglBody(call.body)
        var new = old
        switch kind {
        case .timeEntries:
            new = try changed(old, body, call.now)
            keep(new, kind)
            if new.isRunning, !old.isRunning { stopOthers(than: id, call.now) }
        case .tags: new = try renamed(old, kind, body)
        case .clients: new = try changedClient(old, body)
        case .projects: new = try changedProject(old, body)
        case .workspaces, .user, .preferences, .tasks, .features: throw .noAddress
        }
        keepUnknown(of: body, in: &new, kind)
        new.at = call.now
        keep(new, kind)
        return reply(kind, new, call.now)
    }

    /// What is deleted answers with nothing, but for projects, which answer with their id.
    private mutating func remove(
        _ kind: TogglKind, _ id: Int64, in workspace: Int64, _ call: TogglCall
    ) throws(TogglRejection) -> TransportResponse {
        _ = try find(kind, id, in: workspace, call.now)
        let mode = call.query["teDeletionMode"] ?? "unassign"
        guard ["delete", "unassign"].contains(mode) else {
            throw TogglRejection(400, "Invalid teDeletionMode")
        }
        if kind == .projects, mode == "delete" {
            for entry in rows[.timeEntries] ?? [] where entry.project == id && !entry.isDeleted {
                delete(.timeEntries, entry.id, now: call.now)
            }
        }
        delete(kind, id, now: call.now)
        return kind == .projects ? TogglReply.json(200, .integer(id)) : TogglReply.empty(200)
    }

    /// An answer with one row.
    func reply(_ kind: TogglKind, _ item: TogglItem?, _ now: Timestamp) -> TransportResponse {
        TogglReply.json(200, item.map { .object(wire(kind, $0, .answer, now)) } ?? .null)
    }

    private func check(_ client: String?) throws(TogglRejection) {
        guard let client, !["desktop", "mobile", "web"].contains(client) else { return }
        throw TogglRejection(400, "Invalid client")
    }
}
