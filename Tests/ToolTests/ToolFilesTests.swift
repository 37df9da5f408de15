// ToolFilesTests.swift — `tidemark contents`, and what other verbs say of files.

import Foundation
import Testing
import Tidemark
import TidemarkEvents
import TidemarkStore
import TidemarkTesting

@testable import SyncSupport

@Suite(.serialized, .enabled(if: SyncTool.isThere, SyncTool.missing))
struct `the tool and files` {
    /// A store with a file of the user's, one that nothing names, and a name of the server's.
    private func withFiles(_ body: (String) async throws -> Void) async throws {
        var tasks = CollectionModel("tasks")
        tasks.contents = [.init("photo", grace: .days(7))]
        let replica = try Replica.temporary(model: SyncModel(name: "m", collections: [tasks]))
        let folder = URL(filePath: replica.directory)
        for (id, text) in [("1", "hi"), ("2", "milk")] {
            let file = folder.appending(path: "file.txt")
            try Data(text.utf8).write(to: file)
            let name = try await replica.importFile(at: file.path)
            let document = JSONValue.object(["photo": try encoded(name)]).encoded()
            try await replica.write { tx in _ = try tx.put(EntityKey("tasks", id), document) }
            try FileManager.default.removeItem(at: file)
        }
        try await replica.write { tx in
            try tx.discard(EntityKey("tasks", "2"))
            _ = try tx.put(EntityKey("tasks", "3"), Array(#"{"photo":"/p/\u001b7.jpg"}"#.utf8))
            try tx.wantFiles(of: EntityKey("tasks", "3"), "photo")
        }
        try await replica.close()
        try await body(replica.directory)
        try FileManager.default.removeItem(atPath: replica.directory)
    }

    private func encoded(_ name: ContentName) throws -> JSONValue {
        try JSONValue(parsing: Array(try JSONEncoder().encode(name)))
    }

    @Test func `print them in lines that a terminal shows`() async throws {
        try await withFiles { store in
            let lines = try await SyncTool.run("contents", store).lines.map {
                $0.split(separator: " ").dropFirst().joined(separator: " ")
            }

            #expect(Set(lines) == ["2 own 1", "4 unused 0", #"- remote 1+ tasks /p/\u001b7.jpg"#])
            #expect(lines.last?.hasPrefix("- remote") == true)
        }
    }

    @Test func `print them as objects`() async throws {
        try await withFiles { store in
            let lines = try await SyncTool.run("contents", store, "-o", "json").lines
            let objects = try lines.map { try JSONValue(parsing: Array($0.utf8)) }

            #expect(objects.count == 3)
            let own = try #require(objects.first { $0["state"] == "own" })
            #expect(own["bytes"] == 2 && own["references"] == 1 && own["wanted"] == 0)
            #expect(own["sha256"]?.stringValue.map(ContentFiles.isDigest) == true)
            let remote = try #require(objects.last)
            #expect(remote["state"] == "remote" && remote["wanted"] == 1)
            #expect(
                remote["sources"] == [["collection": "tasks", "source": "/p/\u{1B}7.jpg"]])
        }
    }

    @Test func `are named that a copy and a capsule leave out, as they are damaged`() async throws {
        try await withFiles { store in
            let (copy, capsule) = (store + ".copy", store + ".capsule")
            defer {
                for path in [copy, capsule] { try? FileManager.default.removeItem(atPath: path) }
            }
            let files = ContentFiles(of: store)
            let digest = try #require(try files.digests().first)
            let path = try files.path(of: digest)
            try FileManager.default.removeItem(atPath: path)
            try Data("nothing".utf8).write(to: URL(filePath: path))
            let words = "tidemark: left out, as it is damaged: file \(digest)\n"

            let copied = try await SyncTool.run("copy", store, "-o", copy)
            #expect(copied.code == 1 && copied.err == words, "\(copied)")
            #expect(copied.lines.last == "made       \(copy)")
            #expect(try ContentFiles(of: copy).digests().count == 1)
            let made = try await SyncTool.run("capsule", store, "-o", capsule, "--contents")
            #expect(made.code == 1 && made.err == words, "\(made)")
            #expect(made.lines.contains { $0.hasPrefix("files      2 are named, and 1 are in it") })
        }
    }

    @Test func `print nothing where no entity names one`() async throws {
        let replica = try Replica.temporary(model: SyncWorld.usualModel)
        try await replica.close()

        let shown = try await SyncTool.run("contents", replica.directory)
        #expect(shown.code == 0 && shown.out.isEmpty && shown.err == "no entity names a file\n")
        #expect(try await SyncTool.run("contents", replica.directory, "-o", "json").out.isEmpty)
        try FileManager.default.removeItem(atPath: replica.directory)
    }

    @Test func `say with a sync why those that are due are not here, and end it with 1`()
        async throws
    {
        var tasks = CollectionModel("tasks")
        tasks.contents = [.init("photo", when: .all)]
        let model = SyncModel(name: "m", collections: [tasks])
        try await SyncFolder.withStore(remote: "http://127.0.0.1:9", model: model) { _, store in
            let document = #"{"photo":"/p/7.jpg"}"#
            #expect(try await SyncTool.run("put", store, "tasks/1", document).code == 0)

            let late = try await SyncTool.run("sync", store, "--deadline", "0")
            #expect(late.code == 1)
            #expect(late.lines.last?.hasPrefix("  files: the time for this run is over") == true)

            let away = try await SyncTool.run("sync", store)
            let said = "  files: 1 to be tried again; the server can't be reached"
            #expect(away.code == 1 && away.lines.last?.hasPrefix(said) == true, "\(away.out)")
        }
    }

    @Test func `counts, verifies and cuts out what names them`() async throws {
        try await withFiles { store in
            let stats = try await SyncTool.run("stats", store).lines
            #expect(stats.contains("files      2 of 6 bytes"))
            let fine = try await SyncTool.run("verify", store, "--deep")
            #expect(fine.code == 0 && fine.lines.first?.hasSuffix(", 2 files") == true)
            let capsule = store + ".capsule"
            defer { try? FileManager.default.removeItem(atPath: capsule) }
            let made = try await SyncTool.run("capsule", store, "-o", capsule)
            #expect(
                made.lines.contains("files      2 are named, and no bytes of them are in it"))
            #expect(try await SyncTool.run("contents", capsule).lines.count == 3)

            let files = ContentFiles(of: store)
            let digest = try #require(try files.digests().first)
            let path = try files.path(of: digest)
            try FileManager.default.removeItem(atPath: path)
            try Data("nothing".utf8).write(to: URL(filePath: path))
            let found = try await SyncTool.run("verify", store)
            #expect(found.code == 1 && found.lines.count == 1)
            #expect(found.out.contains("corruptFile: the file \(digest) has 7 bytes, not "))
        }
    }
}
