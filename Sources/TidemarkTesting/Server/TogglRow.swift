// TogglRow.swift — one row of the server, and how rows are kept.

import TidemarkEvents

/// A row in the server's form.
struct TogglRow: Sendable, Hashable {
    var id: String
    /// The whole document as it is returned; bytes from clients are kept verbatim.
    var document: JSONDocument
    /// When it was last changed, according to the document.
    var at: Timestamp
    /// Whether only the search of the reports API finds it.
    var isArchived = false

    /// A row from an object and the members that the server sets; nil when the object is no JSON
    /// object.
    ///
    /// - Parameter members: the server's members, which replace those of the object.
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
    /// The row with that id, even if it is a tombstone.
    func row(_ type: TogglRowType, _ id: String) -> TogglRow? {
        rows[type]?.first { $0.id == id }
    }

    /// The row with that id, unless it was deleted.
    func live(_ type: TogglRowType, _ id: String) -> TogglRow? {
        row(type, id).flatMap { $0.isDeleted ? nil : $0 }
    }

    /// Replaces the row with the same id, or appends it.
    mutating func keep(_ row: TogglRow, _ type: TogglRowType) {
        if type.isSingle { rows[type] = [] }
        if let index = rows[type]?.firstIndex(where: { $0.id == row.id }) {
            rows[type]?[index] = row
        } else {
            rows[type, default: []].append(row)
        }
    }

    /// The members that the server sets in a row: its id, and the time of the change.
    func serverMembers(
        _ type: TogglRowType, _ id: String, _ now: Timestamp
    ) -> [(key: String, value: [UInt8])] {
        var members: [(key: String, value: [UInt8])] = []
        if let field = type.idField { members.append((field, Array(id.utf8))) }
        if type.hasTime { members.append(("at", TogglAnswer.time(now))) }
        return members
    }

    // MARK: Changes by another client, or by the server's owner

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

    /// Replaces a row by a tombstone.
    mutating func delete(_ type: TogglRowType, _ id: String, now: Timestamp) {
        change(type, id, set: [("server_deleted_at", TogglAnswer.time(now))], now: now)
    }

    /// Removes a project from every list.
    mutating func archive(_ type: TogglRowType, _ id: String, now: Timestamp) {
        change(type, id, set: [("active", Array("false".utf8))], now: now) { $0.isArchived = true }
    }

    /// Removes a row without a trace; for a workspace, the user also loses access to its rows.
    mutating func forget(_ type: TogglRowType, _ id: String) {
        rows[type]?.removeAll { $0.id == id }
        if type == .workspaces { lostWorkspaces.insert(id) }
    }

    /// Sets members of an existing row.
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
