// TreeKillTests.swift — a process that changes and syncs a tree with contents is killed at any
// moment: no content is lost that was acknowledged, no row is without its bytes, no file is left
// that the log does not know, and in the end the server has it all.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkInspect
import TidemarkStore
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite(
    .serialized, .enabled(if: BuiltProgram.crashChild.isThere, "\(BuiltProgram.crashChild.missing)")
)
struct `a tree with contents in a process that is killed` {
    /// `TIDEMARK_TREE_KILLS=1-300` for more.
    private static let rounds = TestSeeds.named("TIDEMARK_TREE_KILLS", else: 1...12)

    private static let model = SyncModel.files(.init("content", grace: .zero))

    /// The content of a file.
    private struct Content {
        var acknowledged: String?
        /// Those that came after that, which it may have or not.
        var begun: [String] = []

        func contains(_ digest: String) -> Bool {
            acknowledged == digest || begun.contains(digest)
        }
    }

    @Test func `loses nothing that was acknowledged, and leaves nothing`() async throws {
        let folder = try SyncFolder()
        defer { folder.delete() }
        let clock = ManualClock()
        clock.advance(by: .microseconds(Dependencies.live.now().rawValue - clock.now.rawValue))
        let server = WebDAVServer(WebDAVServerModel(WebDAVOptions()), clock: clock)
        let listener = try await LoopbackServer.start(server)
        let remote = Remote.webdav(origin: listener.origin, home: "/")
        try await Replica.open(at: folder / "store", model: Self.model, remote: remote).close()
        let result = await Task {
            try await killed(folder / "store", server, remote)
        }.result
        await listener.stop()
        try result.get()
    }

    private func killed(
        _ store: String, _ server: WebDAVServer, _ remote: Remote
    ) async throws {
        var random = SplitMix64(seed: 0x73EE + Self.rounds.lowerBound)
        var contents: [String: Content] = [:]
        var acknowledged = 0
        for round in Self.rounds {
            let place: Comment = "round \(round)"
            let child = try await Command.running(
                try #require(BuiltProgram.crashChild.path),
                ["tree", store, "\(round)", "\(1 + random.below(700_000))"],
                environment: ["SWIFT_BACKTRACE": "enable=no"])
            try #require(child.signal == 9, "\(child.text) \(child.complaints) \(place)")
            // The last line may have been cut.
            let lines = child.text.split(separator: "\n", omittingEmptySubsequences: false)
            for line in lines.dropLast() {
                let words = line.split(separator: " ").map(String.init)
                try #require(words.count == 3, "\(line) \(place)")
                if words[0] == "begin" {
                    contents[words[1], default: Content()].begun.append(words[2])
                } else {
                    contents[words[1]] = Content(acknowledged: words[2])
                    acknowledged += 1
                }
            }
            let replica = try await Replica.open(existing: store)
            try expectWhole(replica, store, server, contents, place)
            try await replica.close()
        }
        #expect(acknowledged > 0)
        try await settle(store, server, remote, contents)
        print("killed \(Self.rounds.count) times: \(acknowledged) contents were acknowledged")
    }

    /// Files and log tell the same, and each content is here or there.
    private func expectWhole(
        _ replica: Replica, _ store: String, _ server: WebDAVServer,
        _ contents: [String: Content], _ place: Comment
    ) throws {
        let files = ContentFiles(of: store)
        var stored: [String] = []
        var parts: Set<String> = []
        try replica.journal.read { views in
            try views.forEachContent { if $1.stored != nil { stored.append($0) } }
            parts = try views.partsInUse()
        }
        #expect(try files.digests() == stored, place)
        #expect(try parts.isSuperset(of: files.partNames()), place)
        for digest in stored {
            let bytes = Array(try Data(contentsOf: URL(filePath: files.path(of: digest))))
            #expect(Hexadecimal.encode(SHA256Digest.of(bytes)) == digest, place)
        }
        for (id, allowed) in contents.sorted(by: { $0.key < $1.key }) {
            let key = EntityKey("files", id)
            guard let document = try replica.read({ try $0.document(key) }) else {
                #expect(allowed.acknowledged == nil, "\(key) is lost, \(place)")
                continue
            }
            let value = try #require(JSON.value("content", of: document), place)
            switch try #require(ContentName(value), place) {
            case .file(let digest, _):
                #expect(stored.contains(digest) && allowed.contains(digest), "\(key) \(place)")
            case .source:
                // It may have been moved there without our knowing, and keeps its name.
                let name = JSON.value("name", of: document)?.stringValue ?? ""
                let there = server.entries.first {
                    $0.path.split(separator: "/").last ?? "" == name
                }
                let bytes = try #require(there?.bytes, "\(key) is not there, \(place)")
                let digest = Hexadecimal.encode(SHA256Digest.of(bytes))
                #expect(allowed.contains(digest), "\(key) at \(there?.path ?? "-"), \(place)")
            }
        }
        #expect(try replica.journal.verify(.deep).findings == [], place)
    }

    /// Without kills: in the end the server has all that was acknowledged.
    private func settle(
        _ store: String, _ server: WebDAVServer, _ remote: Remote, _ contents: [String: Content]
    ) async throws {
        let replica = try await Replica.open(existing: store)
        let engine = try SyncEngine(replica, remote: remote) {
            .basic(user: "me", password: "secret")
        }
        for _ in 0..<8 {
            let outcome = try await engine.sync()
            _ = try await engine.transfer()
            if outcome.isSynced, !outcome.counts.hasNews { break }
        }
        let issues = try replica.issues().map { "\($0)" }
        #expect(try replica.read { try $0.outboxCount() } == 0, "\(issues)")
        for (id, allowed) in contents {
            let path = try replica.read { try $0.path(of: EntityKey("files", id)) }
            guard let path = path?.joined(separator: "/") else {
                #expect(allowed.acknowledged == nil, "\(id) is lost")
                continue
            }
            let bytes = try #require(server.entry(path)?.bytes, "\(path) is not there")
            #expect(allowed.contains(Hexadecimal.encode(SHA256Digest.of(bytes))), "\(path)")
        }
        try expectWhole(replica, store, server, contents, "at the end")
        try await replica.close()
        #expect(try Journal.verifyStore(at: store, .deep).findings == [])
    }
}
