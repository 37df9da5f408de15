// EngineStatusTests.swift — what an engine tells of itself, to whoever listens, fast or slow.

import HTTPTypes
import Observation
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

@Suite(.serialized) struct `the status of an engine` {
    @Test func `begins with what is now, for every listener`() async throws {
        try await SyncDevice.with(SyncWorld()) { device in
            try device.put("tasks/t1", "{}")
            var first = device.engine.statuses.makeAsyncIterator()
            #expect(await first.next() == EngineStatus(.idle, pending: 1))

            let outcome = try await device.sync()

            var second = device.engine.statuses.makeAsyncIterator()
            #expect(await second.next() == EngineStatus(.idle, lastOutcome: outcome))
        }
    }

    @Test func `counts what waits for the server and what waits for the user`() async throws {
        let world = SyncWorld(
            [FaultRule(.answer(status: 400), method: .put, pathContains: "/bad")])
        try await SyncDevice.with(world) { device in
            try device.put("lists/bad", "{}")
            try device.put("tasks/inside", #"{"list":"bad"}"#)
            try device.put("tasks/t1", "{}")
            try await device.sync()

            var statuses = device.engine.statuses.makeAsyncIterator()
            let status = await statuses.next()
            #expect(status?.pending == 1 && status?.refused == 1)
        }
    }

    @Test func `says how far a run is, and of how much where that is known`() async throws {
        let world = SyncWorld.paging(2)
        for number in 1...3 { world.rivalPuts("tasks/theirs\(number)", "{}") }
        try await SyncDevice.with(world) { device in
            for number in 1...2 { try device.put("tasks/lost\(number)", "{}") }
            world.server.faults = FaultPlan(
                [FaultRule(.dropAfterHandling, method: .put, nth: 1)])
            try await device.sync()
            try device.put("lists/new", "{}")
            var statuses = device.engine.statuses.makeAsyncIterator()
            _ = await statuses.next()
            try await device.sync()

            var lines: [String] = []
            while let progress = await statuses.next()?.progress {
                let total = progress.total.map(String.init) ?? "?"
                let name = progress.collection?.rawValue ?? "-"
                lines.append("\(progress.phase) \(name) \(progress.done)/\(total)")
            }
            #expect(
                lines == [
                    "readingBack tasks 0/1", "pulling - 0/?", "pulling lists 0/?",
                    "pulling lists 0/?",
                    "pulling tasks 0/?",
                    "pushing lists 0/1", "cleaning - 0/?",
                ])
        }
    }

    @Test func `keeps no run waiting for a listener who never listens`() async throws {
        try await SyncDevice.with(SyncWorld()) { device in
            let never = device.engine.statuses
            for number in 1...300 { try device.put("tasks/t\(number)", "{}") }

            #expect(try await device.sync().isSynced)

            var count = 0
            for await status in never {
                count += 1
                if status.lastOutcome != nil { break }
            }
            #expect(count == 256, "the oldest are forgotten, the last one is there")
        }
    }

    @Test func `is the same for all who listen`() async throws {
        try await SyncDevice.with(SyncWorld()) { device in
            let streams = (1...3).map { _ in device.engine.statuses }
            try device.put("tasks/t1", "{}")
            try await device.sync()

            var seen: [[EngineStatus]] = []
            for stream in streams {
                var list: [EngineStatus] = []
                for await status in stream {
                    list.append(status)
                    if status.lastOutcome != nil { break }
                }
                seen.append(list)
            }
            #expect(seen[0] == seen[1] && seen[1] == seen[2] && seen[0].count > 4)
        }
    }
}

@Suite(.serialized) @MainActor struct `a model of the status` {
    /// Waits for the next change of what `look` sees.
    private func change<T>(_ look: @escaping @MainActor () -> T) async -> T {
        await withCheckedContinuation { continuation in
            withObservationTracking {
                _ = look()
            } onChange: {
                continuation.resume()
            }
        }
        // Told before the change is made, on the same actor.
        await Task.yield()
        return look()
    }

    @Test func `tells who shows it of every change`() async throws {
        try await SyncDevice.with(SyncWorld()) { device async throws in
            let model = SyncStatusModel(device.engine)
            #expect(model.status.activity == .idle)

            let run = Task { try await device.sync() }
            var changes = 0
            while model.status.lastOutcome == nil {
                _ = await change { model.status }
                changes += 1
            }

            #expect(changes > 0 && model.status.activity == .idle)
            #expect(try await run.value == model.status.lastOutcome)
        }
    }

    @Test func `follows no longer than it is kept`() async throws {
        try await SyncDevice.with(SyncWorld()) { device in
            weak var gone: SyncStatusModel?
            do {
                let model = SyncStatusModel(device.engine)
                gone = model
                #expect(model.status.activity == .idle)
            }
            try await device.sync()
            #expect(gone == nil)
        }
    }
}
