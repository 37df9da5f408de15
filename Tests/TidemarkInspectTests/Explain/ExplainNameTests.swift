// ExplainNameTests.swift — which entity a name with dots is of, also where it has no row any more.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkViews

@testable import SyncSupport

@Suite(.serialized) struct `names of what has no row` {
    private func withGone(_ body: (SyncDevice) throws -> Void) async throws {
        try await SyncDevice.with(SyncWorld()) { device in
            try device.put("tasks/report", #"{"title":"All"}"#)
            try device.put("tasks/report.2026", #"{"title":"One"}"#)
            try device.delete("tasks/report.2026")
            try body(device)
        }
    }

    @Test func `lead to it, and not to another whose id begins alike`() async throws {
        try await withGone { device throws in
            #expect(try device.history("tasks/report.2026").first?.hasPrefix("@4 ") == true)
            #expect(try device.history("tasks/report").first?.hasPrefix("@3 ") == true)
            #expect(try device.history("tasks/report.2027") == [])
        }
    }

    @Test func `lead to a field of it`() async throws {
        try await withGone { device throws in
            let gone = try device.history("tasks/report.2026")
            let live = try device.history("tasks/report.title")

            #expect(gone.contains { $0.contains(#""One" → nothing"#) })
            #expect(try device.history("tasks/report.2026.title") == gone)
            #expect(try device.history("tasks/report.2026.n") == [])
            #expect(live.first?.hasPrefix("@3 ") == true && live.count == 2)
        }
    }

    @Test func `lead nowhere where only later events tell of it`() async throws {
        try await withGone { device throws in
            let journal = device.replica.journal
            let named = EntityKey("tasks", "report.2026")
            try ScratchDirectory.withLazily { folder in
                let then = try journal.read(asOf: Position(3), in: folder) { views in
                    try EntityTarget(reading: named, views, journal)
                }
                #expect(then.key.id == "report" && then.field == FieldPath("2026"))
            }
        }
    }
}
