// TreeChild.swift — a process that changes a tree with contents, syncs it and is killed meanwhile:
// `crash-child tree STORE SEED MICROSECONDS`. The store's remote says where the server is.
//
// Says `begin ID SHA256` before a file is taken in as the content of an entity, and `done ID
// SHA256` once that is acknowledged.

import Foundation
import TestSupport
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkStore

struct TreeChild {
    private let replica: Replica
    private let engine: SyncEngine
    private var random: SplitMix64
    private let file: String

    static func run(_ words: [String]) async throws {
        let arguments = ChildArguments(words, "SEED", "MICROSECONDS")
        let replica = try await Replica.open(existing: arguments.store)
        guard let remote = try replica.registration?.remote else {
            CrashChild.fail("the store names no remote")
        }
        let engine = try SyncEngine(replica, remote: remote) {
            .basic(user: "me", password: "secret")
        }
        var child = TreeChild(
            replica: replica, engine: engine,
            random: SplitMix64(seed: UInt64(arguments.numbers[0])),
            file: arguments.store + ".taken")
        CrashChild.die(after: arguments.numbers[1])
        while true { try await child.act() }
    }

    private mutating func act() async throws {
        let (files, folders) = try entities()
        switch random.below(12) {
        case 0, 1, 2: try take(nil, in: random.once(in: 3) ? nil : some(folders))
        case 3, 4: if let id = some(files) { try take(id, in: nil) }
        case 5 where folders.count < 6:
            try await replica.write { tx in
                let id = tx.makeID()
                _ = try tx.put(EntityKey("files", id), Self.document("folder", "d\(id)", nil))
            }
        case 6:
            guard let id = some(files), let folder = some(folders) else { return }
            let parent = JSONValue.string(folder).encoded()
            try await replica.write { tx in
                _ = try tx.patch(EntityKey("files", id), Patch(set: [.init("parent", parent)]))
            }
        case 7:
            guard let folder = some(folders) else { return }
            let isWanted = random.once(in: 2)
            try await replica.write { tx in
                _ = try tx.wantFiles(
                    of: EntityKey("files", folder), below: true, isWanted: isWanted)
            }
        case 8: if let id = some(files) { try await replica.dropFiles(of: EntityKey("files", id)) }
        case 9: _ = try await engine.transfer()
        default: _ = try await engine.sync()
        }
    }

    /// Takes a file in, as the content of an entity or of a new one.
    private mutating func take(_ known: String?, in parent: String?) throws {
        let bytes = random.bytes(
            random.once(in: 3) ? 200_000 + random.below(200_000) : 1 + random.below(500))
        try Data(bytes).write(to: URL(filePath: file))
        let id = known ?? replica.dependencies.makeID()
        let words = "\(id) \(Hexadecimal.encode(SHA256Digest.of(bytes)))"
        CrashChild.say("begin \(words)")
        let name = try replica.importFile(at: file)
        try replica.write { tx in
            let key = EntityKey("files", id)
            if known == nil {
                let document = Self.document("file", "f\(id)", parent, name)
                _ = try tx.put(key, document)
            } else {
                _ = try tx.patch(key, Patch(set: [.init("content", name.json.encoded())]))
            }
        }
        CrashChild.say("done \(words)")
    }

    private static func document(
        _ kind: String, _ name: String, _ parent: String?, _ content: ContentName? = nil
    ) -> [UInt8] {
        var object: JSONObject = ["kind": .string(kind), "name": .string(name)]
        if let parent { object["parent"] = .string(parent) }
        if let content { object["content"] = content.json }
        return JSONValue.object(object).encoded()
    }

    private mutating func some(_ ids: [String]) -> String? {
        ids.isEmpty ? nil : random.pick(ids)
    }

    private func entities() throws -> (files: [String], folders: [String]) {
        var (files, folders): ([String], [String]) = ([], [])
        try replica.read { context in
            try context.forEachDocument(in: "files") { key, document, _ in
                if JSON.value("kind", of: document)?.stringValue == "folder" {
                    folders.append(key.id)
                } else {
                    files.append(key.id)
                }
                return true
            }
        }
        return (files, folders)
    }
}
