// ClinicDemoTests.swift — the story of the clinic, told by the tool, and what other verbs say of
// its store: reserved values, what went another way, and a wipe.

import TestSupport
import Testing
import Tidemark
import TidemarkEvents

@testable import SyncSupport

@Suite(.enabled(if: SyncTool.isThere, SyncTool.missing)) struct `the clinic of the demo` {
    @Test func `shows a day offline, a refusal, and a glass that is broken twice`() async throws {
        let folder = try SyncFolder()
        defer { folder.delete() }

        let demo = try await SyncTool.run("demo", "--story", "clinic", "--store", folder / "demo")

        #expect(demo.code == 0 && demo.err == "", "\(demo.err)")
        // The folder of a test has a long name.
        let lines = demo.lines.filter { !$0.hasPrefix("   cd ") }
        #expect(lines.allSatisfy { $0.count <= 80 && !$0.hasSuffix(" ") })
        #expect(lines.contains { $0.contains("reserved.taken HILL-001 of numbers") })
        #expect(lines.contains { $0.contains("enrollments/care-neema: error") })
        #expect(lines.contains { $0.contains("E1020") })
        #expect(lines.contains { $0.contains("trackedEntities/zuri remedy/1: requested") })
        #expect(lines.contains { $0.contains("events/visit-zuri: synced") })
        #expect(lines.contains("   server  has neema, number HILL-001"))

        let store = folder / "demo/tablet"
        try await tellsOfValues(store)
        try await wipes(store)
        try await tellsOfRelays(store)
        let verified = try await SyncTool.run("verify", store)
        #expect(verified.code == 0 && verified.out.hasPrefix("fine: "))
    }

    /// What is left of a pool, and which value an entity holds.
    private func tellsOfValues(_ store: String) async throws {
        let status = try await SyncTool.run("status", store)
        let pool = status.lines.first { $0.hasPrefix("pool ") }
        #expect(pool?.hasPrefix("pool      numbers of number: 8 left, the next until 20") == true)
        #expect(status.lines.allSatisfy { $0.count <= 80 })
        let json = try await SyncTool.run("status", store, "-o", "json")
        let pools = try JSONValue(parsing: Array(json.out.utf8))["pools"]?.array
        #expect(pools?.first?["left"] == 8 && pools?.first?["key"] == ["number"])

        let why = try await SyncTool.run("why", store, "trackedEntities/juma")
        let taken = "  /attributes/number holds HILL-000, taken from numbers of number at @"
        #expect(why.lines.contains { $0.hasPrefix(taken) }, "\(why.out)")
        let other = try await SyncTool.run("why", store, "trackedEntities/amina")
        #expect(other.code == 0 && !other.out.contains("taken from"))
        let field = try await SyncTool.run("why", store, "trackedEntities/juma.orgUnit")
        #expect(field.code == 0 && !field.out.contains("taken from"))
    }

    /// What waits is not dropped unasked; what is kept stays.
    private func wipes(_ store: String) async throws {
        _ = try await SyncTool.run("patch", store, "trackedEntities/juma", #"{"inactive":true}"#)
        let refused = try await SyncTool.run("wipe", store)
        #expect(refused.code == 2 && refused.err.contains("with --discard-pending"))
        let unknown = try await SyncTool.run("wipe", store, "--keep", "none")
        #expect(unknown.code == 2 && unknown.err.contains("no collection none"))

        let wiped = try await SyncTool.run(
            "wipe", store, "--keep", "programs", "--keep", "programStages", "--discard-pending")
        #expect(wiped.code == 0 && wiped.out.hasSuffix(" wiped, but for programStages, programs\n"))
        let left = try await SyncTool.run("list", store)
        #expect(
            Set(left.lines.map { $0.prefix { $0 != "/" } }) == ["programs", "programStages"])
        let history = try await SyncTool.run("history", store, "trackedEntities/juma")
        #expect(history.code == 0 && history.lines.count > 3)
    }

    /// What went another way is said beside what waits.
    private func tellsOfRelays(_ store: String) async throws {
        _ = try await SyncTool.run(
            "put", store, "trackedEntities/imani", #"{"trackedEntityType":"person"}"#)
        let replica = try await Replica.open(existing: store)
        _ = try await replica.markRelayed(EntityKey("trackedEntities", "imani"), via: "sms")
        try await replica.close()

        let outbox = try await SyncTool.run("outbox", store, "--explain")
        #expect(outbox.lines.contains { $0.hasPrefix("  sent by sms (@") }, "\(outbox.out)")
        let json = try await SyncTool.run("outbox", store, "--explain", "-o", "json")
        let entry = try JSONValue(parsing: Array(json.out.utf8))
        #expect(entry["relayed"]?["via"] == "sms" && entry["relayed"]?["confirmed"] == false)
    }
}
