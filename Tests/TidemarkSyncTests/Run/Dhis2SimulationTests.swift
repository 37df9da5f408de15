// Dhis2SimulationTests.swift — days of a clinic on two tablets, by chance from a seed.

import Foundation
import TestSupport
import Testing

@testable import SyncSupport

/// `TIDEMARK_DHIS2_SEEDS=100-400` runs those seeds instead of the few of every day.
@Suite(.serialized) struct `whatever happens with DHIS2` {
    private static let seeds = TestSeeds.named("TIDEMARK_DHIS2_SEEDS", else: 1...12)

    @Test(.enabled(if: TestRun.isWhole), arguments: seeds)
    func `tablets and server are equal in the end, and nothing is lost`(_ seed: UInt64)
        async throws
    {
        let world = try Dhis2World(seed: seed)
        do { try await world.run(steps: 20 + world.random.below(40)) } catch let failure
            as Dhis2Failure
        {
            Issue.record("\(failure)")
        }
    }
}
