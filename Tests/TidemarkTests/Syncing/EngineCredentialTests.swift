// EngineCredentialTests.swift — whom the engine asks for credentials, and how often.

import Foundation
import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkRules
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

@Suite(.serialized) struct `credentials` {
    /// A device whose credentials are given out one after another, the last one again and again.
    private func scene(
        _ given: [Result<String, any Error>],
        _ body: (SyncWorld, SyncDevice, SyncEngine, SyncCounter) async throws -> Void
    ) async throws {
        let asked = SyncCounter()
        try await SyncDevice.asking { _, number in
            _ = asked.count()
            return .basic(user: try given[min(number, given.count - 1)].get(), password: "")
        } _: { device, engine async throws in
            device.wire.tap { request, _, pass in
                guard request.user == "old" else { return await pass() }
                return .success(
                    TransportResponse(response: HTTPResponse(status: 401), body: []))
            }
            try await body(device.world, device, engine, asked)
            try device.verify()
        }
    }

    @Test func `are asked for once a run`() async throws {
        try await scene([.success("new")]) { world, device, engine, asked async throws in
            #expect(try await engine.sync().isSynced)
            #expect(asked.value == 1)
            #expect(try await engine.sync().isSynced)
            #expect(asked.value == 2)
        }
    }

    @Test func `are asked for once more when they are not accepted, and the run goes on`()
        async throws
    {
        try await scene([.success("old"), .success("new")]) {
            world, device, engine, asked async throws in
            let outcome = try await engine.sync()

            #expect(outcome.isSynced && outcome.counts.requests == 5)
            #expect(asked.value == 2)
            #expect(device.wire.total == 5)
        }
    }

    @Test(arguments: 1...4)
    func `that expire in the middle are renewed there, also for a write`(_ number: Int) async throws
    {
        let world = SyncWorld([FaultRule(.answer(status: 401), nth: number)])
        let asked = SyncCounter()
        try await SyncDevice.asking(world) { _, number in
            _ = asked.count()
            return .basic(user: "\(number)", password: "")
        } _: { device, engine async throws in
            #expect(try await engine.sync().isSynced)

            #expect(device.wire.total == 5 && asked.value == 2)
            #expect(try device.mutations("tasks/t1") == ["accepted"])
            try device.verify()
        }
    }

    @Test(arguments: [[2, 4], [1, 3, 5], [2, 4, 6]])
    func `that expire again and again in one run are renewed each time`(
        _ numbers: [Int]
    ) async throws {
        let world = SyncWorld(numbers.map { FaultRule(.answer(status: 401), nth: $0) })
        let asked = SyncCounter()
        try await SyncDevice.asking(world) { _, number in
            _ = asked.count()
            return .basic(user: "\(number)", password: "")
        } _: { device, engine async throws in
            #expect(try await engine.sync().isSynced)

            #expect(device.wire.total == 4 + numbers.count && asked.value == 1 + numbers.count)
            #expect(try device.mutations("tasks/t1") == ["accepted"])
            try device.verify()
        }
    }

    @Test func `that stay the same are not tried again, and the engine is paused`() async throws {
        try await scene([.success("old")]) { world, device, engine, asked async throws in
            #expect(try await engine.sync(.timer).failure == .unauthorized)
            #expect(asked.value == 2 && device.wire.count == 1)

            #expect(try await engine.sync(.timer).failure == .unauthorized)
            #expect(asked.value == 2 && device.wire.count == 1)
        }
    }

    @Test func `that are refused a second time end the run`() async throws {
        let given = ["old", "older", "new"].map { Result<String, any Error>.success($0) }
        try await scene(given) { world, device, engine, asked async throws in
            device.wire.tap { request, _, pass in
                if request.user == "new" { return await pass() }
                return .success(
                    TransportResponse(response: HTTPResponse(status: 401), body: []))
            }
            #expect(try await engine.sync().failure == .unauthorized)
            #expect(asked.value == 2 && device.wire.count == 2)

            #expect(try await engine.sync(.credentialsChanged).isSynced)
            #expect(asked.value == 3)
        }
    }

    @Test func `that can't be renewed for want of a network are no reason to pause`() async throws {
        let offline = SyncFailure.offline("no token")
        try await scene([.success("old"), .failure(offline), .success("new")]) {
            world, device, engine, asked async throws in
            #expect(try await engine.sync().failure == offline)

            let gates = try device.gates()
            #expect(gates.frozen == nil && gates.backoff?.failures == 1)
            #expect(try await engine.sync().isSynced)
        }
    }

    @Test func `that are new end the pause also where they can't be had at once`() async throws {
        let offline = SyncFailure.offline("no token")
        let given: [Result<String, any Error>] = [
            .success("old"), .success("old"), .failure(offline), .success("new"),
        ]
        try await scene(given) { world, device, engine, asked async throws in
            await engine.start()
            for await status in engine.statuses where status.activity == .paused(.unauthorized) {
                break
            }
            await engine.trigger(.credentialsChanged)
            for await status in engine.statuses {
                guard let outcome = status.lastOutcome else { continue }
                if outcome.isSynced { break }
                if outcome.failure == offline, case .paused = status.activity { break }
            }
            await engine.stop()

            #expect(asked.value == 4)
            #expect(try device.mutations("tasks/t1") == ["accepted"])
        }
    }

    @Test func `that ask for a pause are asked for again after it`() async throws {
        let world = SyncWorld()
        let asked = SyncCounter()
        let opens = world.clock.now.adding(seconds: 3600)
        try await SyncDevice.asking(world) { _, _ in
            guard asked.count() < 100, world.clock.now < opens else {
                return .basic(user: "me", password: "")
            }
            throw SyncFailure.tooManyRequests(retryAfterSeconds: 3600)
        } _: { device, engine async throws in
            await engine.start(SyncTriggers(every: .zero))
            for await status in engine.statuses where status.lastOutcome?.isSynced == true { break }
            await engine.stop()

            #expect(asked.value <= 3, "\(asked.value)")
            #expect(try device.mutations("tasks/t1") == ["accepted"])
        }
    }

    @Test
    func `that can't be had for want of a network are asked for again after a wait`() async throws {
        let offline = SyncFailure.offline("no token")
        try await scene([.failure(offline), .failure(offline), .success("new")]) {
            world, device, engine, asked async throws in
            let begun = world.clock.now
            await engine.start()
            for await status in engine.statuses where status.lastOutcome?.isSynced == true { break }
            await engine.stop()

            #expect(asked.value == 3)
            #expect(world.clock.now >= begun.adding(.seconds(15)))
            #expect(try device.mutations("tasks/t1") == ["accepted"])
        }
    }

    @Test(
        arguments: [
            URLError(.notConnectedToInternet), URLError(.timedOut),
            NSError(domain: NSURLErrorDomain, code: -1005), TransportError(.offline),
            TransportError(.redirectRefused),
        ] as [any Error])
    func `whose closure throws an error of the network are asked for again after a wait`(
        _ error: any Error
    ) async throws {
        try await scene([.failure(error), .failure(error), .success("new")]) {
            world, device, engine, asked async throws in
            #expect(try await engine.sync().failure?.isTransient == true)
            #expect(try device.gates() == SyncGates())

            let begun = world.clock.now
            await engine.start()
            for await status in engine.statuses where status.lastOutcome?.isSynced == true { break }
            await engine.stop()

            #expect(asked.value == 3)
            #expect(world.clock.now >= begun.adding(.seconds(5)))
            #expect(try device.mutations("tasks/t1") == ["accepted"])
        }
    }

    @Test(arguments: [URLError(.badServerResponse), CocoaError(.fileNoSuchFile)] as [any Error])
    func `whose closure throws anything else count as refused`(_ error: any Error) async throws {
        try await scene([.failure(error)]) { world, device, engine, asked async throws in
            #expect(try await engine.sync().failure == .unauthorized)
            #expect(try device.gates().frozen?.reason == "unauthorized")
        }
    }
}

extension HTTPRequest {
    /// Whose credentials it carries.
    fileprivate var user: String? {
        let users = ["old", "older", "new"]
        return users.first { user in
            headerFields[.authorization] == "Basic " + Base64.encode(Array("\(user):".utf8))
        }
    }
}
