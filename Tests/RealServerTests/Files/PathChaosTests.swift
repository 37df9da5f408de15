// PathChaosTests.swift — two devices and a plain client on real servers of files: they make,
// rename, move and delete, by chance from a seed, and in the end all of them have the same tree.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkHTTP

@testable import SyncSupport

/// `TIDEMARK_PATH_EPISODES=1-200` runs those seeds instead of the few of every day.
enum PathChaos {
    static let wsgidav = ProcessInfo.processInfo.environment["TIDEMARK_WSGIDAV"]
    static let davsvn = ProcessInfo.processInfo.environment["TIDEMARK_DAVSVN"]
    static let rclone = ProcessInfo.processInfo.environment["TIDEMARK_RCLONEDAV"]

    /// The usual tree.
    static let tree = CollectionModel.TreeRule(
        parent: "parent", name: "name", kind: "kind", isByPath: true)

    static let seeds = TestSeeds.named("TIDEMARK_PATH_EPISODES", else: 1...5)

    /// Devices that go over the network, with clocks of their own.
    static func setting(
        _ seed: UInt64, _ server: RealPathServer, _ tree: CollectionModel.TreeRule
    ) -> PathSetting {
        let transport = FaultyTransport()
        let runs = SyncCounter()
        var setting = PathSetting(
            seed: seed, server: server,
            remote: .webdav(origin: server.origin, home: server.home + "/"),
            transport: transport, tree: tree,
            dependencies: { .counting("device-\($0)") { 3 * runs.value } },
            advance: { _ = runs.count() })
        setting.parallel = [1, 2, 5][Int(seed % 3)]
        setting.actions = [1, 3, 10][Int(seed / 3 % 3)]
        guard setting.hasContents else { return setting }
        setting.conflict = [.serverWins, .keepBoth, .ask, .localWins][Int(seed % 4)]
        setting.exchanges = { transport.exchanges }
        if seed % 3 != 0 { setting.fail = { transport.fail($0) } }
        return setting
    }

    /// An episode in a folder of its own, and what happened in it.
    @discardableResult
    static func run(_ seed: UInt64, at address: String, _ tree: CollectionModel.TreeRule)
        async throws -> PathTally
    {
        let name = "episode-\(seed)-\(UUID().uuidString.lowercased())"
        let server = RealPathServer(
            address: "\(address)/\(name)", takesNotes: address != rclone)
        try await server.make()
        let world = try PathWorld(setting(seed, server, tree))
        let tally: PathTally
        do {
            try await world.run()
            tally = try world.tally()
        } catch {
            try await world.end()
            throw error
        }
        try await world.end()
        try await server.remove()
        return tally
    }

    /// Episodes whose files have contents.
    ///
    /// In twenty and more all happens that they are there for.
    ///
    /// - Parameter isHeeding: whether the server heeds preconditions.
    static func runContents(
        at address: String, _ tree: CollectionModel.TreeRule, isHeeding: Bool = true
    ) async throws {
        var (tally, tree) = (PathTally(), tree)
        tree.content = "content"
        for seed in seeds {
            do { tally += try await run(seed, at: address, tree) } catch {
                Issue.record("\(error)")
            }
        }
        print("\(seeds.count) episodes: \(tally)")
        guard seeds.count >= 20 else { return }
        #expect(tally.refusedVersions > 0 || !isHeeding)
        #expect(tally.moves > 0)
        #expect(tally.torn > 0)
        #expect(tally.keptBoth > 0)
    }
}

@Suite(
    .serialized,
    .enabled(
        if: PathChaos.wsgidav != nil, "TIDEMARK_WSGIDAV names no wsgidav; Tools/test starts one"))
struct `with a real server of files` {
    @Test(arguments: PathChaos.seeds)
    func `two devices and a plain client end with its tree`(_ seed: UInt64) async throws {
        try await PathChaos.run(
            seed, at: PathChaos.wsgidav ?? "", PathChaos.tree)
    }

    @Test func `so they do with what is in its files`() async throws {
        try await PathChaos.runContents(at: PathChaos.wsgidav ?? "", PathChaos.tree)
    }
}

@Suite(
    .serialized,
    .enabled(
        if: PathChaos.rclone != nil, "TIDEMARK_RCLONEDAV names no rclone; Tools/test starts one"))
struct `with a real server that ignores preconditions` {
    @Test(arguments: PathChaos.seeds)
    func `two devices and a plain client end with its tree`(_ seed: UInt64) async throws {
        try await PathChaos.run(seed, at: PathChaos.rclone ?? "", PathChaos.tree)
    }

    @Test func `so they do with what is in its files`() async throws {
        try await PathChaos.runContents(
            at: PathChaos.rclone ?? "", PathChaos.tree, isHeeding: false)
    }
}

@Suite(
    .serialized,
    .enabled(
        if: PathChaos.davsvn != nil, "TIDEMARK_DAVSVN names no mod_dav_svn; Tools/test starts one"))
struct `with a real server whose folder versions move` {
    private static let tree = CollectionModel.TreeRule(
        parent: "parent", name: "name", kind: "kind", isByPath: true, folderVersionsMove: true)

    @Test(arguments: PathChaos.seeds)
    func `two devices and a plain client end with the tree`(_ seed: UInt64) async throws {
        try await PathChaos.run(seed, at: PathChaos.davsvn ?? "", Self.tree)
    }

    @Test func `so they do with what is in its files`() async throws {
        try await PathChaos.runContents(at: PathChaos.davsvn ?? "", Self.tree)
    }

    @Test func `a walk without news is one request`() async throws {
        let server = RealPathServer(
            address: "\(PathChaos.davsvn ?? "")/idle-\(UUID().uuidString.lowercased())")
        try await server.make()
        for folder in ["a", "a/b", "a/b/c", "d"] {
            try await server.makeFolder(folder)
            try await server.put("\(folder)/file", folder)
        }
        let world = try PathWorld(PathChaos.setting(1, server, Self.tree))
        let device = world.devices[0]

        #expect(try await device.engine.sync().counts.requests == 5)
        #expect(try await device.engine.sync().counts.requests == 1)
        try await server.put("a/b/file", "other")
        #expect(try await device.engine.sync().counts.requests == 3)
        #expect(try await device.engine.sync().counts.requests == 1)
        try await world.end()
        try await server.remove()
    }
}
