// RedecideParallelTests.swift — days of a tree by paths in which folders are listed and changes are
// sent at the same time, and answers come in any order: decided once more nothing differs.

import TestSupport
import Testing
import Tidemark
import TidemarkHTTP
import TidemarkTesting

@testable import SyncSupport

@Suite struct `a day of several requests at once` {
    /// How many runs of a day were decided again.
    private func decide(_ seed: UInt64, parallel: Int, actions: Int) async throws -> Int {
        let clock = ManualClock()
        var options = WebDAVOptions()
        options.hasFileIDs = true
        let server = WebDAVServer(WebDAVServerModel(options), clock: clock)
        var setting = PathSetting(
            seed: seed, server: server, remote: .webdav(origin: "http://files.test", home: "/"),
            transport: server,
            tree: .init(
                parent: "parent", name: "name", kind: "kind", isByPath: true, serverID: "fileId"),
            dependencies: { .seeded(seed * 10 + UInt64($0), clock: clock) },
            advance: { clock.advance(by: .seconds(7_200)) })
        setting.fail = { server.faults = $0 }
        (setting.parallel, setting.actions) = (parallel, actions)
        let world = try PathWorld(setting)
        try await world.run()
        var runs = 0
        for device in world.devices {
            let journal = device.replica.journal
            let report = try await decided(
                try await capsule(of: journal), adapter: try #require(try adapter(of: journal)))
            if let found = report.divergence { Issue.record("seed \(seed): \(found.text)") }
            runs += report.runs
        }
        try await world.end()
        return runs
    }

    @Test(arguments: TestSeeds.named("TIDEMARK_PATH_SEEDS", else: 1...8))
    func `is the same`(_ seed: UInt64) async throws {
        #expect(try await decide(seed, parallel: 4, actions: 5) > 1)
    }
}
