// ExplainReachTests.swift — why something is not seen: out of reach, or pruned.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport
@testable import ViewsSupport

@Suite(.serialized) struct `explanations of what is not seen` {
    private func with(
        _ body: (SyncWorld, SyncDevice, SyncBox<Set<String>>) async throws -> Void
    ) async throws {
        let world = SyncWorld.reach()
        for id in ["1", "2"] {
            world.rivalPuts("workspaces/\(id)", #"{"name":"w\#(id)"}"#)
            world.rivalPuts("projects/\(id)", #"{"workspace_id":"\#(id)"}"#)
            world.entry(id, in: id)
        }
        let lost = SyncBox<Set<String>>()
        lost.value = []
        try await SyncDevice.with(world, adapter: ReachAdapter(lost: lost)) { device in
            try await device.sync()
            try await body(world, device, lost)
        }
    }

    @Test func `name the list that did not name it, and what it belongs to`() async throws {
        try await with { _, device, lost async throws in
            try device.patch("entries/2", #"{"description":"mine"}"#)
            lost.value = ["2"]
            try await device.sync()

            let owner = try device.why("workspaces/2")
            #expect(owner.first == "workspaces/2: out of reach")
            #expect(owner.contains { $0.hasPrefix("  not in a list of everything: @") })
            let entry = try device.why("entries/2")
            #expect(entry.first == "entries/2: out of reach")
            #expect(entry.contains("  belongs to workspaces/2, which is out of reach"))
            #expect(entry.contains("  waits: out of reach: nothing is sent for it"))
            #expect(
                try device.waits() == [
                    "  out of reach: nothing is sent for it", "  never sent",
                    "  next: when that is settled",
                ])
            #expect(
                try device.history("entries/2").contains {
                    $0.contains("out of reach, as what it belongs to")
                })
            #expect(try device.blame("entries/2").contains { $0.hasPrefix("description edit @") })

            lost.value = []
            try await device.sync()
            let history = try device.history("workspaces/2")
            #expect(history.contains { $0.contains("  out of reach: not in a list") })
            #expect(try device.why("entries/2").first != "entries/2: out of reach")
        }
    }

    @Test func `name the owner with which it was out of reach when it was pruned`() async throws {
        try await with { _, device, lost async throws in
            lost.value = ["2"]
            try await device.sync()

            let owner = try device.why("workspaces/2")
            let decision = try #require(owner.first { $0.hasSuffix(" access/5: hidden") })
            let since = try #require(decision.split(separator: " ").first)
            let belonged = "belonged to workspaces/2, out of reach since \(since)"
            let entry = try device.why("entries/2")
            #expect(entry.first == "entries/2: pruned")
            #expect(entry.contains("  " + belonged))
            #expect(
                try device.history("entries/2").contains {
                    $0.contains("  pruned by access: " + belonged)
                })
            #expect(!owner.contains { $0.contains("belonged to") })
        }
    }

    @Test func `name the rule by which it was pruned`() async throws {
        try await with { world, device, _ async throws in
            world.entry("old", in: "1", daysAgo: 57)
            try await device.sync()

            let why = try device.why("entries/old")
            #expect(why.first == "entries/old: pruned")
            #expect(why.contains { $0.hasPrefix("  pruned by retention: @") })
            #expect(why.contains { $0.hasSuffix(" retention/5: pruned") })
            let history = try device.history("entries/old")
            #expect(history.contains { $0.contains("  pruned by retention") })
            #expect(try device.blame("entries/old") == [])
        }
    }
}
