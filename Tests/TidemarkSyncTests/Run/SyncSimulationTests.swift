// SyncSimulationTests.swift — two devices, a rival and a bad network, by chance from a seed.

import HTTPTypes
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite(.serialized) struct `whatever happens` {
    private static let keys = ["a", "b", "c"].flatMap { ["lists/\($0)", "tasks/\($0)"] }

    @Test(.enabled(if: TestRun.isWhole), arguments: 1...6 as ClosedRange<UInt64>)
    func `both sides are equal in the end, and every edit has its outcome`(_ seed: UInt64)
        async throws
    {
        try await simulate(seed % 2 == 0 ? SyncWorld() : SyncWorld.paging(2), seed)
    }

    @Test(
        .enabled(if: TestRun.isWhole),
        arguments: [
            ConflictPolicy.preferNewer(field: "last_modified", margin: .seconds(1)),
            .overwriteUnlessDirty, .overwriteIfSynced, .mergeFields(.serverWins),
            .mergeFields(.localWins), .custom("any"),
        ])
    func `so it is by every conflict policy`(_ policy: ConflictPolicy) async throws {
        for seed in 101...103 as ClosedRange<UInt64> {
            var world = SyncWorld.usualModel
            for index in world.collections.indices { world.collections[index].conflict = policy }
            try await simulate(SyncWorld(model: world), seed)
        }
    }

    /// Decides by what it is asked, so that it says the same on both devices.
    private static let rule = ConflictRule(name: "any") { question in
        switch question.canonical.count % 4 {
        case 0: .server
        case 1: .local
        default: .document(Array(#"{"x":\#(question.canonical.count % 5)}"#.utf8))
        }
    }

    private func simulate(_ world: SyncWorld, _ seed: UInt64) async throws {
        let random = SyncRandom(seed: seed)
        let rules = [Self.rule]
        try await SyncDevice.with(world, seed: seed, rules: rules) { phone in
            try await SyncDevice.with(world, seed: seed + 1000, rules: rules) { laptop in
                for device in [phone, laptop] { Self.spoil(device, random) }
                for _ in 1...24 {
                    let device = random.chance(50) ? phone : laptop
                    for _ in 0..<random.below(4) { try Self.edit(device, random) }
                    if random.chance(40) { Self.rival(world, random) }
                    world.clock.advance(by: .milliseconds(random.below(4000)))
                    _ = try await device.sync()
                }
                try await settle([phone, laptop])
                for device in [phone, laptop] { try check(device, seed) }
            }
        }
    }

    /// Does something to an entity of the device.
    private static func edit(_ device: SyncDevice, _ random: SyncRandom) throws {
        let key = random.pick(keys)
        let field = random.pick(["x", "y", "list", "parent"])
        let isReference = field == "list" || field == "parent"
        let value = isReference ? "\"\(random.pick(["a", "b", "c"]))\"" : "\(random.below(5))"
        let isThere = try device.document(key) != nil
        switch random.below(10) {
        case 0...1 where isThere: try device.delete(key)
        case 2 where isThere:
            let isPending = try device.status(key) != .synced
            if isPending { try device.discard(key) }
        case _ where isThere: try device.patch(key, #"{"\#(field)":\#(value)}"#)
        default: try device.put(key, #"{"\#(field)":\#(value)}"#)
        }
        if try device.status(key) == .error, random.chance(50) { try device.retry(key) }
    }

    /// What another client does.
    private static func rival(_ world: SyncWorld, _ random: SyncRandom) {
        let key = random.pick(keys)
        if random.chance(25) {
            world.rivalDeletes(key)
        } else {
            world.rivalPuts(key, #"{"x":\#(random.below(5)),"z":\#(random.below(5))}"#)
        }
    }

    /// A network that loses and breaks, with edits and a rival while requests are on their way.
    private static func spoil(_ device: SyncDevice, _ random: SyncRandom) {
        device.wire.tap { _, _, pass in
            if random.chance(10) { try edit(device, random) }
            if random.chance(10) { rival(device.world, random) }
            switch random.below(100) {
            case 0..<6: return .failure(TransportError(.offline))
            case 6..<12: return .failure(TransportError(.timeout))
            case 12..<15: return status(500)
            case 15..<17: return status(503, retryAfter: "1")
            case 17..<19: return status(429, retryAfter: "2")
            case 19..<21: return status(400)
            default: break
            }
            let answer = await pass()
            if random.chance(10) { try edit(device, random) }
            switch random.below(100) {
            case 0..<10: return .failure(TransportError(.connectionLost))
            case 10..<12: return status(502)
            case 12..<14: return answer.map { $0.with(body: "<html>") }
            default: return answer
            }
        }
    }

    private static func status(_ status: Int, retryAfter: String? = nil) -> SyncWire.Answer {
        var fields: HTTPFields = [:]
        fields[.retryAfter] = retryAfter
        return .success(
            TransportResponse(
                response: HTTPResponse(
                    status: HTTPResponse.Status(code: status), headerFields: fields), body: []))
    }

    /// Mends the network, sends again what was refused, and syncs until nothing is new.
    private func settle(_ devices: [SyncDevice]) async throws {
        for device in devices {
            #expect(device.wire.problem == nil)
            device.wire.tap(nil)
            device.world.clock.advance(by: .seconds(60))
            for key in Self.keys where try device.status(key) == .error { try device.retry(key) }
        }
        for _ in 1...10 {
            var hasNews = false
            for device in devices {
                let outcome = try await device.sync()
                #expect(outcome.failure == nil && outcome.failed.isEmpty)
                hasNews = hasNews || outcome.counts.hasNews
            }
            if !hasNews { return }
        }
        Issue.record("it never became quiet")
    }

    private func check(_ device: SyncDevice, _ seed: UInt64) throws {
        try device.verify()
        #expect(try device.outbox() == [], "seed \(seed)")
        for key in Self.keys {
            let (here, there) = (try device.document(key), device.world.record(key))
            let isEqual = try parsed(here) == parsed(there)
            #expect(isEqual, "seed \(seed), \(key): \(here ?? "-") here, \(there ?? "-") there")
            #expect(try device.status(key) == (here == nil ? nil : .synced), "seed \(seed), \(key)")
        }
        let words = try device.replica.journal.read { try $0.outbox(all: true).map(\.word) }
        #expect(words.allSatisfy { MutationOutcome(rawValue: $0) != nil }, "seed \(seed)")
    }

    private func parsed(_ text: String?) throws -> Set<String>? {
        guard let text else { return nil }
        let document = try JSONDocument(parsing: Array(text.utf8))
        return Set(document.keys.map { "\($0)=\(document.value($0)?.description ?? "")" })
    }
}
