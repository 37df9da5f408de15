// TogglLists.swift — lists, single rows, the user with what belongs to him, and searches.

import TidemarkEvents
import TidemarkSync

extension TogglServerModel {
    /// The days of time entries that are listed when a request does not say which.
    static let usualDays: Int64 = 10

    // MARK: Lists

    /// The user's rows of a kind: those that there are, or those that changed since a time.
    ///
    /// Only a list of changes has deleted rows. Archived projects, and tasks that are done, are in
    /// it only when the request wants them.
    func list(_ kind: TogglKind, _ call: TogglCall) throws(TogglRejection) -> TransportResponse {
        let since = try since(call)
        let hidesInactive =
            switch kind {
            case .projects: call.query["include_archived"] != "true"
            case .tasks: call.query["include_not_active"] != "true"
            default: false
            }
        let rows = listed(kind, call.now) { row in
            if let since { guard row.at >= since else { return false } }
            if row.isDeleted { return since != nil }
            return row.isActive || !hidesInactive
        }
        return TogglReply.json(200, kind == .tasks ? page(rows, call.query) : rows)
    }

    /// The part of a list of tasks that a request wants: all unless it says.
    private func page(_ rows: JSONValue, _ query: KintoQuery) -> JSONValue {
        guard let all = rows.array else { return rows }
        let offset = query["offset"].flatMap { Int($0) } ?? 0
        let count = query["per_page"].flatMap { Int($0) } ?? all.count
        return .array(Array(all.dropFirst(max(0, offset)).prefix(max(0, count))))
    }

    /// The rows that pass, in the order of their kind: tags by name, the rest by id.
    func list(
        _ kind: TogglKind, _ now: Timestamp, _ passes: (TogglItem) -> Bool
    ) -> TransportResponse {
        TogglReply.json(200, listed(kind, now, passes))
    }

    private func listed(
        _ kind: TogglKind, _ now: Timestamp, _ passes: (TogglItem) -> Bool
    ) -> JSONValue {
        let found = reachable(kind, now).filter(passes).sorted { left, right in
            if kind == .tags, left.name != right.name {
                return (left.name.lowercased(), left.name) < (right.name.lowercased(), right.name)
            }
            return left.id < right.id
        }
        let isNull = emptyListsAreNull && [.tags, .clients, .tasks].contains(kind)
        if found.isEmpty, isNull { return .null }
        return .array(found.map { .object(wire(kind, $0, .list, now)) })
    }

    private func since(_ call: TogglCall) throws(TogglRejection) -> Timestamp? {
        guard let text = call.query["since"] else { return nil }
        guard let seconds = Int64(text) else {
            throw TogglRejection(400, "since must be a UNIX timestamp")
        }
        let since = Timestamp(rawValue: 0).adding(seconds: seconds)
        try check(since, call, "since")
        return since
    }

    private func check(
        _ time: Timestamp, _ call: TogglCall, _ name: String
    ) throws(TogglRejection) {
        let earliest = call.now.adding(months: -sinceMonthsMax)
        guard time >= earliest else {
            throw TogglRejection(
                400, "\(name) must not be earlier than \(TogglTime.date(earliest))")
        }
    }

    // MARK: Time entries

    /// The user's time entries, those that began last first.
    func entries(_ call: TogglCall) throws(TogglRejection) -> TransportResponse {
        let passes = try whichEntries(call)
        let found = newestFirst(reachable(.timeEntries, call.now).filter(passes))
        let isWithMeta = call.query["meta"] == "true"
        return TogglReply.json(
            200,
            .array(
                found.map { entry in
                    .object(
                        isWithMeta
                            ? wireWithMeta(entry, call.now)
                            : wire(.timeEntries, entry, .list, call.now))
                }))
    }

    private func whichEntries(
        _ call: TogglCall
    ) throws(TogglRejection) -> (TogglItem) -> Bool {
        if call.query["since"] != nil, call.query["before"] != nil {
            throw TogglRejection(400, "'since' and 'before' can not be present simultaneously")
        }
        if let since = try since(call) { return { $0.at >= since } }
        if let before = try day("before", call) { return { !$0.isDeleted && $0.start < before } }
        let (from, to) = (try day("start_date", call), try day("end_date", call))
        guard from != nil || to != nil else {
            let from = call.now.adding(seconds: -Self.usualDays * 86_400)
            return { !$0.isDeleted && $0.start >= from }
        }
        guard let from, let to else {
            throw TogglRejection(400, "start_date and end_date must be given together")
        }
        try check(from, call, "start_date")
        guard from <= to else {
            throw TogglRejection(400, "start_date must be before end_date")
        }
        return { !$0.isDeleted && from <= $0.start && $0.start <= to }
    }

    private func day(_ name: String, _ call: TogglCall) throws(TogglRejection) -> Timestamp? {
        guard let text = call.query[name] else { return nil }
        guard let time = TogglTime.parseDay(text) else {
            throw TogglRejection(400, "Invalid value for \(name)")
        }
        return time
    }

    private func newestFirst(_ entries: [TogglItem]) -> [TogglItem] {
        let sorted = entries.sorted { ($0.start, $1.id) > ($1.start, $0.id) }
        return Array(sorted.prefix(entriesMax))
    }

    /// The entry that runs, or null.
    func current(_ now: Timestamp) -> TransportResponse {
        let running = reachable(.timeEntries, now).filter { $0.isRunning && !$0.isDeleted }
        let entry = newestFirst(running).first
        return TogglReply.json(
            200, entry.map { .object(wire(.timeEntries, $0, .list, now)) } ?? .null)
    }

    func entry(_ id: Int64, _ call: TogglCall) throws(TogglRejection) -> TransportResponse {
        let entries = reachable(.timeEntries, call.now)
        guard let entry = entries.first(where: { $0.id == id && !$0.isDeleted }) else {
            throw .missing(.timeEntries)
        }
        return TogglReply.json(200, .object(wire(.timeEntries, entry, .list, call.now)))
    }

    func workspace(_ id: Int64, _ now: Timestamp) throws(TogglRejection) -> TransportResponse {
        try enter(id, now)
        return reply(.workspaces, live(.workspaces, id), now)
    }

    // MARK: The user

    /// The user, and with `with_related_data=true` what belongs to him, archived projects included.
    ///
    /// Without tasks there is no such member.
    func me(_ call: TogglCall) -> TransportResponse {
        guard let user = only(.user) else { return TogglReply.json(200, .null) }
        var wire = wire(.user, user, .list, call.now)
        guard call.query["with_related_data"] == "true" else {
            return TogglReply.json(200, .object(wire))
        }
        for kind in [TogglKind.tags, .clients] { wire[kind.rawValue] = related(kind, call.now) }
        let from = call.now.adding(seconds: -Self.usualDays * 86_400)
        let entries = newestFirst(
            reachable(.timeEntries, call.now).filter { !$0.isDeleted && $0.start >= from })
        wire["time_entries"] = .array(
            entries.map { .object(self.wire(.timeEntries, $0, .list, call.now)) })
        for kind in [TogglKind.projects, .tasks, .workspaces] {
            let rows = related(kind, call.now)
            if kind == .tasks, rows == .null || rows == [] { continue }
            wire[kind.rawValue] = rows
        }
        return TogglReply.json(200, .object(wire))
    }

    private func related(_ kind: TogglKind, _ now: Timestamp) -> JSONValue {
        listed(kind, now) { !$0.isDeleted }
    }

    // MARK: Reports

    /// A page of a workspace's projects, archived ones included, in seven members.
    func search(
        _ workspace: Int64, _ call: TogglCall
    ) throws(TogglRejection) -> TransportResponse {
        try enter(workspace, call.now)
        let body = try TogglBody(call.body)
        guard !body.members.isEmpty else {
            throw TogglRejection(400, "At least one parameter must be set")
        }
        let ids = try body.integers("ids")
        let name = try body.text("name")?.lowercased()
        let start = try body.integer("start") ?? 0
        let rows = try body.integer("page_size") ?? Int64(searchPageRows)
        guard start >= 0, rows > 0 else { throw TogglRejection(400, "Invalid page") }
        let isActive = try body.bool("is_active")
        let found = reachable(.projects, call.now).filter { project in
            project.workspace == workspace && !project.isDeleted
                && ids.map { $0.contains(project.id) } ?? true
                && name.map { project.name.lowercased().contains($0) } ?? true
                && isActive.map { project.isActive == $0 } ?? true
        }.sorted { $0.id < $1.id }
        let page = found.dropFirst(Int(min(start, Int64(found.count)))).prefix(Int(rows))
        return TogglReply.json(200, .array(page.map { .object(searchRow($0, call.now)) }))
    }

    private func searchRow(_ project: TogglItem, _ now: Timestamp) -> JSONObject {
        let whole = wire(.projects, project, .list, now)
        var row = JSONObject()
        for key in ["id", "name", "client_id", "color", "active", "currency", "billable"] {
            row[key] = whole[key]
        }
        return row
    }
}
