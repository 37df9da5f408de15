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

    init(_ model: TogglServerModel = TogglServerModel()) {
        server = TogglServer(model, clock: clock)
        server.put("workspaces/1", #"{"name":"w"}"#)
        server.put("projects/5", #"{"name":"p","workspace_id":1,"active":true}"#)
        server.put("tags/6", #"{"name":"t","workspace_id":1}"#)
        server.put(
            "time_entries/7",
            #"{"description":"d","workspace_id":1,"start":"2026-11-18T10:00:00Z"}"#)
    }

    /// What the adapter makes of a call that the server answered.
    func call(_ call: ServerCall) async throws -> ServerAnswer {
        let adapter = TogglAdapter()
        let request = try adapter.request(for: call)
        var message = HTTPRequest(
            method: request.method, scheme: "https", authority: "toggl.test", path: request.path)
        message.headerFields = request.headers
        message.headerFields[.authorization] = "Basic dG9rZW46YXBpX3Rva2Vu"
        let answer = try await server.send(
            message, body: request.body, limits: TransportLimits())
        return adapter.answer(to: call, answer.response, body: answer.body)
    }

    /// A collection of the model.
    func collection(_ name: CollectionName) -> CollectionModel {
        SyncModel.toggl[name] ?? CollectionModel(name)
    }
}
