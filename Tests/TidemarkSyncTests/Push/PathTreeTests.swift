// PathTreeTests.swift — devices and a plain client change the tree of a server in memory that knows
// only paths, by chance from a seed: in the end each device sees what the server has.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkHTTP
import TidemarkTesting

@testable import SyncSupport

/// `TIDEMARK_PATH_SEEDS=100-400` runs those seeds instead of the few of every day.
@Suite struct `a tree by paths that several change` {
    private static let seeds = TestSeeds.named("TIDEMARK_PATH_SEEDS", else: 1...12)

    @Test(arguments: seeds)
    func `is on each device as on the server, which tells ids`(_ seed: UInt64) async throws {
        try await run(seed, hasIDs: true)
    }

    @Test(arguments: seeds)
    func `is so without ids of the server's`(_ seed: UInt64) async throws {
        try await run(seed, hasIDs: false)
    }

    @Test(arguments: seeds)
    func `is so where requests fail and answers are lost`(_ seed: UInt64) async throws {
        try await run(seed, hasIDs: seed % 2 == 0, hasFaults: true)
    }

    @Test(arguments: seeds)
    func `is so where folders are left out by their versions`(_ seed: UInt64) async throws {
        try await run(seed, hasIDs: seed % 2 == 1, hasFaults: seed % 3 == 0, usesVersions: true)
    }

    private func run(
        _ seed: UInt64, hasIDs: Bool, hasFaults: Bool = false, usesVersions: Bool = false
    ) async throws {
        let clock = ManualClock()
        var options = WebDAVOptions()
        options.hasFileIDs = hasIDs
        options.folderVersions =
            usesVersions ? .allBelow : [.none, .ownMembers, .allBelow][Int(seed % 3)]
        let server = WebDAVServer(WebDAVServerModel(options), clock: clock)
        var setting = PathSetting(
            seed: seed, server: server,
            remote: .webdav(origin: "http://files.test", home: "/"), transport: server,
            tree: .init(
                parent: "parent", name: "name", kind: "kind", isByPath: true,
                serverID: hasIDs ? "fileId" : nil, folderVersionsMove: usesVersions),
            dependencies: { .seeded(seed * 10 + UInt64($0), clock: clock) },
            advance: { clock.advance(by: .seconds(7_200)) })
        setting.parallel = [1, 2, 5][Int(seed % 3)]
        setting.actions = [1, 3, 10][Int(seed / 3 % 3)]
        setting.listsFolders = seed % 2 == 0
        if hasFaults { setting.fail = { server.faults = $0 } }
        let world = try PathWorld(setting)
        try await world.run()
        try await world.end()
    }
}
