// SyncQuotaTests.swift — groups of requests with limits of their own: one that has no room holds
// nothing but itself.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

@Suite(.serialized) struct `quotas of groups of requests` {
    @Test func `that are used up leave lists to a later run, and what is pending is sent`()
        async throws
    {
        try await QuotaDevice.with { device, server, clock async throws in
            #expect(try await device.engine.sync().isSynced)
            server.limit("user", to: 0)
            _ = server.takeLines()
            try device.putEntry("e")

            let outcome = try await device.engine.sync()

            #expect(outcome.failure == nil && outcome.pending == 0)
            #expect(
                outcome.failed["workspaces"] == .tooManyRequests(retryAfterSeconds: 3600))
            #expect(outcome.failed.count == 9)
            #expect(server.takeLines().contains("POST /api/v9/workspaces/7/time_entries"))
        }
    }

    @Test func `that a server told are kept over a restart, until the time that it told`()
        async throws
    {
        try await QuotaDevice.with { device, server, clock async throws in
            #expect(try await device.engine.sync().isSynced)
            server.limit("user", to: 0)
            _ = try await device.engine.sync()
            try device.restart()
            _ = server.takeLines()

            _ = try await device.engine.sync()

            #expect(server.takeLines() == [])
            server.limit("user", to: 100)
            clock.advance(by: .seconds(3600))
            #expect(try await device.engine.sync().isSynced)
            #expect(server.takeLines().count == 9)
        }
    }

    @Test func `of one workspace leave the others alone, and refuse nothing`() async throws {
        var model = SyncModel.toggl
        model.settings.limits = []
        try await QuotaDevice.with(model) { device, server, clock async throws in
            server.put(
                "workspaces",
                #"[{"id":7,"name":"Home","at":"2026-11-01T00:00:00Z"},"#
                    + #"{"id":8,"name":"Work","at":"2026-11-01T00:00:00Z"}]"#)
            _ = try await device.engine.sync()
            server.limit("7", to: 0)
            _ = server.takeLines()
            for number in 1...3 { try device.putEntry("a\(number)", in: 7) }
            for number in 1...3 { try device.putEntry("b\(number)", in: 8) }

            let outcome = try await device.engine.sync(scope: .push)

            #expect(outcome.pending == 3 && outcome.refused == 0 && outcome.failure == nil)
            let posts = server.takeLines()
            #expect(posts.count { $0.contains("/workspaces/8/") } == 3)
            #expect(posts.count { $0.contains("/workspaces/7/") } == 1)
            server.limit("7", to: 100)
            clock.advance(by: .seconds(3600))
            #expect(try await device.engine.sync(scope: .push).pending == 0)
        }
    }

    @Test func `of the model hold back what would be too much, before the server says so`()
        async throws
    {
        var model = SyncModel.toggl
        model.settings.limits = [
            RequestLimit(requests: 2, within: .hours(1), group: "workspace"),
            RequestLimit(requests: 20, within: .hours(1), wholePulls: true, group: "user"),
        ]
        try await QuotaDevice.with(model) { device, server, clock async throws in
            _ = try await device.engine.sync()
            for number in 1...5 { try device.putEntry("e\(number)") }

            // Two pulls of nine lists fit, and two writes; a third pull does not.
            #expect(try await device.engine.sync().pending == 3)
            let third = try await device.engine.sync()

            #expect(third.failed.count == 9 && third.pending == 3 && third.failure == nil)
            #expect(server.requests.count { $0.group == "user" } == 18)
            #expect(server.requests.count { $0.group == "7" } == 2)
            try device.restart()
            clock.advance(by: .seconds(3500))
            #expect(try await device.engine.sync(scope: .push).pending == 3)
            clock.advance(by: .seconds(100))
            #expect(try await device.engine.sync(scope: .push).pending == 1)
        }
    }

    @Test func `hold back edits that a started engine sends once there is room`() async throws {
        var model = SyncModel.toggl
        model.settings.limits = [
            RequestLimit(requests: 2, within: .hours(1), group: "workspace")
        ]
        try await QuotaDevice.with(model) { device, server, clock async throws in
            for number in 1...5 { try device.putEntry("e\(number)") }
            let begun = clock.now
            #expect(await device.becomesIdle()?.pending == 0)
            #expect(server.requests.count { $0.group == "7" } == 5)
            #expect(clock.now >= begun.adding(seconds: 7200))
            #expect(try device.count("sync.finished") == 3)
        }
    }

    @Test func `that the server told hold back edits as long`() async throws {
        var model = SyncModel.toggl
        model.settings.limits = []
        try await QuotaDevice.with(model) { device, server, clock async throws in
            server.limit("7", to: 2)
            for number in 1...5 { try device.putEntry("e\(number)") }
            #expect(await device.becomesIdle()?.pending == 0)
            #expect(try device.count("sync.finished") == 3)
        }
    }
}

@Suite(.serialized) struct `lists that are not due` {
    @Test func `are left out of runs that begin by themselves, and made where somebody asks`()
        async throws
    {
        try await QuotaDevice.with { device, server, clock async throws in
            _ = try await device.engine.sync()
            clock.advance(by: .seconds(900))
            _ = server.takeLines()

            let timer = try await device.engine.sync(.timer)

            #expect(timer.isSynced && timer.notDue.count == 9)
            #expect(server.takeLines().allSatisfy { !$0.contains("/me/") })
            let asked = try await device.engine.sync(.userRequested)
            #expect(asked.notDue == [] && server.takeLines().count == 9)
            let told = try await device.engine.sync(.remoteChange)
            #expect(told.notDue == [] && server.takeLines().count == 9)
        }
    }

    @Test func `are due an hour after the run began that made them, also over a restart`()
        async throws
    {
        try await QuotaDevice.with { device, server, clock async throws in
            _ = try await device.engine.sync()
            clock.advance(by: .seconds(3599))
            #expect(try await device.engine.sync(.timer).notDue.count == 9)
            try device.restart()
            clock.advance(by: .seconds(1))
            _ = server.takeLines()

            let outcome = try await device.engine.sync(.timer)

            #expect(outcome.notDue == ["workspaces", "workspace_features", "preferences"])
            #expect(server.takeLines().count == 6)
        }
    }

    @Test func `that failed are made again in the next run`() async throws {
        try await QuotaDevice.with { device, server, clock async throws in
            server.put("tags", "{}")
            #expect(try await device.engine.sync().failed.keys.map(\.rawValue) == ["tags"])
            server.put("tags", nil)
            clock.advance(by: .seconds(900))
            _ = server.takeLines()

            let outcome = try await device.engine.sync(.timer)

            #expect(outcome.isSynced && outcome.notDue.count == 8)
            #expect(server.takeLines().contains("GET /api/v9/me/tags"))
        }
    }
}
