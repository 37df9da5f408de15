// TogglReading.swift — lists and searches.

import TidemarkEvents
import TidemarkSync

extension TogglServerModel {
    /// The user's rows of a type: all, those changed since a time, or those that began within a
    /// span.
    ///
    /// Only a list of changes includes tombstones; archived rows are in no list.
    func list(
        _ type: TogglRowType, _ query: KintoQuery, _ now: Timestamp
    ) throws(TogglRefusal) -> [TogglRow] {
        let inReach = (rows[type] ?? []).filter { !$0.isArchived && !isLost($0) }
        switch query.items.map(\.name).sorted() {
        case []: return inReach.filter { !$0.isDeleted }
        case ["since"] where type != .features:
            let since = try since(query["since"] ?? "", now)
            return inReach.filter { $0.at >= since }
        case ["end_date", "start_date"] where type == .timeEntries:
            guard let from = Self.time(query["start_date"]), let to = Self.time(query["end_date"]),
                from <= to
            else { throw TogglRefusal(400, "start_date and end_date must be times in order") }
            return inReach.filter { row in
                guard !row.isDeleted else { return false }
                // A row without a beginning is in every span, so that none is lost.
                return TogglAnswer.time(of: row.document.rawValue("start"))
                    .map { from <= $0 && $0 <= to } ?? true
            }
        default: throw TogglRefusal(400, "Unknown parameters")
        }
    }

    private func since(_ text: String, _ now: Timestamp) throws(TogglRefusal) -> Timestamp {
        guard let seconds = Int64(text) else { throw TogglRefusal(400, "since must be a number") }
        let time = Timestamp(rawValue: 0).adding(seconds: seconds)
        guard time >= now.adding(months: -sinceMonthsMax) else {
            throw TogglRefusal(400, "since must be within the last \(sinceMonthsMax) months")
        }
        return time
    }

    private static func time(_ text: String?) -> Timestamp? {
        text.flatMap { TogglAnswer.time(of: Array("\"\($0)\"".utf8)[...]) }
    }

    /// The requested projects of a workspace, including archived ones.
    func search(
        _ workspace: String, _ body: [UInt8]
    ) throws(TogglRefusal) -> TransportResponse {
        try require(workspace)
        guard let document = try? JSONDocument(parsing: body),
            case .array = document.value("ids")
        else { throw TogglRefusal(400, "ids must be an array") }
        let ids = Set(document.ids(in: "ids"))
        let found = (rows[.projects] ?? []).filter {
            ids.contains($0.id) && !$0.isDeleted && $0.workspace == workspace
        }
        return TogglAnswer.list(found)
    }

    /// A row that is not deleted.
    ///
    /// - Throws: 403 when the user has lost access to its workspace.
    func reachable(_ type: TogglRowType, _ id: String) throws(TogglRefusal) -> TogglRow? {
        guard let row = live(type, id) else { return nil }
        guard !isLost(row) else { throw TogglRefusal(403, "No access to the workspace") }
        return row
    }

    private func isLost(_ row: TogglRow) -> Bool {
        row.workspace.map { lostWorkspaces.contains($0) } ?? false
    }
}
