// TogglDay.swift — a device whose time entries are synced with a server in this process that is
// shaped like Toggl: logs that are the same each time they are made.

import HTTPTypes
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkHTTP
import TidemarkReplay
import TidemarkSync
import TidemarkTesting

@testable import CapsuleSupport

/// A day of a device with time entries.
final class TogglDay: Sendable {
    static let remote = Remote.toggl(origin: "http://toggl.test")

    let clock = ManualClock()
    let server: TogglServer
    let replica: Replica
    let engine: SyncEngine

    /// - Parameter adapter: what speaks to the server, made for the day's clock.
    init(_ adapter: (ManualClock) -> any ServerAdapter) throws {
        server = TogglServer(clock: clock)
        // A day's work in a few minutes is more than an hour's quota.
        var model = SyncModel.toggl
        model.settings.limits = []
        replica = try Replica.temporary(
            model: model, remote: Self.remote, dependencies: .seeded(7, clock: clock))
        engine = SyncEngine(
            replica, remote: Self.remote, adapter: adapter(clock), transport: server
        ) { .basic(user: "me", password: "secret") }
    }

    /// A day's log, after the store it was made in is gone.
    static func log(
        _ adapter: (ManualClock) -> any ServerAdapter = { _ in TogglAdapter() },
        _ body: (TogglDay) async throws -> Void
    ) async throws -> Capsule {
        let day = try TogglDay(adapter)
        do {
            day.server.put("workspaces/1", #"{"name":"Mine"}"#)
            day.server.put("user/1", #"{"default_workspace_id":1}"#)
            try await day.work("morning", 3)
            try await body(day)
            try await day.work("evening", 2)
        } catch {
            try day.replica.deleteTemporary()
            throw error
        }
        let log = try Capsule(
            of: day.replica.journal, build: "test", scratch: day.replica.directory + "-past")
        try day.replica.deleteTemporary()
        return log
    }

    /// A running timer, made elsewhere.
    func timer(_ id: Int, at start: String) {
        server.put(
            "time_entries/\(id)",
            #"{"workspace_id":1,"description":"\#(id)","start":"\#(start)","duration":-1}"#)
    }

    @discardableResult
    func sync() async throws -> SyncOutcome {
        clock.advance(by: .seconds(90))
        return try await engine.sync()
    }

    /// What happens every day and has nothing to do with any bug.
    func work(_ name: String, _ count: Int) async throws {
        for number in 1...count {
            clock.advance(by: .seconds(5))
            let key = EntityKey("tags", "\(name)-\(number)")
            let tag = #"{"workspace_id":1,"name":"\#(name) \#(number)"}"#
            try await replica.write { tx in _ = try tx.create(key, Array(tag.utf8)) }
            try await sync()
        }
    }
}
