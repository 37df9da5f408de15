// KeyedListModelTests.swift — the rule about keyed lists comes, goes and changes, with edits that
// are pending.

import Foundation
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

private let key = EntityKey("surveys", "s")

private func model(
    _ lists: [KeyedList], conflict: ConflictPolicy = .serverWins,
    migrations: [FieldMigration] = []
) -> SyncModel {
    SyncModel(
        name: "surveys",
        collections: [
            CollectionModel(
                "surveys", lastChangeField: "last_modified", conflict: conflict,
                migrations: migrations, keyed: lists)
        ], settings: SyncSettings(batchSize: 1))
}

private let answers = [KeyedList("answers", by: "question")]

extension SyncDevice {
    /// Opens the store again with another model, for the time of `body`.
    fileprivate func reopened(
        with model: SyncModel, _ body: (SyncDevice) async throws -> Void
    ) async throws {
        try await replica.close()
        let device = try SyncDevice(
            of: world, over: SyncWire(world.server), model: model, at: replica.directory,
            dependencies: .seeded(9, clock: world.clock))
        try await body(device)
        await device.engine.stop()
        try device.verify()
        try await device.replica.close()
    }

    fileprivate var text: String {
        get throws { try document("surveys/s") ?? "none" }
    }
}

@Suite(.serialized) struct `a rule about keyed lists` {
    private func withDevice(
        _ lists: [KeyedList], conflict: ConflictPolicy = .serverWins,
        _ body: (SyncWorld, SyncDevice) async throws -> Void
    ) async throws {
        let world = SyncWorld(model: model(lists, conflict: conflict))
        world.rivalPuts(
            "surveys/s",
            #"{"answers":[{"question":"a","by":"x","n":1},{"question":"b","by":"y","n":1}]}"#)
        let device = try SyncDevice.make(world)
        try await device.sync()
        try await body(world, device)
        try FileManager.default.removeItem(atPath: device.replica.directory)
    }

    private func edit(_ device: SyncDevice) throws {
        try device.replica.write { tx in
            _ = try tx.patch(
                key,
                Patch(set: [
                    Patch.Field(
                        "/answers/a", Array(#"{"question":"a","by":"x","n":2}"#.utf8))
                ]))
            _ = try tx.patch(key, Patch(unset: ["/answers/b"]))
        }
    }

    @Test(arguments: [[], [KeyedList("answers", by: "by")]])
    func `that goes or changes makes edits of elements those of the whole list`(
        _ lists: [KeyedList]
    ) async throws {
        try await withDevice(answers) { world, device in
            try edit(device)
            try await device.reopened(with: model(lists)) { device async throws in
                #expect(try device.text == #"{"answers":[{"question":"a","by":"x","n":2}]}"#)
                let fields = try device.entries().map(\.mutation.fields)
                #expect(fields == [["answers"], ["answers"]])
                world.rivalPuts(
                    "surveys/s",
                    #"{"answers":[{"question":"a","by":"x","n":1},{"question":"b","by":"z"}]}"#)
                world.clock.advance(by: .seconds(60))
                try await device.sync()

                #expect(try device.decisions() == ["surveys/s serverWins answers"])
                #expect(try device.text == world.record("surveys/s"))
            }
        }
    }

    @Test func `that goes takes the way back from an issue about an element, and says so`()
        async throws
    {
        try await withDevice(answers) { world, device in
            try edit(device)
            world.rivalPuts(
                "surveys/s",
                #"{"answers":[{"question":"a","by":"x","n":5},{"question":"b","by":"y","n":5}]}"#)
            try await device.sync()
            let issue = try #require(try device.replica.issues().first)
            #expect(issue.fields == ["/answers/a"])
            try await device.reopened(with: model([])) { device async throws in
                let error = #expect(throws: TidemarkError.self) {
                    try device.replica.answer(issue.id, .keepMine)
                }
                #expect(error.map { "\($0)" }?.contains("/answers/a") ?? false)
                #expect(try device.replica.issues().contains { $0.id == issue.id })
                try await device.replica.answer(issue.id, .keepTheirs)
                #expect(try !device.replica.issues().contains { $0.id == issue.id })
            }
        }
    }

    @Test func `that comes leaves an edit of the whole list one`() async throws {
        try await withDevice([]) { world, device in
            try device.patch("surveys/s", #"{"answers":[{"question":"a","by":"x","n":2}]}"#)
            try await device.reopened(with: model(answers)) { device async throws in
                world.rivalPuts(
                    "surveys/s", #"{"answers":[{"question":"a","by":"x","n":1}]}"#)
                world.clock.advance(by: .seconds(60))
                try await device.sync()

                #expect(try device.decisions() == ["surveys/s serverWins answers"])
            }
        }
    }

    @Test func `goes on with a list that is renamed`() async throws {
        try await withDevice(answers) { world, device in
            try edit(device)
            let newer = model(
                [KeyedList("replies", by: "question")],
                migrations: [.rename("answers", to: "replies")])
            try await device.reopened(with: newer) { device async throws in
                #expect(try device.text == #"{"replies":[{"question":"a","by":"x","n":2}]}"#)
                world.rivalPuts(
                    "surveys/s",
                    #"{"replies":[{"question":"a","by":"x","n":1},{"question":"b","by":"y","n":1},"#
                        + #"{"question":"c"}]}"#)
                world.clock.advance(by: .seconds(60))
                try await device.sync()

                #expect(try device.decisions() == [])
                #expect(
                    world.record("surveys/s")
                        == #"{"replies":[{"question":"a","by":"x","n":2},{"question":"c"}]}"#)
            }
        }
    }
}
