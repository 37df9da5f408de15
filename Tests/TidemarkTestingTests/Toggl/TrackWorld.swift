// TrackWorld.swift — a server that behaves like Toggl, spoken to by raw HTTP, on a clock in the
// test's hand.

import HTTPTypes
import TidemarkEvents
import TidemarkSync
import TidemarkTesting

/// A server with workspace 1, client 4, project 5 and tag 6 of user 9, at 2026-11-18 11:06:40 UTC.
struct TrackWorld: Sendable {
    /// The beginning, in seconds since 1970.
    static let start: Int64 = 1_795_000_000
    let clock = ManualClock()
    let server: TogglServer

    init(_ model: TogglServerModel = TogglServerModel(), faults: [FaultRule] = []) {
        server = TogglServer(model, faults: FaultPlan(faults), clock: clock)
        put("workspaces/1", #"{"name":"Home","organization_id":2}"#)
        put("user/9", #"{"fullname":"Ada","default_workspace_id":1}"#)
        put("clients/4", #"{"wid":1,"name":"Acme"}"#)
        put("projects/5", #"{"workspace_id":1,"client_id":4,"name":"Site"}"#)
        put("tags/6", #"{"workspace_id":1,"name":"deep"}"#)
    }

    /// What the server holds, and its settings.
    var model: TogglServerModel {
        get { server.withModel { $0 } }
        nonmutating set { server.withModel { $0 = newValue } }
    }

    /// The server's clock.
    var now: Timestamp { clock.now }

    func wait(_ seconds: Double) { clock.advance(by: .milliseconds(Int64(seconds * 1000))) }

    func put(_ key: String, _ json: String) { server.put(key, json) }

    func delete(_ key: String) { server.delete(key) }

    // MARK: Requests

    /// The answer below `/api/v9`, or from the root where the path begins with two slashes.
    func answer(
        _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil,
        authorization: String? = "Basic dG9rZW46YXBpX3Rva2Vu"
    ) -> TransportResponse {
        let root = path.hasPrefix("//") ? String(path.dropFirst()) : "/api/v9" + path
        var request = HTTPRequest(
            method: method, scheme: "https", authority: "api.track.toggl.com", path: root)
        request.headerFields[.authorization] = authorization
        let sent = request
        return server.withModel { [now] in
            $0.handle(sent, body: body.map { Array($0.utf8) }, at: now)
        }
    }

    /// The answer as status and body.
    @discardableResult
    func send(_ method: HTTPRequest.Method, _ path: String, _ body: String? = nil) -> String {
        let answer = answer(method, path, body)
        let text = String(decoding: answer.body, as: UTF8.self)
        let status = "\(answer.response.status.code)"
        return text.isEmpty ? status : status + " " + text
    }

    /// The body of an answer.
    func value(
        _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil
    ) throws -> JSONValue {
        try JSONValue(parsing: answer(method, path, body).body)
    }

    /// The ids of a list, in its order; none for null.
    func ids(_ path: String) throws -> [Int64] {
        (try value(.get, path).array ?? []).compactMap { $0["id"]?.int64Value }
    }

    /// A row of a list, by its id.
    func row(_ path: String, _ id: Int64) throws -> JSONValue? {
        try value(.get, path).array?.first { $0["id"]?.int64Value == id }
    }

    /// Makes a time entry in workspace 1, with what is needed beside the members that are given.
    @discardableResult
    func make(_ members: String) -> String {
        let needed = #""created_with":"tests","workspace_id":1"#
        return send(.post, "/workspaces/1/time_entries", "{\(needed),\(members)}")
    }

    /// The same, and its id.
    func made(_ members: String) throws -> Int64 {
        let text = make(members)
        let value = try JSONValue(parsing: Array(text.dropFirst(4).utf8))
        return value["id"]?.int64Value ?? 0
    }

    /// Changes a time entry.
    @discardableResult
    func change(_ id: Int64, _ body: String) -> String {
        send(.put, "/workspaces/1/time_entries/\(id)", body)
    }
}

extension TransportResponse {
    /// A field of the header, by its name.
    func field(_ name: String) -> String? {
        HTTPField.Name(name).flatMap { response.headerFields[$0] }
    }

    var status: Int { response.status.code }
    var text: String { String(decoding: body, as: UTF8.self) }
}
