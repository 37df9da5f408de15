// ChangesKeptTests.swift — what changed in a tree since a position, after the log's first events
// were dropped; and changes that no event of the entity tells of.

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

extension ChangedTree {
    private static let scopes: [Replica.Changes.Scope] =
        [.collection("files"), .root("files")]
        + (0..<9).map { .folder(EntityKey("files", "e\($0)")) }

    /// What is told since a position, in each scope; nil where the anchor has expired.
    fileprivate func told(since position: Position) throws -> [String]? {
        var told: [String] = []
        for scope in Self.scopes {
            do { told.append(try changes(since: position, in: scope)) } catch let error
                as TidemarkError
            {
                guard error.code == .notFound else { return nil }
                told.append("none")
            }
        }
        return told
    }

    /// The events before which rows tell where something was.
    fileprivate func noted() throws -> [Position] {
        var noted: [Position] = []
        try replica.journal.read { views in
            try views.walk(.ledger, Ledger.places) { key, _ in
                let bytes = key.dropFirst(Ledger.places.count).prefix(8)
                noted.append(Position(bigEndianBytes: bytes) ?? .start)
                return true
            }
        }
        return noted
    }

    fileprivate func truncate(through position: Position) throws {
        let folder = folder
        try replica.journal.seal(keeping: 1)
        try replica.journal.truncate(
            through: position, at: Timestamp(rawValue: 1), in: { folder / "scratch" })
        try? FileManager.default.removeItem(atPath: folder / "scratch")
    }
}

@Suite struct `what is told of a tree whose first events were dropped` {
    @Test(arguments: TestSeeds.named("TIDEMARK_DROPPED_SEEDS", else: 1...12))
    func `is what was told before, and needs no row of before`(_ seed: UInt64) throws {
        var random = SplitMix64(seed: 0xD509 + seed)
        let tree = try ChangedTree()
        var positions: [Position] = []
        var dropped = 0
        for _ in 0..<3 {
            for _ in 0..<30 {
                let number = random.below(9)
                let (id, other) = ("e\(number)", "e\(random.below(9))")
                let parent = random.once(in: 3) || other == id ? nil : other
                let document = ChangedTree.document(id, in: parent, isFolder: number < 6)
                try tree.serverSays(id, random.once(in: 4) ? nil : document)
                positions.append(try tree.position)
            }
            let cut = random.pick(positions.dropLast(10))
            let kept = positions.filter { $0 >= cut }
            let before = try kept.map { try tree.told(since: $0) }
            let known = try tree.noted()

            try tree.truncate(through: cut)

            #expect(try kept.map { try tree.told(since: $0) } == before, "seed \(seed)")
            #expect(before.allSatisfy { $0 != nil })
            #expect(try tree.told(since: Position(cut.rawValue - 1)) == nil)
            #expect(try tree.noted() == known.filter { $0 > cut }, "seed \(seed)")
            dropped += known.count { $0 <= cut }
            positions = kept
            #expect(try tree.replica.journal.verify(.deep).findings == [])
        }
        #expect(dropped > 0)
    }

    @Test func `loses its rows some at a time, and the same when they are made anew`() throws {
        let tree = try ChangedTree()
        try tree.serverSays("A", ChangedTree.document("A", in: nil, isFolder: true))
        try tree.replica.write { tx in
            for number in 0..<1_500 {
                try tx.draft.append(
                    Event(
                        .serverUpserted, recordedAt: tx.draft.now,
                        key: EntityKey("files", "f\(number)"),
                        json: ChangedTree.document("f\(number)", in: "A")))
            }
        }
        // One event that hides all of them.
        try tree.delete("A")
        try tree.serverSays("A", nil)
        let cut = try tree.position
        for id in ["x", "y", "z"] { try tree.serverSays(id, ChangedTree.document(id, in: nil)) }
        let before = try tree.noted().count
        #expect(before > 3_000)
        let anchor = try tree.position

        try tree.truncate(through: cut)

        #expect(try tree.noted().count == before - 1_000)
        try tree.serverSays("z", ChangedTree.document("z", in: "A"))
        #expect(try tree.noted().count == before - 1_001)
        let rows = try tree.noted()
        try tree.replica.journal.rebuild()
        #expect(try tree.noted() == rows)
        // Each that comes takes two away.
        for number in 0..<rows.count {
            try tree.serverSays("n\(number)", ChangedTree.document("n", in: nil))
        }
        #expect(try tree.noted().allSatisfy { $0 > cut })
        // Those of x, y and z, which moved once, stay.
        #expect(try tree.noted().count == rows.count + 4)
        #expect(try tree.replica.changes(since: anchor).appeared.count == rows.count)
        #expect(try tree.replica.journal.verify(.deep).findings == [])
    }
}

@Suite struct `what no event of the entity tells of is told since a position, too` {
    private static func open(
        _ folder: SyncFolder, _ change: (inout CollectionModel) -> Void
    ) throws -> Replica {
        var files = ChangedTree.files
        change(&files)
        return try Replica.open(
            at: folder / "store", model: SyncModel(name: "m", collections: [files]),
            dependencies: .seeded(0, clock: ManualClock()))
    }

    private static func append(
        _ kind: EventKind, _ id: String, _ json: [UInt8], to replica: Replica,
        mutation: Position? = nil, call: Position? = nil
    ) throws -> Position {
        try replica.write { tx in
            try tx.draft.append(
                Event(
                    kind, recordedAt: tx.draft.now, key: EntityKey("files", id),
                    collection: "files", mutation: mutation, call: call, json: json))
        }
    }

    @Test func `that an entity lies in a folder that is found to be another one`() throws {
        let folder = try SyncFolder()
        defer { folder.delete() }
        let replica = try Self.open(folder) { $0.ids = .serverText }
        let made = try replica.write { tx in
            try tx.create(
                EntityKey("files", "L"), ChangedTree.document("L", in: nil, isFolder: true))
        }
        let call = try Self.append(
            .requestSent, "L", Array("{}".utf8), to: replica, mutation: made)
        // It was listed before the answer came.
        _ = try Self.append(
            .serverUpserted, "7", ChangedTree.document("L", in: nil, isFolder: true), to: replica)
        _ = try Self.append(
            .serverUpserted, "8", ChangedTree.document("x", in: "7"), to: replica)
        let anchor = try replica.position

        _ = try Self.append(
            .pushAccepted, "L", Array(#"{"serverID":"7"}"#.utf8), to: replica, mutation: made,
            call: call)

        let own = try replica.changes(since: anchor, in: .folder(EntityKey("files", "L")))
        #expect(try ChangedTree.words(own) == "+8")
        let all = try replica.changes(since: anchor)
        #expect(try ChangedTree.words(all) == "~8 ~L -7")
        try replica.close()
    }

    @Test func `that the copy of a file is not here any more`() throws {
        let folder = try SyncFolder()
        defer { folder.delete() }
        let replica = try Self.open(folder) { $0.contents = [.init("content", grace: .zero)] }
        let digest = String(repeating: "ab", count: 32)
        func document(_ name: String) -> [UInt8] {
            Array(#"{"kind":"file","name":"\#(name)","content":"/f/1"}"#.utf8)
        }
        for id in ["a", "b"] {
            _ = try Self.append(.serverUpserted, id, document(id), to: replica)
        }
        _ = try Self.append(
            .serverUpserted, "c", Array(#"{"kind":"file","name":"c"}"#.utf8), to: replica)
        var anchor = try replica.position
        let asset = AssetStored(digest: digest, bytes: 3, .download, source: "/f/1")
        _ = try Self.append(.assetStored, "b", asset.encoded, to: replica)
        #expect(try ChangedTree.words(replica.changes(since: anchor)) == "~a ~b")
        anchor = try replica.position

        try replica.write { tx in
            _ = try tx.draft.append(
                Event(
                    .assetRemoved, recordedAt: tx.draft.now,
                    json: AssetRemoved(digest: digest, .user).encoded))
        }

        #expect(try ChangedTree.words(replica.changes(since: anchor)) == "~a ~b")
        try replica.close()
    }

    @Test(arguments: TestSeeds.named("TIDEMARK_NAMERS_SEEDS", else: 1...4))
    func `that a file came which they name, whoever came to name it or ceased to`(
        _ seed: UInt64
    ) throws {
        var random = SplitMix64(seed: seed)
        let folder = try SyncFolder()
        defer { folder.delete() }
        let replica = try Self.open(folder) { $0.contents = [.init("content"), .init("other")] }
        let digest = String(repeating: "ab", count: 32)
        let asset = AssetStored(digest: digest, bytes: 3, .download, source: "/f/1")
        var naming: Set<String> = []
        var most = 0
        for _ in 1...120 {
            // More than are noted one by one, as time goes on.
            let id = String(
                UnicodeScalar(UInt8(ascii: "a") + UInt8.random(in: 0..<20, using: &random)))
            let what = Int.random(in: 0..<6, using: &random)
            let fields = [
                #""content":"/f/2""#, #""content":"/f/1""#, #""content":"/f/1""#,
                #""content":"/f/1","other":"/f/1""#, #""other":"/f/1""#,
            ]
            if what < fields.count {
                let document = #"{"kind":"file","name":"\#(id)",\#(fields[what])}"#
                _ = try Self.append(.serverUpserted, id, Array(document.utf8), to: replica)
            } else {
                _ = try Self.append(.serverDeleted, id, Array("{}".utf8), to: replica)
            }
            if (1...4).contains(what) { naming.insert(id) } else { naming.remove(id) }
            most = max(most, naming.count)
            guard let one = naming.min() else { continue }
            let anchor = try replica.position

            _ = try Self.append(.assetStored, one, asset.encoded, to: replica)

            let told = try ChangedTree.words(replica.changes(since: anchor))
            #expect(told == naming.sorted().map { "~\($0)" }.joined(separator: " "))
        }
        #expect(most > 4)
        #expect(try replica.journal.verify(.deep).findings == [])
        try replica.close()
    }

    @Test func `that an issue of it was answered`() throws {
        let tree = try ChangedTree()
        try tree.serverSays("x", ChangedTree.document("x", in: nil))
        try tree.rename("x", "mine")
        try tree.serverSays("x", ChangedTree.document("theirs", in: nil))
        let anchor = try tree.position
        let issue = try #require(try tree.replica.issues().first)

        try tree.replica.answer(issue.id, .keepTheirs)

        #expect(try tree.changes(since: anchor) == "~x")
    }
}
