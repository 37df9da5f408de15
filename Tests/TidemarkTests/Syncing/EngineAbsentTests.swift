// EngineAbsentTests.swift — a server of files says that what is to be deleted is not there.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

@Suite(.serialized) struct `a deletion of a file that the server says is not there` {
    private static let remote = Remote.webdav(origin: "http://files.test", home: "/")

    private static func model() -> SyncModel {
        SyncModel(
            name: "files",
            collections: [
                CollectionModel(
                    "files", references: [Reference("parent", to: "files")],
                    tree: .init(
                        parent: "parent", name: "name", kind: "kind", isByPath: true,
                        serverID: "fileId"))
            ])
    }

    @Test(arguments: [false, true])
    func `is settled by an engine without a timer, and what is made in its place follows`(
        _ isThere: Bool
    ) async throws {
        let clock = ManualClock()
        var options = WebDAVOptions()
        options.hasFileIDs = true
        let server = WebDAVServer(WebDAVServerModel(options), clock: clock)
        server.put("a.txt", "old")
        let replica = try Replica.temporary(
            model: Self.model(), remote: Self.remote, dependencies: .seeded(1, clock: clock))
        let wire = LosingFiles(server: server, isThere: isThere)
        let engine = try SyncEngine(replica, remote: Self.remote, transport: wire) {
            .basic(user: "me", password: "secret")
        }
        #expect(try await engine.sync().isSynced)
        let known = try replica.read { store in
            var keys: [EntityKey] = []
            try store.forEachDocument(in: "files") { key, _, _ in
                keys.append(key)
                return true
            }
            return keys
        }
        let old = try #require(known.first)
        try await replica.write { tx in
            try tx.delete(old)
            try tx.create(
                EntityKey("files", "new"), Array(#"{"kind":"folder","name":"a.txt"}"#.utf8))
        }
        if isThere {
            server.faults = FaultPlan([FaultRule(.answer(status: 404), method: .delete, nth: 1)])
        }

        var statuses = engine.statuses.makeAsyncIterator()
        await engine.start()
        var (last, hasRun): (EngineStatus?, Bool) = (nil, false)
        while let status = await statuses.next(isolation: #isolation) {
            if status.progress != nil { hasRun = true }
            last = status
            if hasRun, status.activity == .idle { break }
        }

        #expect(last?.pending == 0, "\(String(describing: last))")
        #expect(server.entry("a.txt")?.isFolder == true)
        let deletions = server.requestLog.filter { $0.method == .delete }
        #expect(deletions.count == (isThere ? 2 : 1))
        await engine.stop()
        try replica.deleteTemporary()
    }
}

/// Has a server lose a file before it is asked to delete it, unless that is to stay there.
private struct LosingFiles: Transport {
    let server: WebDAVServer
    let isThere: Bool

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        if request.method == .delete, !isThere { server.delete("a.txt") }
        return try await server.send(request, body: body, limits: limits)
    }
}
