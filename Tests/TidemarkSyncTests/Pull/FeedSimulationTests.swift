// FeedSimulationTests.swift — readers of a feed, its writers and a bad network, by chance from a
// seed.

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

/// `TIDEMARK_FEED_SEEDS=100-400` runs those seeds instead of the few of every day.
@Suite(.serialized) struct `whatever happens to a feed` {
    private static let seeds = TestSeeds.named("TIDEMARK_FEED_SEEDS", else: 1...6)

    @Test(.enabled(if: TestRun.isWhole), arguments: seeds)
    func `all is here in the end as the server has it, but for what is too old and never was`(
        _ seed: UInt64
    ) async throws {
        let feed = FeedWorld(seed)
        try await SyncDevice.with(feed.world, seed: seed) { phone in
            try await SyncDevice.with(feed.world, seed: seed + 1000) { laptop in
                for device in [phone, laptop] { feed.spoil(device) }
                for _ in 1...30 { try await feed.step(feed.random.pick([phone, laptop])) }
                try await feed.settle([phone, laptop])
                for device in [phone, laptop] { try feed.check(device) }
            }
        }
    }
}

/// A server that notes when a record was changed last, to the second.
private final class FeedWorld: Sendable {
    private struct Shelf {
        /// How many articles were ever written.
        var count = 0
        /// The records as this world wrote them last, by id.
        var records: [String: String] = [:]
        var story: [String] = []
    }
    let seed: UInt64
    let random: SyncRandom
    let world: SyncWorld
    private let rule: FeedRule
    private let shelf = Mutex(Shelf())

    init(_ seed: UInt64) {
        let random = SyncRandom(seed: seed)
        var rule = FeedRule(order: "released", change: "updated", block: 2 + random.below(3))
        if random.chance(50) { rule.ageMax = .days(10) }
        if random.chance(30) { rule.compares = .instants }
        rule.reconcileEvery = .days(1)
        let policy: ConflictPolicy = random.pick([
            .serverWins, .localWins, .mergeFields(.serverWins),
        ])
        let articles = CollectionModel(
            "articles", lastChangeField: "last_modified", conflict: policy, feed: rule)
        self.seed = seed
        self.random = random
        self.rule = rule
        world = SyncWorld(model: SyncModel(name: "news", collections: [articles]))
        for _ in 0..<random.below(12) { publish() }
    }

    private var now: Timestamp { world.clock.trueNow }

    private func tell(_ line: String) {
        shelf.withLock { $0.story.append("\(now) \(line)") }
    }

    /// What was done, for who reads a failure.
    var story: Comment {
        let lines = shelf.withLock { $0.story.suffix(60).joined(separator: "\n  ") }
        return "seed \(seed), \(rule)\n  \(lines)"
    }

    /// A time as the server writes it, to the second.
    private static func second(_ time: Timestamp) -> String {
        Timestamp(microseconds: time.rawValue - time.rawValue % 1_000_000).description
    }

    private var updated: String { #""updated":"\#(Self.second(now))""# }

    /// A time of release: days ago, now, or hours ahead; often the same.
    private var released: String {
        let hours: Int64 =
            switch random.below(10) {
            case 0: Int64(1 + random.below(30))
            case 1...3: 0
            case 4...6: -24 * Int64(random.below(4))
            default: -24 * Int64(random.below(20))
            }
        let day = world.clock.start.adding(seconds: hours * 3600)
        return #""released":"\#(Self.second(random.chance(30) ? now : day))""#
    }

    // MARK: Other clients

    private func write(_ id: String, _ document: String) {
        world.server.put("articles/\(id)", document)
        shelf.withLock { $0.records[id] = world.record("articles/\(id)") }
        tell("server \(id) \(document)")
    }

    /// The number of a new article.
    private func nextNumber() -> Int {
        shelf.withLock { shelf in
            shelf.count += 1
            return shelf.count
        }
    }

    func publish() {
        write("s\(nextNumber())", #"{\#(released),\#(updated),"title":"\#(random.below(9))"}"#)
    }

    /// What another client does.
    func rival() {
        let ids = shelf.withLock { $0.records.keys.sorted() }
        switch random.below(10) {
        case 0..<4 where !ids.isEmpty:
            let id = random.pick(ids)
            guard let text = world.record("articles/\(id)"),
                let document = try? JSONDocument(parsing: Array(text.utf8)),
                let order = document.value("released")?.stringValue
            else { return }
            let release = random.chance(25) ? released : #""released":"\#(order)""#
            write(id, #"{\#(release),\#(updated),"title":"\#(random.below(9))"}"#)
        // More than half of all would have to be agreed to.
        case 4 where ids.count > 8:
            let id = random.pick(ids)
            world.server.delete("articles/\(id)")
            _ = shelf.withLock { $0.records.removeValue(forKey: id) }
            tell("server deletes \(id)")
        default: publish()
        }
    }

    /// Has the server note when it took what a device sent.
    private func stamp(_ device: SyncDevice) throws {
        var ids = shelf.withLock { Set($0.records.keys) }
        ids.formUnion(try device.rows("articles").map(\.0.id))
        for id in ids.sorted() {
            let text = world.record("articles/\(id)")
            guard text != shelf.withLock({ $0.records[id] }) else { continue }
            guard let text else {
                _ = shelf.withLock { $0.records.removeValue(forKey: id) }
                continue
            }
            let document = try JSONDocument(parsing: Array(text.utf8))
            let order = document.value("released")?.stringValue ?? ""
            let title = document.value("title")?.stringValue ?? ""
            write(id, #"{"released":"\#(order)",\#(updated),"title":"\#(title)"}"#)
        }
    }

    // MARK: Devices

    /// Does something to an article of the device.
    private func edit(_ device: SyncDevice) throws {
        let ids = try device.keys("articles").sorted()
        if ids.isEmpty || random.chance(25) {
            let number = nextNumber()
            tell("creates d\(number)")
            return try device.create(
                "articles/d\(number)", #"{\#(released),\#(updated),"title":"mine"}"#)
        }
        let key = "articles/\(random.pick(ids))"
        tell("edits \(key)")
        if random.chance(15), ids.count > 8 { return try device.delete(key) }
        try device.patch(key, #"{"title":"\#(random.below(9))"}"#)
    }

    func step(_ device: SyncDevice) async throws {
        for _ in 0..<random.below(3) { rival() }
        if random.chance(30) { try edit(device) }
        world.clock.advance(
            by: random.pick([.milliseconds(300), .seconds(2), .seconds(2), .seconds(900)]))
        if random.chance(10) { world.clock.advance(by: .seconds(3600 * (1 + random.below(40)))) }
        if random.chance(8) { world.clock.adjust(by: .seconds(random.pick([-7200, 7200, -90]))) }
        switch random.below(10) {
        case 0:
            let ids = shelf.withLock { $0.records.keys.sorted() }
            guard !ids.isEmpty else { break }
            let id = random.pick(ids)
            tell("fetches \(id)")
            _ = try await device.sync(.fetch([device.key("articles/\(id)")]), .remoteChange)
        case 1...2:
            let commits = random.below(6)
            let outcome = try await device.run(dyingAfter: commits)
            tell("dies after \(commits): \(outcome.map { "\($0)" } ?? "killed")")
            try device.restart()
        default: tell("syncs: \(try await device.sync())")
        }
        try stamp(device)
    }

    /// A network that loses and breaks, with other clients while requests are on their way.
    func spoil(_ device: SyncDevice) {
        device.wire.tap { request, _, pass in
            if self.random.chance(15) { self.rival() }
            self.tell("  \(request.method) \(request.path ?? "")")
            switch self.random.below(100) {
            case 0..<6: return .failure(TransportError(.offline))
            case 6..<9: return .failure(TransportError(.timeout))
            default: break
            }
            let answer = await pass()
            if self.random.chance(15) { self.rival() }
            if self.random.chance(10) { self.world.clock.advance(by: .seconds(1)) }
            return self.random.chance(5) ? .failure(TransportError(.connectionLost)) : answer
        }
    }

    /// Mends the network and the clock, and syncs until nothing is new.
    func settle(_ devices: [SyncDevice]) async throws {
        tell("at rest")
        let clock = world.clock
        clock.adjust(by: .microseconds(clock.trueNow.rawValue - clock.now.rawValue))
        for device in devices {
            #expect(device.wire.problem == nil, story)
            device.wire.tap { request, _, pass in
                self.tell("  \(request.method) \(request.path ?? "")")
                return await pass()
            }
        }
        for _ in 1...8 {
            // All ids are listed again.
            clock.advance(by: .seconds(25 * 3600))
            var hasNews = false
            for device in devices {
                let outcome = try await device.sync()
                tell("syncs: \(outcome)")
                try stamp(device)
                #expect(outcome.failure == nil && outcome.failed.isEmpty, story)
                #expect(outcome.held.isEmpty, story)
                hasNews = hasNews || outcome.counts.hasNews
            }
            if !hasNews { return }
        }
        Issue.record("it never became quiet; \(story)")
    }

    func check(_ device: SyncDevice) throws {
        try device.verify()
        #expect(try device.outbox() == [], story)
        let rules = FeedDecision(rule, .iso8601)
        let here = try device.documents("articles").mapValues { try parsed($0) }
        let known = shelf.withLock { $0.records }
        for (id, text) in known.sorted(by: { $0.key < $1.key }) {
            let document = try JSONDocument(parsing: Array(text.utf8))
            let order = try #require(rules.key(document.value("released")))
            let (mine, theirs) = (here[id], try parsed(text))
            let isRight = mine == theirs || mine == nil && rules.isTooOld(order, now)
            #expect(isRight, "\(id): \(mine ?? []) here, \(theirs) there; \(story)")
        }
        #expect(here.keys.allSatisfy { known[$0] != nil }, story)
    }

    private func parsed(_ text: String) throws -> Set<String> {
        let document = try JSONDocument(parsing: Array(text.utf8))
        let fields = ["released", "updated", "title"]
        return Set(fields.map { "\($0)=\(document.value($0)?.description ?? "")" })
    }
}
