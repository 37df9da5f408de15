// SyncRunTests.swift — one run at a time, one server for life, and runs that are cut off.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

extension SyncEngine {
    /// Returns when everything that called the engine before has begun.
    fileprivate func pass() {}
}

@Suite(.serialized) struct `runs` {
    /// A run; while it asks its first question, `callers` ask for another one.
    private func run(
        callers: Int,
        _ body: (SyncWorld, SyncDevice, [Task<SyncOutcome, any Error>]) async throws
            -> Void
    ) async throws {
        let world = SyncWorld()
        try await SyncDevice.with(world) { device in
            let tasks = SyncBox<[Task<SyncOutcome, any Error>]>()
            device.wire.tap { _, number, pass in
                if number == 1 {
                    try device.put("tasks/late", "{}")
                    tasks.value = (1...callers).map { _ in
                        Task.immediate { try await device.engine.sync(.timer) }
                    }
                    await device.engine.pass()
                }
                return await pass()
            }
            try await device.sync()
            #expect(device.wire.problem == nil)
            try await body(world, device, try #require(tasks.value))
            #expect(try device.kinds().filter { $0 == "sync.finished" }.count == 2)
            try device.verify()
        }
    }

    @Test func `that are asked for while one is going on are one more, shared by all`()
        async throws
    {
        try await run(callers: 5) { world, device, tasks in
            var outcomes: Set<SyncOutcome> = []
            for task in tasks { outcomes.insert(try await task.value) }

            #expect(outcomes.count == 1)
            #expect(outcomes.first?.isSynced == true)
            #expect(world.writes == ["PUT tasks/late * 201"])
        }
    }

    @Test func `go on for the others when one caller is cancelled`() async throws {
        try await run(callers: 2) { world, device, tasks in
            tasks[0].cancel()
            let outcome = try await tasks[1].value

            #expect(outcome.isSynced)
        }
    }

    @Test func `go on while the tables are folded anew`() async throws {
        let world = SyncWorld.paging(1)
        for number in 1...5 { world.rivalPuts("tasks/theirs\(number)", "{}") }
        try await SyncDevice.with(world) { device in
            for number in 1...5 { try device.put("tasks/mine\(number)", "{}") }
            device.wire.tap { _, _, pass in
                let rebuild = Task { try device.replica.journal.rebuild(eventsPerStep: 3) }
                let answer = await pass()
                try await rebuild.value
                return answer
            }

            #expect(try await device.sync().isSynced)

            #expect(device.wire.problem == nil && world.writes.count == 5)
            try device.verify()
        }
    }

    @Test func `name their trigger in the log`() async throws {
        try await SyncDevice.with(SyncWorld()) { device in
            _ = try await device.engine.sync(.localChange)

            let started = try #require(
                try device.events().first { $0.event.kind == .syncStarted })
            let payload = try JSONDocument(parsing: started.event.payload)
            #expect(payload.value("trigger")?.stringValue == "localChange")
        }
    }

    @Test func `say what they do, and how they ended`() async throws {
        try await SyncDevice.with(SyncWorld()) { device in
            try device.put("tasks/t1", "{}")
            var statuses = device.engine.statuses.makeAsyncIterator()

            let outcome = try await device.sync()

            var phases: [SyncProgress.Phase] = []
            #expect(await statuses.next()?.activity == .idle)
            while let progress = await statuses.next()?.progress { phases.append(progress.phase) }
            #expect(phases == [.pulling, .pulling, .pulling, .pushing, .cleaning])
            #expect(outcome.isSynced)
        }
    }

    @Test(arguments: [
        Remote.kinto(origin: "http://elsewhere.test", bucket: "b"),
        Remote.kinto(origin: "http://kinto.test", bucket: "other"),
        Remote.kinto(origin: "https://kinto.test", bucket: "b"),
    ])
    func `with another server are refused before anything is asked or logged`(_ other: Remote)
        async throws
    {
        try await SyncDevice.with(SyncWorld()) { device in
            try await device.sync()
            try device.put("tasks/t1", "{}")
            let position = try device.position()
            let engine = SyncDevice.engine(
                device.replica, device.wire, remote: other, adapter: try other.makeAdapter())
            device.wire.tap(nil)

            await #expect {
                try await engine.sync()
            } throws: { error in
                guard let error = error as? TidemarkError else { return false }
                let differing = other.parameters["bucket"] == "b" ? other.origin : "bucket"
                return error.code == .otherRemote && "\(error)".contains(differing)
            }

            #expect(device.wire.count == 0)
            #expect(try device.position() == position)
        }
    }

    @Test func `bind a store to the first server it is synced with`() async throws {
        let world = SyncWorld()
        let replica = try Replica.temporary(
            model: world.model, dependencies: .seeded(1, clock: world.clock))
        #expect(try replica.registration?.remote == nil)

        _ = try await SyncDevice.engine(
            replica, world.server, adapter: try SyncWorld.remote.makeAdapter()
        ).sync()

        #expect(try replica.registration?.remote == SyncWorld.remote)
        try replica.deleteTemporary()
    }

    @Test func `bind a store to another server where the first one never answered`() async throws {
        try await SyncDevice.with(SyncWorld()) { device in
            try device.put("tasks/t1", "{}")
            let wrong = Remote.kinto(origin: "http://wrong.test", bucket: "b")
            let first = SyncDevice.engine(
                device.replica, NoNetwork(), remote: wrong, adapter: try wrong.makeAdapter())
            #expect(try await first.sync().failure?.name == "offline")
            #expect(try device.replica.registration?.remote == wrong)

            #expect(try await device.sync().isSynced)

            #expect(try device.replica.registration?.remote == SyncWorld.remote)
            #expect(device.world.writes == ["PUT tasks/t1 * 201"])
            await #expect {
                _ = try await first.sync()
            } throws: { error in
                (error as? TidemarkError)?.code == .otherRemote
            }
            try device.verify()
        }
    }
}

/// Lets no request out.
private struct NoNetwork: Transport {
    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        throw TransportError(.offline)
    }
}

@Suite(.serialized) struct `a run that is cancelled` {
    enum When: String, CaseIterable {
        case before = "before the server got the request"
        case after = "after the server handled the request"
    }

    /// Pulls, pushes and reads back: every kind of request there is.
    private func scene(
        _ body: (SyncWorld, SyncDevice) async throws -> Void
    ) async throws {
        let world = SyncWorld.paging(1)
        world.rivalPuts("tasks/old", #"{"n":1}"#)
        world.rivalPuts("tasks/gone", #"{"n":1}"#)
        try await SyncDevice.with(world) { device in
            try await device.sync()
            try device.put("tasks/lost", #"{"n":1}"#)
            world.server.faults = FaultPlan([FaultRule(.dropAfterHandling, method: .put, nth: 1)])
            try await device.sync()
            try device.put("lists/new", #"{"n":1}"#)
            try device.patch("tasks/old", #"{"n":2}"#)
            try device.delete("tasks/gone")
            world.rivalPuts("tasks/theirs", #"{"n":1}"#)
            world.server.clearRequestLog()
            try await body(world, device)
        }
    }

    @Test(arguments: 1...7, When.allCases)
    func `at any request leaves a store that verifies, and the next one ends its work`(
        _ number: Int, _ when: When
    ) async throws {
        try await scene { world, device in
            device.wire.tap { _, current, pass in
                guard current == number else { return await pass() }
                if when == .after { _ = await pass() }
                unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                return .failure(TransportError(.cancelled))
            }

            let outcome = try await device.sync()

            #expect(device.wire.count == number)
            #expect(outcome.failure == .cancelled)
            try device.verify()

            device.wire.tap(nil)
            #expect(try await device.sync().isSynced)
            #expect(world.record("tasks/lost") == #"{"n":1}"#)
            #expect(world.record("lists/new") == #"{"n":1}"#)
            #expect(world.record("tasks/old") == #"{"n":2}"#)
            #expect(world.record("tasks/gone") == nil)
            #expect(try device.document("tasks/theirs") == #"{"n":1}"#)
            let applied = world.server.requestLog.filter { $0.method != .get && $0.isApplied }
            #expect(applied.count == 3, "\(world.requests)")
            try device.verify()
        }
    }

    @Test func `needs no more requests than the test above counts`() async throws {
        try await scene { world, device in
            device.wire.tap(nil)
            #expect(try await device.sync().isSynced)
            #expect(device.wire.count == 7, "\(world.requests)")
            try device.verify()
        }
    }

    @Test func `by its caller ends at once`() async throws {
        try await SyncDevice.with(SyncWorld()) { device in
            let (began, signal) = AsyncStream.makeStream(of: Void.self)
            device.wire.tap { _, _, _ in
                signal.yield()
                // Ends only when the task is cancelled.
                for await _ in AsyncStream.makeStream(of: Void.self).stream {}
                return .failure(TransportError(.cancelled))
            }
            let run = Task { try await device.sync() }
            for await _ in began { break }

            run.cancel()

            #expect(try await run.value.failure == .cancelled)
            try device.verify()
        }
    }

    @Test func `before it began asks nothing`() async throws {
        try await SyncDevice.with(SyncWorld()) { device in
            let engine = SyncEngine(
                device.replica, remote: SyncWorld.remote,
                adapter: try SyncWorld.remote.makeAdapter(), transport: device.wire
            ) {
                unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                throw CancellationError()
            }

            #expect(try await engine.sync().failure == .cancelled)
            #expect(device.wire.count == 0)
        }
    }
}
