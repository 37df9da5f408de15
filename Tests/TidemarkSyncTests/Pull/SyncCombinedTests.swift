// SyncCombinedTests.swift — one answer about several lists: it only adds and changes.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite(.serialized) struct `an answer about several lists` {
    private let tea = #"{"id":4,"workspace_id":7,"name":"tea","at":"2026-11-10T00:00:00Z"}"#
    private let mate = #"{"id":4,"workspace_id":7,"name":"mate","at":"2026-11-11T00:00:00Z"}"#
    private let cake = #"{"id":5,"workspace_id":7,"name":"cake","at":"2026-11-10T00:00:00Z"}"#

    /// A device that has pulled everything, fifteen minutes ago.
    private func with(
        _ body: (QuotaDevice, QuotaToggl, ManualClock) async throws -> Void
    ) async throws {
        try await QuotaDevice.with { device, server, clock async throws in
            server.put("tags", "[\(tea),\(cake)]")
            #expect(try await device.engine.sync().isSynced)
            clock.advance(by: .seconds(900))
            _ = server.takeLines()
            try await body(device, server, clock)
        }
    }

    private func names(_ device: QuotaDevice) throws -> [String] {
        try device.rows("tags").compactMap { _, row in
            try row.document.map { try JSONDocument(parsing: $0).value("name")?.stringValue ?? "" }
        }.sorted()
    }

    private func mark(_ device: QuotaDevice) throws -> WatermarkRow? {
        try device.replica.journal.read { try $0.watermark("tags") }
    }

    @Test func `changes and adds, for one request`() async throws {
        try await with { device, server, _ async throws in
            let new = cake.replacing("\"id\":5", with: "\"id\":6").replacing("cake", with: "jam")
            server.put("tags", "[\(mate),\(cake),\(new)]")

            let outcome = try await device.engine.sync(.timer)

            #expect(server.takeLines() == ["GET /api/v9/me?with_related_data=true"])
            #expect(outcome.counts.pulled == 2)
            #expect(try names(device) == ["cake", "jam", "mate"])
        }
    }

    @Test func `says of an entity what it says last`() async throws {
        try await with { device, server, _ async throws in
            server.put("tags", "[\(mate),\(tea),\(cake)]")

            let outcome = try await device.engine.sync(.timer)

            #expect(outcome.counts.pulled == 0)
            #expect(try names(device) == ["cake", "tea"])
        }
    }

    @Test func `costs nothing but the end of the run where it brings nothing new`() async throws {
        try await with { device, server, _ async throws in
            let before = try device.events().count

            #expect(try await device.engine.sync(.timer).isSynced)

            #expect(server.takeLines().count == 1)
            #expect(try device.events().count == before + 1)
        }
    }

    @Test(arguments: [nil, "[]"] as [String?])
    func `says nothing by what it leaves out, and moves no date`(_ list: String?) async throws {
        try await with { device, server, _ async throws in
            let before = try mark(device)
            server.put("tags", list)

            _ = try await device.engine.sync(.timer)

            #expect(try names(device) == ["cake", "tea"])
            server.put("tags", "[\(mate)]")
            _ = try await device.engine.sync(.timer)
            #expect(try names(device) == ["cake", "mate"])
            #expect(try mark(device) == before)
        }
    }

    @Test func `leaves deletions to the list by date, which begins where it would have`()
        async throws
    {
        try await with { device, server, clock async throws in
            server.put("tags", "[\(mate)]")
            _ = try await device.engine.sync(.timer)
            clock.advance(by: .seconds(2700))
            let gone = cake.replacing("}", with: #","server_deleted_at":"2026-11-11T00:00:00Z"}"#)
            server.put("tags", "[\(mate),\(gone)]")
            _ = server.takeLines()

            _ = try await device.engine.sync(.timer)

            #expect(try names(device) == ["mate"])
            // The date of the first list, not that of the change that came in between.
            #expect(server.takeLines().contains("GET /api/v9/me/tags?since=1794268800"))
        }
    }

    @Test func `is told as the place that a change came from`() async throws {
        try await with { device, server, _ async throws in
            server.put("tags", "[\(mate)]")
            _ = try await device.engine.sync(.timer)

            let events = try device.events().map(\.event)
            let change = try #require(events.last { $0.kind == .serverUpserted })
            let sent = try #require(events.last { $0.kind == .requestSent })
            #expect(change.call != nil && change.key == EntityKey("tags", "4"))
            #expect(sent.read(RequestSent.self)?.path == "/api/v9/me?with_related_data=true")
            let page = try #require(events.last { $0.kind == .pullPage }?.read(PullPage.self))
            #expect(page.scope == "combined" && page.ids == ["4"])
        }
    }
}

@Suite(.serialized) struct `idle runs with Toggl` {
    @Test
    func `make at most thirty requests about the user in any hour of a day, at the usual pace`()
        async throws
    {
        try await QuotaDevice.with { device, server, clock async throws in
            server.limit("user", to: 30)
            let every = SyncModel.toggl.settings.runEvery
            #expect(every == .minutes(15))
            for _ in 0..<96 {
                let outcome = try await device.engine.sync(.timer)
                #expect(outcome.isSynced)
                clock.advance(by: .seconds(every.seconds))
            }

            let times = server.requests.filter { $0.group == "user" }.map(\.at)
            let most = times.map { first in
                times.count { $0 >= first && $0 < first.adding(seconds: 3600) }
            }
            // Once an hour six lists, else one request; once a day three more.
            #expect(most.max() == 12)
            #expect(times.count == 24 * 9 + 3)
        }
    }
}
