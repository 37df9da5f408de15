// TogglWorld.swift — a server shaped like Toggl, on a clock in the test's hand.

import HTTPTypes
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync
import TidemarkTesting

/// A server that holds workspace 1, project 5, tag 6 and time entry 7, at 2026-11-18 11:06:40.
struct TogglWorld: Sendable {
    let clock = ManualClock()
    let server: TogglServer

    init(_ model: TogglServerModel = TogglServerModel(), faults: [FaultRule] = []) {
        server = TogglServer(model, faults: FaultPlan(faults), clock: clock)
        server.put("workspaces/1", #"{"name":"w"}"#)
        server.put("projects/5", #"{"name":"p","workspace_id":1,"active":true}"#)
        server.put("tags/6", #"{"name":"t","workspace_id":1}"#)
        server.put(
            "time_entries/7",
            #"{"description":"caf\u00e9","workspace_id":1,"start":"2026-11-18T10:00:00Z"}"#)
    }

    /// A client's request; the answer as status and body.
    func send(
        _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil
    ) async throws -> String {
        let answer = try await answer(method, path, body)
        let text = String(decoding: answer.body, as: UTF8.self)
        return text.isEmpty
            ? "\(answer.response.status.code)" : "\(answer.response.status.code) \(text)"
    }

    /// A client's request below `/api/v9`, or from the root where it begins with two slashes.
    func answer(
        _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil
    ) async throws -> TransportResponse {
        let root = path.hasPrefix("//") ? String(path.dropFirst()) : "/api/v9" + path
        let request = HTTPRequest(
            method: method, scheme: "https", authority: "toggl.test", path: root)
        return try await server.send(
            request, body: body.map { Array($0.utf8) }, limits: TransportLimits())
    }

    /// The ids that a list names, in its order, those of tombstones in brackets.
    func ids(_ path: String) async throws -> [String] {
        let answer = try await answer(.get, path)
        return try (JSONValue(parsing: answer.body).array ?? []).map { row in
            let id = row["id"]?.idText ?? row["workspace_id"]?.idText ?? "-"
            return row["server_deleted_at"]?.stringValue == nil ? id : "[\(id)]"
        }
    }

    /// What the adapter makes of a call that the server answered.
    func call(_ call: ServerCall) async throws -> ServerAnswer {
        let adapter = TogglAdapter()
        let request = try adapter.request(for: call)
        var message = HTTPRequest(
            method: request.method, scheme: "https", authority: "toggl.test", path: request.path)
        message.headerFields = request.headers
        let answer = try await server.send(
            message, body: request.body, limits: TransportLimits())
        return adapter.answer(to: call, answer.response, body: answer.body)
    }

    /// A collection of the model.
    func collection(_ name: CollectionName) -> CollectionModel {
        SyncModel.toggl[name] ?? CollectionModel(name)
    }
}
