// TreeWalkParallelTests.swift — several folders of a walk at once: in whichever order the answers
// come, the log and the tree are those of one after another.

import HTTPTypes
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkInspect
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

@Suite struct `a walk that lists several folders at once` {
    /// What a walk came to.
    private struct Seen: Equatable {
        var paths: [String]
        var kinds: [String]
        var asked: [String]
    }

    private static let tree = CollectionModel.TreeRule(
        parent: "parent", name: "name", kind: "kind", isByPath: true, serverID: "fileId")

    private static func server(_ clock: ManualClock) -> WebDAVServer {
        var options = WebDAVOptions()
        options.hasFileIDs = true
        let server = WebDAVServer(WebDAVServerModel(options), clock: clock)
        for folder in ["a", "b", "b/x", "b/y", "b/y/deep", "c", "d", "e", "e/z", "f"] {
            server.makeFolder(folder)
            server.put("\(folder)/file", folder)
        }
        return server
    }

    /// Walks through the tree twice, the second time after changes.
    private func walk(
        parallel: Int, seed: UInt64, change: (WebDAVServer) -> Void = { _ in }
    ) async throws -> (seen: Seen, openMax: Int) {
        let clock = ManualClock()
        let server = Self.server(clock)
        let remote = Remote.webdav(origin: "http://files.test", home: "/")
        let model = SyncModel(
            name: "files",
            collections: [
                CollectionModel(
                    "files", conflict: .serverWins, references: [Reference("parent", to: "files")],
                    tree: Self.tree)
            ], settings: SyncSettings(parallel: parallel))
        let replica = try Replica.temporary(
            model: model, remote: remote, dependencies: .seeded(1, clock: clock))
        let wire = SyncWire(server)
        let engine = try SyncEngine(replica, remote: remote, transport: wire) {
            .basic(user: "me", password: "secret")
        }
        let random = SyncRandom(seed: seed)
        // The root comes first, and by itself.
        let traffic = OpenRequests(together: 2..<2 + min(parallel, 6))
        wire.tap { request, _, pass in
            await traffic.begin(request.path ?? "")
            for _ in 0..<20 + random.below(40) { await Task.yield() }
            let answer = await pass()
            traffic.end()
            return answer
        }
        #expect(try await engine.sync().isSynced)
        change(server)
        clock.advance(by: .seconds(7_200))
        #expect(try await engine.sync().isSynced)
        var seen = Seen(paths: [], kinds: [], asked: traffic.asked.sorted())
        try replica.read { store in
            try store.forEachDocument(in: "files") { key, _, _ in
                seen.paths.append(try store.path(of: key)?.joined(separator: "/") ?? "nowhere")
                return true
            }
        }
        _ = try replica.journal.dump(EventFilter()) { _, event in
            seen.kinds.append("\(event.kind) \(event.key.map { "\($0)" } ?? "")")
        }
        #expect(try replica.journal.verify(.deep).findings.isEmpty)
        await engine.stop()
        try replica.deleteTemporary()
        seen.paths.sort()
        return (seen, traffic.most)
    }

    @Test(arguments: [2, 4, 9], 1...4 as ClosedRange<UInt64>)
    func `logs what one logs that lists one after another`(
        _ parallel: Int, _ seed: UInt64
    ) async throws {
        let change: (WebDAVServer) -> Void = { server in
            server.move("b/y", to: "f/y")
            server.delete("c")
            server.put("d/new", "new")
        }
        let one = try await walk(parallel: 1, seed: seed, change: change)
        let several = try await walk(parallel: parallel, seed: seed, change: change)
        #expect(one.openMax == 1)
        #expect(several.openMax == min(parallel, 6))
        #expect(several.seen.paths == one.seen.paths)
        #expect(several.seen.kinds == one.seen.kinds)
        #expect(one.seen.paths.contains("f/y/deep/file") && !one.seen.paths.contains("c"))
    }

    @Test func `asks for no folder twice`() async throws {
        let one = try await walk(parallel: 1, seed: 1)
        let several = try await walk(parallel: 4, seed: 1)
        #expect(several.seen == one.seen)
    }
}
