// ChaosKinto.swift — a chaos run on Kinto: what others do there, and its history of all versions.

import HTTPTypes
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync

@testable import SyncSupport

/// A bucket of the plain client's.
///
/// Everybody may read it, make records, and write those that their makers let everybody write: the
/// replicas' transports do so with all but one.
struct ChaosKinto: ChaosServer {
    let world: KintoWorld
    let form = ChaosEdit.Form.fields
    private(set) var history = ChaosHistory()
    /// The users' ids in the history, by name.
    private var names: [String: String] = [:]
    private var last: Int64 = 0
    private var closed: String?
    private static let everybody = #"["system.Authenticated"]"#

    init(_ world: KintoWorld, users: [String]) async throws {
        self.world = world
        for name in users + [world.client.user] {
            var user = world.client
            user.user = name
            let root = try JSONValue(parsing: try await user.sendToRoot())
            names[try #require(root["user"]?["id"]?.stringValue)] = name
        }
        try await world.client.send(
            .patch, "", #"{"permissions":{"read":\#(Self.everybody)}}"#)
        for collection in world.model.collections { try await make(collection.name) }
        for name in users { try await world.device(name).replica.close() }
    }

    // MARK: What others do

    func edit(_ edit: ChaosEdit) async throws {
        switch edit.action {
        case .put: try await put(edit.key, edit.json)
        case .patch:
            if try await !world.client.patchIfThere(edit.key, #"{"data":\#(edit.json)}"#) {
                try await put(edit.key, edit.json)
            }
        case .delete: try await world.client.deleteIfThere(edit.key)
        }
    }

    /// Makes a collection.
    private func make(_ collection: CollectionName) async throws {
        try await world.client.send(
            .put, "/collections/\(collection)",
            #"{"permissions":{"record:create":\#(Self.everybody)}}"#)
    }

    /// Makes or replaces a record, which everybody may write where it is new.
    private func put(_ key: String, _ json: String) async throws {
        let isClosed = key == ChaosEdit.closed || closed == key
        let writers = isClosed ? "[]" : Self.everybody
        try await world.client.send(
            .put, KintoClient.path(key),
            #"{"data":\#(json),"permissions":{"write":\#(writers)}}"#)
    }

    mutating func close(_ record: String) async throws {
        for key in [ChaosEdit.closed, record] { try await permit(key, "[]") }
        closed = record
    }

    mutating func open() async throws {
        for key in [ChaosEdit.closed, closed].compactMap(\.self) {
            try await permit(key, Self.everybody)
        }
        closed = nil
    }

    private func permit(_ key: String, _ writers: String) async throws {
        _ = try await world.client.patchIfThere(key, #"{"permissions":{"write":\#(writers)}}"#)
    }

    /// No list of changes tells, and no tombstone is left.
    func restore(
        _ collection: CollectionName, without isLost: () -> Bool
    ) async throws {
        let records = try await world.client.records(collection).sorted { $0.key < $1.key }
        try await world.client.send(.delete, "/collections/\(collection)")
        try await make(collection)
        for (id, json) in records where !isLost() {
            let document = try JSONDocument(parsing: Array(json.utf8))
            let data = document.applying(set: [], unset: ["id", "last_modified"])
            try await put("\(collection)/\(id)", String(decoding: data, as: UTF8.self))
        }
    }

    // MARK: What is there

    func documents() async throws -> [EntityKey: String] {
        var documents: [EntityKey: String] = [:]
        for collection in world.model.collections.map(\.name) {
            for (id, json) in try await world.client.records(collection) {
                documents[EntityKey(collection, id)] = json
            }
        }
        return documents
    }

    mutating func readHistory() async throws -> [ChaosVersion] {
        let path = "/history?_sort=last_modified&_since=\(last)"
        let body = try await world.client.send(.get, path)
        let entries = try #require(try JSONValue(parsing: body)["data"]?.array)
        var versions: [ChaosVersion] = []
        for entry in entries {
            last = try #require(entry["last_modified"]?.int64Value)
            switch entry["resource_name"]?.stringValue {
            case "record": versions.append(history.note(try version(entry)))
            case "collection" where entry["action"] == "delete":
                history.noteDrop(CollectionName(entry["collection_id"]?.stringValue ?? ""))
            default: break
            }
        }
        return versions
    }

    private func version(_ entry: JSONValue) throws -> ChaosVersion {
        let target = try #require(entry["target"]?["data"])
        return ChaosVersion(
            key: EntityKey(
                CollectionName(try #require(entry["collection_id"]?.stringValue)),
                try #require(target["id"]?.stringValue)),
            user: names[entry["user_id"]?.stringValue ?? ""] ?? "?",
            revision: "\(try #require(target["last_modified"]?.int64Value))",
            isDeletion: entry["action"] == "delete",
            document: try JSONDocument(parsing: target.encoded()), before: nil)
    }
}

extension KintoClient {
    /// What the server says of itself and of this user.
    func sendToRoot() async throws -> [UInt8] { try await answer(.get, root: "/").body }

    /// Whether it keeps every version of every record.
    var keepsHistory: Bool {
        get async throws {
            try JSONValue(parsing: try await sendToRoot())["capabilities"]?["history"] != nil
        }
    }
}
