// LostMoveTests.swift — a move or a deletion of which no answer came, of a file that another client
// moved meanwhile: the server's id tells where it is.

import HTTPTypes
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkInspect
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite struct `a write without an answer of a file that another client moved` {
    private let clock = ManualClock()
    private let server: WebDAVServer
    private let replica: Replica
    private let engine: SyncEngine

    init() throws {
        var options = WebDAVOptions()
        options.hasFileIDs = true
        server = WebDAVServer(WebDAVServerModel(options), clock: clock)
        for name in ["a.txt", "c.txt", "d.txt"] { server.put(name, name) }
        server.makeFolder("P")
        var files = CollectionModel(
            "files", conflict: .localWins, references: [Reference("parent", to: "files")],
            tree: .init(
                parent: "parent", name: "name", kind: "kind", isByPath: true, serverID: "fileId"))
        files.listEvery = .days(30)
        let model = SyncModel(name: "files", collections: [files])
        let remote = Remote.webdav(origin: "http://files.test", home: "/")
        replica = try Replica.temporary(
            model: model, remote: remote, dependencies: .seeded(1, clock: clock))
        engine = try SyncEngine(replica, remote: remote, transport: server) {
            .basic(user: "me", password: "secret")
        }
    }

    private func file() throws -> EntityKey {
        let found = try replica.seenFiles().first { $0.path == "a.txt" }
        return try #require(found).key
    }

    /// Loses the request that a run sends, and has another client move the file.
    private func lose(_ method: HTTPRequest.Method) async throws {
        server.faults = FaultPlan([FaultRule(.dropBeforeHandling, method: method, nth: 1)])
        let outcome = try await engine.sync()
        #expect(outcome.pending == 1)
        server.faults = FaultPlan()
        server.move("a.txt", to: "P/a.txt")
        clock.advance(by: .seconds(7_200))
    }

    private func end() async throws {
        #expect(try replica.journal.verify(.deep).findings.isEmpty)
        await engine.stop()
        try replica.deleteTemporary()
    }

    @Test func `renames it where it is, though no list is due`() async throws {
        #expect(try await engine.sync().isSynced)
        let file = try file()
        try await replica.write { tx in
            _ = try tx.patch(file, Patch(set: [.init("name", Array(#""b.txt""#.utf8))]))
        }
        let move = try #require(HTTPRequest.Method("MOVE"))
        try await lose(move)

        #expect(try await engine.sync(.timer).isSynced)
        #expect(server.entry("P/b.txt")?.text == "a.txt")
        #expect(server.entry("P/a.txt") == nil && server.entry("b.txt") == nil)
        try await end()
    }

    @Test func `deletes it where it is`() async throws {
        #expect(try await engine.sync().isSynced)
        let file = try file()
        try await replica.write { tx in _ = try tx.delete(file) }
        try await lose(.delete)

        #expect(try await engine.sync(.timer).isSynced)
        #expect(server.entry("P/a.txt") == nil)
        #expect(server.entries.count == 3)
        try await end()
    }

    @Test func `is not sent again where a walk shows that it is gone`() async throws {
        #expect(try await engine.sync().isSynced)
        let file = try file()
        try await replica.write { tx in _ = try tx.delete(file) }
        server.faults = FaultPlan([FaultRule(.dropAfterHandling, method: .delete, nth: 1)])
        let outcome = try await engine.sync()
        #expect(outcome.pending == 1)
        server.faults = FaultPlan()
        clock.advance(by: .seconds(7_200))
        server.clearRequestLog()

        #expect(try await engine.sync(.timer).isSynced)
        #expect(server.requestLog.count { $0.method == .delete } == 0)
        #expect(server.entries.count == 3)
        try await end()
    }

    @Test func `waits in a run that only sends, and is sent by one that lists`() async throws {
        #expect(try await engine.sync().isSynced)
        let file = try file()
        try await replica.write { tx in _ = try tx.delete(file) }
        try await lose(.delete)

        let outcome = try await engine.sync(scope: .push)
        #expect(outcome.pending == 1)
        #expect(server.entry("P/a.txt") != nil)
        #expect(try await engine.sync().isSynced)
        #expect(server.entry("P/a.txt") == nil)
        try await end()
    }
}
