// SyncWindowTests.swift — a window of which the server does not list everything at once.

import HTTPTypes
import Synchronization
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkRules
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

/// Lists at most so many of what lies in a window, or of what changed, the newest first.
private struct LimitedAdapter: ServerAdapter {
    private let dated = DatedAdapter()
    let limit: Int

    func request(for call: ServerCall) throws(SyncFailure) -> ServerRequest {
        try dated.request(for: call)
    }

    func answer(to call: ServerCall, _ response: HTTPResponse, body: [UInt8]) -> ServerAnswer {
        guard case .page(var page) = dated.answer(to: call, response, body: body) else {
            return .failure(.malformed("no page"))
        }
        if case .listWindow(_, let from, let to, _) = call {
            page.records = page.records.filter { record in
                record.serverTime.map { $0 >= from && $0 <= to } ?? false
            }
        }
        page.records.sort { ($0.serverTime ?? from) > ($1.serverTime ?? from) }
        page.records = Array(page.records.prefix(limit))
        return .page(page)
    }

    private var from: Timestamp { Timestamp(rawValue: 0) }
}

@Suite(.serialized) struct `a list of a window at the server's limit` {
    private static let limit = 4

    private static var model: SyncModel {
        SyncModel(
            name: "limited",
            collections: [
                CollectionModel(
                    "entries", lastChangeField: "at", ids: .serverNumber, absence: .keeps,
                    since: SinceRule(ageMax: .days(60)),
                    window: PullWindow(back: .days(60), ahead: .days(2), limit: limit))
            ])
    }

    private func with(
        _ body: (DatedDevice, DatedServer) async throws -> Void
    ) async throws {
        let server = DatedServer(ManualClock())
        let device = try DatedDevice(
            of: server, over: server, model: Self.model,
            adapter: LimitedAdapter(limit: Self.limit),
            dependencies: .seeded(1, clock: server.clock, movesClock: true))
        try await device.lendAndVerify { try await body($0, server) }
    }

    private func put(_ id: Int, _ server: DatedServer, secondsAgo: Int64) {
        server.put("entries/\(id)", at: server.clock.now.adding(seconds: -secondsAgo))
    }

    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func `is divided until every part is whole`(_ seed: UInt64) async throws {
        try await with { device, server async throws in
            var random = SplitMix64(seed: seed)
            let count = 5 + Int(random.next() % 20)
            // Two at most in a day.
            for id in 1...count {
                put(id, server, secondsAgo: Int64(id) * 2 * 43_200 + Int64(random.next() % 80_000))
            }

            let outcome = try await device.engine.sync()

            #expect(outcome.isSynced, "seed \(seed): \(outcome)")
            #expect(try device.rows("entries").count == count, "seed \(seed)")
            let mark = try device.replica.journal.read { try $0.watermark("entries") }
            #expect(mark?.since != nil, "seed \(seed)")
        }
    }

    @Test func `fails where a day has too many, and says of which day`() async throws {
        try await with { device, server async throws in
            for id in 1...6 { put(id, server, secondsAgo: 86_400 + Int64(id)) }

            let outcome = try await device.engine.sync()

            let failure = try #require(outcome.failed["entries"])
            #expect("\(failure)".contains("lists at most 4 of entries"))
            #expect(try device.rows("entries").count == 4)
            #expect(try device.replica.journal.read { try $0.watermark("entries") } == nil)
        }
    }

    @Test func `is made where changes since a date are as many`() async throws {
        try await with { device, server async throws in
            put(1, server, secondsAgo: 86_400 * 30)
            #expect(try await device.engine.sync().isSynced)
            for id in 2...9 { put(id, server, secondsAgo: Int64(id) * 86_400) }

            #expect(try await device.engine.sync().isSynced)

            #expect(try device.rows("entries").count == 9)
        }
    }

    @Test func `has halves that meet at a whole second, down to a day`() {
        func at(_ seconds: Int64) -> Timestamp { Timestamp(rawValue: seconds * 1_000_000) }
        let span = TidemarkSync.TimeSpan(from: at(0), to: at(86_401))

        #expect(
            span.halves == [
                .init(from: at(0), to: at(43_200)), .init(from: at(43_200), to: at(86_401)),
            ])
        #expect(TidemarkSync.TimeSpan(from: at(0), to: at(86_400)).halves == nil)
    }
}
