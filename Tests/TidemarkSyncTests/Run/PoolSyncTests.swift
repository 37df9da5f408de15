// PoolSyncTests.swift — values are reserved by a server, run after run: what can't be used, what
// fails, and what a restart leaves.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

private typealias Dhis2Device = Device<Dhis2Server>

@Suite(.serialized) struct `pools of reserved values` {
    private let clock = ManualClock()
    private let key = ["A1"]

    private func server(_ pattern: String = "RANDOM(####)") -> Dhis2Server {
        var model = Dhis2ServerModel(.v41, users: [Dhis2User(isSuperuser: true)])
        model.acceptsAnyID = true
        let server = Dhis2Server(model, clock: clock)
        put(pattern, to: server)
        return server
    }

    private func put(_ pattern: String, to server: Dhis2Server) {
        let quoted = JSONValue.string(pattern).description
        server.put(
            "trackedEntityAttributes/A1",
            #"{"valueType":"TEXT","unique":true,"generated":true,"pattern":\#(quoted)}"#)
    }

    private func with(
        _ server: Dhis2Server, fill: Int = 10,
        _ body: (Dhis2Device) async throws -> Void
    ) async throws {
        let model = SyncModel(
            name: "m", collections: [CollectionModel("trackedEntityAttributes", pushes: [])],
            pools: [.init("numbers", keys: [key], fill: fill)],
            settings: SyncSettings(fullPullEvery: .zero))
        let device = try Dhis2Device(
            of: server, over: server, model: model,
            dependencies: .seeded(1, clock: clock, movesClock: true))
        try await device.lendAndVerify(body)
    }

    private func left(_ device: Dhis2Device) throws -> Int {
        try device.replica.valuesLeft(in: "numbers", key: key)
    }

    private func take(_ count: Int, from device: Dhis2Device) throws -> [String] {
        try (0..<count).map { _ in
            try device.replica.write { tx in try tx.take(from: "numbers", key: key) }
        }
    }

    /// The keys that a run of a model looks at.
    private func lookedAt(by model: SyncModel, _ device: Dhis2Device) throws -> [PoolKey] {
        let adapter = try device.server.makeAdapter()
        let fact = try device.replica.read { tx in
            try tx.views.answer(.pools(nil, at: clock.now), model, adapter)
        }
        guard case .pools(let facts) = fact else { return [] }
        return facts.map(\.key)
    }

    private func asked(_ server: Dhis2Server) -> [String] {
        server.requestLog.compactMap { request in
            request.path.split(separator: "numberToReserve=").dropFirst().first.map(String.init)
        }
    }

    @Test func `are filled by a run, used offline, and filled again where few are left`()
        async throws
    {
        let server = server()
        try await with(server) { device in
            let outcome = try await device.sync()
            #expect(outcome.isSynced && outcome.refills.map(\.added) == [10])
            #expect("\(outcome)".contains("10 values reserved"))
            let first = try take(5, from: device)
            #expect(try await device.sync().refills == [])
            let more = try take(1, from: device)
            try device.restart()
            #expect(try await device.sync().refills.map(\.added) == [6])
            #expect(try left(device) == 10)
            let rest = try take(10, from: device)

            #expect(Set(first + more + rest).count == 16)
            #expect(asked(server) == ["10", "6"])
        }
    }

    @Test func `of which fewer come than were asked for, or some twice, or over, are kept`()
        async throws
    {
        let server = server()
        let body = """
            [{"value":"1","key":"RANDOM(####)","expiryDate":"2099-01-01T00:00:00.000"},
             {"value":"1","key":"RANDOM(####)","expiryDate":"2099-01-01T00:00:00.000"},
             {"value":"2","key":"RANDOM(####)","expiryDate":"2019-01-01T00:00:00.000"},
             {"key":"RANDOM(####)"},
             {"value":"3","key":"RANDOM(####)","expiryDate":"2099-01-01T00:00:00.000"}]
            """
        server.faults = FaultPlan([
            FaultRule(
                .answer(status: 200, body: Array(body.utf8)), pathContains: "generateAndReserve",
                nth: 1)
        ])
        try await with(server) { device in
            let outcome = try await device.sync()

            #expect(outcome.failure == nil && outcome.isSynced)
            #expect(outcome.refills.map(\.added) == [2])
            #expect(
                outcome.refills.first?.failure?.detail
                    == "5 of 10 values came; 1 came twice, or were here before; the time of 1 is "
                    + "over; 1 can't be read; the others are kept, and the next run asks for more "
                    + "where too few are left")
            #expect("\(outcome)".contains("1 keys of pools not filled"))
            #expect(try take(2, from: device) == ["1", "3"])
            // The next run is not held back by it.
            #expect(try await device.sync(.all, .timer).refills.map(\.added) == [10])
        }
    }

    @Test func `that were taken are not handed out again, though the server sends them again`()
        async throws
    {
        let server = server()
        func answer(_ values: String...) -> [UInt8] {
            let items = values.map { #"{"value":"\#($0)","expiryDate":"2099-01-01"}"# }
            return Array("[\(items.joined(separator: ","))]".utf8)
        }
        server.faults = FaultPlan([
            FaultRule(
                .answer(status: 200, body: answer("1", "2")), pathContains: "generateAndReserve",
                nth: 1),
            FaultRule(
                .answer(status: 200, body: answer("1", "2")), pathContains: "generateAndReserve",
                nth: 2),
            FaultRule(
                .answer(status: 200, body: answer("2", "3")), pathContains: "generateAndReserve",
                nth: 3),
        ])
        try await with(server, fill: 2) { device in
            _ = try await device.sync()
            #expect(try take(2, from: device) == ["1", "2"])
            let nothing = try await device.sync()
            #expect(nothing.refills.map(\.added) == [0] && nothing.failure == nil)
            #expect(try left(device) == 0)
            // Asked again at once it would say the same.
            let held = try await device.sync(.all, .timer).refills.map(\.failure)
            guard case .backoff? = held.first ?? nil else {
                Issue.record("\(held)")
                return
            }
            #expect(try await device.sync().refills.map(\.added) == [1])
            #expect(try take(1, from: device) == ["3"])
        }
    }

    @Test func `that the server refuses fail nothing else, and wait, over a restart`() async throws
    {
        let server = server()
        server.faults = FaultPlan([
            FaultRule(.answer(status: 500), pathContains: "generateAndReserve", nth: 1)
        ])
        try await with(server) { device in
            let outcome = try await device.sync()
            #expect(outcome.isSynced && outcome.failure == nil)
            let failure = SyncFailure.server(status: 500, retryAfterSeconds: nil)
            #expect(outcome.refills.map(\.failure) == [failure])
            try device.restart()

            let held = try await device.sync(.all, .timer)
            #expect(held.isSynced && held.refills.count == 1 && asked(server).count == 1)
            clock.advance(by: .seconds(3600))
            #expect(try await device.sync(.all, .timer).refills.map(\.added) == [10])
        }
    }

    @Test func `of another pattern are replaced, and don't count as left`() async throws {
        let server = server()
        try await with(server) { device in
            _ = try await device.sync()
            put(#""P-" + RANDOM(####)"#, to: server)
            // The run that learns of it asks for new ones at once.
            #expect(try await device.sync().refills.map(\.added) == [10])
            #expect(try left(device) == 10)
            #expect(try take(10, from: device).allSatisfy { $0.hasPrefix("P-") })
        }
    }

    @Test func `have as many as a run was asked for, from then on`() async throws {
        let server = server()
        try await with(server) { device in
            let scope = SyncScope.reserve([.init("numbers", key, count: 4)])
            #expect(try await device.sync(scope).refills.map(\.added) == [4])
            // Nothing is asked for, and the number is remembered all the same.
            let fewer = SyncScope.reserve([.init("numbers", key, count: 2)])
            #expect(try await device.sync(fewer).refills == [])
            try device.restart()
            _ = try take(4, from: device)
            #expect(try await device.sync().refills.map(\.added) == [2])
            #expect(asked(server) == ["4", "2"])
            let kinds = try device.kinds().filter { $0.hasPrefix("reserved") }
            #expect(kinds.count == 6)
        }
    }

    @Test func `of a key that the model names no more are asked for no more`() async throws {
        let server = server()
        try await with(server) { device in
            _ = try await device.sync()
            var later = device.model
            later.pools[0].keys = []
            #expect(try lookedAt(by: device.model, device) == [PoolKey("numbers", key)])
            #expect(try lookedAt(by: later, device) == [])

            _ = try await device.sync(.reserve([.init("numbers", key)]))
            #expect(try lookedAt(by: later, device) == [PoolKey("numbers", key)])
        }
    }

    @Test func `of a key that no model names are kept filled once a run was asked to`() async throws
    {
        let server = server(#"ORG_UNIT_CODE(...) + RANDOM(###)"#)
        try await with(server) { device in
            let refused = try await device.sync()
            #expect(refused.isSynced && refused.refills.map(\.added) == [0])
            #expect(
                refused.refills.first?.failure?.detail == "Missing required values: ORG_UNIT_CODE")
            let scope = SyncScope.reserve([.init("numbers", ["A1", "OSLO"])])
            #expect(try await device.sync(scope).refills.map(\.added) == [10])
            let value = try await device.replica.take(from: "numbers", key: ["A1", "OSLO"])
            #expect(value.hasPrefix("OSL"))
        }
    }
}
