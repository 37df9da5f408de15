// TogglSimulationTests.swift — days of Toggl on two devices, by chance from a seed.

import Foundation
import TestSupport
import Testing

@testable import SyncSupport

/// `TIDEMARK_TOGGL_SEEDS=100-400` runs those seeds instead of the few of every day.
@Suite(.serialized) struct `whatever happens with Toggl` {
    private static let seeds = TestSeeds.named("TIDEMARK_TOGGL_SEEDS", else: 1...8)

    @Test(.enabled(if: TestRun.isWhole), arguments: seeds)
    func `devices and server are equal in the end, and nothing is made twice`(_ seed: UInt64)
        async throws
    {
        let world = try TogglWorld(seed: seed)
        do { try await world.run(steps: 40 + world.random.below(80)) } catch let failure
            as TogglFailure
        {
            Issue.record("\(failure)")
        }
    }
}
