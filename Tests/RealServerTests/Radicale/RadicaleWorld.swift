// RadicaleWorld.swift — calendars of its own on a real Radicale, replicas beside them.

import Foundation
import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync
import TidemarkViews

@testable import SyncSupport

/// One test's part of the server.
struct RadicaleWorld: RealWorld {
    let client: RadicaleClient
    let directory: String
    let model: SyncModel

    /// Makes two calendars: in `lists` the server wins, in `tasks` the replica.
    static func run(_ body: (RadicaleWorld) async throws -> Void) async throws {
        let origin = try #require(RadicaleClient.url)
        let user = "test-\(UUID().uuidString.lowercased())"
        let client = RadicaleClient(origin: origin, user: user)
        let model = SyncModel(
            name: "calendars",
            collections: [
                CollectionModel("lists", conflict: .serverWins),
                CollectionModel("tasks", conflict: .localWins),
            ])
        for collection in model.collections {
            try await client.makeCalendar(collection.name.rawValue)
        }
        let directory = FileManager.default.temporaryDirectory.appending(path: "radicale-\(user)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try await body(
            RadicaleWorld(
                client: client,
                directory: directory.path(percentEncoded: false), model: model))
    }

    /// A replica with an engine; `wire` lies between it and the network.
    func device(
        _ name: String, _ wire: (any Transport) -> any Transport = { $0 }
    ) throws -> RealDevice {
        try RealDevice(
            name, at: path(name), model,
            .caldav(origin: client.origin, home: "/\(client.user)/"), between: wire)
    }

    func contents(_ collection: CollectionName) async throws -> [String: String] {
        var documents: [String: String] = [:]
        for (id, text) in try await texts(collection) { documents[id] = Self.document(id, text) }
        return documents
    }

    /// The items of a calendar as GET gives them, by id.
    func texts(_ collection: CollectionName) async throws -> [String: String] {
        let items = try await client.items(collection.rawValue)
        return Dictionary(uniqueKeysWithValues: items.map { (Self.id(of: $0), $1) })
    }

    /// The document of an item.
    static func document(_ id: String, _ text: String) -> String {
        var document = Array(#"{"id":"#.utf8)
        JSON.appendString(id, to: &document)
        document += Array(#","data":"#.utf8)
        JSON.appendString(text, to: &document)
        return String(decoding: document, as: UTF8.self) + "}"
    }

    private static func id(of name: String) -> String {
        name.hasSuffix(".ics") && !name.hasPrefix("=") ? String(name.dropLast(4)) : "=\(name)"
    }

    /// The summary of an item on the server, or nil when there is none.
    func summary(_ key: String) async throws -> String? {
        let key = try #require(EntityKey(key))
        let items = try await client.items(key.collection.rawValue)
        return items[key.id + ".ics"].flatMap { RadicaleItem.summary(of: $0) }
    }
}

extension RealDevice {
    /// Makes or replaces an item.
    func put(_ key: String, _ item: RadicaleItem) throws { try put(key, item.document) }

    /// Makes or replaces the usual item of a key.
    func write(_ key: String, _ summary: String) throws {
        try put(key, RadicaleItem(uid: key.replacing("/", with: "-"), summary: summary))
    }
}

extension RadicaleClient {
    /// Makes or replaces the usual item of a key.
    func write(_ key: String, _ summary: String) async throws {
        let item = RadicaleItem(uid: key.replacing("/", with: "-"), summary: summary)
        try await put(key + ".ics", item.text)
    }

    func remove(_ key: String) async throws { try await delete(key + ".ics") }
}
