// StatusBroadcastTests.swift — what listeners of an engine's status hear of each other.

import Testing
import TidemarkSync
import TidemarkViews

@testable import SyncSupport
@testable import Tidemark

@Suite struct `listeners of a status` {
    @Test func `all hear of newer counts that one of them reads when it begins`() async throws {
        let world = SyncWorld()
        try await SyncDevice.with(world) { device async throws in
            var broadcast: StatusBroadcast? = StatusBroadcast()
            let journal = device.replica.journal
            let before = try journal.read { try CountedOutbox($0) }
            let first = broadcast?.subscribe(nil)
            try device.put("tasks/t1", "{}")
            let second = broadcast?.subscribe(try journal.read { try CountedOutbox($0) })
            // What was counted before is told by nobody who comes later.
            broadcast?.send(before) { $0.lastOutcome = SyncOutcome() }
            // Streams end with it.
            broadcast = nil

            var (heard, heardLater): ([Int], [Int]) = ([], [])
            for await status in try #require(first) { heard.append(status.pending) }
            for await status in try #require(second) { heardLater.append(status.pending) }
            #expect(heard == [0, 1, 1])
            #expect(heardLater == [1, 1])
        }
    }
}
