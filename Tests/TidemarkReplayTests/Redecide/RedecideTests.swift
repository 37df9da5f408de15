// RedecideTests.swift — what was recorded of a day with a server, decided once more by today's
// engine: nothing differs.

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

@Suite struct `a day decided once more` {
    private func adapter() throws -> any ServerAdapter { try SyncWorld.remote.makeAdapter() }

    /// Decides a capsule twice: nothing differs, and both times the same was done.
    @discardableResult
    private func expectSame(
        _ capsule: Capsule, rules: [ConflictRule] = []
    ) async throws -> RedecideReport {
        let report = try await decided(capsule, adapter: adapter(), rules: rules)
        if let found = report.divergence { Issue.record("\(found.text)") }
        #expect(report.notDecided.map(\.why) == [])
        let again = try await decided(capsule, adapter: adapter(), rules: rules)
        #expect(again.acts == report.acts && again.answers == report.answers)
        #expect(again.divergence == report.divergence)
        return report
    }

    /// A first pull, a list of changes, a write, a conflict, a lost answer, and nothing new.
    private func day(_ recording: SyncDevice) async throws {
        recording.world.server.put("lists/a", #"{"title":"home"}"#)
        recording.world.server.put("tasks/t1", #"{"title":"tea","list":"a"}"#)
        try await recording.mustSync()
        recording.world.server.put("lists/b", #"{"title":"work"}"#)
        recording.world.server.delete("tasks/t1")
        try await recording.mustSync()
        try recording.create("lists/c", #"{"title":"new"}"#)
        try recording.create("tasks/t2", #"{"title":"first","list":"c"}"#)
        try await recording.mustSync()
        try recording.patch("tasks/t2", #"{"title":"mine"}"#)
        let server = recording.world.server
        recording.wire.meet(
            .init(method: .put, act: { server.put("tasks/t2", #"{"title":"theirs","n":1}"#) }))
        try await recording.mustSync()
        try recording.patch("lists/a", #"{"title":"lost"}"#)
        recording.wire.meet(.init(method: .put, losesAnswer: true))
        try await recording.mustSync(fails: true)
        recording.world.clock.advance(by: .seconds(3600))
        try await recording.mustSync()
        try await recording.mustSync()
    }

    @Test func `it is the same`() async throws {
        let report = try await expectSame(try await SyncDevice.capsule { try await day($0) })
        #expect(report.runs == 6)
        #expect(report.idle == 1)
        #expect(report.acts > 60)
        #expect(report.answers > 15)
    }

    @Test func `it is the same from its middle on`() async throws {
        let whole = try await SyncDevice.capsule { try await day($0) }
        // The first two runs are in the base.
        let start = try #require(whole.last(.localCreated) { $0.entity == "c" })
        let tail = try await SyncDevice.capsule { recording in
            try await day(recording)
            let count = try recording.replica.read(\.position).rawValue - start.position.rawValue
            let capsule = try await capsule(of: recording.replica.journal, last: count + 1)
            #expect(capsule.base.position > .start)
            let report = try await expectSame(capsule)
            #expect(report.runs == 4)
        }
        #expect(tail.last == whole.last)
    }

    @Test func `writes in batches are the same`() async throws {
        var model = SyncWorld.usualModel
        model.settings.batchSize = 25
        let capsule = try await SyncDevice.capsule(model: model) { recording in
            recording.world.server.put("tasks/t3", #"{"title":"there"}"#)
            try await recording.mustSync()
            for number in 1...4 { try recording.create("tasks/n\(number)", #"{"title":"n"}"#) }
            try recording.patch("tasks/t3", #"{"title":"mine"}"#)
            let server = recording.world.server
            recording.wire.meet(
                .init(method: .post, act: { server.put("tasks/t3", #"{"title":"theirs"}"#) }))
            try await recording.mustSync()
        }
        let report = try await expectSame(capsule)
        #expect(capsule.last(.requestSent) { $0.cause != nil } != nil)
        #expect(report.runs == 2)
    }

    @Test func `edits that are made while a write or a page is on its way are the same`()
        async throws
    {
        let capsule = try await SyncDevice.capsule { recording in
            recording.world.server.put("lists/a", #"{"title":"home"}"#)
            try recording.create("tasks/t1", #"{"title":"one"}"#)
            recording.wire.meet(
                .init(
                    method: .get,
                    act: { try recording.create("tasks/t2", #"{"title":"two"}"#) }))
            try await recording.mustSync()
            try recording.patch("tasks/t1", #"{"title":"uno"}"#)
            recording.wire.meet(
                .init(
                    method: .put,
                    act: {
                        try recording.patch("tasks/t1", #"{"title":"eins"}"#)
                        try recording.create("lists/z", #"{"title":"meanwhile"}"#)
                    }))
            try await recording.mustSync()
        }
        try await expectSame(capsule)
    }

    @Test func `what a rule of the app answered is taken from the log`() async throws {
        var model = SyncWorld.usualModel
        model.collections[1].conflict = .custom("longest")
        let rule = ConflictRule(name: "longest", version: 3) { _ in .local }
        let capsule = try await SyncDevice.capsule(model: model, rules: [rule]) { recording in
            recording.world.server.put("tasks/t1", #"{"title":"there"}"#)
            try await recording.mustSync()
            try recording.patch("tasks/t1", #"{"title":"mine, and longer"}"#)
            recording.world.server.put("tasks/t1", #"{"title":"theirs"}"#)
            try await recording.mustSync()
        }
        #expect(capsule.last(.ruleAnswered) != nil)
        try await expectSame(capsule)
    }

    @Test func `a run that asks for everything is the same`() async throws {
        let capsule = try await SyncDevice.capsule { recording in
            recording.world.server.put("tasks/t1", #"{"title":"there"}"#)
            try await recording.mustSync()
            recording.world.server.delete("tasks/t1")
            _ = try await recording.engine.sync(.userRequested, full: true)
        }
        try await expectSame(capsule)
    }
}
