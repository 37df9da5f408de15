// TogglWireForm.swift — rows as they are returned.
//
// Time entries have two forms: in lists `start` and `stop` end in `+00:00` and no tags are `[]`; in
// answers to writes they end in `Z` and no tags are `null`. Clients have `wid` and no
// `workspace_id`; entries and projects have the old names of references beside the new ones.

import TidemarkEvents

/// Where a row is returned.
enum TogglForm: Sendable {
    case list
    case answer
}

extension TogglServerModel {
    /// A row in the form in which it is returned.
    func wire(
        _ kind: TogglKind, _ item: TogglItem, _ form: TogglForm, _ now: Timestamp
    ) -> JSONObject {
        var wire = kind.members
        var extra = item.fields
        for (key, value) in kind.members {
            wire[key] = computed(key, kind, item, form, now) ?? extra[key] ?? value
            extra[key] = nil
        }
        if kind == .clients { extra["workspace_id"] = nil }
        if kind == .timeEntries {
            if let project = item.project { wire["pid"] = .integer(project) }
            if let task = item.fields["task_id"]?.int64Value { wire["tid"] = .integer(task) }
        }
        if let deletedAt = item.deletedAt, wire[kind.deletion] == .none {
            wire[kind.deletion] = .string(
                kind == .tags ? TogglTime.micros(deletedAt) : TogglTime.offset(deletedAt))
        }
        for (key, value) in extra { wire[key] = value }
        return wire
    }

    /// The value of a member that the server works out; nil for one that is kept as it was given.
    private func computed(
        _ key: String, _ kind: TogglKind, _ item: TogglItem, _ form: TogglForm, _ now: Timestamp
    ) -> JSONValue? {
        switch key {
        case "start" where kind == .timeEntries: text(item.start, form)
        case "stop": item.stop.map { text($0, form) } ?? .null
        case "tag_ids": list(item.tags.map { .integer($0) }, form)
        case "tags":
            list(item.tags.compactMap { live(.tags, $0) }.map { .string($0.name) }, form)
        case "id": .integer(item.id)
        case "at": .string(at(kind, item, now))
        case "updated_at": .string(TogglTime.micros(item.at))
        case "server_deleted_at": item.deletedAt.map { .string(TogglTime.offset($0)) } ?? .null
        case "creator_id": item.fields[key] ?? .integer(userID)
        case "uid": .integer(item.user)
        case "wid": .integer(item.workspace)
        case "cid": .integer(item.client)
        case "status": .string(status(item))
        case "created_at" where kind == .projects:
            created(item).map { .string(TogglTime.offset($0)) } ?? .null
        case "start_date" where kind == .projects:
            item.fields[key] ?? created(item).map { .string(TogglTime.date($0)) } ?? .null
        case "last_modified": .string(TogglTime.date(item.at) + "T00:00:00Z")
        case "organization_id": .integer(organization(item.id))
        case "active_project_count":
            .integer(
                Int64(
                    (rows[.projects] ?? []).count {
                        $0.workspace == item.id && $0.isActive && !$0.isDeleted
                    }))
        default: nil
        }
    }

    private func at(_ kind: TogglKind, _ item: TogglItem, _ now: Timestamp) -> String {
        switch kind {
        case .user: TogglTime.micros(now)
        case .timeEntries, .tags: TogglTime.micros(item.at)
        case .workspaces, .clients, .projects, .tasks, .preferences, .features:
            TogglTime.offset(item.at)
        }
    }

    private func created(_ project: TogglItem) -> Timestamp? {
        project.fields["created_at"]?.stringValue.flatMap(TogglTime.parse)
    }

    private func status(_ project: TogglItem) -> String {
        if project.isDeleted { return "deleted" }
        return project.isActive ? "active" : "archived"
    }

    private func text(_ time: Timestamp, _ form: TogglForm) -> JSONValue {
        .string(form == .list ? TogglTime.offset(time) : TogglTime.utc(time))
    }

    private func list(_ values: [JSONValue], _ form: TogglForm) -> JSONValue {
        form == .answer && values.isEmpty ? .null : .array(values)
    }

    /// A time entry with what `meta=true` adds to it.
    func wireWithMeta(_ item: TogglItem, _ now: Timestamp) -> JSONObject {
        var wire = wire(.timeEntries, item, .list, now)
        if let project = item.project.flatMap({ live(.projects, $0) }) {
            if let client = project.client.flatMap({ live(.clients, $0) }) {
                wire["client_name"] = .string(client.name)
            }
            wire["project_name"] = .string(project.name)
            wire["project_color"] =
                project.fields["color"] ?? TogglKind.projects.members["color"] ?? .null
            wire["project_active"] = .bool(project.isActive)
            wire["project_billable"] = .bool(project.fields["billable"]?.boolValue ?? false)
        }
        let user = only(.user)?.fields
        let usual = TogglKind.user.members
        wire["user_name"] = user?["fullname"] ?? usual["fullname"] ?? .null
        wire["user_avatar_url"] = user?["image_url"] ?? usual["image_url"] ?? .null
        return wire
    }
}
