// TogglEntryWrites.swift — time entries that are made, changed and stopped.
//
// Not known, and decided here: a change of the start alone leaves the stop where it is; names and
// ids of tags in one request are taken together; an entry that runs after a change stops the others
// as one that is made does.
//
// An entry is moved by a request to the address of the other workspace, which its body names as
// well: so Toggl's own apps do it (mobileapp, TimeEntriesApi; toggldesktop, TimeEntry::ModelURL).

import TidemarkEvents
import TidemarkSync

extension TogglServerModel {
    /// The longest duration of a time entry, in seconds.
    static let durationMax: Int64 = 999 * 3600
    static let descriptionMax = 3000

    mutating func createEntry(
        in workspace: Int64, _ body: TogglBody, _ now: Timestamp
    ) throws(TogglRejection) -> TransportResponse {
        guard let createdWith = try body.text("created_with"), !createdWith.isEmpty else {
            throw TogglRejection(400, "created_with needs to be provided an a valid string")
        }
        guard let given = try body.integer("workspace_id") else {
            throw TogglRejection(400, "wid is required for time entry creation")
        }
        guard given == workspace else {
            throw TogglRejection(400, "workspace_id is not the one of the address")
        }
        guard let start = try body.time("start") else {
            throw TogglRejection(400, "start is required for time entry creation")
        }
        var entry = TogglItem(
            id: 0, at: now,
            fields: [
                "workspace_id": .integer(workspace), "user_id": .integer(userID),
                "start": .string(TogglTime.utc(start)),
            ])
        let isDurationGiven = try body.integer("duration") != nil
        let isStopGiven = try body.time("stop") != nil
        entry = try changed(entry, body, now)
        entry.id = newID(.timeEntries)
        keepUnknown(of: body, in: &entry, .timeEntries)
        keep(entry, .timeEntries)
        if entry.isRunning { stopOthers(than: entry.id, now) }
        var wire = wire(.timeEntries, entry, .answer, now)
        if !isDurationGiven, !isStopGiven { wire["stop"] = .null }
        return TogglReply.json(200, .object(wire))
    }

    /// An entry with the members that a request gives; the others stay.
    mutating func changed(
        _ old: TogglItem, _ body: TogglBody, _ now: Timestamp
    ) throws(TogglRejection) -> TogglItem {
        var entry = old
        if let workspace = try body.integer("workspace_id"), workspace != old.workspace {
            try enter(workspace, now)
            entry.fields["workspace_id"] = .integer(workspace)
        }
        try setTimes(of: &entry, body)
        if body.has("description") {
            let text = try body.text("description")
            guard (text ?? "").unicodeScalars.count <= Self.descriptionMax else {
                throw TogglRejection(400, "Maximum length for description (3000 chars) exceeded")
            }
            entry.fields["description"] = text.map { .string($0) } ?? .null
        }
        if let isBillable = try body.bool("billable") {
            guard !isBillable || isPremium(entry.workspace) else {
                throw TogglRejection(402, "Billable is a premium feature")
            }
            entry.fields["billable"] = .bool(isBillable)
        }
        try setProject(of: &entry, body, now)
        try checkPeriod(of: entry)
        if old.id != 0 { try checkPeriod(of: old) }
        try setTags(of: &entry, body, now)
        return entry
    }

    /// The entry of any workspace that a request to another one moves there; nil for any other
    /// request.
    ///
    /// - Throws: 403 without access to that workspace.
    func moved(
        _ kind: TogglKind, _ id: Int64, to workspace: Int64, _ call: TogglCall
    ) throws(TogglRejection) -> TogglItem? {
        guard kind == .timeEntries, let body = try? TogglBody(call.body),
            let given = try? body.integer("workspace_id"), given == workspace
        else { return nil }
        try enter(workspace, call.now)
        return reachable(.timeEntries, call.now).first { $0.id == id && !$0.isDeleted }
    }

    // MARK: Times

    private func setTimes(of entry: inout TogglItem, _ body: TogglBody) throws(TogglRejection) {
        let oldStop = entry.stop
        let isNew = entry.id == 0
        let givenStart = try body.time("start")
        let start = givenStart ?? entry.start
        let stop = try body.time("stop")
        var duration = try body.integer("duration")
        if let stop {
            guard stop >= start else {
                throw TogglRejection(400, "Stop time must be after start time")
            }
            let seconds = stop.wholeSeconds - start.wholeSeconds
            guard (duration ?? seconds) == seconds else {
                throw TogglRejection(400, "start, stop and duration must agree")
            }
            duration = seconds
        } else if duration == nil, givenStart != nil, !isNew, let oldStop {
            guard oldStop >= start else {
                throw TogglRejection(400, "Stop time must be after start time")
            }
            duration = oldStop.wholeSeconds - start.wholeSeconds
        }
        if let duration {
            guard duration <= Self.durationMax else {
                throw TogglRejection(400, "Max allowed duration per 1 time entry is 999 hours")
            }
            entry.duration = duration
        }
        guard ("2006"..."2030").contains(TogglTime.utc(start).prefix(4)) else {
            throw TogglRejection(400, "Start time year must be between 2006 and 2030")
        }
        entry.start = start
    }

    /// Stops the user's running entries but one: now, and not when that one began.
    mutating func stopOthers(than id: Int64, _ now: Timestamp) {
        let user = userID
        change(.timeEntries, now: now) { entry in
            guard entry.isRunning, entry.id != id, entry.user == user else { return false }
            entry.duration = max(0, now.wholeSeconds - entry.start.wholeSeconds)
            return true
        }
    }

    /// `PATCH …/stop`: answers with tags as lists do.
    mutating func stop(
        _ id: Int64, in workspace: Int64, _ call: TogglCall
    ) throws(TogglRejection) -> TransportResponse {
        var entry = try find(.timeEntries, id, in: workspace, call.now)
        guard entry.isRunning else { throw TogglRejection(409, "Time entry already stopped") }
        entry.duration = max(0, call.now.wholeSeconds - entry.start.wholeSeconds)
        entry.at = call.now
        keep(entry, .timeEntries)
        var wire = wire(.timeEntries, entry, .answer, call.now)
        let listed = self.wire(.timeEntries, entry, .list, call.now)
        for key in ["tags", "tag_ids"] { wire[key] = listed[key] }
        return TogglReply.json(200, .object(wire))
    }

    // MARK: References

    private func setProject(
        of entry: inout TogglItem, _ body: TogglBody, _ now: Timestamp
    ) throws(TogglRejection) {
        func reach(_ kind: TogglKind, _ id: Int64) -> TogglItem? {
            let row = reachable(kind, now).first { $0.id == id && !$0.isDeleted }
            return row.flatMap { $0.workspace == entry.workspace ? $0 : nil }
        }
        if body.has("project_id") {
            let id = try body.integer("project_id")
            if let id, reach(.projects, id) == nil {
                throw TogglRejection(403, "User cannot access the selected project")
            }
            if id != entry.project { entry.fields["task_id"] = nil }
            entry.fields["project_id"] = .integer(id)
        }
        if body.has("task_id") {
            let id = try body.integer("task_id")
            if let id {
                guard let task = reach(.tasks, id), task.project == entry.project else {
                    throw TogglRejection(403, "User cannot access selected task")
                }
            }
            entry.fields["task_id"] = .integer(id)
        }
    }

    private mutating func setTags(
        of entry: inout TogglItem, _ body: TogglBody, _ now: Timestamp
    ) throws(TogglRejection) {
        let names = try body.texts("tags")
        let ids = try body.integers("tag_ids")
        guard names != nil || ids != nil else { return }
        let workspace = entry.workspace ?? 0
        for id in ids ?? [] {
            guard let tag = live(.tags, id), tag.workspace == workspace else {
                throw TogglRejection(400, "Invalid tag_ids")
            }
        }
        let action = try body.text("tag_action")
        guard action == nil || action == "add" || action == "delete" else {
            throw TogglRejection(400, "Invalid tag_action")
        }
        var given = ids ?? []
        for name in names ?? [] {
            let id = tag(named: name, in: workspace, now)
            if !given.contains(id) { given.append(id) }
        }
        switch action {
        case "add": entry.tags += given.filter { !entry.tags.contains($0) }
        case "delete": entry.tags.removeAll { given.contains($0) }
        default: entry.tags = given
        }
    }

    /// The tag with a name, made where there is none.
    mutating func tag(named name: String, in workspace: Int64, _ now: Timestamp) -> Int64 {
        let found = (rows[.tags] ?? []).first {
            $0.workspace == workspace && $0.name == name && !$0.isDeleted
        }
        if let found { return found.id }
        let id = newID(.tags)
        let fields: JSONObject = ["workspace_id": .integer(workspace), "name": .string(name)]
        keep(TogglItem(id: id, at: now, fields: fields), .tags)
        return id
    }

    /// Refuses an entry that began before its workspace's locked time.
    private func checkPeriod(of entry: TogglItem) throws(TogglRejection) {
        guard
            let text = entry.workspace.flatMap({ live(.workspaces, $0) })?
                .fields["report_locked_at"]?.stringValue,
            let locked = TogglTime.parse(text), entry.start < locked
        else { return }
        throw TogglRejection(400, "Entries can't be added or edited in this period")
    }

    func isPremium(_ workspace: Int64?) -> Bool {
        workspace.flatMap { live(.workspaces, $0) }?.fields["premium"]?.boolValue ?? false
    }
}
