// ShrinkContentTests.swift — which bytes of files a shrunk capsule holds.

import Foundation
import Testing
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkReplay
import TidemarkTesting

@Suite struct `shrinking a log with files` {
    /// A capsule of entities that name a file each, with the bytes of the files.
    private func withCapsule(_ body: (Capsule) throws -> Void) async throws {
        var tasks = CollectionModel("tasks")
        tasks.contents = [.init("photo")]
        let model = SyncModel(name: "m", collections: [tasks])
        try await Replica.withTemporary(model: model) { replica in
            for text in ["tea", "milk", "oats"] {
                let file = replica.directory + ".file"
                try Data(text.utf8).write(to: URL(filePath: file))
                defer { try? FileManager.default.removeItem(atPath: file) }
                let name = try await replica.importFile(at: file)
                try await replica.write { tx in
                    _ = try tx.put(
                        EntityKey("tasks", text),
                        JSONValue.object(["photo": name.json]).encoded())
                }
            }
            let bytes = try await replica.capsule(contents: true, redaction: nil)
            try body(try Capsule(parsing: bytes))
        }
    }

    @Test func `leaves the bytes of no file that nothing in it names`() async throws {
        try await withCapsule { capsule in
            #expect(capsule.contents.count == 3)
            let result = try capsule.shrunk(to: .holds(try StatePredicate("tasks/tea is created")))

            #expect(result.capsule.contents.count < 2)
            #expect(result.capsule.contents.map(\.digest) == result.capsule.namedContents)
        }
    }

    @Test func `has a check see the files that are named`() async throws {
        try await withCapsule { capsule in
            let result = try capsule.shrunk(
                to: .found { capsule in
                    capsule.contents.contains { $0.bytes == Array("milk".utf8) }
                        ? FailureSignature("exit 1") : nil
                })

            #expect(result.capsule.contents.map(\.bytes) == [Array("milk".utf8)])
        }
    }
}
