// TogglOtherWrites.swift — tags, clients and projects that are made and changed, the user and the
// preferences.

import TidemarkEvents
import TidemarkSync

extension TogglServerModel {
    /// Members of projects that need a workspace that is paid for.
    private static let premiumMembers = [
        "template", "template_id", "auto_estimates", "estimated_hours", "estimated_seconds",
        "rate", "fixed_fee", "currency", "recurring", "recurring_parameters",
    ]

    // MARK: Tags and clients

    mutating func createTag(
        in workspace: Int64, _ body: TogglBody, _ now: Timestamp
    ) throws(TogglRejection) -> TransportResponse {
        try checkAdmin("only_admins_may_create_tags", in: workspace)
        return try create(.tags, try renamed(new(in: workspace, now), .tags, body), body, now)
    }

    mutating func createClient(
        in workspace: Int64, _ body: TogglBody, _ now: Timestamp
    ) throws(TogglRejection) -> TransportResponse {
        try create(.clients, try changedClient(new(in: workspace, now), body), body, now)
    }

    private func new(in workspace: Int64, _ now: Timestamp) -> TogglItem {
        TogglItem(id: 0, at: now, fields: ["workspace_id": .integer(workspace)])
    }

    private mutating func create(
        _ kind: TogglKind, _ item: TogglItem, _ body: TogglBody, _ now: Timestamp
    ) throws(TogglRejection) -> TransportResponse {
        guard !item.name.isEmpty else { throw TogglRejection(400, "\(kind.word) name is required") }
        var item = item
        item.id = newID(kind)
        keepUnknown(of: body, in: &item, kind)
        keep(item, kind)
        return reply(kind, item, now)
    }

    /// A row with the name that a request gives, if it does.
    func renamed(
        _ old: TogglItem, _ kind: TogglKind, _ body: TogglBody
    ) throws(TogglRejection) -> TogglItem {
        guard let name = try body.text("name") else { return old }
        guard name.contains(where: { !$0.isWhitespace }) else {
            throw TogglRejection(400, "\(kind.word) name can't be blank")
        }
        let isTaken = (rows[kind] ?? []).contains {
            $0.workspace == old.workspace && $0.name == name && $0.id != old.id && !$0.isDeleted
        }
        if isTaken { throw TogglRejection(400, "Name has already been taken") }
        var item = old
        item.fields["name"] = .string(name)
        return item
    }

    func changedClient(
        _ old: TogglItem, _ body: TogglBody
    ) throws(TogglRejection) -> TogglItem {
        var client = try renamed(old, .clients, body)
        for key in ["notes", "external_reference"] {
            if let text = try body.text(key) { client.fields[key] = .string(text) }
        }
        return client
    }

    // MARK: Projects

    /// A new project is archived unless the request says `active`.
    mutating func createProject(
        in workspace: Int64, _ body: TogglBody, _ now: Timestamp
    ) throws(TogglRejection) -> TransportResponse {
        try checkAdmin("only_admins_may_create_projects", in: workspace)
        var project = new(in: workspace, now)
        project.fields["active"] = false
        project.fields["created_at"] = .string(TogglTime.utc(now))
        if settlingSeconds > 0 { project.visibleFrom = now.adding(seconds: settlingSeconds) }
        return try create(.projects, try changedProject(project, body), body, now)
    }

    func changedProject(
        _ old: TogglItem, _ body: TogglBody
    ) throws(TogglRejection) -> TogglItem {
        for key in Self.premiumMembers where !isPremium(old.workspace) {
            guard let value = body.members[key], value != .null, value != false else { continue }
            throw TogglRejection(402, "\(key) is a premium feature")
        }
        var project = try renamed(old, .projects, body)
        for key in ["active", "is_private", "is_shared", "billable"] {
            guard let value = try body.bool(key) else { continue }
            if key == "billable", value, !isPremium(old.workspace) {
                throw TogglRejection(402, "Billable is a premium feature")
            }
            project.fields[key] = .bool(value)
        }
        if let color = try body.text("color") {
            let digits = color.utf8.dropFirst()
            guard color.first == "#", digits.count == 6,
                digits.allSatisfy({ "0123456789abcdefABCDEF".utf8.contains($0) })
            else { throw TogglRejection(400, "Invalid color") }
            project.fields["color"] = .string(color)
        }
        if body.has("client_id") {
            let id = try body.integer("client_id")
            if let id {
                guard let client = live(.clients, id), client.workspace == old.workspace else {
                    throw TogglRejection(400, "Client not found in workspace")
                }
            }
            project.fields["client_id"] = .integer(id)
        }
        for key in Self.premiumMembers + ["start_date", "end_date"] {
            if let value = body.members[key], value != .null { project.fields[key] = value }
        }
        return project
    }

    private func checkAdmin(_ setting: String, in workspace: Int64) throws(TogglRejection) {
        guard let fields = live(.workspaces, workspace)?.fields,
            fields[setting]?.boolValue == true, fields["admin"]?.boolValue == false
        else { return }
        throw TogglRejection(403, "Only workspace admins may do this")
    }

    // MARK: The user

    mutating func updateUser(_ call: TogglCall) throws(TogglRejection) -> TransportResponse {
        let body = try TogglBody(call.body)
        guard var user = only(.user) else { throw .missing(.user) }
        for key in ["fullname", "email", "timezone"] {
            guard let text = try body.text(key) else { continue }
            let isValid = key == "email" ? text.contains("@") : !text.isEmpty
            guard isValid else { throw TogglRejection(400, "Invalid \(key)") }
            user.fields[key] = .string(text)
        }
        for key in ["beginning_of_week", "country_id", "default_workspace_id"] {
            guard let number = try body.integer(key) else { continue }
            let isValid =
                switch key {
                case "beginning_of_week": (0...6).contains(number)
                case "country_id": number > 0
                default: live(.workspaces, number) != nil && !lostWorkspaces.contains(number)
                }
            guard isValid else { throw TogglRejection(400, "Invalid \(key)") }
            user.fields[key] = .integer(number)
        }
        keepUnknown(of: body, in: &user, .user)
        user.at = call.now
        keep(user, .user)
        return reply(.user, user, call.now)
    }

    // MARK: Preferences

    /// What members of the preferences can be.
    private static let choices: [(key: String, values: [String])] = [
        (
            "date_format",
            [
                "MM/DD/YYYY", "DD-MM-YYYY", "MM-DD-YYYY", "YYYY-MM-DD", "DD/MM/YYYY",
                "DD.MM.YYYY",
            ]
        ),
        ("timeofday_format", ["H:mm", "h:mm A"]),
        ("duration_format", ["classic", "improved", "decimal"]),
    ]

    /// Answers with a text, and not with the preferences.
    mutating func updatePreferences(
        _ call: TogglCall
    ) throws(TogglRejection) -> TransportResponse {
        let body = try TogglBody(call.body)
        guard !body.members.isEmpty else { throw TogglRejection(400, "Missing data") }
        guard var preferences = only(.preferences) else { throw .missing(.preferences) }
        for (key, values) in Self.choices {
            guard let text = try body.text(key) else { continue }
            guard values.contains(text) else {
                throw TogglRejection(400, "Value in \(key) is invalid")
            }
        }
        let features = preferences.fields["alpha_features"]?.array ?? []
        let known = features.compactMap { $0["code"]?.stringValue }
        let given = body.members["alpha_features"]?.array ?? []
        guard given.allSatisfy({ $0["code"]?.stringValue.map(known.contains) ?? false }) else {
            throw TogglRejection(400, "Invalid feature code(s)")
        }
        for (key, value) in body.members
        where TogglKind.preferences.members[key] != .none || keepsUnknownMembers {
            preferences.fields[key] =
                key == "alpha_features" ? .array(merged(features, given)) : value
        }
        preferences.at = call.now
        keep(preferences, .preferences)
        return TogglReply.json(200, "OK")
    }

    /// The known features, those that are given with their new value.
    private func merged(_ features: [JSONValue], _ given: [JSONValue]) -> [JSONValue] {
        features.map { feature in
            given.last { $0["code"] == feature["code"] } ?? feature
        }
    }
}
