// TogglWriting.swift — creations and updates by clients.

import TidemarkEvents
import TidemarkSync

extension TogglServerModel {
    /// Creates a row, in a workspace or not, and returns it.
    mutating func create(
        _ type: TogglRowType, in workspace: String?, _ body: [UInt8], _ now: Timestamp
    ) throws(TogglRefusal) -> TransportResponse {
        let given = try fields(of: body)
        if let workspace {
            try require(workspace)
            guard given.value("workspace_id") == nil || given.ids(in: "workspace_id") == [workspace]
            else { throw TogglRefusal(400, "workspace_id is not the one of the address") }
        }
        try requireReferences(of: given, over: nil)
        let id = String(nextID)
        var members = serverMembers(type, id, now)
        if let workspace, given.value("workspace_id") == nil {
            members.insert(("workspace_id", Array(workspace.utf8)), at: 0)
        }
        guard let row = TogglRow(id, given.bytes, set: members, now: now) else {
            throw TogglRefusal(400, "Not a JSON object")
        }
        nextID += 1
        keep(row, type)
        return TogglAnswer.json(200, row.document.bytes)
    }

    /// Replaces the given members, and returns the whole row.
    mutating func update(
        _ type: TogglRowType, _ row: TogglRow, _ body: [UInt8], _ now: Timestamp
    ) throws(TogglRefusal) -> TransportResponse {
        let given = try fields(of: body)
        try requireReferences(of: given, over: row.document)
        change(
            type, row.id,
            set: given.members.map { ($0.key, Array(given.bytes[$0.valueRange])) }, now: now)
        return TogglAnswer.json(200, live(type, row.id)?.document.bytes ?? [])
    }

    /// The members that a client may set.
    private func fields(of body: [UInt8]) throws(TogglRefusal) -> JSONDocument {
        guard let document = try? JSONDocument(parsing: body),
            let fields = try? JSONDocument(
                parsing: document.applying(set: [], unset: ["id", "at", "server_deleted_at"]))
        else { throw TogglRefusal(400, "Not a JSON object") }
        return fields
    }

    /// Refuses a workspace that does not exist.
    func require(_ workspace: String) throws(TogglRefusal) {
        if lostWorkspaces.contains(workspace) {
            throw TogglRefusal(403, "No access to the workspace")
        }
        guard live(.workspaces, workspace) != nil else {
            throw TogglRefusal(400, "workspace_id names nothing that is there")
        }
    }

    /// Refuses references to missing rows; a reference that the row already has may be to a deleted
    /// one.
    private func requireReferences(
        of given: JSONDocument, over old: JSONDocument?
    ) throws(TogglRefusal) {
        for (field, type) in TogglRowType.references {
            let known = old?.ids(in: field) ?? []
            for id in given.ids(in: field) where !known.contains(id) && live(type, id) == nil {
                throw TogglRefusal(400, "\(field) names nothing that is there")
            }
        }
    }
}
