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
@testable import SyncSupport

@Suite struct `a list over several runs, decided once more` {
    private static let model: SyncModel = {
        var model = SyncWorld.usualModel
        for index in model.collections.indices { model.collections[index].pageSize = 2 }
        return model
    }()

    private func expectSame(_ capsule: Capsule, runs: Int) async throws {
        let report = try await decided(capsule, adapter: SyncWorld.remote.makeAdapter())
        if let found = report.divergence { Issue.record("\(found.text)") }
        #expect(report.notDecided.map(\.why) == [])
        #expect(report.runs == runs)
    }

    /// Has the answer to a read be lost, after so many that pass.
    private func lose(_ recording: SyncDevice, after count: Int) {
        recording.wire.meet(
            .init(
                method: .get, losesAnswer: count == 0,
                act: { if count > 0 { lose(recording, after: count - 1) } }))
    }

    @Test func `is the same where it was cut off`() async throws {
        let capsule = try await SyncDevice.capsule(model: Self.model) { recording in
            for number in 0..<9 {
                recording.world.server.put("tasks/t\(number)", #"{"n":\#(number)}"#)
            }
            // The lists and three pages: the question after the collections is not met.
            lose(recording, after: 3)
            try await recording.mustSync(fails: true)
            recording.world.server.put("tasks/t0", #"{"n":100}"#)
            recording.world.clock.advance(by: .seconds(60))
            try await recording.mustSync()
            try await recording.mustSync()
            recording.world.server.delete("tasks/t4")
            lose(recording, after: 2)
            _ = try await recording.engine.sync(full: true)
            recording.world.clock.advance(by: .seconds(60))
            try recording.create("tasks/new", #"{"n":1}"#)
            try await recording.mustSync()
        }
        let pages = capsule.commits.flatMap(\.entries).filter {
            $0.event.kind == .pullPage
                && String(decoding: $0.event.payload, as: UTF8.self).contains(#""list":{"page":"#)
        }
        #expect(pages.count > 6)
        try await expectSame(capsule, runs: 5)
    }

    @Test func `is the same while entities are held`() async throws {
        let capsule = try await SyncDevice.capsule { recording in
            for number in 0..<6 {
                recording.world.server.put("tasks/t\(number)", #"{"n":\#(number)}"#)
            }
            try await recording.mustSync()
            for number in 0..<5 { recording.world.server.delete("tasks/t\(number)") }
            recording.world.server.withModel { $0.purgeTombstones() }
            _ = try await recording.engine.sync(full: true)
            for _ in 0..<2 { #expect(try await recording.engine.sync().held == ["tasks": 5]) }
            recording.world.server.put("tasks/t1", #"{"n":1}"#)
            #expect(try await recording.engine.sync().held == ["tasks": 4])
        }
        // Two brought nothing new.
        try await expectSame(capsule, runs: 3)
    }
}
