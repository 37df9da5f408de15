// EngineScopeTests.swift — runs that do only a part, those that wait behind one that fails, and an
// app that comes back.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkRules
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite(.serialized) struct `runs of a scope` {
    private static let model = SyncModel(
        name: "two",
        collections: (["lists", "tasks"] as [CollectionName]).map {
            var collection = CollectionModel($0, lastChangeField: "at")
            collection.since = SinceRule(ageMax: .months(2))
            collection.absence = .keeps
            return collection
        }, settings: SyncSettings(fullPullEvery: .zero, batchSize: 1))

    private func put(_ device: DatedDevice, _ id: String) async throws {
        try await device.replica.write { tx in
            try tx.create(EntityKey("tasks", id), Array(#"{"id":\#(id)}"#.utf8))
        }
    }

    @Test func `pull some collections and send nothing`() async throws {
        let server = DatedServer(ManualClock())
        server.put("tasks/1")
        try await DatedDevice.with(Self.model, server) { device async throws in
            try await put(device, "2")
            let outcome = try await device.sync(.pull(["tasks"]))
            #expect(outcome.failure == nil && outcome.pending == 1)
            #expect(server.requests == ["GET tasks"])
            #expect(try device.mark("tasks") != nil && device.mark("lists") == nil)
            #expect(try device.dump().contains { $0.contains(#""scope":["tasks"]"#) })
        }
    }

    @Test func `push and list nothing`() async throws {
        let server = DatedServer(ManualClock())
        try await DatedDevice.with(Self.model, server) { device async throws in
            try await put(device, "2")
            #expect(try await device.sync(.push).isSynced)
            #expect(server.requests == ["PUT tasks/2"])
            let before = try device.position()
            #expect(try await device.sync(.push).isSynced)
            #expect(try device.position() == before, "nothing to do is nothing to say")
        }
    }

    @Test func `clean up and ask for nothing`() async throws {
        let server = DatedServer(ManualClock())
        try await DatedDevice.with(Self.model, server) { device async throws in
            try await put(device, "2")
            #expect(try await device.sync(.cleanUp).failure == nil)
            #expect(server.requests == [])
        }
    }

    @Test func `QU-06: go before others that wait, where they pull only some`() async throws {
        let box = SyncBox<DatedDevice>()
        let tasks = SyncBox<[Task<SyncOutcome, any Error>]>()
        let flag = SyncFlag()
        let server = DatedServer(ManualClock()) { _ in
            guard flag.raise(), let device = box.value else { return }
            var begun: [Task<SyncOutcome, any Error>] = []
            for scope in [.all, .push, .pull(["tasks"])] as [SyncScope] {
                begun.append(await device.engine.ask(.userRequested, scope, nil, .changes))
            }
            tasks.value = begun
        }
        try await DatedDevice.with(Self.model, server) { device async throws in
            box.value = device
            defer { box.value = nil }
            try await device.sync()
            for task in try #require(tasks.value) { _ = try await task.value }
            #expect(
                server.requests.map { String($0.prefix { $0 != "?" }) } == [
                    "GET lists", "GET tasks", "GET tasks", "GET lists", "GET tasks",
                ])
        }
    }

    // MARK: Runs that fail

    /// What the server answers, how the run ends, and whether automatic ones wait for somebody.
    struct Ending: Sendable, CustomTestStringConvertible {
        var id: String
        var status: Int
        var outcome: String
        var isFrozen: Bool
        var testDescription: String { id }

        static let all = [
            Ending(id: "SM-02", status: 401, outcome: "unauthorized", isFrozen: true),
            Ending(id: "SM-04", status: 410, outcome: "apiDeprecated", isFrozen: true),
            Ending(id: "SM-08", status: 429, outcome: "tooManyRequests", isFrozen: false),
        ]
    }

    @Test(arguments: Ending.all)
    func `end for those that wait behind them as well`(_ ending: Ending) async throws {
        let box = SyncBox<DatedDevice>()
        let waiting = SyncBox<Task<SyncOutcome, any Error>>()
        let flag = SyncFlag()
        let server = DatedServer(ManualClock()) { _ in
            guard flag.raise(), let device = box.value else { return }
            waiting.value = await device.engine.ask(.localChange, .push, nil, .changes)
        }
        server.answer("lists", with: ending.status)
        try await DatedDevice.with(Self.model, server) { device async throws in
            try await put(device, "2")
            box.value = device
            defer { box.value = nil }
            let outcome = try await device.sync()
            #expect(outcome.failure?.name == ending.outcome)
            #expect(try device.outcomes() == [ending.outcome])
            let gates = try device.replica.journal.read { try $0.gates() }
            #expect((gates.frozen != nil) == ending.isFrozen)

            let second = try await (try #require(waiting.value)).value
            #expect(second.failure != nil && second.counts.requests == 0)
            let asked = server.requests.count
            #expect(try await device.sync(.all, .timer).counts.requests == 0)
            #expect(server.requests.count == asked)

            // Somebody who asks for it is heard, and what was frozen goes on.
            server.answer("lists", with: nil)
            #expect(try await device.sync().isSynced)
            #expect(try await device.sync(.all, .timer).isSynced)
        }
    }

    @Test func `SM-10: end with the step in hand when the engine is stopped`() async throws {
        let box = SyncBox<DatedDevice>()
        let server = DatedServer(ManualClock()) { line in
            guard line == "GET lists", let device = box.value else { return }
            Task { await device.engine.stop() }
            while !Task.isCancelled { await Task.yield() }
        }
        try await DatedDevice.with(Self.model, server) { device async throws in
            box.value = device
            let outcome = try await device.sync()
            box.value = nil
            #expect(outcome.failure == .cancelled && server.requests == ["GET lists"])
        }
    }

    @Test func `SM-13: are one time of syncing while others wait`() async throws {
        let box = SyncBox<DatedDevice>()
        let waiting = SyncBox<Task<SyncOutcome, any Error>>()
        let flag = SyncFlag()
        let server = DatedServer(ManualClock()) { _ in
            guard flag.raise(), let device = box.value else { return }
            waiting.value = await device.engine.ask(.userRequested, .push, nil, .changes)
        }
        try await DatedDevice.with(Self.model, server) { device async throws in
            try await put(device, "2")
            box.value = device
            defer { box.value = nil }
            let status = device.engine.statuses
            try await device.sync(.pull(["lists"]))
            _ = try await (try #require(waiting.value)).value
            var hasBegun = false
            for await one in status {
                if one.progress != nil { hasBegun = true }
                guard hasBegun, one.progress == nil else { continue }
                #expect(one.activity == .idle && one.pending == 0)
                break
            }
        }
    }

    // MARK: The background

    @Test func `AU-01: are begun by an app that was away for five minutes`() async throws {
        let server = DatedServer(ManualClock())
        try await DatedDevice.with(Self.model, server, movesClock: false) { device async throws in
            await device.engine.start(.none)
            await device.engine.appDidLeave()
            server.clock.advance(by: .seconds(299))
            #expect(await device.engine.appDidReturn() == false)
            #expect(await device.engine.appDidReturn() == false, "it never left")
            await device.engine.appDidLeave()
            server.clock.advance(by: .seconds(300))
            let status = device.engine.statuses
            #expect(await device.engine.appDidReturn())
            for await one in status where one.lastOutcome != nil { break }
            #expect(server.requests == ["GET lists", "GET tasks"])
        }
    }

    @Test func `AU-01: go by when the app left first, also where it says so at its return`()
        async throws
    {
        let server = DatedServer(ManualClock())
        try await DatedDevice.with(Self.model, server, movesClock: false) { device async throws in
            await device.engine.appDidLeave()
            server.clock.advance(by: .seconds(300))
            #expect(await device.engine.appDidReturn() == false, "it was not started")
            await device.engine.start(.none)
            #expect(await device.engine.appDidReturn() == false, "that return is over")
            await device.engine.appDidLeave()
            server.clock.advance(by: .seconds(300))
            await device.engine.appDidLeave()
            let status = device.engine.statuses
            #expect(await device.engine.appDidReturn())
            for await one in status where one.lastOutcome != nil { break }
            #expect(server.requests == ["GET lists", "GET tasks"])
        }
    }
}
