// DjangoClient.swift — a plain client of a real server by Django REST framework: the third party
// beside the replicas.

import Foundation
import TestSupport
import Tidemark
import TidemarkEvents
import TidemarkSync

@testable import SyncSupport

/// Requests of one user, as any client would send them.
struct DjangoClient: Sendable {
    /// Where the server is, if there is one.
    static let url = ProcessInfo.processInfo.environment["TIDEMARK_DRF"]
    static let isThere = url != nil
    static let reason: String =
        "TIDEMARK_DRF names no server by Django REST framework; Tools/test starts one"

    let origin: String
    /// The user's number.
    private(set) var user: Int64 = 0
    /// What goes into the field Authorization.
    private(set) var authorization = ""

    /// An answer that is not what a plain client expects.
    struct Refused: Error, CustomStringConvertible {
        var description: String
    }

    /// Makes a user whom nobody else is.
    ///
    /// - Parameter isTrial: whether more than five requests a second are refused.
    init(signingUpAt origin: String, isTrial: Bool = false) async throws {
        self.origin = origin
        let name = "test-\(UUID().uuidString.lowercased())"
        let account = #""username":"\#(name)","password":"secret""#
        let made = try await send("POST", "/users/", #"{\#(account),"trial":\#(isTrial)}"#)
        let signedIn = try await send("POST", "/token/", "{\(account)}")
        guard let number = JSON.value("id", of: made)?.int64Value,
            let token = JSON.value("token", of: signedIn)?.stringValue
        else { throw Refused(description: "no user, or no token") }
        (user, authorization) = (number, "Token \(token)")
    }

    /// Sends one request; `path` is below the API's root.
    func answer(_ method: String, _ path: String, _ json: String? = nil) throws -> PlainHTTP {
        let rest = origin.dropFirst("http://".count)
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        var fields = [(name: "Content-Type", value: "application/json")]
        if !authorization.isEmpty {
            fields.append((name: "Authorization", value: authorization))
        }
        return try PlainHTTP(
            method, authority: String(rest[..<slash]), path: rest[slash...] + path,
            fields: fields, body: json.map { Array($0.utf8) })
    }

    /// Sends one request that must succeed, once the server lets it through.
    @discardableResult
    func send(_ method: String, _ path: String, _ json: String? = nil) async throws -> [UInt8] {
        while true {
            let answer = try answer(method, path, json)
            if answer.status == 429 {
                try await Dependencies.live.sleep(.seconds(1))
                continue
            }
            guard (200..<300).contains(answer.status) else {
                let text = String(decoding: answer.body, as: UTF8.self)
                throw Refused(description: "\(method) \(path): \(answer.status) \(text)")
            }
            return answer.body
        }
    }

    // MARK: Entities

    /// Makes an entity; its number.
    @discardableResult
    func make(_ collection: CollectionName, _ json: String) async throws -> String {
        let body = try await send("POST", "/\(collection)/", json)
        guard let id = JSON.value("id", of: body)?.idText else {
            throw Refused(description: "no id of what was made")
        }
        return id
    }

    /// Changes fields of an entity: `items/7`.
    func patch(_ key: String, _ json: String) async throws {
        try await send("PATCH", "/\(key)/", json)
    }

    func delete(_ key: String) async throws { try await send("DELETE", "/\(key)/") }

    /// The entities of a collection as they stand in the server's list, byte for byte, by number.
    func entities(_ collection: CollectionName) async throws -> [String: String] {
        let body = try await send("GET", "/\(collection)/?page_size=1000")
        var entities: [String: String] = [:]
        for range in try JSON.arrayElements(of: body, at: "results") ?? [] {
            let bytes = Array(body[range])
            entities[JSON.value("id", of: bytes)?.idText ?? ""] = String(
                decoding: bytes, as: UTF8.self)
        }
        return entities
    }
}
