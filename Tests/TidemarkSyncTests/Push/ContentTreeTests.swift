// ContentTreeTests.swift — devices and a plain client change files on a server in memory that knows
// only paths, by chance from a seed: in the end each device has the bytes that the server has.

import Foundation
import TestSupport
import Testing

/// `TIDEMARK_PATH_SEEDS=100-400` runs those seeds instead of the few of every day.
@Suite struct `files by paths that several change` {
    private static let seeds = TestSeeds.named("TIDEMARK_PATH_SEEDS", else: 1...12)

    @Test(arguments: seeds)
    func `have the same bytes everywhere`(_ seed: UInt64) async throws {
        try await ContentWorld(
            seed: seed, hasIDs: seed % 2 == 0, hasFaults: false
        ).run()
    }

    @Test(arguments: seeds)
    func `have them where requests fail, answers are lost and uploads break off`(
        _ seed: UInt64
    ) async throws {
        try await ContentWorld(
            seed: seed, hasIDs: seed % 2 == 0, hasFaults: true
        ).run()
    }
}
