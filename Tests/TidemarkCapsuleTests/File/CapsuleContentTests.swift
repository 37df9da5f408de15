// CapsuleContentTests.swift — a capsule with the bytes of the files that entities name.

import CapsuleSupport
import Foundation
import Testing
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkStore
import TidemarkTesting

@Suite struct `a capsule with contents` {
    private static let texts = ["", "tea", "milk"]

    /// A store of entities that name files, two of them the same one.
    private func withFiles(_ body: (Replica) throws -> Void) async throws {
        var tasks = CollectionModel("tasks")
        tasks.contents = [.init("photo")]
        let model = SyncModel(name: "m", collections: [tasks])
        try await Replica.withTemporary(model: model) { replica in
            for (number, text) in (Self.texts + ["tea"]).enumerated() {
                let file = replica.directory + ".file"
                try Data(text.utf8).write(to: URL(filePath: file))
                defer { try? FileManager.default.removeItem(atPath: file) }
                let name = try await replica.importFile(at: file)
                try await replica.write { tx in
                    _ = try tx.put(
                        EntityKey("tasks", "\(number)"),
                        JSONValue.object(["photo": name.json]).encoded())
                }
            }
            try body(replica)
        }
    }

    @Test func `has those that are here, and is read again`() async throws {
        try await withFiles { replica in
            let capsule = try Capsule(parsing: try replica.capsule(contents: true, redaction: nil))
            let texts = capsule.contents.map { String(decoding: $0.bytes, as: UTF8.self) }
            #expect(texts.sorted() == Self.texts.sorted())
            #expect(capsule.contents.map(\.digest) == capsule.namedContents)
            #expect(try Capsule(parsing: capsule.encoded) == capsule)

            let plain = try Capsule(parsing: try replica.capsule(redaction: nil))
            #expect(plain.contents.isEmpty && plain.namedContents == capsule.namedContents)
            // Of the last event only the file that it names, and those of the rows before it.
            let last = try Capsule(
                parsing: try replica.capsule(last: 1, contents: true, redaction: nil))
            #expect(last.contents == capsule.contents)
        }
    }

    @Test func `leaves out what is not whole, and what has no room`() async throws {
        try await withFiles { replica in
            let files = ContentFiles(of: replica.directory)
            var capsule = try Capsule(parsing: try replica.capsule(contents: true, redaction: nil))
            let tea = try #require(capsule.contents.first { $0.bytes == Array("tea".utf8) })
            let path = try files.path(of: tea.digest)
            try FileManager.default.removeItem(atPath: path)
            try Data("tee".utf8).write(to: URL(filePath: path))
            let taken = try capsule.takeContents(from: replica.directory)
            #expect(taken.noRoom == 0 && taken.damaged == [tea.digest])
            #expect(capsule.contents.count == 2 && !capsule.contents.contains(tea))

            var limits = CapsuleLimits()
            limits.contentsBytesMax = 3
            let some = try capsule.takeContents(from: replica.directory, limits: limits)
            #expect(some.noRoom == 1)
            #expect(capsule.contents.map(\.bytes.count) == [0])
        }
    }

    @Test func `leaves out what can't be read`() async throws {
        try await withFiles { replica in
            var capsule = try Capsule(parsing: try replica.capsule(contents: true, redaction: nil))
            let tea = try #require(capsule.contents.first { $0.bytes == Array("tea".utf8) })
            let files = ContentFiles(of: replica.directory)
            // A file where a folder should be.
            let folder = URL(filePath: try files.path(of: tea.digest)).deletingLastPathComponent()
            try FileManager.default.removeItem(at: folder)
            try Data().write(to: folder)
            #expect(throws: StoreError.self) { try files.bytes(of: tea.digest) }

            let taken = try capsule.takeContents(from: replica.directory)
            #expect(taken.noRoom == 0 && taken.damaged.isEmpty)
            #expect(capsule.contents.count == 2 && !capsule.contents.contains(tea))
            let copy = try replica.capsule(contents: true, redaction: nil)
            #expect(try Capsule(parsing: copy) == capsule)
        }
    }

    @Test func `is refused where a file is not what its hash says, or comes twice`() async throws {
        try await withFiles { replica in
            let capsule = try Capsule(parsing: try replica.capsule(contents: true, redaction: nil))
            var other = capsule
            other.contents[1].bytes.append(0)
            #expect(throws: CapsuleError.self) { try other.encoded }
            other = capsule
            other.contents.append(capsule.contents[0])
            #expect(throws: CapsuleError.self) { try other.encoded }
        }
    }

    @Test func `has none where it is redacted`() async throws {
        try await withFiles { replica in
            let bytes = try replica.capsule(contents: true, redaction: Redaction())
            #expect(try Capsule(parsing: bytes).contents.isEmpty)
            let whole = try Capsule(parsing: try replica.capsule(contents: true, redaction: nil))
            #expect(try whole.redacted(Redaction(), random: { 1 }).contents.isEmpty)
        }
    }
}
