// ToolTreeTests.swift — `tidemark files` on a tree by paths, with a WebDAV server on the loopback
// address.

import Foundation
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkStore
import TidemarkTesting

@testable import SyncSupport

@Suite(.serialized, .enabled(if: SyncTool.isThere, SyncTool.missing))
struct `the tool and a tree of files` {
    private static let me = [Remote.usualCredentialsVariable: "me:secret"]

    private static var files: CollectionModel {
        CollectionModel(
            "files", references: [Reference("parent", to: "files")],
            actions: [.init("copy", source: "of")],
            tree: .init(
                parent: "parent", name: "name", kind: "kind", isByPath: true, serverID: "fileId"))
    }

    /// The same with the contents of files, beside another field that names files.
    private static var filesWithContents: CollectionModel {
        var files = files
        files.contents = [.init("preview"), .init("content")]
        files.tree?.content = "content"
        return files
    }

    /// A store of a tree, without a server.
    private func withStore(
        _ model: [CollectionModel] = [files], remote: Remote? = nil,
        _ body: (_ run: (String) async throws -> SyncTool.Result, String) async throws -> Void
    ) async throws {
        let folder = try SyncFolder()
        defer { folder.delete() }
        let registration = ModelRegistration(
            model: SyncModel(name: "files", collections: model), remote: remote)
        try Data(registration.encoded).write(to: URL(filePath: folder / "model.json"))
        let store = folder / "store"
        let made = try await SyncTool.run("init", store, "--model", folder / "model.json")
        #expect(made.code == 0, "\(made.err)")
        func run(_ line: String) async throws -> SyncTool.Result {
            let words = line.split(separator: " ").map { $0 == "STORE" ? store : String($0) }
            return try await SyncTool.run(words, environment: Self.me)
        }
        try await body(run, folder.path)
    }

    /// The names that `ls` prints.
    private func names(_ result: SyncTool.Result) -> [String] {
        result.lines.map { $0.split(separator: " ").last.map(String.init) ?? "" }
    }

    @Test func `is made, renamed, moved and deleted by its paths`() async throws {
        try await withStore { run, _ in
            #expect(try await run("files mkdir STORE A").out.hasPrefix("@"))
            #expect(try await run("files mkdir STORE A/B").lines.first?.hasSuffix("A/B") == true)
            #expect(try await run("files mkdir STORE /C").code == 0)
            #expect(try await run("files mv STORE A/B C").lines.first?.hasSuffix("C/B") == true)
            #expect(try await run("files mv STORE C/B C/D").lines.first?.hasSuffix("C/D") == true)
            #expect(names(try await run("files ls STORE -R")) == ["A/", "C/", "C/D/"])
            let changes = try await run("files changes STORE --since @5 C").lines
            #expect(changes.count == 2 && changes[1] == "@7")
            #expect(changes[0].hasPrefix("appeared  files/") && changes[0].hasSuffix("  C/D"))
            let all = try await run("files changes STORE --since @0 -o json").lines
            #expect(all.count == 4 && all[3] == #"{"position":7}"#)
            #expect(try await run("files changes STORE --since @70").code == 2)
            #expect(names(try await run("files ls STORE C")) == ["D/"])
            let gone = try await run("files rm STORE C")
            #expect(gone.code == 0 && gone.lines.first?.hasSuffix("  C") == true)
            #expect(names(try await run("files ls STORE -R")) == ["A/"])
            let line = try await run("files ls STORE -o json").lines.first ?? ""
            let entry = try JSONValue(parsing: Array(line.utf8))
            #expect(entry["path"] == "A" && entry["isFolder"] == true)
            #expect(entry["status"] == "created")
        }
    }

    @Test func `tells names apart that differ in their Unicode form alone`() async throws {
        try await withStore { run, _ in
            let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
            _ = try await run("files mkdir STORE \(composed)")
            // The only one of its name is found by another form of it.
            #expect(try await run("files mkdir STORE \(decomposed)/inner").code == 0)
            _ = try await run("files mkdir STORE \(decomposed)")
            for name in [decomposed, composed] {
                let path = try #require(try await run("files rm STORE \(name)").lines.first)
                #expect(Array(path.utf8).suffix(name.utf8.count) == Array(name.utf8)[...])
                let left = try await run("files ls STORE").out
                #expect(left.utf8.count == (name == decomposed ? left.utf8.count : 0))
            }
        }
    }

    @Test func `says what can't be, and changes nothing`() async throws {
        try await withStore { run, _ in
            _ = try await run("files mkdir STORE A")
            _ = try await run("files mkdir STORE A/B")
            for (line, words) in [
                ("files mkdir STORE A", "there already is"),
                ("files mv STORE A A/B", "can't lie in itself"),
                ("files mkdir STORE /", "names nothing"),
                ("files cp STORE A A/B", "can't be copied into itself"),
                ("files mkdir STORE A/B/..", "can't be a name"),
                ("files want STORE A", "names no contents"),
                ("files ls STORE --collection x", "no collection with a tree"),
            ] {
                let result = try await run(line)
                #expect(result.code == 2, "\(line)")
                #expect(result.err.contains(words), "\(line): \(result.err)")
            }
            for (line, name) in [
                ("files mkdir STORE X/Y", "X"), ("files mv STORE Z A", "Z"),
                ("files rm STORE Z", "Z"), ("files ls STORE Z", "Z"),
            ] {
                let result = try await run(line)
                #expect(result.code == 1, "\(line)")
                #expect(
                    result.err.contains("there is no \"\(name)\" in files"),
                    "\(line): \(result.err)")
            }
            #expect(names(try await run("files ls STORE -R")) == ["A/", "A/B/"])
        }
        try await withStore([CollectionModel("tasks")]) { run, _ in
            let result = try await run("files ls STORE")
            #expect(
                result.code == 2 && result.err.contains("no collection of the model has a tree"))
        }
    }

    @Test func `is what the server has after a sync, with its copies`() async throws {
        try await withServer { server, remote in try await copies(server, remote) }
    }

    @Test func `has contents that come and go, and are taken in`() async throws {
        try await withServer { server, remote in try await contents(server, remote) }
    }

    @Test func `has a file's content taken out of it, whatever else the file names`() async throws {
        try await withStore([Self.filesWithContents]) { run, folder in
            try Data("tea".utf8).write(to: URL(filePath: "\(folder)/a.txt"))
            #expect(try await run("files import STORE \(folder)/a.txt a.txt").code == 0)
            try await addPreview(to: "\(folder)/store")
            #expect(
                try await run("capsule STORE -o \(folder)/bug.capsule --contents").code == 0)

            for (number, place) in ["STORE", "\(folder)/bug.capsule"].enumerated() {
                let out = "\(folder)/out-\(number)"
                #expect(try await run("files export \(place) a.txt \(out)").code == 0)
                #expect(try String(contentsOfFile: out, encoding: .utf8) == "tea")
            }
        }
    }

    @Test func `has a content taken out of it under the longest name that a file can have`()
        async throws
    {
        try await withStore([Self.filesWithContents]) { run, folder in
            try Data("tea".utf8).write(to: URL(filePath: "\(folder)/a.txt"))
            #expect(try await run("files import STORE \(folder)/a.txt a.txt").code == 0)
            let out = "\(folder)/\(String(repeating: "n", count: 255))"

            let exported = try await run("files export STORE a.txt \(out)")

            #expect(exported.code == 0, "\(exported.err)")
            #expect(try String(contentsOfFile: out, encoding: .utf8) == "tea")
            let left = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(!left.contains { $0.hasSuffix(".part") })
        }
    }

    @Test func `has no content taken out of it that is damaged`() async throws {
        try await withStore([Self.filesWithContents]) { run, folder in
            try Data("tea".utf8).write(to: URL(filePath: "\(folder)/a.txt"))
            #expect(try await run("files import STORE \(folder)/a.txt a.txt").code == 0)
            let contents = ContentFiles(of: "\(folder)/store")
            let content = try contents.path(of: try #require(try contents.digests().first))
            let out = "\(folder)/out"

            for (text, words) in [("te", "it has 2 bytes, not 3"), ("ten", "it has another hash")] {
                try FileManager.default.removeItem(atPath: content)
                try Data(text.utf8).write(to: URL(filePath: content))
                let exported = try await run("files export STORE a.txt \(out)")
                #expect(exported.code == 1 && exported.out == "", "\(exported)")
                #expect(exported.err.contains("is damaged: \(words)"), "\(exported.err)")
                #expect(exported.err.contains("tidemark files import"), "\(exported.err)")
                let left = try FileManager.default.contentsOfDirectory(atPath: folder)
                #expect(!left.contains { $0 == "out" || $0.hasSuffix(".part") })
            }
        }
    }

    /// Has each file name another one by a field that comes before that of its content.
    private func addPreview(to store: String) async throws {
        let replica = try await Replica.open(existing: store)
        let preview = try replica.importText("a picture").encoded()
        let keys = try replica.keys(in: "files")
        try await replica.write { tx in
            for key in keys {
                _ = try tx.patch(key, Patch(set: [.init("preview", preview)]))
            }
        }
        try await replica.close()
    }

    @Test func `keeps both sides of a content that both changed, by an answer`() async throws {
        try await withServer { server, remote in try await bothSides(server, remote) }
    }

    @Test func `is told of a server that ignores preconditions`() async throws {
        var options = WebDAVOptions()
        options.ignoresPreconditions = true
        try await withServer(options) { _, remote in try await ignored(remote) }
    }

    private func ignored(_ remote: Remote) async throws {
        try await withStore([Self.filesWithContents], remote: remote) {
            (run, folder) async throws in
            #expect(try await run("sync STORE").out.contains("preconditions") == false)
            #expect(try await run("status STORE").out.contains("preconditions") == false)
            try Data("tea".utf8).write(to: URL(filePath: "\(folder)/new.txt"))
            #expect(try await run("files import STORE \(folder)/new.txt new.txt").code == 0)

            let synced = try await run("sync STORE")
            #expect(synced.code == 0 && synced.out.contains("the server ignores preconditions"))
            let status = try await run("status STORE").lines
            #expect(status.contains { $0.hasPrefix("server    ignores preconditions (found 2") })
            #expect(status.allSatisfy { $0.count <= 80 })
            #expect(try await run("status STORE -o json").out.contains("ignoresPreconditions"))
        }
    }

    /// A server with a file in a folder.
    private func withServer(
        _ options: WebDAVOptions = WebDAVOptions(),
        _ body: @escaping @Sendable (WebDAVServer, Remote) async throws -> Void
    ) async throws {
        let clock = ManualClock()
        clock.advance(
            by: .microseconds(Dependencies.live.now().rawValue - clock.now.rawValue))
        let server = WebDAVServer(WebDAVServerModel(options), clock: clock)
        server.makeFolder("P")
        server.put("P/a.txt", "tea")
        let listener = try await LoopbackServer.start(server)
        let remote = Remote.webdav(origin: listener.origin, home: "/")
        let result = await Task { try await body(server, remote) }.result
        await listener.stop()
        try result.get()
    }

    /// A damaged copy comes anew once it is removed, as what it lies in is wanted.
    private func expectAnewOnceRemoved(
        _ run: (String) async throws -> SyncTool.Result, _ folder: String
    ) async throws {
        let contents = ContentFiles(of: "\(folder)/store")
        let copy = try contents.path(of: try #require(try contents.digests().first))
        try FileManager.default.removeItem(atPath: copy)
        try Data("ten".utf8).write(to: URL(filePath: copy))
        let exported = try await run("files export STORE P/a.txt \(folder)/anew")
        #expect(exported.code == 1 && exported.err.contains("after: rm -f "), "\(exported.err)")
        #expect(!exported.err.contains("; tidemark"), "\(exported.err)")
        try FileManager.default.removeItem(atPath: copy)
        #expect(try await run("sync STORE").code == 0)
        #expect(try await run("files export STORE P/a.txt \(folder)/anew").code == 0)
    }

    private func contents(_ server: WebDAVServer, _ remote: Remote) async throws {
        try await withStore([Self.filesWithContents], remote: remote) {
            (run, folder) async throws in
            func states() async throws -> [String] {
                try await run("files ls STORE P").lines.map {
                    $0.split(separator: " ").joined(separator: " ")
                }
            }
            #expect(try await run("sync STORE").code == 0)
            #expect(try await states() == ["3 synced a.txt"])
            let early = try await run("files export STORE P/a.txt \(folder)/early")
            #expect(early.code == 1 && early.err.contains("is not here"))

            #expect(try await run("files want STORE P").lines.count == 1)
            #expect(try await run("files want STORE P").lines.isEmpty)
            #expect(try await states() == ["3 synced wanted a.txt"])
            #expect(try await run("sync STORE").code == 0)
            #expect(try await states() == ["3 synced here a.txt"])
            #expect(try await run("files export STORE P/a.txt \(folder)/out").code == 0)
            #expect(try String(contentsOfFile: "\(folder)/out", encoding: .utf8) == "tea")
            // What is there already is not written over.
            #expect(try await run("files export STORE P/a.txt \(folder)/out").code == 2)
            try await expectAnewOnceRemoved(run, folder)
            // From the store and from a capsule it is a file of the user's own.
            let capsule = "\(folder)/its.capsule"
            #expect(try await run("capsule STORE -o \(capsule) --contents").code == 0)
            #expect(try await run("files export \(capsule) P/a.txt \(folder)/other").code == 0)
            let nowhere = try await run("files export \(capsule) P/a.txt \(folder)/none/other")
            #expect(nowhere.code == 2 && nowhere.err.contains("/none/other can't be written: "))
            for name in ["out", "other"] {
                let file = "\(folder)/\(name)"
                let attributes = try FileManager.default.attributesOfItem(atPath: file)
                #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
                try Data("changed".utf8).write(to: URL(filePath: file))
            }
            let left = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(!left.contains { $0.hasSuffix(".part") })

            // It is wanted with the folder.
            #expect(try await run("files drop STORE P/a.txt").lines.isEmpty)
            let gone = try await run("files drop STORE P")
            #expect(gone.lines.count == 1 && gone.lines[0].hasSuffix("  P/a.txt"))
            #expect(try await run("files drop STORE P").lines.isEmpty)
            #expect(try await states() == ["3 synced a.txt"])
            #expect(try await run("sync STORE").code == 0)
            #expect(try await states() == ["3 synced a.txt"])

            try Data("green tea".utf8).write(to: URL(filePath: "\(folder)/b.txt"))
            #expect(try await run("files import STORE \(folder)/b.txt P/a.txt").code == 0)
            #expect(try await run("files import STORE \(folder)/b.txt P").code == 0)
            #expect(try await states() == ["9 updated own a.txt", "9 created own b.txt"])
            // A file that was not sent is not dropped.
            #expect(try await run("files drop STORE P").lines.isEmpty)
            #expect(try await run("sync STORE").code == 0)
            #expect(server.entry("P/a.txt")?.text == "green tea")
            #expect(server.entry("P/b.txt")?.text == "green tea")
            #expect(try await run("verify STORE --deep").code == 0)
        }
    }

    private func bothSides(_ server: WebDAVServer, _ remote: Remote) async throws {
        try await withStore([Self.filesWithContents], remote: remote) {
            (run, folder) async throws in
            #expect(try await run("sync STORE").code == 0)
            try Data("mine".utf8).write(to: URL(filePath: "\(folder)/mine"))
            #expect(try await run("files import STORE \(folder)/mine P/a.txt").code == 0)
            server.put("P/a.txt", "theirs")
            _ = try await run("sync STORE")
            let issues = try await run("issues STORE -o json")
            try #require(issues.code == 1 && issues.lines.count == 1)
            let issue = try JSONValue(parsing: Array(issues.lines[0].utf8))
            #expect(issue["answers"] == .array(["keepMine", "keepTheirs", "keepBoth"]))
            let name = try #require(issue["issue"]?.stringValue)

            let kept = try await run("answer STORE \(name) keepBoth")

            #expect(kept.code == 0 && kept.err == "")
            #expect(kept.lines.count == 1 && kept.lines[0].hasSuffix(" \(name) keepBoth"))
            #expect(try await run("issues STORE").code == 0)
            let twice = try await run("answer STORE \(name) keepBoth")
            #expect(twice.code == 1 && twice.err.contains("no open issue"))
            #expect(try await run("sync STORE").code == 0)
            let there = server.entries.filter { !$0.isFolder }
            #expect(there.count == 2 && server.entry("P/a.txt")?.text == "theirs")
            let other = try #require(there.first { $0.path != "P/a.txt" })
            #expect(other.path.hasPrefix("P/a (") && other.path.hasSuffix(").txt"))
            #expect(other.text == "mine")
            #expect(try await run("verify STORE --deep").code == 0)
        }
    }

    private func copies(_ server: WebDAVServer, _ remote: Remote) async throws {
        try await withStore(remote: remote) { (run, _) async throws in
            #expect(try await run("sync STORE").code == 0)
            #expect(names(try await run("files ls STORE -R")) == ["P/", "P/a.txt"])
            #expect(try await run("files cp STORE P Q").code == 0)
            #expect(try await run("files mv STORE P/a.txt P/b.txt").code == 0)
            #expect(names(try await run("files ls STORE -R")) == ["P/", "P/b.txt", "Q/"])
            #expect(try await run("sync STORE").code == 0)
            #expect(try await run("sync STORE").code == 0)
            let there = ["P", "P/b.txt", "Q", "Q/a.txt"]
            #expect(
                names(try await run("files ls STORE -R")) == ["P/", "P/b.txt", "Q/", "Q/a.txt"])
            #expect(server.entries.map(\.path).sorted() == there)
        }
    }
}
