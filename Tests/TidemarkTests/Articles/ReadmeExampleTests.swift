// ReadmeExampleTests.swift — the test that the README shows.

import Testing
import Tidemark
import TidemarkHTTP
import TidemarkTesting

@testable import SyncSupport

private struct Todo: Entity {
    static let collection: CollectionName = "tasks"
    let id: Tidemark.ID<Todo>
    var title: String
    var done: Bool?
}

private let model = SyncModel(name: "todo", collections: [CollectionModel("tasks")])

@Test func `an edit made offline arrives when the network is back`() async throws {
    let server = KintoServer(bucket: "todo", model: model)  // shaped like Kinto, no sockets
    try await Replica.withTemporary(model: model) { replica in
        let remote = Remote.kinto(origin: "http://test", bucket: "todo")
        let engine = try SyncEngine(replica, remote: remote, transport: server) {
            .basic(user: "me", password: "pw")
        }
        server.faults = .offline
        try await replica.write { tx in try tx.create(Todo(id: "t1", title: "Buy tea")) }
        let first = try await engine.sync()
        #expect(first.pending == 1)

        server.faults = FaultPlan()
        let second = try await engine.sync()
        #expect(second.isSynced)
        #expect(server.record("tasks/t1") == #"{"title":"Buy tea"}"#)
    }
}
