// RecordedBugTests.swift — every recorded bug of Tests/Replays, and what an app does to record one.

import Foundation
import Testing
import Tidemark
import TidemarkCapsule
import TidemarkHTTP
import TidemarkReplay
import TidemarkTesting

@testable import CapsuleSupport
@testable import SyncSupport

@Suite struct `the corpus of recorded bugs` {
    @Test func `is recorded by one call in an app`() async throws {
        let model = SyncModel(name: "notes", collections: [CollectionModel("notes")])
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).capsule")
            .path(percentEncoded: false)
        try await Replica.withTemporary(model: model) { replica in
            try await replica.write { tx in
                _ = try tx.create(EntityKey("notes", "n1"), Array(#"{"text":"my secret"}"#.utf8))
            }
            let report = "it was not there"
            let remote = Remote.kinto(origin: "https://kinto.example.org", bucket: "todo")

            let redaction = Redaction(words: remote.words)
            try await replica.writeCapsule(
                to: path, last: 10_000, note: report, redaction: redaction)
        }
        let capsule = try Capsule(file: path)
        try await Replay(.file(path)).run()
        try FileManager.default.removeItem(atPath: path)

        #expect(capsule.provenance.isRedacted)
        #expect(capsule.provenance.note == "it was not there")
        #expect(!"\(capsule.commits)".contains("my secret"))
    }

    @Test func `has a user's file replayed by one line, and a redacted one by its fold alone`()
        async throws
    {
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).capsule")
            .path(percentEncoded: false)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await CapsuleWorld.with { world in
            try await world.replica.writeCapsule(to: path, redaction: nil)
            let reports = try await Replay(.file(path)).run()
            #expect(reports.map(\.mode) == [.fold, .redecide])
            #expect((reports.last?.runs ?? 0) > 0)

            try await world.replica.writeCapsule(to: path, redaction: Redaction())
            let error = await #expect(throws: ReplayMistake.self) {
                try await Replay(.file(path)).run()
            }
            #expect(error?.description.contains("Mode: fold") == true)
            try await Replay(.file(path), mode: .fold).run()
        }
    }

    @Test(arguments: try Replay.corpus(in: "Replays"))
    func `a recorded bug`(_ bug: RecordedReplay) async throws { try await bug.run() }
}
