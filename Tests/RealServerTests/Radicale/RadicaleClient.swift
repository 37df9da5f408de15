// RadicaleClient.swift — a plain client of a real Radicale: the third party beside the replicas.

import Foundation
import TestSupport
import TidemarkEvents

@testable import SyncSupport

/// Requests to one user's calendars, as any client would send them.
struct RadicaleClient: Sendable {
    /// Where the server is, if there is one, and where its files are.
    static let url = ProcessInfo.processInfo.environment["TIDEMARK_RADICALE"]
    static let files = ProcessInfo.processInfo.environment["TIDEMARK_RADICALE_FILES"]
    static let isThere = url != nil
    static let reason: String = "TIDEMARK_RADICALE names no Radicale; Tools/test starts one"

    let origin: String
    let user: String

    /// An answer that is not what a plain client expects.
    struct Refused: Error, CustomStringConvertible {
        var description: String
    }

    /// Sends one request that must succeed; `path` is below the user's home.
    @discardableResult
    func send(
        _ method: String, _ path: String, _ body: String? = nil, _ fields: [String: String] = [:]
    ) async throws -> String {
        let answer = try answer(method, path, body.map { Array($0.utf8) }, fields)
        guard (200..<300).contains(answer.status) else {
            throw Refused(
                description: "\(method) \(path): \(answer.status) "
                    + String(decoding: answer.body, as: UTF8.self))
        }
        return String(decoding: answer.body, as: UTF8.self)
    }

    /// Sends one request.
    func answer(
        _ method: String, _ path: String, _ body: [UInt8]? = nil, _ fields: [String: String] = [:]
    ) throws -> PlainHTTP {
        let type = method == "PUT" ? "text/calendar; charset=utf-8" : "application/xml"
        let credentials = "Basic " + Base64.encode(Array("\(user):secret".utf8))
        return try PlainHTTP(
            method, authority: String(origin.dropFirst("http://".count)), path: "/\(user)/\(path)",
            fields: [("Authorization", credentials), ("Content-Type", type)]
                + fields.sorted { $0.key < $1.key }.map { ($0.key, $0.value) },
            body: body)
    }

    // MARK: Items
    // A user's home is there once they have come.

    func makeCalendar(_ name: String) async throws { try await send("MKCALENDAR", "\(name)/") }

    func dropCalendar(_ name: String) async throws { try await send("DELETE", "\(name)/") }

    /// Makes or replaces an item, whatever is there; `path` is percent-encoded.
    func put(_ path: String, _ text: String) async throws { try await send("PUT", path, text) }

    func delete(_ path: String) async throws { try await send("DELETE", path) }

    /// The items of a calendar as GET gives them, by their names, percent-decoded.
    func items(_ calendar: String) async throws -> [String: String] {
        let list = try await send("PROPFIND", "\(calendar)/", nil, ["Depth": "1"])
        var items: [String: String] = [:]
        for part in list.split(separator: "<href>").dropFirst() {
            let href = part.prefix { $0 != "<" }
            let name = href.dropFirst("/\(user)/\(calendar)/".count)
            guard href.hasPrefix("/\(user)/\(calendar)/"), !name.isEmpty else { continue }
            items[name.removingPercentEncoding ?? String(name)] =
                try await send("GET", "\(calendar)/\(name)")
        }
        return items
    }

    /// Lets the server forget every token that it gave out.
    func expireTokens(_ calendar: String) throws {
        let cache = "\(Self.files ?? "")/collection-root/\(user)/\(calendar)/.Radicale.cache"
        try FileManager.default.removeItem(atPath: cache + "/sync-token")
    }
}

/// A task as iCalendar, written otherwise than the server writes it.
struct RadicaleItem: Sendable, Hashable {
    var uid: String
    var summary: String

    var text: String {
        [
            "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Tidemark//Test//EN", "BEGIN:VTODO",
            "UID:\(uid)", "SUMMARY:\(summary)", "DTSTAMP:20260101T000000Z", "END:VTODO",
            "END:VCALENDAR", "",
        ].joined(separator: "\r\n")
    }

    /// The document without its id.
    var document: String {
        var bytes = Array(#"{"data":"#.utf8)
        JSON.appendString(text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self) + "}"
    }

    /// The summary of an item's text.
    static func summary(of text: String) -> String? {
        text.split(separator: "\r\n").first { $0.hasPrefix("SUMMARY:") }.map {
            String($0.dropFirst(8))
        }
    }
}
