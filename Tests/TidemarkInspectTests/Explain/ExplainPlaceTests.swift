// ExplainPlaceTests.swift — what a change of a tree waits for: what was done before in its place.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite(.serialized) struct `explanations of what waits in a tree` {
    /// What is said of each that was not sent yet.
    private static let usual = [
        "  never sent", "  next: with the next run, which may begin at once",
    ]

    /// A device with a folder, and a file in it.
    private func with(
        _ faults: [FaultRule] = [], _ body: (SyncDevice) async throws -> Void
    ) async throws {
        let world = SyncWorld(model: SyncWorld.treeModel, faults)
        world.rivalPuts("files/P", #"{"kind":"folder","name":"P"}"#)
        world.rivalPuts("files/a", #"{"kind":"file","name":"a","parent":"P"}"#)
        world.rivalPuts("files/other", #"{"kind":"file","name":"other"}"#)
        try await SyncDevice.with(world) { device in
            try await device.sync()
            try await body(device)
        }
    }

    @Test func `name the change that goes first, and none where nothing is in the way`()
        async throws
    {
        try await with { device in
            try device.patch("files/a", #"{"parent":null}"#)
            try device.delete("files/P")
            try device.patch("files/other", #"{"name":"free"}"#)

            let moved = try #require(
                try device.entries().first { $0.mutation.key.id == "a" }
            ).position
            let holds = try device.waits().filter { !Self.usual.contains($0) }
            #expect(
                holds == [
                    "  comes after what was done before in the same place, to files/a (\(moved))"
                ])
            try await device.sync()
            #expect(try device.waits() == [])
        }
    }

    @Test func `name the refusal that holds it, until that is discarded`() async throws {
        let refused = FaultRule(.answer(status: 403)) { $0 == "a" }
        try await with([refused]) { device in
            try device.patch("files/a", #"{"parent":null}"#)
            try device.delete("files/P")
            try await device.sync()

            #expect(
                try device.waits().contains {
                    $0.hasPrefix(
                        "  comes after what was done before in the same place, to files/a: ")
                        && $0.contains("403")
                })
            #expect(try device.waits().contains("  next: when that is settled"))

            // Else the file would go with its folder.
            try device.discard("files/P")
            try device.discard("files/a")
            #expect(try !device.waits().contains { $0.contains("in the same place") })
        }
    }
}
