// SyncParallelTests.swift — several lists at once, persisted in the order of the model, whatever
// the order of their answers.

import Synchronization
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkInspect
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

/// Answers requests in an order that a test chose.
final class AnswerOrder: Sendable {
    private struct State {
        var order: ArraySlice<String>
        var waiting: [String: CheckedContinuation<Void, Never>] = [:]
    }
    private let state: Mutex<State>

    init(_ order: [String]) { state = Mutex(State(order: order[...])) }

    /// Waits until it is the turn of what is asked; what is not in the order never waits.
    func wait(_ line: String) async {
        let name = String(line.dropFirst("GET ".count).prefix { $0 != "?" })
        await withCheckedContinuation { continuation in
            let due = state.withLock { state -> [CheckedContinuation<Void, Never>] in
                guard state.order.contains(name) else { return [continuation] }
                state.waiting[name] = continuation
                return Self.due(&state)
            }
            for one in due { one.resume() }
        }
    }

    private static func due(_ state: inout State) -> [CheckedContinuation<Void, Never>] {
        var due: [CheckedContinuation<Void, Never>] = []
        while let next = state.order.first, let one = state.waiting.removeValue(forKey: next) {
            due.append(one)
            state.order = state.order.dropFirst()
        }
        return due
    }
}

@Suite(.serialized) struct `several lists at once` {
    private static let chains = [
        ["workspaces", "preferences", "projects"], ["user", "tags", "time_entries"],
        ["workspace_features", "clients", "tasks"],
    ]
    private static let persisted = [
        "workspaces", "user", "workspace_features", "preferences", "tags", "clients", "projects",
        "tasks", "time_entries",
    ]

    /// Nine collections in three chains.
    private static func model(parallel: Int = 3, limits: [RequestLimit] = []) -> SyncModel {
        var model = SyncModel(
            name: "chains",
            collections: persisted.map { name in
                var collection = CollectionModel(CollectionName(name), lastChangeField: "at")
                let chain = chains.first { $0.contains(name) } ?? []
                let index = chain.firstIndex(of: name) ?? 0
                if index > 0 { collection.listedAfter = [CollectionName(chain[index - 1])] }
                collection.absence = .keeps
                if index > 0, name != "preferences" {
                    collection.since = SinceRule(ageMax: .months(2))
                }
                return collection
            },
            settings: SyncSettings(fullPullEvery: .zero, limits: limits, parallel: parallel))
        model.settings.batchSize = 1
        return model
    }

    private static func server(
        _ clock: ManualClock = ManualClock(),
        gate: @escaping @Sendable (String) async -> Void = { _ in }
    ) -> DatedServer {
        let server = DatedServer(clock, gate: gate)
        for (number, name) in persisted.enumerated() {
            server.put("\(name)/\(number + 1)1", #""name":"a""#)
            server.put("\(name)/\(number + 1)2", #""name":"b""#)
        }
        return server
    }

    /// What is here, without positions.
    private static func rows(_ device: DatedDevice) throws -> [String] {
        var lines: [String] = []
        try device.replica.journal.read { views in
            try views.forEachEntity { key, row in
                let time = row.serverTime.map { "\($0)" } ?? "-"
                let base = String(decoding: row.base, as: UTF8.self)
                lines.append("\(key) \(row.status) \(base) \(time)")
                return true
            }
            for name in persisted {
                let mark = try views.watermark(PullTarget(CollectionName(name)))
                let times = [mark?.since, mark?.checkedAt].map { $0?.description ?? "-" }
                lines.append("\(name) \(times)")
            }
        }
        return lines
    }

    private static func orders(_ items: [Int]) -> [[Int]] {
        guard items.count > 1 else { return [items] }
        return items.flatMap { first in
            orders(items.filter { $0 != first }).map { [first] + $0 }
        }
    }

    @Test(.enabled(if: TestRun.isWhole))
    func `give the same rows in each of the 216 orders of their answers`() async throws {
        var expected: (rows: [String], kinds: [String])?
        for first in Self.orders([0, 1, 2]) {
            for second in Self.orders([0, 1, 2]) {
                for third in Self.orders([0, 1, 2]) {
                    let names = [first, second, third].enumerated().flatMap { wave, order in
                        order.map { Self.chains[$0][wave] }
                    }
                    let order = AnswerOrder(names)
                    let server = Self.server { await order.wait($0) }
                    try await DatedDevice.with(Self.model(), server) { device async throws in
                        #expect(try await device.sync().isSynced)
                        let seen = (try Self.rows(device), try device.kinds(after: .start))
                        #expect(server.inFlightMax <= 3 && server.requests.count == 9)
                        #expect(seen.0 == expected?.rows ?? seen.0, "\(names)")
                        #expect(seen.1 == expected?.kinds ?? seen.1, "\(names)")
                        expected = seen
                    }
                }
            }
        }
        #expect(expected?.rows.count == 27)
    }

    @Test func `give the rows that one after another gives`() async throws {
        var rows: [[String]] = []
        for parallel in [1, 2, 3, 9] {
            let server = Self.server()
            try await DatedDevice.with(Self.model(parallel: parallel), server) {
                device async throws in
                #expect(try await device.sync().isSynced)
                #expect(server.inFlightMax <= parallel)
                rows.append(try Self.rows(device))
            }
        }
        #expect(Set(rows).count == 1)
    }

    @Test func `give the same log each time`() async throws {
        var logs: Set<[String]> = []
        for _ in 0..<10 {
            let limits = [RequestLimit(requests: 3, within: .seconds(1))]
            try await DatedDevice.with(Self.model(limits: limits), Self.server()) {
                device async throws in
                #expect(try await device.sync().isSynced)
                logs.insert(try device.dump())
            }
        }
        #expect(logs.count == 1)
    }

    @Test func `WV-03: are persisted in the order of the model`() async throws {
        let order = AnswerOrder([
            "workspace_features", "user", "workspaces", "clients", "tags", "preferences", "tasks",
            "time_entries", "projects",
        ])
        let server = Self.server { await order.wait($0) }
        try await DatedDevice.with(Self.model(), server) { device async throws in
            #expect(try await device.sync().isSynced)
            #expect(try device.pages() == Self.persisted)
        }
    }

    @Test func `WV-04: keep what the others brought where one fails`()
        async throws
    {
        let server = Self.server()
        server.answer("projects", with: 500)
        try await DatedDevice.with(Self.model(), server) { device async throws in
            let outcome = try await device.sync()
            #expect(outcome.failed == ["projects": .server(status: 500, retryAfterSeconds: nil)])
            #expect(try device.pages() == Self.persisted.filter { $0 != "projects" })
            #expect(outcome.counts.requests == server.requests.count)
            #expect(try device.count("request.sent") == server.requests.count)
            server.answer("projects", with: nil)
            #expect(try await device.sync().isSynced)
        }
    }

    @Test func `ask for nothing that a failure ahead of it makes useless`() async throws {
        let order = AnswerOrder(["workspaces", "user", "workspace_features"])
        let server = Self.server { await order.wait($0) }
        server.answer("workspaces", with: 429)
        try await DatedDevice.with(Self.model(), server) { device async throws in
            #expect(try await device.sync().failure?.name == "tooManyRequests")
            #expect(
                Set(server.requests) == ["GET workspaces", "GET user", "GET workspace_features"])
            #expect(try device.pages() == [])
        }
    }

    @Test func `leave the others alone when one is refused`() async throws {
        let server = Self.server()
        server.answer("tags", with: 403)
        try await DatedDevice.with(Self.model(), server) { device async throws in
            let outcome = try await device.sync()
            #expect(outcome.failure == nil && outcome.failed.keys.map(\.rawValue) == ["tags"])
            #expect(try device.pages() == Self.persisted.filter { $0 != "tags" })
        }
    }

    @Test func `end with the run that is cancelled`() async throws {
        let flag = SyncFlag()
        let box = SyncBox<Task<SyncOutcome, any Error>>()
        let server = Self.server { line in
            if line == "GET tags", flag.raise() {
                while box.value == nil { await Task.yield() }
                box.value?.cancel()
                while !Task.isCancelled { await Task.yield() }
            }
        }
        try await DatedDevice.with(Self.model(), server) { device async throws in
            let task = Task { try await device.engine.sync() }
            box.value = task
            let outcome = try await task.value
            #expect(outcome.failure == .cancelled)
            #expect(try device.count("request.sent") == server.requests.count)
            #expect(try await device.sync().isSynced)
        }
    }

    @Test func `ask for credentials once more, for all of them`() async throws {
        let server = Self.server()
        for name in ["workspaces", "user", "workspace_features"] {
            server.answer(name, with: 401)
        }
        try await DatedDevice.with(
            Self.model(), server,
            credentials: { number in
                if number == 1 { for name in Self.persisted { server.answer(name, with: nil) } }
                return .bearer("\(number)")
            }
        ) { device async throws in
            #expect(try await device.sync().isSynced)
            // Those that came before the new ones were refused: the first, and perhaps two more.
            #expect((10...12).contains(server.requests.count))
            #expect(try device.pages() == Self.persisted)
        }
    }

    // MARK: Limits

    @Test func `RL-02: claim their slots one by one`() async throws {
        let server = Self.server()
        let limits = [RequestLimit(requests: 3, within: .seconds(1))]
        try await DatedDevice.with(Self.model(limits: limits), server) { device async throws in
            #expect(try await device.sync().isSynced)
            #expect(server.clock.elapsed == 2_000_000)
            #expect(server.times == [0, 0, 0, 1, 1, 1, 2, 2, 2].map { $0 * 1_000_000 })
        }
    }

    @Test func `RL-06: wait for the whole pull, and begin anew after that`() async throws {
        let server = Self.server()
        let limits = [
            RequestLimit(requests: 60, within: .seconds(60), wholePulls: true),
            RequestLimit(requests: 9, within: .seconds(1)),
        ]
        try await DatedDevice.with(Self.model(limits: limits), server) { device async throws in
            for _ in 0..<6 { #expect(try await device.sync().isSynced) }
            #expect(server.clock.elapsed == 5_000_000)
            #expect(try await device.sync().isSynced)
            #expect(server.times.suffix(9).allSatisfy { $0 == 60_000_000 })
        }
    }

    @Test func `RL-09: are decided anew by a push that had to wait`() async throws {
        let clock = ManualClock()
        let box = SyncBox<Replica>()
        let server = Self.server(clock)
        let limits = [RequestLimit(requests: 10, within: .seconds(60))]
        try await DatedDevice.with(
            Self.model(limits: limits), server,
            onSleep: {
                _ = try? box.value?.write { tx in
                    try tx.put(EntityKey("workspaces", "7"), Array(#"{"id":7}"#.utf8))
                }
            }
        ) { device async throws in
            try await device.replica.write { tx in
                for id in ["98", "99"] {
                    try tx.create(EntityKey("time_entries", id), Array(#"{"id":\#(id)}"#.utf8))
                }
            }
            box.value = device.replica
            defer { box.value = nil }
            #expect(try await device.sync().isSynced)
            #expect(
                server.requests.filter { $0.hasPrefix("PUT") } == [
                    "PUT time_entries/98", "PUT workspaces/7", "PUT time_entries/99",
                ])
        }
    }

    @Test func `RL-10: are not asked for by a light pull that would have to wait`() async throws {
        let server = Self.server()
        let limits = [RequestLimit(requests: 9, within: .seconds(60), wholePulls: true)]
        try await DatedDevice.with(Self.model(limits: limits), server) { device async throws in
            #expect(try await device.sync().isSynced)
            let (before, asked) = (try device.position(), server.requests.count)
            let outcome = try await device.sync(.pull(["time_entries"]))
            #expect(outcome.failure == nil && outcome.counts.requests == 0)
            #expect(outcome.notDue == ["time_entries"], "nobody takes it for listed")
            #expect(server.requests.count == asked && server.clock.elapsed == 0)
            #expect(try device.position() == before)
            server.clock.advance(by: .seconds(60))
            #expect(try await device.sync(.pull(["time_entries"])).counts.requests == 1)
            #expect(server.requests.last?.hasPrefix("GET time_entries") == true)
        }
    }
}
