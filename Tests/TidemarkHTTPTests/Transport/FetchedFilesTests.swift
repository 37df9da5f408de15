// FetchedFilesTests.swift — an engine fetches the files that records name from nginx, and sends its
// own: what is stored is what the server has, by another program's SHA-256.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkHTTP
import TidemarkSync

@Suite(.enabled(if: Nginx.isPossible, Comment(rawValue: Nginx.reason)))
struct `files that an engine fetches from nginx` {
    private static let files: [(name: String, bytes: Int)] = [
        ("none", 0), ("one", 1), ("a part", 1 << 20), ("a part and more", 1 << 20 + 1),
        ("many parts", 5_000_017),
    ]

    private static func model() -> SyncModel {
        var articles = CollectionModel("articles")
        articles.contents = [.init("cover", when: .all)]
        var model = SyncModel(name: "reader", collections: [articles])
        model.settings.budgets = .init(downloads: 2, partBytes: 1 << 20)
        return model
    }

    @Test(arguments: ["", "/whole"])
    func `are the server's, in parts and where it gives none`(_ folder: String) async throws {
        try await withNginx { server in
            let scratch = try ScratchFolder()
            let remote = Remote.kinto(origin: "http://127.0.0.1:\(server.port)", bucket: "b")
            let replica = try await Replica.open(
                at: scratch.path + "/store", model: Self.model(), remote: remote)
            for (number, file) in Self.files.enumerated() {
                let name = file.name.replacing(" ", with: "-")
                try Data(numbered(file.bytes)).write(to: URL(filePath: server.path(name)))
                try await replica.write { tx in
                    _ = try tx.create(
                        EntityKey("articles", "\(number)"),
                        Array(#"{"cover":"\#(folder)/\#(name)"}"#.utf8))
                }
            }
            let engine = try SyncEngine(replica, remote: remote, transport: TestedTransport()) {
                .none
            }

            let outcome = try await engine.transfer()

            #expect(outcome.stored == Self.files.count && outcome.failed + outcome.refused == 0)
            for (number, file) in Self.files.enumerated() {
                let found = try replica.read {
                    try $0.files(of: EntityKey("articles", "\(number)"))
                }
                let stored = try #require(found.first?.stored, "\(file.name)")
                let path = server.path(file.name.replacing(" ", with: "-"))
                let said = try Command.run("sha256sum", [path]).text.prefix(64)
                #expect(stored.sha256 == said && stored.bytes == file.bytes, "\(file.name)")
            }
            await engine.stop()
            try await replica.close()
        }
    }

    @Test func `are on the server as they are here, where they are sent to it`() async throws {
        try await withNginx { server in
            let scratch = try ScratchFolder()
            let remote = Remote.kinto(origin: "http://127.0.0.1:\(server.port)", bucket: "b")
            var model = Self.model()
            model.collections[0].contents = [.init("cover", upload: "/{sha256}")]
            let replica = try await Replica.open(
                at: scratch.path + "/store", model: model, remote: remote)
            var digests: [String] = []
            for (number, file) in Self.files.enumerated() {
                let source = try scratch.file(numbered(file.bytes), "\(number)")
                guard case .file(let digest, let bytes) = try await replica.importFile(at: source)
                else { continue }
                digests.append(digest)
                try await replica.write { tx in
                    let document = #"{"cover":{"sha256":"\#(digest)","bytes":\#(bytes)}}"#
                    _ = try tx.create(EntityKey("articles", "\(number)"), Array(document.utf8))
                }
            }
            let engine = try SyncEngine(replica, remote: remote, transport: TestedTransport()) {
                .none
            }

            let outcome = try await engine.transfer()

            #expect(outcome.sent == Self.files.count && outcome.failed + outcome.refused == 0)
            #expect(digests.count == Self.files.count)
            for digest in digests {
                let said = try Command.run("sha256sum", [server.path(digest)]).text.prefix(64)
                #expect(said == digest)
            }
            await engine.stop()
            try await replica.close()
        }
    }
}
