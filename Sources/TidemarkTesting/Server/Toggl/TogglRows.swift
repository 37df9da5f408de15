// TogglRows.swift — finding and keeping rows, and what another client or the server's owner does.

import TidemarkEvents

extension TogglServerModel {
    /// The row with that id, even if it was deleted.
    func row(_ kind: TogglKind, _ id: Int64) -> TogglItem? {
        rows[kind]?.first { kind.isSingle || $0.id == id }
    }

    /// The row with that id, unless it was deleted.
    func live(_ kind: TogglKind, _ id: Int64) -> TogglItem? {
        row(kind, id).flatMap { $0.isDeleted ? nil : $0 }
    }

    /// The only row of a kind that has one.
    func only(_ kind: TogglKind) -> TogglItem? { rows[kind]?.first }

    /// The user's id.
    var userID: Int64 { only(.user)?.id ?? 0 }

    /// The rows that the user may see, deleted ones included.
    func reachable(_ kind: TogglKind, _ now: Timestamp) -> [TogglItem] {
        (rows[kind] ?? []).filter { row in
            let workspace = kind == .workspaces ? row.id : row.workspace
            return row.isVisible(now) && !(workspace.map { lostWorkspaces.contains($0) } ?? false)
                && (kind != .timeEntries || row.user == userID)
        }
    }

    /// A row of a workspace that the user may see.
    ///
    /// - Throws: 403 without access to the workspace, 404 when there is no such row.
    func find(
        _ kind: TogglKind, _ id: Int64, in workspace: Int64, _ now: Timestamp
    ) throws(TogglRejection) -> TogglItem {
        try enter(workspace, now)
        guard let row = live(kind, id), row.workspace == workspace, row.isVisible(now) else {
            throw .missing(kind)
        }
        return row
    }

    /// Refuses a workspace that there is not, or that the user can't access.
    func enter(_ workspace: Int64, _ now: Timestamp) throws(TogglRejection) {
        guard !lostWorkspaces.contains(workspace), let row = live(.workspaces, workspace),
            row.isVisible(now)
        else { throw .noWorkspace }
    }

    /// Replaces the row with the same id, or appends it.
    mutating func keep(_ item: TogglItem, _ kind: TogglKind) {
        if kind.isSingle { rows[kind] = [] }
        if let index = rows[kind]?.firstIndex(where: { $0.id == item.id }) {
            rows[kind]?[index] = item
        } else {
            rows[kind, default: []].append(item)
        }
    }

    /// The id of the next new row.
    mutating func newID(_ kind: TogglKind) -> Int64 {
        if kind == .timeEntries, let id = nextEntryID {
            nextEntryID = id + 1
            return id
        }
        defer { nextID += 1 }
        return nextID
    }

    /// Deletes a row, and takes it out of what refers to it.
    ///
    /// Time entries lose a deleted tag without a new time of change; a deleted project they lose
    /// with one. That the same goes for the clients of projects and for tasks is not known.
    mutating func delete(_ kind: TogglKind, _ id: Int64, now: Timestamp) {
        guard var gone = live(kind, id) else { return }
        gone.deletedAt = now
        gone.at = now
        keep(gone, kind)
        switch kind {
        case .tags:
            change(.timeEntries, now: nil) { entry in
                guard entry.tags.contains(id) else { return false }
                entry.tags.removeAll { $0 == id }
                return true
            }
        case .clients:
            change(.projects, now: now) { Self.unset("client_id", id, of: &$0) }
        case .projects:
            change(.timeEntries, now: now) { entry in
                guard Self.unset("project_id", id, of: &entry) else { return false }
                entry.fields["task_id"] = nil
                return true
            }
            for task in rows[.tasks] ?? [] where task.project == id {
                delete(.tasks, task.id, now: now)
            }
        case .tasks:
            change(.timeEntries, now: now) { Self.unset("task_id", id, of: &$0) }
        case .workspaces, .user, .preferences, .features, .timeEntries: break
        }
    }

    private static func unset(_ field: String, _ id: Int64, of item: inout TogglItem) -> Bool {
        guard item.fields[field]?.int64Value == id else { return false }
        item.fields[field] = nil
        return true
    }

    /// Changes rows that are not deleted.
    ///
    /// - Parameters:
    ///   - now: the new time of change; nil to leave the old one.
    ///   - body: says whether it changed the row.
    mutating func change(
        _ kind: TogglKind, now: Timestamp?, _ body: (inout TogglItem) -> Bool
    ) {
        for var item in rows[kind] ?? [] where !item.isDeleted {
            guard body(&item) else { continue }
            if let now { item.at = now }
            keep(item, kind)
        }
    }

    // MARK: Another client, or the server's owner

    /// Writes a whole row in the form in which it is returned; `at` is now unless it is there.
    ///
    /// Nothing is checked. Members that are not given have their usual values, members that Toggl
    /// does not know are kept. `duration` goes before `stop`, `tag_ids` before `tags`.
    mutating func put(_ kind: TogglKind, _ id: Int64, _ object: JSONObject, now: Timestamp) {
        var fields = TogglBody.withNamesOfToday(object)
        func take(_ key: String) -> Timestamp? {
            defer { fields[key] = nil }
            return fields[key]?.stringValue.flatMap(TogglTime.parse)
        }
        let deletedAt = take("server_deleted_at") ?? take("deleted_at")
        var at = take("at") ?? now
        if kind == .user { at = take("updated_at") ?? at }
        for key in ["id", "created_with", "tag_action", "status", "last_modified"] {
            fields[key] = nil
        }
        var item = TogglItem(id: id, at: at, deletedAt: deletedAt, fields: fields)
        switch kind {
        case .timeEntries: settle(&item)
        case .features: item.fields["workspace_id"] = .integer(id)
        case .projects:
            if fields["created_at"] == .none {
                item.fields["created_at"] = .string(TogglTime.utc(at))
            }
        case .workspaces: lostWorkspaces.remove(id)
        case .user, .preferences, .tags, .clients, .tasks: break
        }
        if TogglKind.written.contains(kind) || kind == .tasks, item.workspace == nil {
            item.fields["workspace_id"] = .integer(rows[.workspaces]?.first?.id)
        }
        keep(item, kind)
    }

    /// Puts the members of a time entry into their form.
    private mutating func settle(_ item: inout TogglItem) {
        let start = item.start.cut
        let stop = item.fields["stop"]?.stringValue.flatMap(TogglTime.parse)
        item.start = start
        item.duration =
            item.fields["duration"]?.int64Value
            ?? stop.map { $0.wholeSeconds - start.wholeSeconds } ?? 0
        if item.fields["tag_ids"]?.array == nil {
            let names = item.fields["tags"]?.array?.compactMap(\.stringValue) ?? []
            item.tags = names.map { tag(named: $0, in: item.workspace ?? 0, item.at) }
        }
        for key in ["stop", "tags", "duronly"] { item.fields[key] = nil }
        if item.user == nil { item.fields["user_id"] = .integer(userID) }
    }

    /// Archives a project.
    mutating func archive(_ id: Int64, now: Timestamp) {
        guard var project = live(.projects, id) else { return }
        project.fields["active"] = false
        project.at = now
        keep(project, .projects)
    }

    /// Removes a row without a trace; for a workspace, the user also loses access to its rows.
    mutating func forget(_ kind: TogglKind, _ id: Int64) {
        rows[kind]?.removeAll { $0.id == id }
        if kind == .workspaces { lostWorkspaces.insert(id) }
    }
}
