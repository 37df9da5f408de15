// TogglRow.swift — one row of the server, and how rows are kept.

import TidemarkEvents

/// A row as the server keeps it.
struct TogglRow: Sendable, Hashable {
    var id: String
    /// All of it as it is answered; bytes that came from outside stay as they were.
    var document: JSONDocument
    /// When it was last changed, by what the document says.
    var at: Timestamp
    /// Whether it is only found by the reports' search.
    var isArchived = false

    /// A row of an object and what the server sets of it; nil when that is no JSON object.
    ///
    /// - Parameter members: what is set, over what the object has.
    init?(
        _ id: String, _ object: [UInt8], set members: [(key: String, value: [UInt8])],
        now: Timestamp
    ) {
        guard let given = try? JSONDocument(parsing: object),
            let document = try? JSONDocument(parsing: given.applying(set: members))
        else { return nil }
        self.id = id
        self.document = document
        at = TogglAnswer.time(of: document.rawValue("at")) ?? now
    }

    /// Whether only a tombstone is left.
    var isDeleted: Bool { document.value("server_deleted_at")?.stringValue != nil }

    /// The id of the workspace that it belongs to.
    var workspace: String? { document.ids(in: "workspace_id").first }
}

extension TogglServerModel {
    /// The row of that id, a tombstone too.
    func row(_ type: TogglRowType, _ id: String) -> TogglRow? {
        rows[type]?.first { $0.id == id }
    }

    /// The row of that id, unless it was deleted.
    func live(_ type: TogglRowType, _ id: String) -> TogglRow? {
        row(type, id).flatMap { $0.isDeleted ? nil : $0 }
    }

    /// Puts a row in the place of the one with its id, or at the end.
    mutating func keep(_ row: TogglRow, _ type: TogglRowType) {
        if type.isSingle { rows[type] = [] }
        if let index = rows[type]?.firstIndex(where: { $0.id == row.id }) {
            rows[type]?[index] = row
        } else {
            rows[type, default: []].append(row)
        }
    }

    /// What the server sets of a row: its id, and the time of the change.
    func serverMembers(
        _ type: TogglRowType, _ id: String, _ now: Timestamp
    ) -> [(key: String, value: [UInt8])] {
        var members: [(key: String, value: [UInt8])] = []
        if let field = type.idField { members.append((field, Array(id.utf8))) }
        if type.hasTime { members.append(("at", TogglAnswer.time(now))) }
        return members
    }

    // MARK: As another client, or the server's owner, does

    /// Writes a whole row; `at` defaults to now.
    mutating func put(_ type: TogglRowType, _ id: String, _ object: [UInt8], now: Timestamp) -> Bool
    {
        guard let given = try? JSONDocument(parsing: object) else { return false }
        let members = serverMembers(type, id, now).filter {
            $0.key != "at" || given.rawValue("at") == nil
        }
        guard let row = TogglRow(id, object, set: members, now: now) else { return false }
        keep(row, type)
        if type == .workspaces { lostWorkspaces.remove(id) }
        return true
    }

    /// Leaves a tombstone of a row.
    mutating func delete(_ type: TogglRowType, _ id: String, now: Timestamp) {
        change(type, id, set: [("server_deleted_at", TogglAnswer.time(now))], now: now)
    }

    /// Takes a project out of every list.
    mutating func archive(_ type: TogglRowType, _ id: String, now: Timestamp) {
        change(type, id, set: [("active", Array("false".utf8))], now: now) { $0.isArchived = true }
    }

    /// Takes a row away without a trace, and with a workspace all that belongs to it out of reach.
    mutating func forget(_ type: TogglRowType, _ id: String) {
        rows[type]?.removeAll { $0.id == id }
        if type == .workspaces { lostWorkspaces.insert(id) }
    }

    /// Sets members of a row that is there.
    mutating func change(
        _ type: TogglRowType, _ id: String, set members: [(key: String, value: [UInt8])],
        now: Timestamp, also: (inout TogglRow) -> Void = { _ in }
    ) {
        guard let old = row(type, id),
            var row = TogglRow(
                id, old.document.bytes, set: members + serverMembers(type, id, now), now: now)
        else { return }
        row.isArchived = old.isArchived
        also(&row)
        keep(row, type)
    }
}
