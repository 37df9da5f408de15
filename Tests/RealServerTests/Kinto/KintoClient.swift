// KintoClient.swift — a plain client of a real Kinto server: the third party beside the replicas.

import Foundation
import HTTPTypes
import TestSupport
import TidemarkEvents
import TidemarkSync

@testable import SyncSupport

/// Requests to one bucket, as any client would send them.
struct KintoClient: Sendable {
    /// Where the server is, if there is one.
    static let url = ProcessInfo.processInfo.environment["TIDEMARK_KINTO"]
    static let isThere = url != nil
    static let reason: String = "TIDEMARK_KINTO names no Kinto server; Tools/test starts one"

    /// Nothing here is about time: a machine that is busy with other tests may be slow.
    static let limits = TransportLimits(deadline: .seconds(600))

    let origin: String
    let bucket: String
    var user = "plain"

    /// An answer that is not what a plain client expects.
    struct Refused: Error, CustomStringConvertible {
        var description: String
    }

    var credentials: String { "Basic " + Base64.encode(Array("\(user):secret".utf8)) }

    /// Sends one request; `path` is below the bucket.
    func answer(
        _ method: HTTPRequest.Method, _ path: String, _ json: String? = nil
    ) async throws -> TransportResponse {
        try await answer(method, root: "/buckets/\(bucket)\(path)", json)
    }

    /// Sends one request; `path` is below the server's root.
    func answer(
        _ method: HTTPRequest.Method, root path: String, _ json: String? = nil
    ) async throws -> TransportResponse {
        let rest = origin.dropFirst("http://".count)
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        let answer = try PlainHTTP(
            method.rawValue, authority: String(rest[..<slash]), path: rest[slash...] + path,
            fields: [("Authorization", credentials), ("Content-Type", "application/json")],
            body: json.map { Array($0.utf8) })
        var head = HTTPResponse(status: .init(code: answer.status))
        for field in answer.fields {
            if let name = HTTPField.Name(field.name) { head.headerFields[name] = field.value }
        }
        return TransportResponse(response: head, body: answer.body)
    }

    /// Sends one request that must succeed.
    @discardableResult
    func send(
        _ method: HTTPRequest.Method, _ path: String, _ json: String? = nil
    ) async throws -> [UInt8] {
        let answer = try await answer(method, path, json)
        guard answer.response.status.kind == .successful else {
            let text = String(decoding: answer.body, as: UTF8.self)
            throw Refused(description: "\(method) \(path): \(answer.response.status) \(text)")
        }
        return answer.body
    }

    // MARK: Records

    /// Makes or replaces a record, whatever is there.
    func put(_ key: String, _ json: String) async throws {
        try await send(.put, Self.path(key), #"{"data":\#(json)}"#)
    }

    /// Changes fields of a record, or makes one of them.
    func patch(_ key: String, _ json: String) async throws {
        if try await !patchIfThere(key, #"{"data":\#(json)}"#) { try await put(key, json) }
    }

    /// Changes data or permissions of a record; false when there is none.
    func patchIfThere(_ key: String, _ json: String) async throws -> Bool {
        try await answer(.patch, Self.path(key), json).response.status != .notFound
    }

    func delete(_ key: String) async throws { try await send(.delete, Self.path(key)) }

    /// Deletes a record, if there is one.
    func deleteIfThere(_ key: String) async throws {
        _ = try await answer(.delete, Self.path(key))
    }

    /// The records of a collection as they stand in the server's list, byte for byte, by id.
    func records(_ collection: CollectionName) async throws -> [String: String] {
        let body = try await send(.get, "/collections/\(collection)/records")
        var records: [String: String] = [:]
        for range in try JSON.arrayElements(of: body, at: "data") ?? [] {
            let bytes = Array(body[range])
            let id = try JSONDocument(parsing: bytes).value("id")?.stringValue ?? ""
            records[id] = String(decoding: bytes, as: UTF8.self)
        }
        return records
    }

    static func path(_ key: String) -> String {
        let parts = key.split(separator: "/", maxSplits: 1)
        return "/collections/\(parts[0])/records/\(parts[1])"
    }
}
