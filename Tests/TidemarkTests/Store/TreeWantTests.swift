// TreeWantTests.swift — files that somebody wants with all that lies in a folder.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkStore
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

/// A store with a tree of files that the server has.
private final class WantedTree {
    static let model: SyncModel = {
        var files = CollectionModel(
            "files", references: [Reference("parent", to: "files")],
            tree: .init(parent: "parent", name: "name", kind: "kind"))
        files.contents = [.init("content", grace: .zero), .init("preview")]
        return SyncModel(name: "m", collections: [files, CollectionModel("notes")])
    }()

    let folder: SyncFolder
    let clock = ManualClock()
    private(set) var replica: Replica

    init() throws {
        folder = try SyncFolder()
        replica = try Replica.open(
            at: folder / "store", model: Self.model, dependencies: .seeded(0, clock: clock))
    }

    deinit {
        try? replica.close()
        folder.delete()
    }

    /// The server says that a file or a folder is there.
    func put(_ id: String, in parent: String?, isFolder: Bool = false) throws {
        var object: JSONObject = [
            "kind": .string(isFolder ? "folder" : "file"), "name": .string(id),
        ]
        if let parent { object["parent"] = .string(parent) }
        if !isFolder { object["content"] = .string("/\(id)") }
        let document = JSONValue.object(object).encoded()
        try replica.write { tx in
            _ = try tx.draft.append(
                Event(
                    .serverUpserted, recordedAt: tx.draft.now, key: EntityKey("files", id),
                    json: document))
        }
    }

    func move(_ id: String, to parent: String?) throws {
        try replica.write { tx in
            var patch = Patch()
            if let parent {
                patch.set = [.init("parent", Array("\"\(parent)\"".utf8))]
            } else {
                patch.unset = ["parent"]
            }
            _ = try tx.patch(EntityKey("files", id), patch)
        }
    }

    @discardableResult
    func want(
        _ id: String, _ field: String? = nil, by: String = "user", below: Bool = true,
        wanted isWanted: Bool = true
    ) throws -> Bool {
        try replica.write { tx in
            try tx.wantFiles(
                of: EntityKey("files", id), field, by: by, below: below, isWanted: isWanted) != nil
        }
    }

    /// The ids of those of which the content is wanted.
    var wanted: String {
        get throws {
            try replica.read { context in
                var ids: [String] = []
                try context.forEachDocument(in: "files") { key, _, _ in
                    let files = try context.files(of: key)
                    if files.contains(where: { $0.field == "content" && $0.isWanted }) {
                        ids.append(key.id)
                    }
                    return true
                }
                return ids.joined(separator: " ")
            }
        }
    }

    /// A file of the server's is here.
    func fetch(_ id: String) throws {
        try Data(id.utf8).write(to: URL(filePath: folder / "file"))
        let name = try replica.importFile(at: folder / "file")
        try replica.write { tx in
            _ = try tx.draft.append(
                Event(
                    .assetStored, recordedAt: tx.draft.now, key: EntityKey("files", id),
                    json: AssetStored(
                        digest: name.text, bytes: UInt64(id.utf8.count), .download,
                        source: "/\(id)"
                    ).encoded))
        }
    }

    /// A run that lists everything, without news.
    func run() throws {
        try replica.write { tx in
            var end = SyncFinished()
            end.outcome = .synced
            _ = try tx.draft.append(
                Event(.syncFinished, recordedAt: tx.draft.now, json: end.encoded))
        }
    }

    func sweep() throws -> Int {
        clock.advance(by: .seconds(1))
        return try replica.journal.sweepContents(at: clock.now).removed
    }

    func expectWhole() throws {
        #expect(try replica.journal.verify(.deep).findings == [])
    }
}

@Suite struct `files that are wanted with a folder` {
    private func tree() throws -> WantedTree {
        let tree = try WantedTree()
        try tree.put("P", in: nil, isFolder: true)
        try tree.put("S", in: "P", isFolder: true)
        try tree.put("Q", in: nil, isFolder: true)
        try tree.put("a", in: "P")
        try tree.put("b", in: "S")
        try tree.put("c", in: "Q")
        return tree
    }

    @Test func `are those that lie in it, near and far, now and later`() throws {
        let tree = try tree()
        #expect(try tree.want("P"))
        #expect(try !tree.want("P"))
        #expect(try tree.wanted == "a b")

        try tree.put("d", in: "S")
        try tree.move("c", to: "S")
        #expect(try tree.wanted == "a b c d")
        try tree.move("S", to: nil)
        #expect(try tree.wanted == "a")
        try tree.move("S", to: "Q")
        try tree.move("Q", to: "P")
        #expect(try tree.wanted == "a b c d")
        #expect(try tree.want("P", wanted: false))
        #expect(try tree.wanted == "")
        try tree.expectWhole()
    }

    @Test func `are wanted by several, of a field or of each`() throws {
        let tree = try tree()
        try tree.want("P", "preview")
        #expect(try tree.wanted == "")
        try tree.want("S", "content", by: "app")
        try tree.want("P", by: "offline")
        #expect(try tree.wanted == "a b")
        try tree.want("P", by: "offline", wanted: false)
        #expect(try tree.wanted == "b")
        // Only the folder itself, which names nothing.
        try tree.want("S", "content", by: "app", below: false)
        #expect(try tree.wanted == "")
        try tree.expectWhole()
    }

    @Test func `are wanted again where a deletion is given up`() throws {
        let tree = try tree()
        try tree.want("P")
        try tree.replica.write { tx in _ = try tx.delete(EntityKey("files", "S")) }
        #expect(try tree.wanted == "a")
        try tree.want("P", wanted: false)
        try tree.want("Q")
        try tree.replica.write { tx in try tx.discard(EntityKey("files", "S")) }
        #expect(try tree.wanted == "c")
        try tree.move("S", to: "Q")
        #expect(try tree.wanted == "b c")
        try tree.expectWhole()
    }

    @Test func `go after a whole list, once nobody wants them`() throws {
        let tree = try tree()
        try tree.want("P")
        for id in ["a", "b", "c"] { try tree.fetch(id) }
        try tree.move("a", to: "Q")
        #expect(try tree.sweep() == 0)
        try tree.run()
        // What was fetched by itself stays as long as it is named.
        #expect(try tree.sweep() == 1)
        #expect(try tree.replica.read { try $0.storedFiles().count } == 2)

        try tree.want("P", wanted: false)
        try tree.want("P")
        try tree.run()
        #expect(try tree.sweep() == 0)
        try tree.want("P", wanted: false)
        _ = try tree.replica.useFiles(of: EntityKey("files", "b"))
        try tree.run()
        #expect(try tree.sweep() == 0, "it was used since")
        try tree.expectWhole()
    }

    @Test func `follow another tree of the model`() throws {
        let tree = try tree()
        try tree.want("P")
        var model = WantedTree.model
        model.collections[0].references = [Reference("above", to: "files")]
        model.collections[0].tree?.parent = "above"
        try tree.replica.register(ModelRegistration(model: model))
        #expect(try tree.wanted == "")
        try tree.replica.register(ModelRegistration(model: WantedTree.model))
        #expect(try tree.wanted == "a b")
        try tree.expectWhole()
    }

    @Test func `are refused where nothing lies in anything`() throws {
        let tree = try tree()
        try tree.replica.write { tx in _ = try tx.put(EntityKey("notes", "n"), Array("{}".utf8)) }
        #expect(throws: TidemarkError.self) {
            try tree.replica.write { tx in
                _ = try tx.wantFiles(of: EntityKey("notes", "n"), below: true)
            }
        }
    }

    @Test(arguments: TestSeeds.named("TIDEMARK_WANT_SEEDS", else: 1...20))
    func `are those below one that is wanted, whatever was moved`(_ seed: UInt64) throws {
        var random = SplitMix64(seed: 0x3A17 + seed)
        let tree = try WantedTree()
        let folders = (0..<5).map { "p\($0)" }
        let files = (0..<6).map { "f\($0)" }
        // One at least is wanted, however many of the steps are refused.
        try tree.put("p0", in: nil, isFolder: true)
        try #require(try tree.want("p0"))
        var wanting: Set<String> = ["p0"]
        for _ in 0..<60 {
            let folder = random.pick(folders)
            let parent = random.once(in: 4) ? nil : folder
            // No folder lies in one with a higher number, so that there is no circle.
            let inner = folders.filter { (parent ?? "") < $0 }
            switch random.below(7) {
            case 0: try? tree.put(random.pick(files), in: parent)
            case 1: try? tree.move(random.pick(files), to: parent)
            case 2:
                guard !inner.isEmpty else { continue }
                let id = random.pick(inner)
                if random.once(in: 2) {
                    try? tree.put(id, in: parent, isFolder: true)
                } else {
                    try? tree.move(id, to: parent)
                }
            case 3:
                let id = random.pick(folders + files)
                try? tree.replica.write { tx in _ = try tx.delete(EntityKey("files", id)) }
            case 4:
                let id = random.pick(folders + files)
                try? tree.replica.write { tx in _ = try tx.discard(EntityKey("files", id)) }
            default:
                let isWanted = !wanting.contains(folder)
                guard (try? tree.want(folder, wanted: isWanted)) == true else { continue }
                if isWanted { wanting.insert(folder) } else { wanting.remove(folder) }
            }
        }
        let expected = try tree.replica.read { context in
            var ids: [String] = []
            for id in files {
                var above: [String] = []
                var next: String? = id
                while let id = next, above.count < 10 {
                    let document = try context.document(EntityKey("files", id)).map {
                        try JSONDocument(parsing: $0)
                    }
                    next = document?.value("parent")?.stringValue
                    if let next { above.append(next) }
                }
                let isThere = try context.document(EntityKey("files", id)) != nil
                if isThere, !wanting.isDisjoint(with: above) { ids.append(id) }
            }
            return ids.joined(separator: " ")
        }
        #expect(try tree.wanted == expected, "seed \(seed)")
        try tree.expectWhole()
    }
}
