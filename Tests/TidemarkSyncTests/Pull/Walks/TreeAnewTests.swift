// TreeAnewTests.swift — trees of which a model asks for more, and those with a name that can't be
// read.

import HTTPTypes
import TestSupport
import Testing
import Tidemark
import TidemarkHTTP
import TidemarkInspect
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

@Suite struct `a tree of files` {
    private static let remote = Remote.webdav(origin: "http://files.test", home: "/")

    private static func model(_ content: String?, versions: Bool) -> SyncModel {
        var files = CollectionModel(
            "files", conflict: .serverWins, references: [Reference("parent", to: "files")],
            tree: .init(
                parent: "parent", name: "name", kind: "kind", isByPath: true, serverID: "fileId",
                folderVersionsMove: versions, content: content))
        if let content { files.contents = [.init(content)] }
        return SyncModel(name: "files", collections: [files])
    }

    private static func server(_ clock: ManualClock) -> WebDAVServer {
        var options = WebDAVOptions()
        options.hasFileIDs = true
        options.folderVersions = .allBelow
        let server = WebDAVServer(WebDAVServerModel(options), clock: clock)
        for folder in ["a", "b"] {
            server.makeFolder(folder)
            for name in ["one.txt", "two.txt"] { server.put("\(folder)/\(name)", name) }
        }
        return server
    }

    @Test func `of which a model asks for contents is listed once, and its folders left out again`()
        async throws
    {
        let clock = ManualClock()
        let server = Self.server(clock)
        let folder = try SyncFolder()
        defer { folder.delete() }
        /// The folders that a run lists.
        func listed(_ content: String?) async throws -> [String] {
            let replica = try await Replica.open(
                at: folder / "store", model: Self.model(content, versions: true),
                remote: Self.remote, dependencies: .seeded(1, clock: clock))
            let engine = try SyncEngine(replica, remote: Self.remote, transport: server) {
                .basic(user: "me", password: "secret")
            }
            server.clearRequestLog()
            clock.advance(by: .seconds(7_200))
            #expect(try await engine.sync().isSynced)
            await engine.stop()
            #expect(try replica.journal.verify(.deep).findings.isEmpty)
            try await replica.close()
            return server.requestLog.filter { $0.method.rawValue == "PROPFIND" }.map(\.path)
        }
        #expect(try await listed(nil) == ["/", "/a/", "/b/"])
        #expect(try await listed(nil) == ["/"])
        #expect(try await listed("content") == ["/", "/a/", "/b/"])
        #expect(try await listed("content") == ["/"])
        server.put("b/one.txt", "changed")
        #expect(try await listed("content") == ["/", "/b/"])
    }

    @Test func `with a name that can't be read takes what is gone elsewhere for gone`()
        async throws
    {
        let clock = ManualClock()
        let server = Self.server(clock)
        let wire = SyncWire(server)
        wire.tap { _, _, pass in
            let outcome = await pass()
            guard case .success(var answer) = outcome else { return outcome }
            let text = String(decoding: answer.body, as: UTF8.self)
            answer.body = Array(text.replacing("/a/two.txt", with: "/a/%FF.txt").utf8)
            return .success(answer)
        }
        let replica = try Replica.temporary(
            model: Self.model(nil, versions: false), remote: Self.remote,
            dependencies: .seeded(1, clock: clock))
        let engine = try SyncEngine(replica, remote: Self.remote, transport: wire) {
            .basic(user: "me", password: "secret")
        }
        _ = try await engine.sync()
        server.delete("b/two.txt")
        server.delete("a/one.txt")
        clock.advance(by: .seconds(7_200))
        _ = try await engine.sync()
        var paths: [String] = []
        try replica.read { store in
            try store.forEachDocument(in: "files") { key, _, _ in
                paths.append(try store.path(of: key)?.joined(separator: "/") ?? "nowhere")
                return true
            }
        }
        // In its own folder nothing counts as gone.
        #expect(paths.sorted() == ["a", "a/one.txt", "b", "b/one.txt"])
        await engine.stop()
        try replica.deleteTemporary()
    }
}
