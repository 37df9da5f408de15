// PathServer.swift — a server of files as a plain client knows it, whichever server that is.

import Foundation
import TestSupport
import TidemarkTesting

/// What a server of files has at a path.
struct PathEntry: Sendable, Hashable {
    var path: String
    var isFolder: Bool
    /// Its id for life, where the server has one.
    var mark: String?

    /// The path, with a slash at the end of a folder's.
    var text: String { isFolder ? path + "/" : path }
}

/// A server of files as a plain client knows it.
protocol PathServer: Sendable {
    /// All that it has, folders before what is in them.
    func all() async throws -> [PathEntry]
    func put(_ path: String, _ text: String) async throws
    func makeFolder(_ path: String) async throws
    /// Moves to a path where nothing is.
    func move(_ path: String, to other: String) async throws
    func delete(_ path: String) async throws
    /// What is in a file.
    func content(_ path: String) async throws -> String
    /// Changes what nobody looks at.
    func note(_ path: String, _ text: String) async throws
}

extension WebDAVServer: PathServer {
    func all() -> [PathEntry] {
        entries.map { PathEntry(path: $0.path, isFolder: $0.isFolder, mark: $0.fileID) }
    }

    func content(_ path: String) -> String { entry(path)?.text ?? "" }

    /// Nothing in memory has properties that nobody looks at.
    func note(_ path: String, _ text: String) {}
}

/// A folder of a real server.
struct RealPathServer: PathServer {
    /// The whole address of the folder, without a slash at the end.
    let address: String
    /// Whether it keeps properties that clients make up.
    var takesNotes = true

    /// An answer that is not what a plain client expects.
    struct Refused: Error, CustomStringConvertible {
        var description: String
    }

    private var authority: String {
        String(address.dropFirst("http://".count).prefix { $0 != "/" })
    }

    /// The path of the folder on the server.
    var home: String { String(address.dropFirst("http://".count).drop { $0 != "/" }) }

    var origin: String { "http://" + authority }

    func make() async throws { try await send("MKCOL", "") }
    func remove() async throws { try await send("DELETE", "") }

    func all() async throws -> [PathEntry] { try await members(of: "") }

    private func members(of folder: String) async throws -> [PathEntry] {
        let answer = try await send(
            "PROPFIND", folder.isEmpty ? "" : folder + "/", fields: [("Depth", "1")])
        let text = String(decoding: answer.body, as: UTF8.self)
        let own = folder.isEmpty ? "" : folder + "/"
        var all: [PathEntry] = []
        for part in text.components(separatedBy: "href>") where part.hasPrefix(home + "/") {
            let name = part.dropFirst(home.count + 1).prefix { $0 != "<" }
                .replacingOccurrences(of: "&amp;", with: "&")
            let path = name.removingPercentEncoding ?? name
            guard path != own, path.hasPrefix(own) else { continue }
            guard path.hasSuffix("/") else {
                all.append(PathEntry(path: path, isFolder: false))
                continue
            }
            let below = PathEntry(path: String(path.dropLast()), isFolder: true)
            all += [below] + (try await members(of: below.path))
        }
        return all
    }

    func put(_ path: String, _ text: String) async throws {
        try await send("PUT", path, Array(text.utf8))
    }

    func content(_ path: String) async throws -> String {
        String(decoding: try await send("GET", path).body, as: UTF8.self)
    }

    func makeFolder(_ path: String) async throws { try await send("MKCOL", path) }

    func move(_ path: String, to other: String) async throws {
        let target = "\(address)/\(Self.encoded(other))"
        try await send("MOVE", path, fields: [("Destination", target), ("Overwrite", "F")])
    }

    func delete(_ path: String) async throws { try await send("DELETE", path) }

    func note(_ path: String, _ text: String) async throws {
        guard takesNotes else { return }
        let body = """
            <?xml version="1.0"?><D:propertyupdate xmlns:D="DAV:" xmlns:t="urn:tidemark:test">\
            <D:set><D:prop><t:note>\(text)</t:note></D:prop></D:set></D:propertyupdate>
            """
        try await send("PROPPATCH", path, Array(body.utf8))
    }

    @discardableResult
    private func send(
        _ method: String, _ path: String, _ body: [UInt8]? = nil,
        fields: [(name: String, value: String)] = []
    ) async throws -> PlainHTTP {
        let answer = try await PlainHTTP.sending(
            method, authority: authority,
            path: path.isEmpty && method != "PROPFIND" ? home : "\(home)/\(Self.encoded(path))",
            fields: fields, body: body)
        guard (200..<300).contains(answer.status) else {
            throw Refused(description: "\(method) \(path): \(answer.status)")
        }
        return answer
    }

    private static func encoded(_ path: String) -> String {
        path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? path
    }
}
