// TrackWorld.swift — a server that behaves like Toggl, spoken to by raw HTTP, on a clock in the
// test's hand.

import HTTPTypes
import TidemarkEvents
import TidemarkSync

@testable import TidemarkTesting

/// A server with workspace 1, client 4, project 5 and tag 6 of user 9, at 2026-11-18 11:06:40 UTC.
final class TrackWorld {
    /// The beginning, in seconds since 1970.
    static let start: Int64 = 1_795_000_000
    var server: TogglService
    /// The server's clock, in milliseconds since 1970.
    var now = TrackWorld.start * 1000

    init(_ server: TogglService = TogglService()) {
        self.server = server
        put("workspaces/1", #"{"name":"Home","organization_id":2}"#)
        put("user/9", #"{"fullname":"Ada","default_workspace_id":1}"#)
        put("clients/4", #"{"wid":1,"name":"Acme"}"#)
        put("projects/5", #"{"workspace_id":1,"client_id":4,"name":"Site"}"#)
        put("tags/6", #"{"workspace_id":1,"name":"deep"}"#)
    }

    func wait(_ seconds: Double) { now += Int64(seconds * 1000) }

    // MARK: Another client

    func put(_ key: String, _ json: String) {
        guard let (kind, id) = place(key),
            let object = try? JSONValue(parsing: Array(json.utf8)).object
        else { preconditionFailure("\(key) \(json)") }
        server.put(kind, id, object, now: time)
    }

    func delete(_ key: String) {
        guard let (kind, id) = place(key) else { preconditionFailure(key) }
        server.delete(kind, id, now: time)
    }

    private var time: Timestamp { Timestamp(milliseconds: now) }

    private func place(_ key: String) -> (TogglKind, Int64)? {
        guard let key = EntityKey(key), let kind = TogglKind(rawValue: key.collection.rawValue)
        else { return nil }
        return (kind, Int64(key.id) ?? 0)
    }

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
        return server.handle(request, body: body.map { Array($0.utf8) }, nowMilliseconds: now)
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
