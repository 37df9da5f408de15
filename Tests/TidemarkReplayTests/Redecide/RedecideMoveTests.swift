// RedecideMoveTests.swift — the log says where a move leads, and a replay compares it.

import TestSupport
import Testing
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkHTTP
import TidemarkReplay
import TidemarkTesting

@testable import SyncSupport

@Suite struct `a move of a file that is decided again` {
    private static let model: SyncModel = {
        let files = CollectionModel(
            "files", references: [Reference("parent", to: "files")],
            tree: .init(parent: "parent", name: "name", kind: "kind", isByPath: true))
        return SyncModel(name: "files", collections: [files])
    }()

    /// A device on which a file was renamed, and that sent it.
    private func recorded() async throws -> (capsule: Capsule, adapter: any ServerAdapter) {
        let folder = try SyncFolder()
        defer { folder.delete() }
        let clock = ManualClock()
        let server = WebDAVServer(WebDAVServerModel(WebDAVOptions()), clock: clock)
        server.put("tea leaves", "tea")
        let remote = Remote.webdav(origin: "http://files.test", home: "/")
        let replica = try await Replica.open(
            at: folder / "store", model: Self.model, remote: remote,
            dependencies: .seeded(0, clock: clock))
        let engine = try SyncEngine(replica, remote: remote, transport: server) {
            .basic(user: "me", password: "secret")
        }
        #expect(try await engine.sync().isSynced)
        let file = try #require(try replica.keys(in: "files").first)
        try await replica.write { tx in
            _ = try tx.patch(file, Patch(set: [.init("name", Array(#""green tea""#.utf8))]))
        }
        #expect(try await engine.sync().isSynced)
        let capsule = try await capsule(of: replica.journal)
        try await replica.close()
        return (capsule, try remote.makeAdapter())
    }

    @Test func `is compared with where it led`() async throws {
        let (capsule, adapter) = try await recorded()
        let move = try #require(
            capsule.last(.requestSent) { $0.read(RequestSent.self)?.method == "MOVE" })
        let sent = try #require(move.event.read(RequestSent.self))
        #expect(sent.path == "/tea%20leaves")
        #expect(sent.destination == "/green%20tea")
        #expect(try await decided(capsule, adapter: adapter).divergence == nil)

        func leading(to place: String?) -> Capsule {
            capsule.changing(move.position) { event in
                var other = sent
                other.destination = place
                event.payload = other.encoded
            }
        }
        let found = try await decided(leading(to: "/x"), adapter: adapter).divergence
        #expect(found?.position == move.position && found?.field == "payload.Destination")
        // Older versions did not log it.
        #expect(try await decided(leading(to: nil), adapter: adapter).divergence == nil)
    }
}
