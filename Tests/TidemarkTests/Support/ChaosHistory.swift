// ChaosHistory.swift — every version that a record ever had, as the server's history has it.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkSync

/// One write that took effect.
struct ChaosVersion: Sendable {
    var key: EntityKey
    var user: String
    var revision: String
    var isDeletion: Bool
    var document: JSONDocument
    /// The record's version before; nil when there was none, or it was deleted.
    var before: String?

    /// Fields that only the server sets.
    static let serverFields: Set<String> = ["id", "last_modified", "deleted", "schema"]

    /// Whether the record has these fields, and no others.
    func isMade(of sent: JSONDocument) -> Bool {
        let difference = Patch(from: sent, to: document, except: Self.serverFields)
        return difference.isEmpty
    }
}

/// The history of one bucket, read step by step.
struct ChaosHistory: Sendable {
    private let client: KintoClient
    /// The users' ids in the history, by name.
    private var names: [String: String] = [:]
    private(set) var versions: [EntityKey: [ChaosVersion]] = [:]
    private var last: Int64 = 0
    /// Collections that were dropped: with them went all records, and what was known of them.
    private var droppedOnce: Set<CollectionName> = []
    /// The records that were not made anew since.
    private var dropped: Set<EntityKey> = []

    init(_ client: KintoClient, users: [String]) async throws {
        self.client = client
        for name in users {
            var user = client
            user.user = name
            let root = try JSONValue(parsing: try await user.sendToRoot())
            names[try #require(root["user"]?["id"]?.stringValue)] = name
        }
    }

    /// Reads what is new; in order.
    mutating func read() async throws -> [ChaosVersion] {
        let body = try await client.send(.get, "/history?_sort=last_modified&_since=\(last)")
        let entries = try #require(try JSONValue(parsing: body)["data"]?.array)
        var versions: [ChaosVersion] = []
        for entry in entries {
            last = try #require(entry["last_modified"]?.int64Value)
            switch entry["resource_name"]?.stringValue {
            case "record": versions.append(note(try version(entry)))
            case "collection" where entry["action"] == "delete":
                noteDrop(CollectionName(entry["collection_id"]?.stringValue ?? ""))
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

    private mutating func noteDrop(_ collection: CollectionName) {
        droppedOnce.insert(collection)
        for key in versions.keys where key.collection == collection { dropped.insert(key) }
    }

    private mutating func note(_ version: ChaosVersion) -> ChaosVersion {
        var version = version
        let isAnew = dropped.remove(version.key) != nil
        if !isAnew, let before = versions[version.key]?.last, !before.isDeletion {
            version.before = before.revision
        }
        versions[version.key, default: []].append(version)
        return version
    }

    func version(_ key: EntityKey, _ revision: Revision) -> ChaosVersion? {
        versions[key]?.last { $0.revision == revision.description }
    }

    /// Whether the server ever deleted it, or dropped its collection.
    func wasDeleted(_ key: EntityKey) -> Bool {
        droppedOnce.contains(key.collection)
            || versions[key]?.contains(where: \.isDeletion) ?? false
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
