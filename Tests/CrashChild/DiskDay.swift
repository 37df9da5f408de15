// DiskDay.swift — a day of a device with a tree of files, and what has to hold after it, whatever
// call of it failed.

import Foundation
import TestSupport
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkInspect
import TidemarkStore
import TidemarkTesting
import TidemarkViews

/// A device, the server of its files, and what the device said of them.
final class DiskDay {
    private static let model: SyncModel = {
        var files = CollectionModel(
            "files", references: [Reference("parent", to: "files")],
            tree: .init(
                parent: "parent", name: "name", kind: "kind", isByPath: true, serverID: "fileId",
                content: "content"))
        files.contents = [.init("content", grace: .zero)]
        return SyncModel(
            name: "files", collections: [files],
            settings: SyncSettings(
                budgets: .init(actions: 4, downloads: 2, uploads: 2, partBytes: 16 << 10)))
    }()
    private static let remote = Remote.webdav(origin: "http://files.test", home: "/")
    private static let large = Array(repeating: UInt8(ascii: "l"), count: 40_000)

    /// The files that are taken in, by their names; of one name another content later.
    private static let taken = [
        "made": large + [1], "edited": Array("by us".utf8), "made again": large + [2],
        "late": Array("late".utf8),
    ]

    private let folder: String
    private let clock = ManualClock()
    private let server: WebDAVServer
    private var replica: Replica?
    private var engine: SyncEngine?
    private var openings: UInt64 = 0
    /// The contents of files by their names: what was acknowledged last, and what was begun after
    /// that.
    private var acknowledged: [String: [UInt8]] = [:]
    private var begun: [String: [[UInt8]]] = [:]
    private var found: [String] = []

    private var store: String { folder + "/store" }

    /// A device that has seen the server, and one that other clients and its user have changed
    /// since.
    init(in folder: String) async throws {
        self.folder = folder
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        var options = WebDAVOptions()
        options.hasFileIDs = true
        server = WebDAVServer(WebDAVServerModel(options), clock: clock)
        server.put("P/a.txt", "tea")
        server.put("P/large", Self.large)
        for name in ["dropped", "edited", "old", "gone"] { server.put("R/\(name)", name) }
        try await Replica.open(
            at: store, model: Self.model, remote: Self.remote,
            dependencies: .seeded(0, clock: clock)
        ).close()
        let (replica, engine) = try open()
        _ = try await engine.sync()
        let (folder, dropped) = (try key("P"), try key("R/dropped"))
        try await replica.write { tx in
            try tx.wantFiles(of: folder, below: true)
            try tx.wantFiles(of: dropped)
        }
        _ = try await engine.transfer()
        // Only calls of the library are to fail.
        for (name, bytes) in Self.taken { try Data(bytes).write(to: URL(filePath: path(name))) }
        server.put("P/a.txt", "green tea")
        server.put("P/new", Self.large + [0])
        server.delete("R/gone")
        clock.advance(by: .seconds(60))
    }

    private func path(_ name: String) -> String { folder + "/" + name }

    private func open() throws -> (Replica, SyncEngine) {
        openings += 1
        let replica = try Replica.open(
            existing: store, dependencies: .seeded(openings, clock: clock))
        let engine = try SyncEngine(replica, remote: Self.remote, transport: server) {
            .basic(user: "me", password: "secret")
        }
        (self.replica, self.engine) = (replica, engine)
        return (replica, engine)
    }

    private func close() throws {
        let open = replica
        (replica, engine) = (nil, nil)
        try open?.close()
    }

    func end() throws {
        try? close()
        try FileManager.default.removeItem(atPath: folder)
    }

    // MARK: The day

    /// All that the user and the engine do; a step that fails is left out.
    func pass() async {
        await attempt { day, _, _ in try await day.take("made") }
        await attempt { day, _, _ in try await day.take("edited") }
        await attempt { _, _, engine in _ = try await engine.sync() }
        await attempt { _, _, engine in _ = try await engine.transfer() }
        await attempt { day, replica, _ in
            try await replica.dropFiles(of: day.key("R/dropped"))
        }
        await attempt { day, replica, _ in
            let old = try day.key("R/old")
            try await replica.write { tx in _ = try tx.delete(old) }
        }
        await attempt { day, replica, _ in
            let large = try day.key("P/large")
            let name = Patch(set: [.init("name", Array(#""larger""#.utf8))])
            try await replica.write { tx in _ = try tx.patch(large, name) }
        }
        await attempt { day, _, _ in try await day.take("made", from: "made again") }
        await attempt { _, _, engine in _ = try await engine.sync() }
        await attempt { _, _, engine in _ = try await engine.transfer() }
        // Sweeps.
        await attempt { day, _, _ in try day.close() }
        await attempt { day, _, _ in try await day.take("late") }
        await attempt { _, _, engine in _ = try await engine.sync() }
    }

    /// Tries a step, and once more where the store has to be opened anew.
    private func attempt(
        _ step: (DiskDay, Replica, SyncEngine) async throws -> Void
    ) async {
        for _ in 0..<2 {
            do {
                let (replica, engine) =
                    if let replica, let engine { (replica, engine) } else { try open() }
                return try await step(self, replica, engine)
            } catch let error as TidemarkError {
                guard error.code == .poisoned else { return }
                try? close()
            } catch { return found.append("an error of another kind: \(error)") }
        }
    }

    /// Takes a file in, as the content of an entity by its name, or of a new one.
    private func take(_ name: String, from source: String? = nil) async throws {
        guard let replica, let bytes = Self.taken[source ?? name] else { return }
        begun[name, default: []].append(bytes)
        let content = try await replica.importFile(at: path(source ?? name)).json
        let known = try keys().first { $0.path.split(separator: "/").last ?? "" == name }?.key
        try await replica.write { tx in
            if let known {
                _ = try tx.patch(known, Patch(set: [.init("content", content.encoded())]))
            } else {
                let document: JSONObject = [
                    "kind": "file", "name": .string(name), "content": content,
                ]
                let key = EntityKey("files", tx.makeID())
                _ = try tx.create(key, JSONValue.object(document).encoded())
            }
        }
        (acknowledged[name], begun[name]) = (bytes, [])
    }

    // MARK: What is there

    private func key(_ path: String) throws -> EntityKey {
        guard let key = try keys().first(where: { $0.path == path })?.key else {
            throw TidemarkError(.notFound, "there is no \(path)")
        }
        return key
    }

    private func keys() throws -> [(path: String, key: EntityKey)] {
        try replica?.read { context in
            var keys: [(path: String, key: EntityKey)] = []
            try context.forEachDocument(in: "files") { key, _, _ in
                keys.append((try context.path(of: key)?.joined(separator: "/") ?? "", key))
                return true
            }
            return keys.sorted { $0.path < $1.path }
        } ?? []
    }

    // MARK: What has to hold

    /// What is wrong with the store as the next process finds it, and after some runs of that.
    func problems() async -> [String] {
        do {
            try? close()
            _ = try open()
            try checkFiles("at once")
            try checkAcknowledged()
            for _ in 0..<8 {
                // What was put off is due.
                clock.advance(by: .seconds(2 * 86_400))
                let outcome = try await engine?.sync()
                _ = try await engine?.transfer()
                if outcome?.isSynced == true, outcome?.counts.hasNews == false { break }
            }
            // What a run left to be done after it is done.
            try close()
            _ = try open()
            try checkFiles("in the end")
            try checkServer()
            try close()
        } catch { found.append("\(error)") }
        return found
    }

    /// Files and log tell the same.
    private func checkFiles(_ moment: String) throws {
        guard let replica else { return }
        let files = ContentFiles(of: store)
        var stored: [String] = []
        var parts: Set<String> = []
        try replica.journal.read { views in
            try views.forEachContent { if $1.stored != nil { stored.append($0) } }
            parts = try views.partsInUse()
        }
        let there = try files.digests()
        for digest in Set(there).symmetricDifference(stored).sorted() {
            let isThere = there.contains(digest)
            found.append("\(digest) is \(isThere ? "no row's" : "not there") \(moment)")
        }
        let others = try Set(files.partNames()).subtracting(parts)
        if !others.isEmpty { found.append("parts that nobody goes on with: \(others.sorted())") }
        for digest in stored
        where try there.contains(digest) && files.content(of: digest).digest != digest {
            found.append("\(digest) has other bytes")
        }
        let findings = try replica.journal.verify(.deep).findings
        if !findings.isEmpty { found.append("\(findings)") }
    }

    /// What was acknowledged is here, or there.
    private func checkAcknowledged() throws {
        let known = try keys()
        for (name, bytes) in acknowledged.sorted(by: { $0.key < $1.key }) {
            let one = known.first { $0.path.split(separator: "/").last ?? "" == name }
            guard let one else {
                found.append("\(name) is lost")
                continue
            }
            let file = try replica?.read { try $0.files(of: one.key).first }
            let here = try file?.stored?.path.map {
                Array(try Data(contentsOf: URL(filePath: $0)))
            }
            let there = server.entry(one.path)?.bytes
            let allowed = [bytes] + (begun[name] ?? [])
            if !allowed.contains(where: { $0 == here || $0 == there }) {
                found.append("the content of \(name) is lost")
            }
        }
    }

    /// The server has what is here, and what was acknowledged.
    private func checkServer() throws {
        guard let replica else { return }
        let known = try keys()
        if known.map(\.path) != server.entries.map(\.path).sorted() {
            found.append("here \(known.map(\.path)), there \(server.entries.map(\.path))")
        }
        let pending = try replica.read { try $0.outboxCount() }
        if pending > 0 { found.append("\(pending) changes wait: \(try replica.issues())") }
        for (path, key) in known {
            guard let there = server.entry(path), !there.isFolder else { continue }
            let file = try replica.read { try $0.files(of: key).first }
            let here = try file?.stored?.path.map {
                Array(try Data(contentsOf: URL(filePath: $0)))
            }
            if here != there.bytes, here != nil || path.hasPrefix("P/") {
                found.append("\(path) has other bytes here, or none")
            }
            guard let name = path.split(separator: "/").last.map(String.init),
                let last = acknowledged[name]
            else { continue }
            let allowed = [last] + (begun[name] ?? [])
            if !allowed.contains(there.bytes) { found.append("\(path) has other bytes there") }
        }
    }
}
