// TogglEntryPatches.swift — several time entries changed at once, by operations of RFC 6902.

import TidemarkEvents
import TidemarkSync

extension TogglServerModel {
    /// The most time entries in one request.
    static let patchedMax = 100

    /// `PATCH …/time_entries/1,2,3`: each entry is changed or refused for itself.
    mutating func patch(
        _ ids: [Int64?], in workspace: Int64, _ call: TogglCall
    ) throws(TogglRejection) -> TransportResponse {
        try enter(workspace, call.now)
        guard ids.count <= Self.patchedMax else {
            throw TogglRejection(400, "At most \(Self.patchedMax) time entries are allowed")
        }
        guard let value = try? JSONValue(parsing: call.body), let operations = value.array else {
            throw TogglRejection(400, "JSON is not valid")
        }
        var bodies: [TogglBody] = []
        for operation in operations { bodies.append(try Self.body(of: operation)) }
        var success: [JSONValue] = []
        var failure: [JSONValue] = []
        for id in ids {
            do throws(TogglRejection) {
                guard let id else { throw .missing(.timeEntries) }
                try change(id, in: workspace, bodies, call.now)
                success.append(.integer(id))
            } catch {
                let words =
                    switch error.body {
                    case .json(let words), .plain(let words): words
                    case .none: TogglReply.reason(error.status)
                    }
                failure.append(["id": .integer(id), "message": .string(words)])
            }
        }
        return TogglReply.json(200, ["success": .array(success), "failure": .array(failure)])
    }

    private mutating func change(
        _ id: Int64, in workspace: Int64, _ bodies: [TogglBody], _ now: Timestamp
    ) throws(TogglRejection) {
        let old = try find(.timeEntries, id, in: workspace, now)
        var entry = old
        for body in bodies { entry = try changed(entry, body, now) }
        entry.at = now
        keep(entry, .timeEntries)
        if entry.isRunning, !old.isRunning { stopOthers(than: id, now) }
    }

    /// An operation as the body of a change.
    private static func body(of operation: JSONValue) throws(TogglRejection) -> TogglBody {
        guard let op = operation["op"]?.stringValue, ["add", "replace", "remove"].contains(op),
            let path = operation["path"]?.stringValue, path.first == "/"
        else { throw TogglRejection(400, "Invalid operation") }
        let name = String(path.dropFirst())
        guard TogglKind.timeEntries.members[name] != .none, name != "id", name != "at" else {
            throw TogglRejection(400, "Invalid path \(path)")
        }
        let value = operation["value"] ?? .null
        var body: JSONObject = [name: value]
        if name == "tags" || name == "tag_ids" {
            if op == "add" { body["tag_action"] = "add" }
            if op == "remove" { body["tag_action"] = "delete" }
        } else if op == "remove" {
            body[name] = .null
        }
        return TogglBody(body)
    }
}
