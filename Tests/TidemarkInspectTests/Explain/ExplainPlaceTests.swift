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

    /// A device with two folders, and a file in one of them.
    private func with(
        _ faults: [FaultRule] = [], _ body: (SyncDevice) async throws -> Void
    ) async throws {
        let world = SyncWorld(model: SyncWorld.treeModel, faults)
        world.rivalPuts("files/P", #"{"kind":"folder","name":"P"}"#)
        world.rivalPuts("files/a", #"{"kind":"file","name":"a","parent":"P"}"#)
        world.rivalPuts("files/other", #"{"kind":"file","name":"other"}"#)
        world.rivalPuts("files/Q", #"{"kind":"folder","name":"Q"}"#)
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

    @Test func `name the deleted folder in which one lies, and what hid it and showed it again`()
        async throws
    {
        try await with { device in
            try device.delete("files/P")
            let deleted = try #require(try device.events(of: "files/P").last).position
            #expect(try device.why("files/a").first == "files/a: not seen")
            #expect(try device.why("files/a").contains("  lies in files/P, deleted by \(deleted)"))

            try device.discard("files/P")
            let discarded = try #require(try device.events(of: "files/P").last).position
            #expect(try device.why("files/a").first == "files/a: synced")
            let history = try device.history("files/a")
            #expect(
                history.contains {
                    $0.hasPrefix("\(deleted) ")
                        && $0.contains("not seen, as what it lies in (files/P)")
                })
            #expect(
                history.contains {
                    $0.hasPrefix("\(discarded) ")
                        && $0.contains("seen again, as what it lies in (files/P)")
                })
        }
    }

    @Test func `tell of a folder in which it lay only through others, and lies no more`()
        async throws
    {
        try await with { device in
            try device.patch("files/P", #"{"parent":"Q"}"#)
            try device.delete("files/Q")
            let deleted = try #require(try device.events(of: "files/Q").last).position
            #expect(try device.why("files/a").contains("  lies in files/Q, deleted by \(deleted)"))
            try device.discard("files/Q")
            try device.patch("files/P", #"{"parent":null}"#)

            #expect(
                try device.history("files/a").contains {
                    $0.hasPrefix("\(deleted) ")
                        && $0.contains("not seen, as what it lies in (files/Q)")
                })
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
