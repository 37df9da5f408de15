// KintoWorld.swift — a bucket of its own on a real Kinto, replicas beside it.

import Foundation
import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkInspect
import TidemarkSync
import TidemarkViews

@testable import SyncSupport

/// One test's part of the server.
struct KintoWorld: RealWorld {
    let client: KintoClient
    let directory: String
    var model: SyncModel

    /// Makes a bucket with the collections `lists` and `tasks` that every user may write.
    static func run(
        _ model: SyncModel = .todo(), writers: String = "system.Authenticated",
        _ body: (KintoWorld) async throws -> Void
    ) async throws {
        let origin = try #require(KintoClient.url)
        let name = UUID().uuidString.lowercased()
        let client = KintoClient(origin: origin, bucket: "test-\(name)")
        try await client.send(.put, "", #"{"permissions":{"write":["\#(writers)"]}}"#)
        for collection in model.collections {
            try await client.send(.put, "/collections/\(collection.name)", "{}")
        }
        let directory = FileManager.default.temporaryDirectory.appending(path: "kinto-\(name)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = directory.path(percentEncoded: false)
        try await body(KintoWorld(client: client, directory: path, model: model))
    }

    /// A device; it talks to the server itself unless another address is given.
    func device(
        _ name: String, remote: Remote? = nil, rules: [ConflictRule] = []
    ) throws -> RealDevice {
        let direct = Remote.kinto(origin: client.origin, bucket: client.bucket)
        return try RealDevice(name, at: path(name), model, remote ?? direct, rules: rules)
    }

    func contents(_ collection: CollectionName) async throws -> [String: String] {
        try await client.records(collection)
    }
}

extension SyncModel {
    /// Lists, where the server wins, and tasks in them, where the replica wins.
    static func todo(pageSize: Int? = nil) -> SyncModel {
        SyncModel(
            name: "todo",
            collections: [
                CollectionModel(
                    "lists", lastChangeField: "last_modified", conflict: .serverWins,
                    pageSize: pageSize),
                CollectionModel(
                    "tasks", lastChangeField: "last_modified", conflict: .localWins,
                    references: [Reference("list", to: "lists")], pageSize: pageSize),
            ])
    }
}
