// EngineSendingTests.swift — the status of an engine says how far the files are that it sends.

import Foundation
import Testing
import Tidemark
import TidemarkHTTP
import TidemarkTesting

@testable import SyncSupport

@Suite struct `the files that an engine sends` {
    /// What statuses say of a file of some bytes, from before it is sent until the run is over.
    private func told(ofFileWith bytes: Int) async throws -> [[EngineStatus.Sending]] {
        var options = WebDAVOptions()
        options.hasFileIDs = true
        let clock = ManualClock()
        let server = try await LoopbackServer.start(
            WebDAVServer(WebDAVServerModel(options), clock: clock))
        let remote = Remote.webdav(origin: server.origin, home: "/", heedsPreconditions: true)
        let replica = try Replica.temporary(
            model: .files(.init("content", when: .all)), remote: remote,
            dependencies: .seeded(1, clock: clock))
        let engine = try SyncEngine(replica, remote: remote, transport: URLSessionTransport()) {
            .basic(user: "me", password: "secret")
        }
        let path = replica.directory + ".source"
        try Data(repeating: 7, count: bytes).write(to: URL(filePath: path))
        let name = try await replica.importFile(at: path)
        try FileManager.default.removeItem(atPath: path)
        try await replica.write { tx in
            let document: JSONValue = [
                "kind": "file", "name": "a.bin", "content": name.json,
            ]
            try tx.create(EntityKey("files", "a"), document.encoded())
        }
        let statuses = engine.statuses
        let reader = Task {
            var all: [[EngineStatus.Sending]] = []
            for await status in statuses where all.last != status.sending {
                all.append(status.sending)
            }
            return all
        }
        let outcome = try await engine.sync()
        #expect(outcome.isSynced && outcome.counts.pushed == 1, "\(outcome)")
        reader.cancel()
        let all = await reader.value
        await engine.stop()
        await server.stop()
        try replica.deleteTemporary()
        return all
    }

    @Test func `are told from the first to the last byte, and no longer`() async throws {
        let bytes = 4 << 20
        let all = try await told(ofFileWith: bytes)

        #expect(all.first == [] && all.last == [])
        let own = all.dropFirst().dropLast().compactMap(\.first)
        #expect(own.allSatisfy { $0.bytes == bytes && $0.sha256.count == 64 })
        let sent = own.map(\.sent)
        #expect(sent.first == 0 && sent.last == bytes && sent == sent.sorted(), "\(sent)")
        #expect((10...102).contains(sent.count), "\(sent.count)")
    }

    @Test func `are not told of where they are short`() async throws {
        #expect(try await told(ofFileWith: 1_000) == [[]])
    }
}
