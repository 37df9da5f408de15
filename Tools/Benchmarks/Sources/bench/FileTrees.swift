// FileTrees.swift — P23 to P26: trees of files on real WebDAV servers, beside rclone with as many
// requests at once, and a folder of very many files that is renamed.

import Foundation
import Tidemark
import TidemarkHTTP
@_spi(Measuring) import TidemarkInspect
import TidemarkSync

/// A server of files that one of the scripts in `Tools` starts.
private final class DAVServer {
    private let process = Process()
    /// Where its files, or its repository, lie.
    let folder: String
    /// Its address, without a slash at the end.
    let url: String

    init(_ script: String) throws {
        // This file is Tools/Benchmarks/Sources/bench/FileTrees.swift.
        let tools = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        process.executableURL = URL(filePath: "/usr/bin/env")
        // A program inherits the signals that a thread of the pool blocks: it could not be ended.
        let unblocked =
            "import os, signal, sys; signal.pthread_sigmask(signal.SIG_SETMASK, []); "
            + "os.execv(sys.argv[1], sys.argv[1:])"
        process.arguments = ["python3", "-c", unblocked, tools.appending(path: script).path, "0"]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        var said = ""
        var found: [String: String] = [:]
        while found.count < 2 {
            let bytes = pipe.fileHandleForReading.availableData
            guard !bytes.isEmpty else { fatalError("\(script) did not start: \(said)") }
            said += String(decoding: bytes, as: UTF8.self)
            for line in said.split(separator: "\n") {
                if line.hasPrefix("READY ") { found["url"] = String(line.dropFirst(6)) }
                if line.hasPrefix("Its "), let place = line.firstRange(of: " in ") {
                    found["folder"] = String(line[place.upperBound...])
                }
            }
        }
        (url, folder) = (found["url"] ?? "", found["folder"] ?? "")
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
    }

    var origin: String {
        let afterScheme = url.dropFirst("http://".count)
        return "http://" + afterScheme.prefix { $0 != "/" }
    }

    /// The path of a folder on it, with a slash at the end.
    func home(_ name: String) -> String { "\(url.dropFirst(origin.count))/\(name)/" }
}

/// Seconds of time, and of a processor's, of this process or of the programs that it ran.
private struct Effort {
    var time: [Double] = []
    var processor: [Double] = []

    mutating func note<R>(_ who: Who, _ body: () async throws -> R) async rethrows -> R {
        let before = Self.processor(who)
        let (passed, result) = try await seconds(body)
        time.append(passed)
        processor.append(Self.processor(who) - before)
        return result
    }

    /// The median of both, in words.
    var text: String { "\(median(time).millis), CPU \(median(processor).millis)" }

    private static func processor(_ who: Who) -> Double {
        var usage = rusage()
        getrusage(who.rawValue, &usage)
        return [usage.ru_utime, usage.ru_stime].reduce(0) {
            $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6
        }
    }

    enum Who: Int32 {
        case ours = 0
        case programs = -1
    }
}

/// Runs a program to its end.
private func command(_ arguments: String...) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = arguments
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { fatalError("\(arguments)") }
}

/// Folders in folders with small files, as many in each.
private struct FileTree {
    var files: Int
    /// Folders in the root, and in each of those.
    var outer: Int
    var inner: Int

    var folders: Int { outer + outer * inner }

    /// Writes it to a folder.
    func make(at path: String) throws {
        let places = (0..<outer).flatMap { one in
            ["d\(one)"] + (0..<inner).map { "d\(one)/e\($0)" }
        }
        for place in places {
            try FileManager.default.createDirectory(
                atPath: "\(path)/\(place)", withIntermediateDirectories: true)
        }
        for number in 0..<files {
            let text = String(repeating: "file \(number) ", count: 100).prefix(1000)
            try Data(text.utf8).write(
                to: URL(filePath: "\(path)/\(places[number % places.count])/f\(number).txt"))
        }
    }
}

extension Run {
    private static let parallel = 4

    private func files(
        _ server: DAVServer, _ folder: String, folderVersionsMove: Bool = false,
        hasContents: Bool = false
    ) throws -> (replica: Replica, engine: SyncEngine) {
        var files = CollectionModel(
            "files", references: [Reference("parent", to: "files")],
            tree: .init(
                parent: "parent", name: "name", kind: "kind", isByPath: true,
                folderVersionsMove: folderVersionsMove,
                content: hasContents ? "content" : nil))
        if hasContents { files.contents = [.init("content")] }
        let model = SyncModel(
            name: "bench", collections: [files],
            settings: SyncSettings(
                parallel: Self.parallel,
                budgets: .init(actions: Self.parallel, uploads: Self.parallel)))
        let remote = Remote.webdav(origin: server.origin, home: server.home(folder))
        let replica = try Replica.open(
            at: "\(directory)/files-\(UUID().uuidString)", model: model, remote: remote)
        let engine = try SyncEngine(replica, remote: remote, transport: URLSessionTransport()) {
            .basic(user: "bench", password: "bench")
        }
        return (replica, engine)
    }

    /// P23, P24: a tree that is listed for the first time, and one in which nothing changed.
    mutating func fileLists() async throws {
        let tree = FileTree(files: options.count(10_000), outer: 25, inner: 20)
        for (script, name, moves) in [
            ("wsgidav", "wsgidav", false), ("davsvn", "mod_dav_svn", true),
        ] {
            let server = try DAVServer(script)
            defer { server.stop() }
            let local = "\(directory)/\(script)-tree"
            try tree.make(at: "\(local)/tree")
            if moves {
                try command("svn", "import", "-q", "-m", "tree", local, "file://" + server.folder)
            } else {
                try command("cp", "-r", "\(local)/tree", server.folder + "/tree")
            }
            var (first, idle, peer) = (Effort(), Effort(), Effort())
            var requests = 0
            for _ in 0..<options.rounds {
                let (replica, engine) = try files(server, "tree", folderVersionsMove: moves)
                let outcome = try await first.note(.ours) { try await engine.sync() }
                guard outcome.failure == nil, outcome.counts.pulled == tree.files + tree.folders
                else { fatalError("\(outcome)") }
                let again = try await idle.note(.ours) { try await engine.sync() }
                guard again.failure == nil else { fatalError("\(again)") }
                requests = again.counts.requests
                await engine.stop()
                try await replica.close()
                try await peer.note(.programs) {
                    try command(
                        "rclone", "lsf", "-R", "--checkers", "\(Self.parallel)",
                        "--webdav-url", "\(server.url)/tree", "--webdav-vendor", "other",
                        ":webdav:")
                }
            }
            let what = "\(tree.files) files in \(tree.folders) folders, \(name)"
            let ratio = median(first.time) / median(peer.time)
            report.add(
                "P23", "first list of " + what, first.text, "rclone lsf -R " + peer.text,
                ratio.times, rounds: first.time, must: "≤ 1.3 ×", isMet: ratio <= 1.3)
            let again = median(idle.time) / median(peer.time)
            report.add(
                "P24", "nothing new in " + what, idle.text + ", \(requests) requests",
                "rclone lsf -R " + peer.text, again.times, rounds: idle.time,
                must: moves ? "1 request" : "≤ 1.1 ×", isMet: moves ? requests == 1 : again <= 1.1)
        }
    }

    /// P22: a large content up and down through replicas, beside curl.
    mutating func fileContent() async throws {
        let mebibytes = max(16, Int(256 * options.scale))
        let server = try DAVServer("wsgidav")
        defer { server.stop() }
        let file = "\(directory)/large"
        _ = FileManager.default.createFile(atPath: file, contents: nil)
        let handle = try FileHandle(forWritingTo: URL(filePath: file))
        var block = (0..<1 << 20).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 16) }
        for number in 0..<mebibytes {
            block[0] = UInt8(truncatingIfNeeded: number)
            try handle.write(contentsOf: block)
        }
        try handle.close()
        var (up, curlUp, down, curlDown) = (Effort(), Effort(), Effort(), Effort())
        var memory = 0
        for round in 0..<options.rounds {
            let folder = "\(server.folder)/\(round)"
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true)
            let (sender, sending) = try files(server, "\(round)", hasContents: true)
            try create("large.bin", at: file, "large", sender)
            let (idle, watch) = (Memory.anonymous(), MemoryWatch())
            watch.begin()
            let sent = try await up.note(.ours) { try await sending.sync() }
            guard sent.failure == nil, sent.counts.pushed == 1 else { fatalError("\(sent)") }
            try await curlUp.note(.programs) {
                try command("curl", "-sf", "-T", file, "\(server.url)/\(round)/curl.bin")
            }
            let (reader, reading) = try files(server, "\(round)", hasContents: true)
            _ = try await reading.sync()
            var key: EntityKey?
            try reader.read { context in
                try context.forEachDocument(in: "files") { found, _, _ in
                    if try context.path(of: found) == ["large.bin"] { key = found }
                    return true
                }
            }
            guard let key else { fatalError("not listed") }
            try await reader.write { tx in _ = try tx.wantFiles(of: key) }
            let fetched = try await down.note(.ours) { try await reading.transfer() }
            guard fetched.stored == 1 else { fatalError("\(fetched)") }
            memory = max(memory, watch.end() - idle)
            try await curlDown.note(.programs) {
                try command(
                    "curl", "-sf", "-o", "\(directory)/curl", "\(server.url)/\(round)/curl.bin")
            }
            for (replica, engine) in [(sender, sending), (reader, reading)] {
                await engine.stop()
                try await replica.close()
            }
            for path in try FileManager.default.contentsOfDirectory(atPath: directory)
            where path.hasPrefix("files-") {
                try FileManager.default.removeItem(atPath: "\(directory)/\(path)")
            }
            try FileManager.default.removeItem(atPath: folder)
        }
        for (what, ours, peer) in [("up", up, curlUp), ("down", down, curlDown)] {
            let ratio = median(ours.time) / median(peer.time)
            report.add(
                "P22", "a content of \(mebibytes) MiB \(what), synced, wsgidav",
                ours.text + ", \(memory >> 20) MiB", "curl " + peer.text, ratio.times,
                rounds: ours.time, must: "≤ 2 ×, ≤ 64 MiB",
                isMet: ratio <= 2 && memory <= 64 << 20)
        }
    }

    /// Makes a file of what lies at a path.
    private func create(
        _ name: String, at path: String, _ id: String, _ replica: Replica
    ) throws {
        let content = Array(try JSONEncoder().encode(try replica.importFile(at: path)))
        try replica.write { tx in
            _ = try tx.create(
                EntityKey("files", id),
                Array(#"{"name":"\#(name)","kind":"file","content":"#.utf8) + content
                    + Array("}".utf8))
        }
    }

    /// P25: small files that are sent.
    mutating func fileUploads() async throws {
        let count = max(40, Int(400 * options.scale))
        let server = try DAVServer("wsgidav")
        defer { server.stop() }
        let local = "\(directory)/uploads"
        try FileManager.default.createDirectory(
            atPath: local, withIntermediateDirectories: true)
        for number in 0..<count {
            let text = String(repeating: "\(number) ", count: 2000).prefix(4096)
            try Data(text.utf8).write(to: URL(filePath: "\(local)/f\(number).txt"))
        }
        var (ours, peer) = (Effort(), Effort())
        for round in 0..<options.rounds {
            for name in ["ours", "theirs"] {
                try FileManager.default.createDirectory(
                    atPath: "\(server.folder)/\(name)\(round)", withIntermediateDirectories: true)
            }
            let (replica, engine) = try files(server, "ours\(round)", hasContents: true)
            for number in 0..<count {
                try create("f\(number).txt", at: "\(local)/f\(number).txt", "f\(number)", replica)
            }
            let outcome = try await ours.note(.ours) { try await engine.sync() }
            guard outcome.failure == nil, outcome.counts.pushed == count else {
                fatalError("\(outcome)")
            }
            await engine.stop()
            try await replica.close()
            try await peer.note(.programs) {
                try command(
                    "rclone", "copy", "--transfers", "\(Self.parallel)", "--checkers",
                    "\(Self.parallel)", "--webdav-url", "\(server.url)/theirs\(round)",
                    "--webdav-vendor", "other", local, ":webdav:")
            }
        }
        let ratio = median(ours.time) / median(peer.time)
        report.add(
            "P25", "\(count) files of 4 KiB up, wsgidav", ours.text, "rclone copy " + peer.text,
            ratio.times, rounds: ours.time, must: "≤ 1.2 ×", isMet: ratio <= 1.2)
    }

    /// P26: a folder with very many files in it is renamed, and one of the files.
    mutating func folderRename() throws {
        let count = options.count(100_000)
        let replica = try Replica.open(at: "\(directory)/folder", model: Self.tree)
        try replica.write { tx in
            _ = try tx.create(
                EntityKey("files", "D"), Array(#"{"name":"D","kind":"folder"}"#.utf8))
        }
        for start in stride(from: 0, to: count, by: 1000) {
            try replica.write { tx in
                for number in start..<start + 1000 {
                    _ = try tx.create(
                        EntityKey("files", "f\(number)"),
                        Array(#"{"parent":"D","name":"f\#(number)","kind":"file"}"#.utf8))
                }
            }
        }
        var times: [String: [Double]] = [:]
        for number in 0..<max(50, Int(400 * options.scale)) {
            for id in ["D", "f\(count / 2)"] {
                let name = Array("\"\(id) \(number)\"".utf8)
                times[id, default: []].append(
                    try seconds {
                        try replica.write { tx in
                            _ = try tx.patch(
                                EntityKey("files", id), Patch(set: [.init("name", name)]))
                        }
                    }.0)
            }
        }
        try replica.close()
        let (folder, file) = (median(times["D"] ?? []), median(times["f\(count / 2)"] ?? []))
        let ratio = folder / file
        report.add(
            "P26", "a folder of \(count) files renamed", folder.micros, "a file " + file.micros,
            ratio.times, rounds: times["D"] ?? [], must: "≤ 1.1 ×", isMet: ratio <= 1.1)
    }

    /// P12: what to push next of 10,000 changes of a tree: new names of files that the server has,
    /// and new files in a folder that it has not, which all wait for that one.
    mutating func treeOutbox() throws {
        let count = options.count(10_000)
        for isNew in [false, true] {
            let path = "\(directory)/tree-outbox"
            let replica = try Replica.open(at: path, model: Self.tree)
            let folders = (0..<100).map { number in
                ("d\(number)", Array(#"{"name":"d\#(number)","kind":"folder"}"#.utf8))
            }
            let files = (0..<count).map { number in
                let folder = isNew ? 0 : number % 100
                let document = #"{"parent":"d\#(folder)","name":"f\#(number)","kind":"file"}"#
                return ("f\(number)", Array(document.utf8))
            }
            if isNew {
                try replica.write { tx in
                    for (id, document) in folders.prefix(1) + files {
                        _ = try tx.create(EntityKey("files", id), document)
                    }
                }
            } else {
                try Measuring.pull(folders + files, of: "files", into: replica)
                try replica.write { tx in
                    for number in 0..<count {
                        let name = Array("\"g\(number)\"".utf8)
                        _ = try tx.patch(
                            EntityKey("files", "f\(number)"), Patch(set: [.init("name", name)]))
                    }
                }
            }
            var found = 0
            let times = try (0..<50).map { _ in
                try seconds { found = try Measuring.nextToPush(replica).found }.0
            }
            try replica.close()
            try FileManager.default.removeItem(atPath: path)
            report.add(
                "P12",
                isNew
                    ? "the next \(found) of \(count) files in a new folder"
                    : "the next \(found) of \(count) new names in a tree of files",
                median(times).millis, "", "", rounds: times, must: "≤ 1 ms",
                isMet: median(times) <= 0.001)
        }
    }

    private static let tree = SyncModel(
        name: "bench",
        collections: [
            CollectionModel(
                "files", references: [Reference("parent", to: "files")],
                tree: .init(parent: "parent", name: "name", kind: "kind"))
        ])
}
