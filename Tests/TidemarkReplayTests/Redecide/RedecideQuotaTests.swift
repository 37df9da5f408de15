// RedecideQuotaTests.swift — runs with quotas, lists that are not due and answers about several
// lists, decided once more: nothing differs.

import Testing
import Tidemark
import TidemarkCapsule
import TidemarkHTTP
import TidemarkReplay
import TidemarkSync
import TidemarkTesting

@testable import CapsuleSupport
@testable import SyncSupport

@Suite(.serialized) struct `runs with quotas decided once more` {
    @Test func `are the same`() async throws {
        try await QuotaDevice.with { device, server, clock async throws in
            _ = try await device.engine.sync()
            clock.advance(by: .seconds(900))
            server.put(
                "tags", #"[{"id":4,"workspace_id":7,"name":"tea","at":"2026-11-10T00:00:00Z"}]"#)
            _ = try await device.engine.sync(.timer)
            server.limit("7", to: 1)
            for number in 1...3 { try device.putEntry("e\(number)") }
            _ = try await device.engine.sync(.timer)
            server.limit("user", to: 0)
            clock.advance(by: .seconds(3600))
            _ = try await device.engine.sync(.timer)

            let report = try await decided(
                try await capsule(of: device.replica.journal), adapter: TogglAdapter())

            if let found = report.divergence { Issue.record("\(found.text)") }
            #expect(report.notDecided.map(\.why) == [])
            #expect(report.runs >= 4 && report.answers > 10)
        }
    }
}
