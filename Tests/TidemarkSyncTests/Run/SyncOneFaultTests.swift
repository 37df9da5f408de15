// SyncOneFaultTests.swift — calls about one entity, or the list of one collection, that fail for
// ever, by chance from a seed: whatever they answer, everything else converges, and nothing about
// it is hidden.

import HTTPTypes
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite(.serialized) struct `what fails for ever` {
    /// How it fails.
    enum Fault: Sendable, CustomTestStringConvertible {
        case status(Int, body: String)
        case broken(TransportError.Code)
        /// The answer, cut in its middle.
        case cut

        /// All but those that are about everything: 401, 410, 429, and nothing sent.
        static let all: [Fault] =
            [200, 204, 302, 400, 402, 403, 404, 405, 406, 409, 412, 413, 415, 418, 422]
            .map { .status($0, body: "{}") }
            + [200, 302, 403, 404, 406, 500, 502, 511].map { .status($0, body: "<html>no") }
            + [408, 500, 501, 503, 504].map { .status($0, body: "{}") }
            + [.broken(.timeout), .broken(.connectionLost), .broken(.tooLarge), .cut]

        var testDescription: String { "\(self)" }

        /// What comes instead of the answer; where there was none, the same.
        func spoiled(_ answer: SyncWire.Answer) -> SyncWire.Answer {
            switch self {
            case .status(let status, let body):
                let head = HTTPResponse(status: HTTPResponse.Status(code: status))
                return .success(TransportResponse(response: head, body: Array(body.utf8)))
            case .broken(let code): return .failure(TransportError(code))
            case .cut: return answer.map { $0.with(body: String($0.text.prefix(9))) }
            }
        }
    }

    private static let keys = ["a", "b", "c"].flatMap { ["lists/\($0)", "tasks/\($0)"] }

    @Test(.enabled(if: TestRun.isWhole), arguments: Array(Fault.all.enumerated()))
    func `of one entity stops nobody else`(_ number: Int, _ fault: Fault) async throws {
        let seed = UInt64(number) + 7_000
        let random = SyncRandom(seed: seed)
        let bad = random.pick(["lists/p", "tasks/p"])
        let path = "/" + bad.replacing("/", with: "/records/")
        try await SyncDevice.with(SyncWorld(), seed: seed) { device in
            device.wire.tap { request, _, pass in
                guard request.path?.contains(path) == true else { return await pass() }
                // It may have its effect all the same.
                let answer: SyncWire.Answer =
                    random.chance(50) ? await pass() : .failure(TransportError(.connectionLost))
                return fault.spoiled(answer)
            }
            for _ in 1...12 {
                try Self.happen(device, random, Self.keys + [bad, bad])
                let trigger = random.pick([SyncTrigger.userRequested, .timer])
                let outcome = try await device.engine.sync(trigger)
                #expect(outcome.failure == nil, "seed \(seed)")
            }
            try device.patchOrPut(bad, #"{"x":9}"#)
            let last = try await Self.calm(device, seed)
            try Self.check(device, Self.keys, seed)
            // What is left to be done about it is told.
            let isOpen = try device.outbox().contains { $0.hasPrefix(bad) }
            if isOpen {
                #expect(!last.isSynced && last.unsettled + last.refused > 0, "seed \(seed)")
                let named = try device.replica.issues().contains { $0.key?.description == bad }
                #expect(named, "seed \(seed): no issue names \(bad)")
            }
            #expect(try device.outbox().allSatisfy { $0.hasPrefix(bad) }, "seed \(seed)")
            try await Self.mend(device, Self.keys + [bad], seed)
        }
    }

    @Test(.enabled(if: TestRun.isWhole), arguments: Array(Fault.all.enumerated()))
    func `of a collection's list stops no other collection, and no write`(
        _ number: Int, _ fault: Fault
    ) async throws {
        let seed = UInt64(number) + 8_000
        let random = SyncRandom(seed: seed)
        let bad = random.pick(["lists", "tasks"])
        try await SyncDevice.with(SyncWorld(), seed: seed) { device in
            device.wire.tap { request, _, pass in
                let answer = await pass()
                let isList = request.path?.contains("/\(bad)/records?") == true
                return isList ? fault.spoiled(answer) : answer
            }
            for _ in 1...8 {
                try Self.happen(device, random, Self.keys)
                let outcome = try await device.engine.sync()
                #expect(outcome.failure == nil, "seed \(seed)")
                #expect(outcome.failed.keys.map(\.rawValue) == [bad], "seed \(seed)")
            }
            _ = try await Self.calm(device, seed)
            try Self.check(device, Self.keys.filter { !$0.hasPrefix(bad) }, seed)
            #expect(try device.outbox() == [], "seed \(seed)")
            try await Self.mend(device, Self.keys, seed)
        }
    }

    @Test(.enabled(if: TestRun.isWhole)) func `at the head of a long outbox is passed over`()
        async throws
    {
        try await SyncDevice.with(SyncWorld()) { device in
            try await device.replica.write { tx in
                for number in 1000...1999 {
                    _ = try tx.put(EntityKey("tasks", "t\(number)"), Array("{}".utf8))
                }
            }
            device.wire.tap { request, _, pass in
                guard request.path?.hasSuffix("/t1000") == true, request.isWrite else {
                    return await pass()
                }
                return Fault.status(500, body: "{}").spoiled(.failure(TransportError(.timeout)))
            }

            let outcome = try await device.sync()

            #expect(outcome.failure == nil)
            #expect(outcome.counts.pushed == 999)
            #expect(try device.outbox() == ["tasks/t1000 unknown"])
        }
    }

    @Test func `three in a row of two collections end the run, and each waits by itself`()
        async throws
    {
        try await SyncDevice.with(SyncWorld()) { device in
            for key in ["lists/a", "lists/b", "lists/c", "tasks/a", "tasks/b"] {
                try device.put(key, "{}")
            }
            device.wire.tap { request, _, pass in
                guard request.isWrite else { return await pass() }
                return Fault.status(500, body: "{}").spoiled(.failure(TransportError(.timeout)))
            }

            let outcome = try await device.sync()

            #expect(outcome.failure == .server(status: 500, retryAfterSeconds: nil))
            #expect(outcome.unsettled == 4)
            #expect(device.world.writes.map { $0.prefix(11) }.count == 0)
        }
    }

    // MARK: What happens

    /// Edits here and by another client, and time that passes.
    private static func happen(
        _ device: SyncDevice, _ random: SyncRandom, _ keys: [String]
    ) throws {
        for _ in 0..<random.below(4) {
            let key = random.pick(keys)
            if try device.document(key) != nil, random.chance(20) {
                try device.delete(key)
            } else {
                try device.patchOrPut(key, #"{"\#(random.pick(["x", "y"]))":\#(random.below(5))}"#)
            }
        }
        if random.chance(40) {
            let key = random.pick(keys)
            if random.chance(25) {
                device.world.rivalDeletes(key)
            } else {
                device.world.rivalPuts(key, #"{"x":\#(random.below(5)),"z":\#(random.below(5))}"#)
            }
        }
        device.world.clock.advance(by: .seconds(random.below(90)))
    }

    /// Syncs until nothing is new but what fails.
    private static func calm(_ device: SyncDevice, _ seed: UInt64) async throws -> SyncOutcome {
        var outcome = SyncOutcome()
        for _ in 1...5 {
            device.world.clock.advance(by: .seconds(4000))
            outcome = try await device.engine.sync(.timer)
            #expect(outcome.failure == nil, "seed \(seed)")
        }
        return outcome
    }

    /// Mends the network, sends again what was refused: both sides become equal.
    private static func mend(
        _ device: SyncDevice, _ keys: [String], _ seed: UInt64
    ) async throws {
        #expect(device.wire.problem == nil)
        device.wire.tap(nil)
        for key in keys where try device.status(key) == .error { try device.retry(key) }
        var outcome = SyncOutcome()
        for _ in 1...6 {
            device.world.clock.advance(by: .seconds(4000))
            outcome = try await device.engine.sync(.timer)
        }
        #expect(outcome.isSynced, "seed \(seed): \(outcome)")
        try check(device, keys, seed)
        #expect(try device.outbox() == [], "seed \(seed)")
        #expect(try device.replica.issues().allSatisfy { $0.kind == .conflict }, "seed \(seed)")
        try device.verify()
    }

    private static func check(_ device: SyncDevice, _ keys: [String], _ seed: UInt64) throws {
        for key in keys {
            let (here, there) = (try device.document(key), device.world.record(key))
            let isEqual = try parsed(here) == parsed(there)
            #expect(isEqual, "seed \(seed), \(key): \(here ?? "-") here, \(there ?? "-") there")
        }
    }

    private static func parsed(_ text: String?) throws -> Set<String>? {
        guard let text else { return nil }
        let document = try JSONDocument(parsing: Array(text.utf8))
        return Set(document.keys.map { "\($0)=\(document.value($0)?.description ?? "")" })
    }
}

extension SyncDevice {
    /// Changes an entity, or makes it.
    fileprivate func patchOrPut(_ key: String, _ json: String) throws {
        if try document(key) == nil { try put(key, json) } else { try patch(key, json) }
    }
}
