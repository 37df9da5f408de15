// TogglDeviceTests.swift — what the simulation of days of Toggl has found, each by itself.

import Foundation
import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkInspect
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite(.serialized) struct `a device of Toggl` {
    private let clock = ManualClock()
    private let server: TogglServer
    private let device: TogglDevice

    init() throws {
        server = TogglServer(clock: clock)
        server.put("workspaces/1", #"{"name":"Home"}"#)
        server.put("workspaces/2", #"{"name":"Work"}"#)
        server.put("user/1", #"{"default_workspace_id":1}"#)
        var model = SyncModel.toggl
        model.settings.limits = []
        device = try TogglDevice(
            "A", model, TogglWire(server, clock, TogglLedger(), seed: 1), clock, seed: 1)
    }

    private func writes() -> [String] {
        server.requestLog.filter { $0.method != .get }.map { "\($0.method.rawValue) \($0.path)" }
    }

    @Test func `does not send an old entry twice that a list by date would leave out`()
        async throws
    {
        _ = try await device.engine.sync()
        clock.advance(by: .seconds(86_400 * 70))
        let key = EntityKey("time_entries", "old")
        try device.put(
            key,
            #"{"workspace_id":1,"description":"d","start":"2026-11-15T08:00:00Z","duration":9}"#)
        server.faults = FaultPlan([FaultRule(.dropAfterHandling, method: .post, nth: 1)])

        _ = try await device.engine.sync(scope: .push)
        _ = try await device.engine.sync()

        #expect(writes() == ["POST /api/v9/workspaces/1/time_entries"])
        #expect(server.records(in: "time_entries").count == 1)
        let outbox = try device.replica.journal.read { try $0.outbox(all: true).map(\.word) }
        #expect(outbox == ["accepted"])
        #expect(try device.replica.journal.verify(.deep).findings == [])
    }

    @Test(arguments: [false, true])
    func `does not send what refers to an entity that was given up, until it is edited`(
        _ isDropped: Bool
    ) async throws {
        _ = try await device.engine.sync()
        let entry = EntityKey("time_entries", "e")
        try device.put(EntityKey("projects", "p"), #"{"workspace_id":1,"name":"p"}"#)
        let creation = try device.replica.journal.read { $0.last }
        try device.put(
            entry,
            #"{"workspace_id":1,"project_id":"p","start":"2026-11-18T08:00:00Z","duration":9}"#)
        try await device.replica.write { tx in try tx.discard(EntityKey("projects", "p")) }
        if isDropped {
            let scratch = FileManager.default.temporaryDirectory
                .appendingPathComponent("tidemark-stranded-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: scratch) }
            let journal = device.replica.journal
            try journal.seal(keeping: 1)
            try journal.truncate(through: creation, at: clock.now, in: { scratch.path })
            #expect(try journal.read { try $0.mutation(creation) } == nil)
        }

        #expect(try await device.engine.sync().refused == 1)

        #expect(writes() == [])
        let issues = try device.replica.issues().map(\.message)
        #expect(issues == ["project_id names p, which is not here any more"])
        try device.patch(entry, #"{"project_id":null}"#)
        #expect(try await device.engine.sync().isSynced)
        #expect(writes() == ["POST /api/v9/workspaces/1/time_entries"])
        #expect(try device.replica.journal.verify(.deep).findings == [])
    }

    @Test func `logs a run without news as one event, also while a refused creation waits`()
        async throws
    {
        _ = try await device.engine.sync()
        try device.put(
            EntityKey("time_entries", "e"),
            #"{"workspace_id":1,"start":"2026-11-18T08:00:00Z","duration":9}"#)
        server.faults = FaultPlan([
            FaultRule(.dropBeforeHandling, method: .post, nth: 1),
            FaultRule(.answer(status: 400), method: .post),
        ])
        for _ in 0..<3 { _ = try await device.engine.sync() }
        #expect(writes().count == 2)
        let before = try device.replica.journal.read { $0.last }

        #expect(try await device.engine.sync().refused == 1)

        let after = try device.replica.journal.read { $0.last }
        #expect(after.rawValue == before.rawValue + 1)
    }

    @Test func `says what an entity waits for that is out of reach`() async throws {
        _ = try await device.engine.sync()
        let project = EntityKey("projects", "p")
        try device.put(project, #"{"workspace_id":2,"name":"p"}"#)
        try device.put(
            EntityKey("time_entries", "e"),
            #"{"workspace_id":1,"project_id":"p","start":"2026-11-18T08:00:00Z","duration":9}"#)
        server.forget("workspaces/2")

        _ = try await device.engine.sync()

        #expect(writes() == [])
        let outbox = try device.replica.journal.read { try $0.outbox(all: false) }
        #expect(outbox.map(\.word) == ["pending", "blocked"])
        #expect(outbox.map(\.blockers) == [[], [project]])
        server.put("workspaces/2", #"{"name":"Work"}"#)
        #expect(try await device.engine.sync().counts.pushed == 1)
        // Toggl refuses it: the project is of another workspace.
        #expect(
            writes() == [
                "POST /api/v9/workspaces/2/projects", "POST /api/v9/workspaces/1/time_entries",
            ])
    }

    @Test func `sends an entry again that names a project which Toggl does not show yet`()
        async throws
    {
        server.withModel { $0.settlingSeconds = 3 }
        _ = try await device.engine.sync()
        let entry = EntityKey("time_entries", "e")
        try device.put(EntityKey("projects", "p"), #"{"workspace_id":1,"name":"p"}"#)
        try device.put(
            entry,
            #"{"workspace_id":1,"project_id":"p","start":"2026-11-18T08:00:00Z","duration":9}"#)

        let outcome = try await device.engine.sync(scope: .push)

        #expect(outcome.counts.pushed == 1 && outcome.refused == 0 && !outcome.isSynced)
        #expect(try device.replica.issues().isEmpty)
        clock.advance(by: .seconds(5))
        #expect(try await device.engine.sync().isSynced)
        let made = "POST /api/v9/workspaces/1/time_entries"
        #expect(writes() == ["POST /api/v9/workspaces/1/projects", made, made])
        #expect(server.records(in: "time_entries").count == 1)
        #expect(try device.replica.journal.verify(.deep).findings == [])
    }

    @Test func `sends an entry no more whose project stays out of reach`() async throws {
        server.withModel { $0.settlingSeconds = 3_600 }
        _ = try await device.engine.sync()
        try device.put(EntityKey("projects", "p"), #"{"workspace_id":1,"name":"p"}"#)
        try device.put(
            EntityKey("time_entries", "e"),
            #"{"workspace_id":1,"project_id":"p","start":"2026-11-18T08:00:00Z","duration":9}"#)
        #expect(try await device.engine.sync().refused == 0)
        clock.advance(by: .seconds(61))

        #expect(try await device.engine.sync().refused == 1)

        #expect(writes().count == 3)
        _ = try await device.engine.sync()
        #expect(writes().count == 3)
        let issues = try device.replica.issues().map(\.message)
        #expect(issues.count == 1)
        #expect(issues.first?.contains("User cannot access the selected project") == true)
    }

    @Test func `sends an edit that was undone after a write that was turned away and done`()
        async throws
    {
        server.put("time_entries/1", #"{"workspace_id":1,"description":"a","duration":9}"#)
        _ = try await device.engine.sync()
        let entry = EntityKey("time_entries", "1")
        try device.patch(entry, #"{"description":"b"}"#)
        server.faults = FaultPlan([FaultRule(.answer(status: 503), method: .put, nth: 1)])
        _ = try await device.engine.sync(scope: .push)
        // Who answered had given up waiting for the server, which did it.
        server.put("time_entries/1", #"{"workspace_id":1,"description":"b","duration":9}"#)
        clock.advance(by: .seconds(3_600))
        try device.patch(entry, #"{"description":"a"}"#)

        _ = try await device.engine.sync(scope: .push)

        #expect(server.record("time_entries/1")?.contains(#""description":"a""#) == true)
    }

    @Test func `does not send preferences twice whose answer was lost, and has what they are now`()
        async throws
    {
        _ = try await device.engine.sync()
        try device.patch("preferences/preferences", #"{"date_format":"DD.MM.YYYY"}"#)
        server.faults = FaultPlan([FaultRule(.dropAfterHandling, method: .post, nth: 1)])
        _ = try await device.engine.sync(scope: .push)
        // They were taken, and then somebody else changed another one.
        server.put(
            "preferences/preferences",
            #"{"date_format":"DD.MM.YYYY","timeofday_format":"h:mm A"}"#)
        clock.advance(by: .seconds(900))

        _ = try await device.engine.sync(.timer)

        #expect(writes() == ["POST /api/v9/me/preferences"])
        #expect(try device.mutations("preferences/preferences") == ["accepted"])
        let document = try #require(try device.document("preferences/preferences"))
        #expect(document.contains(#""timeofday_format":"h:mm A""#), "\(document)")
        #expect(try device.replica.journal.verify(.deep).findings == [])
    }

    @Test func `does not send preferences twice either after others that were taken`()
        async throws
    {
        _ = try await device.engine.sync()
        try device.patch("preferences/preferences", #"{"date_format":"DD.MM.YYYY"}"#)
        _ = try await device.engine.sync(scope: .push)
        try device.patch("preferences/preferences", #"{"timeofday_format":"h:mm A"}"#)
        server.faults = FaultPlan([FaultRule(.dropAfterHandling, method: .post, nth: 1)])
        _ = try await device.engine.sync(scope: .push)
        clock.advance(by: .seconds(900))

        _ = try await device.engine.sync(.timer)

        let change = "POST /api/v9/me/preferences"
        #expect(writes() == [change, change])
        #expect(try device.mutations("preferences/preferences") == ["accepted", "accepted"])
        #expect(try device.replica.journal.verify(.deep).findings == [])
    }
}
