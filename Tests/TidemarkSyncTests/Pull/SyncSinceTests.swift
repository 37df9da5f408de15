// SyncSinceTests.swift — lists of what changed since a date, against a server in this process.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite(.serialized) struct `lists by date` {
    private static func model(serverDate: Bool = false, window: PullWindow? = nil) -> SyncModel {
        var tags = CollectionModel("tags", lastChangeField: "at")
        tags.since = SinceRule(ageMax: .months(2), serverDate: serverDate)
        tags.window = window
        tags.absence = .keeps
        return SyncModel(
            name: "dated", collections: [tags], settings: SyncSettings(fullPullEvery: .zero))
    }

    private static let months = Duration.seconds(62 * 86_400)

    @Test func `bring what changed since the last change, and cost one event when idle`()
        async throws
    {
        let clock = ManualClock()
        let server = DatedServer(clock)
        let first = clock.now
        server.put("tags/1")
        clock.advance(by: .seconds(60))
        try await DatedDevice.with(Self.model(), server) { device async throws in
            try await device.sync()
            #expect(try device.mark("tags")?.since == first)

            clock.advance(by: .seconds(60))
            let before = try device.position()
            #expect(try await device.sync().isSynced)
            #expect(try device.kinds(after: before) == ["sync.finished"])

            server.delete("tags/7")
            let second = clock.now
            clock.advance(by: .seconds(60))
            #expect(try await device.sync().counts.pulled == 0)
            #expect(try device.mark("tags")?.since == second, "a tombstone of what was never here")
            #expect(
                server.requests == [
                    "GET tags", "GET tags?since=\(first.rawValue)",
                    "GET tags?since=\(first.rawValue)",
                ])
        }
    }

    @Test func `go by the times in documents where the adapter tells none`() async throws {
        let clock = ManualClock()
        let server = DatedServer(clock)
        let first = clock.now
        server.put("tags/1", #""changed":"\#(first)""#)
        clock.advance(by: .seconds(60))
        var model = Self.model()
        model.collections[0].lastChangeField = "changed"
        let adapter = DatedAdapter(tellsChanges: false)
        try await DatedDevice.with(model, server, adapter: adapter) { device async throws in
            try await device.sync()
            #expect(try device.mark("tags")?.since == first)

            clock.advance(by: .seconds(60))
            let second = clock.now
            server.put("tags/2", #""changed":"\#(second)""#)
            clock.advance(by: .seconds(60))
            try await device.sync()
            #expect(try device.mark("tags")?.since == second)
            #expect(server.requests == ["GET tags", "GET tags?since=\(first.rawValue)"])
        }
    }

    @Test func `bring everything when the last change is too long ago`() async throws {
        let clock = ManualClock()
        let server = DatedServer(clock)
        server.put("tags/1")
        try await DatedDevice.with(Self.model(), server) { device async throws in
            try await device.sync()
            clock.advance(by: Self.months)
            server.forgetRequests()
            try await device.sync()
            #expect(server.requests == ["GET tags"])
        }
    }

    @Test func `go by the server's date of an earlier list where they may`() async throws {
        let clock = ManualClock()
        let server = DatedServer(clock)
        server.put("tags/1")
        try await DatedDevice.with(Self.model(serverDate: true), server) { device async throws in
            try await device.sync()
            clock.advance(by: .seconds(30 * 86_400))
            let checked = clock.now
            try await device.sync()
            #expect(
                try device.mark("tags")?.checkedAt == checked.adding(seconds: -1),
                "noted again, as the last note is older than a day")
            clock.advance(by: .seconds(40 * 86_400))
            server.forgetRequests()
            try await device.sync()
            #expect(
                server.requests == ["GET tags?since=\(checked.adding(seconds: -1).rawValue)"])
        }
    }

    @Test func `bring everything where the server tells no time`() async throws {
        let server = DatedServer(ManualClock(), tellsTime: false)
        server.put("tags/1")
        try await DatedDevice.with(Self.model(serverDate: true), server) { device async throws in
            try await device.sync()
            let before = try device.position()
            try await device.sync()
            #expect(server.requests == ["GET tags", "GET tags"])
            #expect(try device.kinds(after: before) == ["sync.finished"])
        }
    }

    @Test func `begin with a window around now`() async throws {
        let clock = ManualClock(
            start: Timestamp(year: 2017, month: 2, day: 15, hour: 13, minute: 50, second: 0)
                ?? Timestamp(rawValue: 0))
        let server = DatedServer(clock)
        server.put("tags/1")
        let model = Self.model(window: PullWindow(back: .months(2), ahead: .days(2)))
        try await DatedDevice.with(model, server) { device async throws in
            try await device.sync()
            #expect(
                server.requests == [
                    "GET tags?from=2016-12-15T13:50:00.000000Z&to=2017-02-17T13:50:00.000000Z"
                ])
            server.forgetRequests()
            try await device.sync()
            // What changed while a window is listed in parts is listed again.
            let since = clock.now.adding(seconds: -1).rawValue
            #expect(server.requests == ["GET tags?since=\(since)"])
        }
    }

    @Test func `are not moved by a push`() async throws {
        let clock = ManualClock()
        let server = DatedServer(clock)
        let first = clock.now
        server.put("tags/1")
        clock.advance(by: .seconds(60))
        try await DatedDevice.with(Self.model(), server) { device async throws in
            try await device.sync()
            clock.advance(by: .seconds(60))
            try await device.replica.write { tx in
                try tx.create(EntityKey("tags", "2"), Array(#"{"id":2}"#.utf8))
            }
            try await device.sync()
            #expect(server.requests.last == "PUT tags/2")
            #expect(try device.mark("tags")?.since == first)
        }
    }

    @Test func `SD-09: keep the old date when a page is not understood`() async throws {
        let clock = ManualClock()
        let server = DatedServer(clock)
        let first = clock.now
        server.put("tags/1")
        clock.advance(by: .seconds(60))
        try await DatedDevice.with(Self.model(), server) { device async throws in
            try await device.sync()
            clock.advance(by: .seconds(60))
            server.put("tags/2")
            server.answer("tags", with: 500)
            #expect(try await device.sync().failure != nil)
            #expect(try device.mark("tags")?.since == first)
        }
    }
}
