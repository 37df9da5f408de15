// DavClientTests.swift — the server in memory, used by programs that know nothing of it: curl and
// rclone.

import Foundation
import TestSupport
import Testing
import TidemarkTesting

@Suite struct `foreign clients of the WebDAV server in memory` {
    /// A server on a socket, and a folder for files.
    private func withServer(
        _ options: WebDAVOptions = WebDAVOptions(),
        _ body: (WebDAVServer, String, URL) async throws -> Void
    ) async throws {
        let server = WebDAVServer(
            WebDAVServerModel(options, home: "/dav"), clock: ManualClock())
        let loopback = try await LoopbackServer.start(server)
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "tidemark-webdav-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        do {
            try await body(server, "\(loopback.origin)/dav", folder)
        } catch {
            await loopback.stop()
            throw error
        }
        await loopback.stop()
    }

    private func curl(_ arguments: String...) async throws -> String {
        let usual = ["--silent", "--noproxy", "*", "--max-time", "60"]
        let run = try await Command.running("curl", usual + arguments)
        guard run.code == 0 else { throw Command.Failure(description: run.complaints) }
        return run.text
    }

    @Test(.enabled(if: TestRun.isWhole, "it starts a program many times"))
    func `curl makes, lists, writes, reads, moves, copies and deletes`() async throws {
        try await withServer { server, url, folder in
            let file = folder.appending(path: "file")
            try Data("hello world".utf8).write(to: file)
            let code = "%{http_code}"

            #expect(try await curl("-X", "MKCOL", "-w", code, "\(url)/d") == "201")
            #expect(try await curl("-T", file.path, "-w", code, "\(url)/d/f") == "201")
            #expect(try await curl("-T", file.path, "-w", code, "\(url)/d/f") == "204")
            #expect(try await curl("\(url)/d/f") == "hello world")
            #expect(try await curl("-r", "6-", "\(url)/d/f") == "world")
            #expect(try await curl("-I", "\(url)/d/f").contains("200"))
            let list = try await curl("-X", "PROPFIND", "-H", "Depth: 1", "\(url)/d/")
            #expect(list.contains("<d:getcontentlength>11</d:getcontentlength>"))
            let to = "Destination: \(url)"
            #expect(
                try await curl("-X", "COPY", "-H", "\(to)/d/g", "-w", code, "\(url)/d/f") == "201")
            #expect(
                try await curl("-X", "MOVE", "-H", "\(to)/e", "-w", code, "\(url)/d") == "201")
            #expect(try await curl("-X", "DELETE", "-w", code, "\(url)/e/f") == "204")
            #expect(try await curl("-X", "OPTIONS", "-i", "\(url)/").contains("DAV: 1"))
            #expect(server.entries.map(\.path) == ["e", "e/g"])
            #expect(server.entry("e/g")?.text == "hello world")
        }
    }

    @Test(
        .enabled(
            if: TestRun.isWhole && Rclone.isThere, "takes long, or there is no rclone"),
        arguments: [("other", WebDAVOptions()), ("owncloud", WebDAVOptions.ownCloud)])
    func `rclone copies, lists, moves and checks`(
        _ vendor: String, _ options: WebDAVOptions
    ) async throws {
        try await withServer(options) { server, url, folder in
            let rclone = Rclone(url: url, vendor: vendor)
            let source = folder.appending(path: "source").path
            var names: [String] = []
            for (index, name) in ["a", "b c/é", "b c/d%20/#?", "b c/d%20/e\u{301}"].enumerated() {
                let place = URL(filePath: "\(source)/\(name)")
                try FileManager.default.createDirectory(
                    at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(repeating: UInt8(index), count: index * 100_000).write(to: place)
                names.append(name)
            }

            try await rclone.run("copy", source, "dav:top")
            try await rclone.run("check", "--download", source, "dav:top")
            let list = try await rclone.run("lsf", "-R", "--files-only", "dav:top")
            try await rclone.run("moveto", "dav:top/b c", "dav:moved")
            try await rclone.run("copyto", "dav:top/a", "dav:moved/a2")
            try await rclone.run("deletefile", "dav:top/a")
            let back = folder.appending(path: "back").path
            try await rclone.run("copy", "dav:moved", back)

            #expect(list.split(separator: "\n").map(String.init).sorted() == names.sorted())
            #expect(
                server.entries.filter { !$0.isFolder }.map(\.path).sorted()
                    == ["moved/a2", "moved/d%20/#?", "moved/d%20/e\u{301}", "moved/é"].sorted())
            for name in ["d%20/#?", "d%20/e\u{301}", "é"] {
                let sent = try Data(contentsOf: URL(filePath: "\(source)/b c/\(name)"))
                #expect(server.entry("moved/\(name)")?.bytes == Array(sent))
                #expect(try Data(contentsOf: URL(filePath: "\(back)/\(name)")) == sent)
            }
        }
    }
}

/// The program rclone, for one server.
private struct Rclone {
    static let isThere = (try? Command.run("rclone", ["version"]))?.code == 0

    let url: String
    let vendor: String

    @discardableResult
    func run(_ arguments: String...) async throws -> String {
        let run = try await Command.running(
            "rclone", ["--retries", "1", "--low-level-retries", "1"] + arguments,
            environment: [
                "RCLONE_CONFIG": "/dev/null", "RCLONE_CONFIG_DAV_TYPE": "webdav",
                "RCLONE_CONFIG_DAV_URL": url, "RCLONE_CONFIG_DAV_VENDOR": vendor,
            ])
        guard run.code == 0 else {
            throw Command.Failure(description: "rclone \(arguments): \(run.complaints)")
        }
        return run.text
    }
}
