// RedecideCutListTests.swift — lists of everything that went on over several runs, and entities
// that were held: decided once more, they are the same.

import HTTPTypes
import Testing
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkHTTP
import TidemarkReplay
import TidemarkSync
import TidemarkTesting

@testable import CapsuleSupport

@Suite struct `a list over several runs, decided once more` {
    private static let model: SyncModel = {
        var model = Recording.usualModel
        for index in model.collections.indices { model.collections[index].pageSize = 2 }
        return model
    }()

    private func expectSame(_ capsule: Capsule, runs: Int) async throws {
        let report = try await decided(capsule, adapter: Recording.remote.makeAdapter())
        if let found = report.divergence { Issue.record("\(found.text)") }
        #expect(report.notDecided.map(\.why) == [])
        #expect(report.runs == runs)
    }

    /// Has the answer to a read be lost, after so many that pass.
    private func lose(_ recording: Recording, after count: Int) {
        recording.wire.meet(
            .init(
                method: .get, losesAnswer: count == 0,
                act: { if count > 0 { lose(recording, after: count - 1) } }))
    }

    @Test func `is the same where it was cut off`() async throws {
        let capsule = try await Recording.capsule(model: Self.model) { recording in
            for number in 0..<9 { recording.server.put("tasks/t\(number)", #"{"n":\#(number)}"#) }
            // The question after the collections, the lists, three pages.
            lose(recording, after: 4)
            try await recording.sync(fails: true)
            recording.server.put("tasks/t0", #"{"n":100}"#)
            recording.clock.advance(by: .seconds(60))
            try await recording.sync()
            try await recording.sync()
            recording.server.delete("tasks/t4")
            lose(recording, after: 3)
            _ = try await recording.engine.sync(full: true)
            recording.clock.advance(by: .seconds(60))
            try recording.create("tasks", "new", #"{"n":1}"#)
            try await recording.sync()
        }
        let pages = capsule.commits.flatMap(\.entries).filter {
            $0.event.kind == .pullPage
                && String(decoding: $0.event.payload, as: UTF8.self).contains(#""list":{"page":"#)
        }
        #expect(pages.count > 6)
        try await expectSame(capsule, runs: 5)
    }

    @Test func `is the same while entities are held`() async throws {
        let capsule = try await Recording.capsule { recording in
            for number in 0..<6 { recording.server.put("tasks/t\(number)", #"{"n":\#(number)}"#) }
            try await recording.sync()
            for number in 0..<5 { recording.server.delete("tasks/t\(number)") }
            recording.server.withModel { $0.purgeTombstones() }
            _ = try await recording.engine.sync(full: true)
            for _ in 0..<2 { #expect(try await recording.engine.sync().held == ["tasks": 5]) }
            recording.server.put("tasks/t1", #"{"n":1}"#)
            #expect(try await recording.engine.sync().held == ["tasks": 4])
        }
        // Two brought nothing new.
        try await expectSame(capsule, runs: 3)
    }
}
