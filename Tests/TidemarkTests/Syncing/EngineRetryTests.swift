// EngineRetryTests.swift — what an engine makes up for by itself after a run that failed: all that
// the run was for, as soon as something lets it, and no more.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkRules
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

@Suite(.serialized) struct `an engine after a run that failed` {
    /// A world whose `lists` are listed once an hour.
    private func hourly() -> SyncWorld {
        var model = SyncWorld.usualModel
        model.collections[0].listEvery = .hours(1)
        return SyncWorld(model: model)
    }

    @Test func `ends the pause with new credentials that came without a network`() async throws {
        let world = SyncWorld([FaultRule(.answer(status: 401))])
        try await SyncWatch.with(world, SyncTriggers()) { device, watch in
            try device.put("tasks/t1", "{}")
            try await watch.until { $0.waitsFor == .quiet }
            await watch.wake()
            try await watch.until { $0.activity == .paused(.unauthorized) }
            world.server.faults = FaultPlan()
            device.wire.tap { _, _, _ in .failure(TransportError(.offline)) }
            await device.engine.trigger(.userRequested)
            #expect(try await watch.run().activity == .paused(.unauthorized))

            await device.engine.trigger(.credentialsChanged)
            try #require(try await watch.run().waitsFor != nil)
            device.wire.tap(nil)
            await watch.wake()

            try await watch.until { $0.activity == .idle }
            #expect(watch.last?.pending == 0)
            #expect(world.writes == ["PUT tasks/t1 * 201"])
        }
    }

    @Test func `sends what is pending, also where a part was synced meanwhile`() async throws {
        let world = hourly()
        try await SyncWatch.with(world, SyncTriggers()) { device, watch in
            try await device.sync()
            let lists = world.requests.count { $0.hasPrefix("GET lists") }
            device.wire.tap { _, _, _ in .failure(TransportError(.offline)) }
            try device.put("tasks/t1", "{}")
            try await watch.until { $0.waitsFor == .quiet }
            await watch.wake()
            try await watch.until { $0.waitsFor == .failures(1) }
            device.wire.tap(nil)
            world.clock.advance(by: .seconds(1))

            try await device.sync(.pull(["tasks"]))

            try await watch.until { $0.activity == .idle }
            #expect(watch.last?.pending == 0)
            #expect(try device.triggers().last == "retry")
            #expect(world.requests.count { $0.hasPrefix("GET lists") } == lists, "not due")
            #expect(try device.gates() == SyncGates())
        }
    }

    @Test func `lists what that run was asked to list, if it did not`() async throws {
        let world = hourly()
        try await SyncWatch.with(world, SyncTriggers.none) { device, watch in
            try await device.sync()
            func lists() -> Int { world.requests.count { $0.hasPrefix("GET lists") } }
            #expect(lists() == 1)
            world.clock.advance(by: .seconds(600))
            device.wire.tap { _, _, _ in .failure(TransportError(.offline)) }
            await device.engine.trigger(.remoteChange)
            try await watch.until { $0.waitsFor == .failures(1) }
            await watch.wake()
            try await watch.until { $0.waitsFor == .failures(2) }
            device.wire.tap(nil)
            await watch.wake()
            try await watch.until { $0.activity == .idle }
            #expect(lists() == 2)

            // A list that was made is not made again for a write that fails.
            try device.put("tasks/t1", "{}")
            let busy = FaultAction.answer(status: 429)
            world.server.faults = FaultPlan([FaultRule(busy, method: .put, nth: 1)])
            await device.engine.trigger(.remoteChange)
            try await watch.until { $0.waitsFor == .failures(1) }
            #expect(lists() == 3)
            await watch.wake()
            try await watch.until { $0.activity == .idle && $0.pending == 0 }
            #expect(lists() == 3)
        }
    }

    @Test func `waits until the model's limits allow a request`() async throws {
        var model = SyncWorld.usualModel
        model.settings.limits = [RequestLimit(requests: 5, within: .hours(1))]
        let world = SyncWorld(model: model)
        try await SyncDevice.make(world).lendAndVerify { device in
            try await device.sync()
            try device.put("tasks/t1", "{}")
            await device.engine.start(SyncTriggers(every: .zero))
            for await status in device.engine.statuses
            where status.pending == 0 && status.lastOutcome?.isSynced == true { break }

            #expect(world.writes == ["PUT tasks/t1 * 201"])
            #expect(try device.outcomes() == ["synced", "tooManyRequests", "synced"])
        }
    }

    @Test(arguments: [SyncScope.all, .push])
    func `asks again for what the server promised and did not give in a run`(
        _ scope: SyncScope
    ) async throws {
        let adapter = PromisingAdapter()
        let device = try SyncDevice.make(SyncWorld(), adapter: adapter, movesClock: false)
        try await device.lendAndVerify { device in
            let watch = SyncWatch(device)
            await device.engine.start(.none)
            try device.put("tasks/t1", "{}")
            #expect(try await device.sync(scope).pending == 1)
            try await watch.until { $0.waitsFor == .serverAsked }
            adapter.isReady.value = true

            await watch.wake()

            try await watch.until { $0.activity == .idle && $0.pending == 0 }
            #expect(try device.triggers() == ["userRequested", "retry"])
        }
    }
}

/// Promises the answers to writes, and gives them once it is ready.
private struct PromisingAdapter: ServerAdapter {
    private let kinto = KintoAdapter(origin: SyncWorld.remote.origin, bucket: "b")
    let isReady = SyncBox<Bool>()

    var traits: ServerTraits {
        var traits = ServerTraits(describesCollections: true)
        traits.polling = ServerTraits.Polling(first: 0, every: 0, tries: 1, triesLater: 1)
        return traits
    }

    var words: ServerWords { kinto.words }

    /// The question for a promised answer is a read of what was written.
    private func asked(by call: ServerCall) -> ServerCall {
        guard case .poll(_, let writes) = call, let collection = writes.first?.collection,
            let id = writes.first?.write?.id
        else { return call }
        return .read(collection, id: id)
    }

    func request(for call: ServerCall) throws(SyncFailure) -> ServerRequest {
        try kinto.request(for: asked(by: call))
    }

    func answer(to call: ServerCall, _ response: HTTPResponse, body: [UInt8]) -> ServerAnswer {
        let answer = kinto.answer(to: asked(by: call), response, body: body)
        guard case .record(let record) = answer else { return answer }
        if call.isWriteOfOne { return .deferred("job") }
        guard case .poll = call else { return answer }
        guard isReady.value == true else { return .waiting }
        return .batch([BatchedAnswer(status: 200, .stored(id: record.id, record.revision))])
    }
}
