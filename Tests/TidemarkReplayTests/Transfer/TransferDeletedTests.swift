// TransferDeletedTests.swift — a file is deleted here, or what it lies in, while it is fetched or
// sent; or it is damaged before it is sent.

import Foundation
import HTTPTypes
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkInspect
import TidemarkStore
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import CapsuleSupport
@testable import SyncSupport

/// Answers requests about files only once it is told to, or their tasks are cancelled.
private final class Held: Transport, Sendable {
    private struct State: Sendable {
        var isOpen = false
        var held = 0
        var cancelled = 0
    }
    private let server: any Transport
    private let method: HTTPRequest.Method
    private let state = Lock(State())

    init(_ server: any Transport, _ method: HTTPRequest.Method = .get) {
        (self.server, self.method) = (server, method)
    }

    var cancelled: Int { state.withLock(\.cancelled) }

    func letGo() { state.withLock { $0.isOpen = true } }

    /// Waits until so many requests are held.
    func reached(_ count: Int) async {
        while state.withLock({ $0.held < count }) { await Task.yield() }
    }

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        if request.method == method {
            state.withLock { $0.held += 1 }
            while !state.withLock(\.isOpen) {
                if Task.isCancelled {
                    state.withLock { $0.cancelled += 1 }
                    throw TransportError(.cancelled)
                }
                await Task.yield()
            }
        }
        return try await server.send(request, body: body, limits: limits)
    }
}

/// A tree whose files are fetched.
private enum FileTree {
    static let model: SyncModel = {
        var files = CollectionModel(
            "files", references: [Reference("parent", to: "files")],
            tree: .init(
                parent: "parent", name: "name", kind: "kind", isByPath: true, content: "content"))
        files.contents = [.init("content", when: .all)]
        return SyncModel(name: "files", collections: [files])
    }()
}

@Suite struct `a file that is being sent` {
    @Test(arguments: [true, false])
    func `is not sent any more once nothing names it, without an error`(
        _ isReplaced: Bool
    ) async throws {
        let world = try TransferWorld(TransferWorld.rule)
        world.takeFiles()
        try world.attach("tea")
        let held = Held(world.files, .put)
        let engine = try world.engine(over: held)

        let pass = Task { try await engine.transfer() }
        await held.reached(1)
        if isReplaced {
            try world.attach("milk")
        } else {
            try await world.replica.write { tx in _ = try tx.delete(EntityKey("tasks", "1")) }
        }
        while held.cancelled == 0 { await Task.yield() }
        held.letGo()
        let outcome = try await pass.value

        #expect(held.cancelled == 1 && outcome.sent == (isReplaced ? 1 : 0))
        #expect(outcome.failure == nil && outcome.failed == 0 && outcome.refused == 0)
        #expect(world.asked.count == outcome.sent)
        #expect(try world.events.contains("cancelled"))
        _ = try await world.engine.sync()
        #expect(try world.status() == (isReplaced ? EntityStatus.synced : nil))
        try await world.expectSound()
    }
}

@Suite struct `a file that is damaged` {
    @Test func `is not sent as the content of one in a tree`() async throws {
        let folder = try SyncFolder()
        defer { folder.delete() }
        let clock = ManualClock()
        let server = WebDAVServer(WebDAVServerModel(WebDAVOptions()), clock: clock)
        let remote = Remote.webdav(origin: "http://files.test", home: "/")
        let replica = try await Replica.open(
            at: folder / "store", model: FileTree.model, remote: remote,
            dependencies: .seeded(0, clock: clock))
        let engine = try SyncEngine(replica, remote: remote, transport: server) {
            .basic(user: "me", password: "secret")
        }
        try Data("mine".utf8).write(to: URL(filePath: folder / "mine"))
        let content = try await replica.importFile(at: folder / "mine").json
        let key = EntityKey("files", "m")
        try await replica.write { tx in
            let document: JSONObject = ["kind": "file", "name": "mine", "content": content]
            _ = try tx.create(key, JSONValue.object(document).encoded())
        }
        try damage(replica.read { try $0.files(of: key) }.first?.stored?.path)

        _ = try await engine.sync()

        #expect(server.entry("mine") == nil)
        #expect(try replica.issues().map(\.key) == [key])
        #expect(try replica.read { try $0.files(of: key) }.first?.stored == nil)
        try await replica.close()
    }
}

@Suite struct `a file that is being fetched` {
    @Test func `is not fetched any more once its folder is deleted, without an error`() async throws
    {
        let folder = try SyncFolder()
        defer { folder.delete() }
        let clock = ManualClock()
        let server = WebDAVServer(WebDAVServerModel(WebDAVOptions()), clock: clock)
        server.put("P/deep/tea", "tea")
        let remote = Remote.webdav(origin: "http://files.test", home: "/")
        let replica = try await Replica.open(
            at: folder / "store", model: FileTree.model, remote: remote,
            dependencies: .seeded(0, clock: clock))
        let held = Held(server)
        let engine = try SyncEngine(replica, remote: remote, transport: held) {
            .basic(user: "me", password: "secret")
        }
        #expect(try await engine.sync().isSynced)
        let top = try replica.read { store in
            var found: EntityKey?
            try store.forEachDocument(in: "files") { key, _, _ in
                if try store.path(of: key) == ["P"] { found = key }
                return found == nil
            }
            return try #require(found)
        }

        let pass = Task { try await engine.transfer() }
        await held.reached(1)
        try await replica.write { tx in _ = try tx.delete(top) }
        while held.cancelled == 0 { await Task.yield() }
        held.letGo()
        let outcome = try await pass.value

        #expect(held.cancelled == 1 && outcome.stored == 0)
        #expect(outcome.failure == nil && outcome.failed == 0 && outcome.refused == 0)
        #expect(try replica.issues() == [])
        // It is fetched once the deletion is given up.
        try await replica.write { tx in try tx.discard(top) }
        #expect(try await engine.transfer().stored == 1)
        let decided = try await decided(
            try await capsule(of: replica.journal), adapter: try remote.makeAdapter())
        #expect(decided.divergence == nil && decided.notDecided.isEmpty)
        #expect(try replica.journal.verify(.deep).findings == [])
        try await replica.close()
        #expect(try Journal.verifyStore(at: folder / "store", .deep).findings == [])
    }
}
