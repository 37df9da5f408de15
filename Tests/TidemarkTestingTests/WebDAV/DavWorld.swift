// DavWorld.swift — a WebDAV server in memory, and requests to it in a few words.

import HTTPTypes
import TidemarkEvents
import TidemarkSync
import TidemarkTesting

/// A server on a clock of its own.
struct DavWorld {
    let server: WebDAVServer
    let clock = ManualClock()

    init(_ options: WebDAVOptions = WebDAVOptions(), home: String = "/dav") {
        server = WebDAVServer(WebDAVServerModel(options, home: home), clock: clock)
    }

    /// Sends a request; the path is below the home.
    @discardableResult
    func send(
        _ method: String, _ path: String, _ fields: [(name: String, value: String)] = [],
        _ body: String? = nil
    ) async throws -> TransportResponse {
        var request = HTTPRequest(
            method: HTTPRequest.Method(method) ?? .get, scheme: "http", authority: "files.test",
            path: "/dav/" + path)
        for field in fields {
            if let name = HTTPField.Name(field.name) { request.headerFields[name] = field.value }
        }
        return try await server.send(
            request, body: body.map { Array($0.utf8) }, limits: TransportLimits())
    }

    func status(
        _ method: String, _ path: String, _ fields: [(name: String, value: String)] = [],
        _ body: String? = nil
    ) async throws -> Int {
        try await send(method, path, fields, body).status
    }

    /// What a PROPFIND tells of some properties.
    func found(_ path: String, depth: String = "0", _ names: String...) async throws -> String {
        let asked = names.map { "<\($0)/>" }.joined()
        let answer = try await send(
            "PROPFIND", path, [("Depth", depth)],
            #"<d:propfind xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns"><d:prop>\#(asked)"#
                + "</d:prop></d:propfind>")
        return answer.text
    }

    /// The ETag that a list has of an entry; nil for none.
    func tag(_ path: String) async throws -> String? {
        let answer = try await found(path, "d:getetag")
        let tag = answer.split(separator: "<d:getetag>").dropFirst().first.map { part in
            String(part.prefix { $0 != "<" }).replacing("&quot;", with: "\"")
        }
        return tag?.isEmpty == false ? tag : nil
    }

    /// The paths of all entries, those of folders with a slash at the end.
    var paths: [String] { server.entries.map { $0.isFolder ? $0.path + "/" : $0.path } }
}
