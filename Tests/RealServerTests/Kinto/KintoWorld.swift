// KintoWorld.swift — a bucket of its own on a real Kinto, replicas beside it, and what must hold of
// all of them when everything is synced.

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
struct KintoWorld: Sendable {
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

    func path(_ name: String) -> String { "\(directory)/\(name)" }

    /// A device; it talks to the server itself unless another address is given.
    func device(
        _ name: String, remote: Remote? = nil, rules: [ConflictRule] = []
    ) throws -> RealDevice {
        let direct = Remote.kinto(origin: client.origin, bucket: client.bucket)
        return try RealDevice(name, at: path(name), model, remote ?? direct, rules: rules)
    }

    // MARK: What must hold

    /// Syncs in turn until nobody has anything new.
    func settle(_ devices: RealDevice..., note: String = "") async throws {
        var outcomes: [SyncOutcome] = []
        for _ in 0..<8 {
            outcomes = []
            for device in devices { outcomes.append(try await device.sync()) }
            if outcomes.allSatisfy({ $0.isSynced && !$0.counts.hasNews }) { return }
        }
        Issue.record("the replicas do not come to rest: \(outcomes) \(note)")
    }

    /// Every replica holds the server's records byte for byte, its outbox is empty, and its store
    /// is whole.
    func expectEqual(_ devices: RealDevice..., note: String = "") async throws {
        for collection in model.collections.map(\.name) {
            let records = try await client.records(collection)
            for device in devices {
                let documents = try device.documents(collection)
                for id in Set(records.keys).union(documents.keys).sorted() {
                    #expect(
                        documents[id] == records[id], "\(device.name) \(collection)/\(id) \(note)")
                }
            }
        }
        for device in devices {
            #expect(try device.entries().map(\.mutation.key) == [], "\(device.name) \(note)")
            try expectWhole(device, note: note)
        }
    }

    /// The log is what was written, the views are what it says, and every mutation that left the
    /// outbox has one outcome and an event that proves it.
    func expectWhole(_ device: RealDevice, note: String = "") throws {
        #expect(try device.replica.journal.verify(.deep).findings == [], "\(device.name) \(note)")
        try device.replica.read { store in
            for entry in try store.views.outbox(all: true) {
                let what = "\(device.name) \(entry.position) \(entry.mutation) \(note)"
                guard let outcome = entry.mutation.outcome else { continue }
                let proof = try #require(entry.mutation.proof, "\(what)")
                #expect(try store.views.event(at: proof) != nil, "\(what)")
                #expect(entry.position <= proof, "\(what)")
                // A deletion that is found to have arrived is proved by what is not there any more.
                if outcome == .accepted, entry.mutation.kind != .localDeleted {
                    #expect(entry.mutation.revision != nil, "\(what)")
                }
            }
        }
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
