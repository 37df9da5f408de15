// ChangesTests.swift — what came, changed and went in a tree since a position.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkLog
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

/// A store with a tree, and one without.
final class ChangedTree {
    static let files = CollectionModel(
        "files", references: [Reference("parent", to: "files")],
        tree: .init(parent: "parent", name: "name", kind: "kind"))
    static let model = SyncModel(name: "m", collections: [files, CollectionModel("notes")])

    let folder: SyncFolder
    let replica: Replica
    var path: String { folder / "store" }

    init() throws {
        folder = try SyncFolder()
        replica = try Replica.open(
            at: folder / "store", model: Self.model, dependencies: .seeded(0, clock: ManualClock()))
    }

    deinit {
        try? replica.close()
        folder.delete()
    }

    var position: Position {
        get throws { try replica.read { $0.position } }
    }

    static func document(
        _ name: String, in parent: String?, isFolder: Bool = false
    ) -> [UInt8] {
        var object: JSONObject = [
            "kind": .string(isFolder ? "folder" : "file"), "name": .string(name),
        ]
        if let parent { object["parent"] = .string(parent) }
        return JSONValue.object(object).encoded()
    }

    func make(_ id: String, in parent: String? = nil, isFolder: Bool = false) throws {
        try replica.write { tx in
            try tx.create(
                EntityKey("files", id),
                ChangedTree.document(id, in: parent, isFolder: isFolder))
        }
    }

    func move(_ id: String, to parent: String) throws {
        try replica.write { tx in
            try tx.patch(
                EntityKey("files", id), Patch(set: [.init("parent", Array("\"\(parent)\"".utf8))]))
        }
    }

    func rename(_ id: String, _ name: String) throws {
        try replica.write { tx in
            try tx.patch(
                EntityKey("files", id), Patch(set: [.init("name", Array("\"\(name)\"".utf8))]))
        }
    }

    func delete(_ id: String) throws {
        try replica.write { tx in _ = try tx.delete(EntityKey("files", id)) }
    }

    /// What the server says of one; nil for that it is gone.
    func serverSays(_ id: String, _ document: [UInt8]?) throws {
        try replica.write { tx in
            _ = try tx.draft.append(
                Event(
                    document == nil ? .serverDeleted : .serverUpserted, recordedAt: tx.draft.now,
                    key: EntityKey("files", id), json: document ?? Array("{}".utf8)))
        }
    }

    /// `+` what appeared, `~` what changed, `-` what went, by the ids.
    func changes(since position: Position, in scope: Replica.Changes.Scope = .all) throws -> String
    {
        try Self.words(try replica.changes(since: position, in: scope))
    }

    static func words(_ changes: Replica.Changes) throws -> String {
        (changes.appeared.map { "+\($0.id)" } + changes.changed.map { "~\($0.id)" }
            + changes.disappeared.map { "-\($0.id)" }).joined(separator: " ")
    }
}

@Suite struct `what changed in a tree since a position` {
    private static func folder(_ id: String) -> Replica.Changes.Scope {
        .folder(EntityKey("files", id))
    }

    @Test func `is told by folder, of moves as of what came or went`() throws {
        let tree = try ChangedTree()
        for id in ["A", "B"] { try tree.make(id, isFolder: true) }
        for id in ["x", "y", "z"] { try tree.make(id, in: "A") }
        let anchor = try tree.position
        #expect(try tree.changes(since: anchor) == "")

        try tree.move("x", to: "B")
        try tree.rename("y", "why")
        try tree.delete("z")
        try tree.make("new", in: "A")

        #expect(try tree.changes(since: anchor) == "+new ~x ~y -z")
        #expect(try tree.changes(since: anchor, in: Self.folder("A")) == "+new ~y -x -z")
        #expect(try tree.changes(since: anchor, in: Self.folder("B")) == "+x")
        #expect(try tree.changes(since: anchor, in: .root("files")) == "")
        #expect(try tree.changes(since: .start, in: .root("files")) == "+A +B")
        #expect(try tree.changes(since: .start) == "+A +B +new +x +y")
        let end = try tree.replica.changes(since: anchor).position
        #expect(try end == tree.position)
    }

    @Test func `is told of what lies in a folder that was deleted, and of what comes back`() throws
    {
        let tree = try ChangedTree()
        try tree.serverSays("A", ChangedTree.document("A", in: nil, isFolder: true))
        try tree.serverSays("B", ChangedTree.document("B", in: "A", isFolder: true))
        try tree.serverSays("x", ChangedTree.document("x", in: "B"))
        let before = try tree.position
        try tree.delete("A")
        let between = try tree.position

        #expect(try tree.changes(since: before) == "-A -B -x")
        #expect(try tree.changes(since: before, in: Self.folder("B")) == "-x")

        try tree.replica.write { tx in try tx.discard(EntityKey("files", "A")) }

        #expect(try tree.changes(since: between) == "+A +B +x")
        #expect(try tree.changes(since: between, in: Self.folder("B")) == "+x")
        #expect(try tree.changes(since: before) == "~A ~B ~x")
    }

    @Test func `is told to a process that only reads`() throws {
        let tree = try ChangedTree()
        try tree.make("A", isFolder: true)
        let reader = try Replica.open(reading: tree.path)
        defer { try? reader.close() }
        let anchor = try reader.read { $0.position }

        try tree.make("x", in: "A")

        let changes = try reader.changes(since: anchor, in: Self.folder("A"))
        #expect(try ChangedTree.words(changes) == "+x")
        let error = #expect(throws: TidemarkError.self) {
            try reader.write { tx in _ = try tx.delete(EntityKey("files", "x")) }
        }
        #expect(error?.code == .readOnly)
    }

    @Test func `has expired where events were dropped, or the tree is another one`() throws {
        let tree = try ChangedTree()
        for number in 0..<40 {
            try tree.serverSays("f\(number)", ChangedTree.document("f\(number)", in: nil))
        }
        let anchor = try tree.position
        for id in ["late", "later"] { try tree.make(id) }
        try tree.replica.journal.seal(keeping: 1)
        let folder = tree.folder
        try tree.replica.journal.truncate(
            through: anchor, at: Timestamp(rawValue: 1), in: { folder / "scratch" })

        #expect(try tree.changes(since: anchor) == "+late +later")
        let error = #expect(throws: TidemarkError.self) {
            try tree.changes(since: Position(anchor.rawValue - 1))
        }
        #expect(error?.code == .anchorExpired && error?.message.contains("\(anchor)") == true)

        var model = ChangedTree.model
        model.collections[0].tree?.kind = nil
        let before = try tree.position
        try tree.replica.register(ModelRegistration(model: model))
        #expect(throws: TidemarkError.self) { try tree.changes(since: before) }
        #expect(try tree.changes(since: tree.position) == "")
    }

    @Test func `is told of what is in no tree, too, in each answer from the last one's position`()
        throws
    {
        let tree = try ChangedTree()
        let key = EntityKey("notes", "n")
        func says(_ kind: EventKind, _ text: String) throws {
            try tree.replica.write { tx in
                _ = try tx.draft.append(
                    Event(kind, recordedAt: tx.draft.now, key: key, json: Array(text.utf8)))
            }
        }
        let notes = Replica.Changes.Scope.collection("notes")
        for number in 0..<40 {
            try tree.serverSays("f\(number)", ChangedTree.document("f\(number)", in: nil))
        }
        let start = try tree.position
        try tree.serverSays("A", ChangedTree.document("A", in: nil, isFolder: true))
        try says(.serverUpserted, #"{"text":"a"}"#)
        let first = try tree.replica.changes(since: start)
        #expect(try ChangedTree.words(first) == "+A ~n")
        #expect(try tree.changes(since: start, in: notes) == "~n")

        try says(.serverDeleted, "{}")
        let second = try tree.replica.changes(since: first.position)
        #expect(try ChangedTree.words(second) == "-n")
        try tree.serverSays("x", ChangedTree.document("x", in: nil))
        #expect(try tree.changes(since: second.position, in: notes) == "")

        try tree.replica.journal.seal(keeping: 1)
        let folder = tree.folder
        try tree.replica.journal.truncate(
            through: first.position, at: Timestamp(rawValue: 1), in: { folder / "scratch" })
        #expect(try tree.changes(since: second.position) == "+x")
        #expect(try tree.changes(since: first.position, in: notes) == "-n")
        let error = #expect(throws: TidemarkError.self) {
            try tree.changes(since: start, in: notes)
        }
        #expect(error?.code == .anchorExpired)
    }

    @Test func `is told of a write that is on its way, and of what that came to`() throws {
        let tree = try ChangedTree()
        try tree.make("x")
        let (key, mutation) = (EntityKey("files", "x"), try tree.position)
        func log(
            _ kind: EventKind, _ text: String, sync: Position? = nil, mutation: Position? = nil,
            call: Position? = nil, cause: Position? = nil
        ) throws -> Position {
            let event = Event(
                kind, recordedAt: Timestamp(rawValue: 1), key: kind == .syncStarted ? nil : key,
                cause: cause, sync: sync, mutation: mutation, call: call, json: Array(text.utf8))
            return try tree.replica.journal.write(at: Timestamp(rawValue: 1)) { draft in
                try draft.append(event)
            }
        }
        func status() throws -> EntityStatus? {
            try tree.replica.read { try Self.seen($0) }["x"]?.status
        }
        let run = try log(.syncStarted, "{}")

        let call = try log(.requestSent, #"{"method":"PUT"}"#, sync: run, mutation: mutation)
        #expect(try status() == .uploading)
        #expect(try tree.changes(since: run) == "~x")
        let failed = try log(
            .requestFailed, #"{"mayHaveArrived":false}"#, sync: run, call: call)
        #expect(try status() == .created)
        #expect(try tree.changes(since: call) == "~x")

        // Not of a request for its file.
        let fetch = try log(.requestSent, #"{"method":"GET"}"#)
        _ = try log(.requestFailed, #"{"mayHaveArrived":false}"#, call: fetch)
        #expect(try tree.changes(since: failed) == "")

        // Nor of being read, unless that settles a write.
        let read = try log(.requestSent, #"{"method":"GET"}"#, sync: run)
        _ = try log(.requestAnswered, #"{"status":200}"#, sync: run, call: read)
        #expect(try tree.changes(since: failed) == "")
        #expect(try tree.changes(since: read) == "")
        let again = try log(.requestSent, #"{"method":"PUT"}"#, sync: run, mutation: mutation)
        let asked = try log(.requestSent, #"{"method":"GET"}"#, sync: run)
        _ = try log(
            .requestAnswered, #"{"status":200}"#, sync: run, call: asked, cause: again)
        #expect(try status() == .created)
        #expect(try tree.changes(since: asked) == "~x")
    }

    @Test func `is refused for what has none`() throws {
        let tree = try ChangedTree()
        func code(_ position: UInt64, _ scope: Replica.Changes.Scope) -> TidemarkError.Code? {
            do {
                _ = try tree.replica.changes(since: Position(position), in: scope)
                return nil
            } catch { return (error as? TidemarkError)?.code }
        }
        #expect(code(0, .collection("notes")) == nil)
        #expect(code(0, .root("notes")) == .noModel)
        #expect(code(0, .folder(EntityKey("notes", "n"))) == .noModel)
        #expect(code(0, .collection("others")) == .noModel)
        #expect(code(0, Self.folder("never")) == .notFound)
        #expect(code(1000, .all) == .notFound)
        #expect(code(0, .all) == nil)
    }

    @Test(arguments: TestSeeds.named("TIDEMARK_CHANGES_SEEDS", else: 1...12))
    func `is what the store of then and that of now differ in`(_ seed: UInt64) throws {
        var random = SplitMix64(seed: 0xC4A6E + seed)
        let tree = try ChangedTree()
        let ids = (0..<9).map { "e\($0)" }
        var positions = [try tree.position]
        for _ in 0..<45 {
            let (id, other) = (random.pick(ids), random.pick(ids))
            let isFolder = id < "e5"
            let parent = random.once(in: 3) ? nil : other
            // What can't be is refused, and changes nothing.
            switch random.below(8) {
            case 0, 1: try? tree.make(id, in: parent, isFolder: isFolder)
            case 2: try? tree.move(id, to: other)
            case 3: try? tree.rename(id, "name \(random.below(4))")
            case 4: try? tree.delete(id)
            case 5: try? tree.replica.write { tx in _ = try tx.discard(EntityKey("files", id)) }
            case 6:
                try? tree.serverSays(
                    id, ChangedTree.document("s\(id)", in: parent, isFolder: isFolder))
            default: try? tree.serverSays(id, nil)
            }
            positions.append(try tree.position)
        }
        #expect(try tree.replica.journal.verify(.deep).findings == [])
        let now = try tree.replica.read { try Self.seen($0) }
        var told = 0
        for position in positions {
            let then = try tree.replica.read(asOf: position) { try Self.seen($0) }
            let folders: [String?] = [nil] + ids
            for folder in folders.map(Optional.some) + [nil] {
                let scope: Replica.Changes.Scope =
                    switch folder {
                    case nil: .collection("files")
                    case .some(nil): .root("files")
                    case .some(let id?): Self.folder(id)
                    }
                let place: Comment = "seed \(seed), since \(position), in \(scope)"
                func members(_ all: [String: Seen]) -> Set<String> {
                    Set(all.filter { folder == nil || folder == .some($0.value.parent) }.keys)
                }
                let (was, isNow) = (members(then), members(now))
                let changes: Replica.Changes
                do { changes = try tree.replica.changes(since: position, in: scope) } catch {
                    // Of what nobody knows there is nothing to tell.
                    #expect(was == isNow, "\(error) \(place)")
                    continue
                }
                told += changes.appeared.count + changes.disappeared.count
                #expect(changes.appeared.map(\.id) == isNow.subtracting(was).sorted(), place)
                #expect(changes.disappeared.map(\.id) == was.subtracting(isNow).sorted(), place)
                let other = was.intersection(isNow).filter { then[$0] != now[$0] }
                let changed = Set(changes.changed.map(\.id))
                #expect(changed.isSuperset(of: other), place)
                #expect(changed.isSubset(of: was.intersection(isNow)), place)
            }
        }
        #expect(told > 0)
    }

    private struct Seen: Equatable {
        var parent: String?
        var document: [UInt8]
        var status: EntityStatus
    }

    private static func seen(_ context: ReadContext) throws -> [String: Seen] {
        var seen: [String: Seen] = [:]
        try context.forEachDocument(in: "files") { key, document, status in
            let parent = try JSONDocument(parsing: document).value("parent")?.stringValue
            seen[key.id] = Seen(parent: parent, document: document, status: status)
            return true
        }
        return seen
    }
}

@Suite struct `a discard with what was built on it` {
    @Test func `tells where the entity's own event stands, behind the others`() throws {
        let tree = try ChangedTree()
        try tree.make("A", isFolder: true)
        try tree.make("B", in: "A", isFolder: true)
        try tree.make("x", in: "B")
        let (key, before) = (EntityKey("files", "A"), try tree.position)

        let position = try tree.replica.write { tx in try tx.discard(key, withBuiltOn: true) }

        #expect(position.rawValue == before.rawValue + 3)
        let event = try tree.replica.journal.read { try $0.event(at: position) }
        #expect(event?.kind == .localDiscarded)
        #expect(event?.key == key)
        #expect(try tree.replica.read { try $0.document(EntityKey("files", "x")) } == nil)
    }
}
