// TreeLeftTests.swift — what is pending of a tree, where the model is of a tree no longer.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

@Suite struct `what is pending of a tree` {
    private static func model(_ tree: CollectionModel.TreeRule?) -> SyncModel {
        SyncModel(
            name: "tree",
            collections: [
                CollectionModel(
                    "files", references: [Reference("parent", to: "files")], tree: tree)
            ])
    }

    @Test func `is sent once where the model has no tree any more`() async throws {
        let tree = CollectionModel.TreeRule(parent: "parent", name: "name", kind: "kind")
        let world = SyncWorld(model: Self.model(tree))
        try await SyncDevice.with(world) { device async throws in
            // The folder n is made so that m can be moved out of it, and is deleted.
            try device.put("files/n", #"{"kind":"folder","name":"n"}"#)
            try device.put("files/m", #"{"kind":"folder","name":"m","parent":"n"}"#)
            try device.put("files/f", #"{"kind":"file","name":"f","parent":"m"}"#)
            try device.put("files/m", #"{"kind":"folder","name":"m"}"#)
            try device.delete("files/n")
            let known = try #require(try device.replica.registration)
            try device.replica.register(
                ModelRegistration(model: Self.model(nil), remote: known.remote))

            let outcome = try await device.sync()

            #expect(outcome.failure == nil)
            #expect(world.record("files/m") == #"{"kind":"folder","name":"m"}"#)
            #expect(world.record("files/f") == #"{"kind":"file","name":"f","parent":"m"}"#)
            #expect(world.record("files/n") == nil)
            #expect(world.writes.filter { $0.contains("files/n ") }.count <= 2)
            try device.verify()
        }
    }
}
