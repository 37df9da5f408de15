// TidemarkPeer.swift — Tidemark doing the same work, through its public API where there is one.

import Foundation
import Tidemark
@_spi(Measuring) import TidemarkInspect
import TidemarkSync

final class TidemarkPeer: Sendable {
    static let collection: CollectionName = "time_entries"
    let replica: Replica

    /// Collections that come before the entries'.
    private let others: [CollectionName]

    init(_ directory: String, before count: Int = 0) throws {
        others = (0..<count).map { CollectionName("other\($0)") }
        let entries = CollectionModel(Self.collection, indexes: [["project_id"]])
        replica = try Replica.open(
            at: directory,
            model: SyncModel(
                name: "bench", collections: others.map { CollectionModel($0) } + [entries]))
    }

    func close() throws { try replica.close() }

    func appendOnly(_ payloads: [[UInt8]]) throws { try Measuring.append(payloads, to: replica) }

    func insert(_ items: ArraySlice<Item>) throws {
        try replica.write { tx in
            for item in items { try tx.create(EntityKey(Self.collection, item.id), item.document) }
        }
    }

    /// Inserts so many entities into each of the other collections.
    func insertOthers(_ count: Int) throws {
        try replica.write { tx in
            for name in others {
                for number in 0..<count {
                    try tx.create(EntityKey(name, "o\(number)"), Item(number).document)
                }
            }
        }
    }

    func insertOne(_ item: Item) async throws {
        try await replica.write { tx in
            _ = try tx.create(EntityKey(Self.collection, item.id), item.document)
        }
    }

    func update(_ ids: [String], version: Int) throws {
        let patch = Patch(set: [
            Patch.Field("description", Array(#""Changed to \#(version)""#.utf8))
        ])
        try replica.write { tx in
            for id in ids { try tx.patch(EntityKey(Self.collection, id), patch) }
        }
    }

    func get(_ id: String) throws -> TypedEntry? {
        try replica.read { try $0.get(TypedEntry.self, Tidemark.ID(id)) }
    }

    func all() throws -> [TypedEntry] { try replica.read { try $0.all(TypedEntry.self) } }

    func pull(_ items: [Item]) throws {
        try Measuring.pull(
            items.map { ($0.id, $0.document) }, of: Self.collection, into: replica)
    }
}

/// The same time entry as ``TimeEntry``, as an entity.
struct TypedEntry: Entity {
    static let collection = TidemarkPeer.collection
    let id: Tidemark.ID<TypedEntry>
    var workspace_id: Int
    var project_id: Int?
    var task_id: Int?
    var user_id: Int
    var description: String
    var start: String
    var stop: String?
    var duration: Int
    var billable: Bool
    var tags: [String]
    var created_with: String
    var at: String
    var server_deleted_at: String?
}
