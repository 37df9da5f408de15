// SendActionTests.swift — files of the user's that are named before an action of the server's.

import Foundation
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkInspect
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite struct `a file of the user's that is named before an action` {
    private let key = EntityKey("tasks", "1")

    /// A record that the server has, whose photo was edited before an action.
    private func world() async throws -> TransferWorld {
        let world = try TransferWorld(
            ContentRule("photo", upload: "/files/{sha256}"),
            change: { model in
                model.settings.batchSize = 1
                model.collections[0].actions = [ActionRule("archive")]
            })
        world.files.takeFiles(below: TransferWorld.origin + "/files")
        try await world.replica.write { tx in
            _ = try tx.create(key, Array(#"{"title":"a"}"#.utf8))
        }
        #expect(try await world.round() == [0, 1])
        try world.give("tea")
        try await world.replica.write { tx in _ = try tx.request("archive", of: key) }
        return world
    }

    @Test(
        "is sent, also where what comes behind the action has no use for it",
        arguments: [false, true])
    func replaced(_ isDeleted: Bool) async throws {
        let world = try await world()
        if isDeleted {
            try await world.replica.write { tx in _ = try tx.delete(key) }
        } else {
            try world.give("milk")
        }

        #expect(try await world.engine.transfer().sent == (isDeleted ? 1 : 2))
        try await world.rounds()

        // The server knows no such action, and what is behind that waits.
        #expect(world.world.record("tasks/1")?.contains("/files/") == true)
        #expect(try world.status() == .error)
        #expect(try world.explained().first?.entry.mutation.kind == .localRequested)
        try await world.expectSound()
    }
}
