// ReplayCorpusTests.swift — replays in tests: where they are found, and what their stories expect.

import Foundation
import HTTPTypes
import Testing
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkHTTP
import TidemarkLog
import TidemarkReplay
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import CapsuleSupport
@testable import SyncSupport

/// Kinto, read by an adapter that takes a member for another one.
private struct Untitled: ServerAdapter {
    let base = KintoAdapter(origin: "http://kinto.test", bucket: "b")

    var traits: ServerTraits { base.traits }
    var words: ServerWords { base.words }

    func request(for call: ServerCall) throws(SyncFailure) -> ServerRequest {
        try base.request(for: call)
    }

    func answer(to call: ServerCall, _ response: HTTPResponse, body: [UInt8]) -> ServerAnswer {
        let text = String(decoding: body, as: UTF8.self).replacing("title", with: "label")
        return base.answer(to: call, response, body: Array(text.utf8))
    }
}

@Suite struct `a replay in a test` {
    @Test func `is one call, and throws where it differs`() async throws {
        let good = try ReplayLog.conflict().capsule()
        let reports = try await Replay(.capsule(good)).run()
        #expect(reports.map(\.isSame) == [true])
        // It was never synced with a server.
        #expect(
            reports.first?.notes == ["not decided again: it names no server that was synced with"])
        await #expect(throws: ReplayMistake.self) {
            try await Replay(.capsule(good), mode: .redecide).run()
        }

        var bad = good
        bad.commits[3].entries[0].event.payload = Array(#"{"title":"wine"}"#.utf8)
        let error = await #expect(throws: Divergence.self) {
            try await Replay(.capsule(bad), mode: .fold).run()
        }
        #expect(error?.position == Position(4))
    }

    @Test func `fails where none of its runs could be decided, unless only the fold was meant`()
        async throws
    {
        var capsule = try await SyncDevice.capsule { recording in
            recording.world.server.put("lists/a", #"{"title":"home"}"#)
            try await recording.mustSync()
        }
        let reports = try await Replay(.capsule(capsule)).run()
        #expect(reports.last?.mode == .redecide && reports.last?.runs == 1)

        capsule.answers = []
        let error = await #expect(throws: ReplayMistake.self) {
            try await Replay(.capsule(capsule)).run()
        }
        #expect(error?.description.contains("is not in it as it came") == true)
        #expect(error?.description.contains("mode: .fold") == true)
        #expect(try await Replay(.capsule(capsule)).reports().map(\.isSame) == [true, true])
        #expect(try await Replay(.capsule(capsule), mode: .fold).run().count == 1)
    }

    @Test func `is decided by the adapter that it is given`() async throws {
        let capsule = try await SyncDevice.capsule(adapter: Untitled()) { recording in
            recording.world.server.put("lists/a", #"{"title":"home"}"#)
            try await recording.mustSync()
        }

        try await Replay(.capsule(capsule), adapter: Untitled()).run()

        let found = await #expect(throws: Divergence.self) {
            try await Replay(.capsule(capsule)).run()
        }
        #expect(found?.kind == .different && found?.entity == EntityKey("lists", "a"))
    }

    @Test func `with another model does not compare the model itself`() async throws {
        let capsule = try ReplayLog.conflict(.serverWins).capsule()
        let same = SyncModel(
            name: "renamed",
            collections: [CollectionModel("tasks", lastChangeField: "at", conflict: .serverWins)])
        let reports = try await Replay(.capsule(capsule), same, mode: .fold).run()
        #expect(
            reports.first?.notes == [
                "folded by another model than the log's: view store not compared"
            ])

        var other = same
        other.collections[0].conflict = .localWins
        let error = await #expect(throws: Divergence.self) {
            try await Replay(.capsule(capsule), other, mode: .fold).run()
        }
        #expect(error?.entity == EntityKey("tasks", "t1"))
    }

    @Test func `says where it looked for a capsule that is not there`() async throws {
        let error = await #expect(throws: ReplayMistake.self) {
            try await Replay(.fixture("none")).run()
        }
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        #expect(error?.description.contains(folder.path(percentEncoded: false)) == true)
        #expect(error?.description.contains("tidemark capsule STORE") == true)
    }

    @Test func `finds its capsule beside the test's file, or above it`() async throws {
        let root = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: root) }
        for folder in ["Fixtures", "Deep/Replays"] {
            try FileManager.default.createDirectory(
                at: root.appending(path: folder), withIntermediateDirectories: true)
        }
        func path(_ name: String) -> String {
            root.appending(path: name).path(percentEncoded: false)
        }
        let capsule = try ReplayLog.conflict().capsule()
        try capsule.write(to: path("Fixtures/one.capsule"))
        try capsule.write(to: path("Deep/Replays/two.capsule"))

        for name in ["one.capsule", "one", "two"] {
            let source = ReplaySource.fixture(name, filePath: path("Deep/Tests.swift"))
            let reports = try await Replay(source).run()
            #expect(reports.first?.events == 4)
        }
        #expect(throws: ReplayMistake.self) {
            try ReplaySource.fixture("two", filePath: path("Other.swift")).capsule()
        }
    }

    @Test func `of what can't be read says so by an error that an app can tell`() async throws {
        try await withScratch { folder in
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true)
            let whole = try ReplayLog.conflict().capsule().encoded
            let files: [(bytes: [UInt8], code: TidemarkError.Code)] = [
                (Array("no capsule".utf8), .invalidPath), (Array(whole.dropLast(9)), .damaged),
            ]
            for file in files {
                let path = folder + "/a.capsule"
                try Data(file.bytes).write(to: URL(filePath: path))
                let error = await #expect(throws: TidemarkError.self) {
                    try await Replay(.file(path)).run()
                }
                #expect(error?.code == file.code)
            }
        }
    }

    @Test func `of a store replays the whole of it`() async throws {
        try await CapsuleWorld.with { world in
            let reports = try await Replay(.file(world.replica.directory)).run()
            let last = try world.replica.journal.read { $0.last }
            #expect(reports.map(\.mode) == [.fold, .redecide])
            #expect(reports.map(\.range) == [Position(1)...last, Position(1)...last])
            #expect(reports.first?.remarks == [])
            #expect((reports.last?.runs ?? 0) > 0)
        }
    }

    @Test func `of a capsule that names no server is decided all the same`() async throws {
        try await CapsuleWorld.with { world in
            let whole = try await capsule(of: world.replica.journal)
            let nameless = whole.withoutRemote()

            func text(_ capsule: Capsule) -> String {
                let bytes = capsule.answers.flatMap(\.answers.encoded)
                return String(decoding: bytes, as: UTF8.self)
            }
            #expect(text(whole).contains(CapsuleWorld.host))
            #expect(!text(nameless).contains(CapsuleWorld.host))
            let reports = try await Replay(.capsule(nameless)).run()
            #expect((reports.last?.runs ?? 0) > 1)

            // A capsule of the capsule's store has the same answers.
            let again = try await withScratch { folder in
                let journal = try nameless.unpacked(in: folder)
                defer { try? journal.close() }
                return try await capsule(of: journal)
            }
            #expect(again.answers == nameless.answers)
        }
    }

    @Test func `of a capsule whose documents name the server is decided like the store`()
        async throws
    {
        try await CapsuleWorld.with { world in
            let title = "see http://\(CapsuleWorld.host):8888/x, me@\(CapsuleWorld.host)"
            world.server.server.put("tasks/t7", #"{"title":"\#(title)"}"#)
            #expect(try await world.sync().failure == nil)
            // It comes again as it is.
            #expect(try await world.engine.sync(full: true).failure == nil)

            let nameless = try await capsule(of: world.replica.journal).withoutRemote()

            let reports = try await Replay(.capsule(nameless)).run()
            #expect(reports.map(\.mode) == [.fold, .redecide])
            #expect(reports.map(\.isSame) == [true, true])
        }
    }

    @Test func `is judged by what its story expects`() async throws {
        let folder = scratchPath()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var capsule = try ReplayLog.conflict().capsule()
        capsule.commits[3].entries[0].event.payload = Array(#"{"title":"wine"}"#.utf8)
        try capsule.write(to: folder + "/a.capsule")
        func bug(_ expected: String) throws -> RecordedReplay {
            try RecordedReplay(
                name: "a", file: folder + "/a.capsule", story: "Expected: \(expected)\nMode: fold")
        }

        let reports = try await bug("diverges at @4 (digest)").run()
        #expect(reports.map(\.isSame) == [false])
        for wrong in ["replays", "diverges at @3 (digest)", "diverges at @4 (missing)"] {
            let error = await #expect(throws: Divergence.self) { try await bug(wrong).run() }
            #expect(error?.position == Position(4))
        }

        try ReplayLog.conflict().capsule().write(to: folder + "/a.capsule")
        try await bug("replays").run()
        let mended = await #expect(throws: ReplayMistake.self) {
            try await bug("diverges at @4 (digest)").run()
        }
        #expect(mended?.description.contains("if the bug is mended") == true)
    }

    @Test func `knows by its story what to come to`() throws {
        func read(_ story: String) throws -> RecordedReplay {
            try RecordedReplay(name: "lost", file: "x", story: story)
        }
        let clean = try read("# Lost edit\n\nExpected: replays\n\nAn edit was lost.\n")
        #expect(clean.expectation == .replays)
        #expect(clean.mode == .both)
        let differing = try read("Expected: diverges at @41 (digest)\nMode: fold\n")
        #expect(differing.expectation == .diverges(at: Position(41), .digest))
        #expect(differing.mode == .fold)

        for (story, words) in [
            ("An edit was lost.", "one of the first lines of STORY.md must be"),
            ("Expected: fine", "says neither \"replays\" nor"),
            ("Expected: diverges at 41 (lost)", "with a kind of missing, extra, different"),
            ("Expected: replays\nMode: some", "is none of fold, redecide, both"),
        ] {
            let error = #expect(throws: ReplayMistake.self) { try read(story) }
            #expect(error?.description.hasPrefix("lost: ") == true)
            #expect(error?.description.contains(words) == true)
        }
    }

    @Test func `finds the recorded bugs of a folder, by name`() throws {
        let root = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: root) }
        for (name, file) in [("b", "one.capsule"), ("a", "x.capsule"), ("a", "y.capsule")] {
            let folder = root.appending(path: name)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data("# T\n\nExpected: replays\n".utf8).write(
                to: folder.appending(path: "STORY.md"))
            try Data().write(to: folder.appending(path: file))
        }
        try Data().write(to: root.appending(path: "README.md"))
        let path = root.path(percentEncoded: false)

        let corpus = try Replay.corpus(in: path)
        #expect(corpus.map(\.name) == ["a/x.capsule", "a/y.capsule", "b"])

        try FileManager.default.removeItem(at: root.appending(path: "b/STORY.md"))
        let error = #expect(throws: ReplayMistake.self) { try Replay.corpus(in: path) }
        #expect(error?.description.contains("has no STORY.md") == true)
        #expect(error?.description.contains("\"Mode: fold\"") == true)
        #expect(throws: ReplayMistake.self) { try Replay.corpus(in: "no such folder") }
    }
}
